//! Events of a job, as its coordinator tells them.

use std::time::Duration;

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEvent {
    /// Units are handed out.
    Begun {
        /// Id of the job.
        job: String,
        /// Number of shards.
        shards: u32,
        /// True if it was begun earlier.
        goes_on: bool,
    },
    /// Another coordinator shows signs of life; this one waits for its end.
    Waiting,
    /// Somebody has asked to stop: workers are told to break off.
    Stopping,
    /// Some units are done.
    Progress {
        /// Shards without a missing part.
        done: u32,
        /// All shards.
        shards: u32,
    },
    /// Workers that refuse the job now, and the reason of one of them. They look again from time to time.
    Refused {
        /// Number of workers.
        workers: usize,
        /// Reason of the first.
        reason: String,
    },
    /// No worker has shown a sign of work for a while.
    NoWorker {
        /// Time without a sign.
        waited: Duration,
        /// Time without a sign after which the job is left.
        limit: Duration,
    },
    /// Something that a person has to know.
    Warning(String),
}
