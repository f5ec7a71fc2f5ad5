//! Events of a job, as its coordinator reports them.

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
        /// True if the job was begun earlier.
        goes_on: bool,
    },
    /// Another coordinator shows signs of life; this one waits for it to end.
    Waiting,
    /// The user has stopped the job, and the coordinator stops the workers.
    Stopping,
    /// Some units are done.
    Progress {
        /// Shards that are complete.
        done: u32,
        /// All shards.
        shards: u32,
    },
    /// Workers refuse the job now. They try again from time to time.
    Refused {
        /// Number of workers.
        workers: usize,
        /// Why the first of them refuses.
        reason: String,
    },
    /// No worker has shown a sign of work for a while.
    NoWorker {
        /// Time without a sign.
        waited: Duration,
        /// Time without a sign after which the job is stopped.
        limit: Duration,
    },
    /// A message for the person who runs the coordinator.
    Warning(String),
}
