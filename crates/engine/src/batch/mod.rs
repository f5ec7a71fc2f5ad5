//! Judge calls as batches of their providers: collected by a pass over the cases, sent, awaited, and then found
//! by the run itself.
//!
//! The replies of batches are stored beside the journal of batches, in a reply cache of their own. On a miss in the
//! shared reply cache, the run looks there and reads the reply like a fresh one: if its reader accepts the reply, the
//! shared cache keeps it.
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
