//! Judge calls as batches of their providers: collected by a pass over the cases, sent, awaited, and then found
//! by the run itself.
//!
//! The replies of batches are stored beside the journal of batches, in a reply cache of their own. There the run finds what
//! the cache of all replies does not have, and reads it like any fresh reply: what its reader accepts is then kept.
//!
//! Design: `docs/design/batches.md`.

mod calls;
mod collected;
mod exchange;
mod open_batch;
mod rounds;

use assize_analysis::ExitStatus;

use crate::error::EngineError;

pub(crate) use calls::BatchedCalls;
pub(crate) use rounds::BatchRounds;

/// The error of a run that a provider has stopped. Batches that were sent are not lost.
fn stopped(message: String) -> EngineError {
    EngineError { exit: ExitStatus::Incomplete, ..EngineError::unrunnable(message) }
}

/// Folder with the journal and the replies of batches.
pub(crate) const BATCH_FOLDER: &str = ".assize/batches";
