//! Audits of judges: cases judged unchanged and changed, and what follows from the difference.

mod injection;
mod probing;

use crate::error::EngineError;
use crate::options::RunOptions;

pub use injection::InjectionAudit;
pub use probing::{ProbingAudit, ProbingKind, ProbingOptions};

/// Refuses to resume an audit.
///
/// # Errors
/// When the options ask for that.
pub fn check_options(run: &RunOptions) -> Result<(), EngineError> {
    if run.resume.is_some() {
        return Err(EngineError::usage(
            "audits can't be resumed: run the same command again; replies that were paid for are cached",
        ));
    }

    Ok(())
}
