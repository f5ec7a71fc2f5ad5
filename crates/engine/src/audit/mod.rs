//! Audits of judges: cases are judged with and without a change, and the decisions are compared.

mod injection;
mod probing;

use assize_analysis::{ExitStatus, RunEnding};
use assize_audit::StoredAudit;
use assize_store::{RunFolder, RunInfo};

use crate::error::EngineError;
use crate::options::RunOptions;

pub use injection::InjectionAudit;
pub use probing::{ProbingAudit, ProbingKind, ProbingOptions};

/// Reads the metrics of a stored audit; `None` if the run is not an audit.
///
/// # Errors
/// When the run can't be read.
pub fn read_audit(folder: &RunFolder, info: &RunInfo) -> Result<Option<StoredAudit>, EngineError> {
    if let Some(kind) = ProbingKind::from_run(info) {
        return Ok(Some(StoredAudit::Probing(kind.report(folder, info)?)));
    }
    if info.command == InjectionAudit::COMMAND {
        return Ok(Some(StoredAudit::Injection(Box::new(InjectionAudit::report(folder)?))));
    }

    Ok(None)
}

/// The exit code of an audit and its reason. The verdicts of its cases do not count.
pub fn conclusion(audit: &StoredAudit, limit: Option<f64>, ending: RunEnding) -> (ExitStatus, String) {
    match audit {
        StoredAudit::Probing(report) => ProbingKind::conclusion(report, limit, ending),
        StoredAudit::Injection(report) => InjectionAudit::conclusion(report, limit, ending),
    }
}

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
