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
            "an audit is not resumed: give the same command again, what was paid for is remembered in the reply cache",
        ));
    }

    Ok(())
}
