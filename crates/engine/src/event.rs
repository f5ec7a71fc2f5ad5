//! Events of the engine. Front ends build their output from them.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use assize_author::AuthorEvent;
use assize_diagnostic::{Diagnostic, SourceMap};
use assize_llm::{CallEvent, ErrorKind};

/// An event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EngineEvent {
    /// A file was read and has problems or warnings.
    Diagnostics {
        /// Errors, warnings and notes. Never empty.
        diagnostics: Vec<Diagnostic>,
        /// Texts that they point into.
        sources: SourceMap,
    },
    /// A remark about options or files that does not affect the exit code. It is kept in the record of a run.
    Notice(String),
    /// A notice at the beginning of a run, which its summary repeats.
    RunWarning(String),
    /// Something that the user must know even if notices are hidden.
    Warning(String),
    /// Code of an eval file that runs around its tests printed a line.
    ProgramOutput {
        /// Name of the file of the code.
        program: String,
        /// The line, without secrets.
        line: String,
    },
    /// A failure after which the work continues or ends normally.
    Failure(String),
    /// The cases are run in a random order.
    Shuffled {
        /// Seed that reproduces the order.
        seed: u64,
    },
    /// Message about the progress of batches of judge calls.
    BatchProgress(String),
    /// An earlier run is continued.
    Resumed {
        /// Folder of the run.
        folder: PathBuf,
        /// Cases that are done.
        done: usize,
        /// Cases that were done and run again, because the case or its settings have changed.
        changed: usize,
        /// Cases that were done and no longer belong to the run.
        gone: usize,
    },
    /// The folder of a run was created, or an earlier run's folder is used again.
    RunOpened {
        /// Id of the run.
        run_id: String,
        /// Folder of the run.
        folder: PathBuf,
    },
    /// A run begins.
    RunStarted {
        /// The number of cases to run.
        cases: usize,
    },
    /// Something happened to a case, or the run stops.
    Run(assize_run::RunEvent),
    /// The budget refused a call. No further cases are started.
    BudgetReached {
        /// Description of the limit that was reached.
        reason: String,
    },
    /// A run has ended, and no requests are in flight.
    RunEnded,
    /// A call to a model failed and is sent again after a wait.
    CallRetrying {
        /// The model as its server names it.
        model: String,
        /// Number of the request that failed, from 1.
        attempt: u32,
        /// The wait before the next request.
        delay: Duration,
        /// The kind of failure.
        reason: ErrorKind,
    },
    /// A model server limited an account, so requests pause.
    RateLimited {
        /// Host of the server.
        account: String,
        /// End of the pause.
        until: SystemTime,
    },
    /// Several requests in a row to a model server failed. From now on, requests are sent one at a time,
    /// until one is answered.
    ServerHeld {
        /// Host of the server.
        account: String,
        /// The kind of failure.
        reason: ErrorKind,
    },
    /// A held model server answers again.
    ServerBack {
        /// Host of the server.
        account: String,
    },
    /// A request has not received a single byte for a long time, while the same server answered other requests.
    RequestUnanswered {
        /// Host of the server.
        account: String,
        /// How long it has been waiting.
        silence: Duration,
    },
    /// A model server was given up. No further cases are started.
    ServerGivenUp {
        /// Host of the server.
        account: String,
        /// Message of the last failure.
        reason: String,
    },
    /// Drafts are made without a model, because none was named.
    DraftingOffline,
    /// A draft or a critique is done.
    Author(AuthorEvent),
}

impl From<assize_run::RunEvent> for EngineEvent {
    fn from(event: assize_run::RunEvent) -> Self {
        Self::Run(event)
    }
}

impl From<AuthorEvent> for EngineEvent {
    fn from(event: AuthorEvent) -> Self {
        Self::Author(event)
    }
}

impl From<&CallEvent<'_>> for EngineEvent {
    fn from(event: &CallEvent<'_>) -> Self {
        match *event {
            CallEvent::Retrying { model, attempt, delay, reason } => {
                Self::CallRetrying { model: model.to_owned(), attempt, delay, reason }
            }
            CallEvent::RateLimited { account, until } => {
                Self::RateLimited { account: account.to_owned(), until }
            }
            CallEvent::AccountHeld { account, reason } => {
                Self::ServerHeld { account: account.to_owned(), reason }
            }
            CallEvent::AccountBack { account } => Self::ServerBack { account: account.to_owned() },
            CallEvent::Unanswered { account, silence } => {
                Self::RequestUnanswered { account: account.to_owned(), silence }
            }
            CallEvent::GivenUp { account, reason } => {
                Self::ServerGivenUp { account: account.to_owned(), reason: reason.to_owned() }
            }
        }
    }
}

/// Receives events. It is called from several threads, but by each thread only once at a time.
pub trait EventObserver: Send + Sync {
    /// Handles an event.
    fn observe(&self, event: EngineEvent);
}

impl<F: Fn(EngineEvent) + Send + Sync> EventObserver for F {
    fn observe(&self, event: EngineEvent) {
        self(event);
    }
}
