//! `assize audit show`.

use assize_engine::audit::{InjectionAudit, ProbingKind};
use assize_engine::{ExitStatus, RunEnding, runs};

use super::{injection, probing};
use crate::args::ShowAuditArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};

pub(super) fn execute(args: &ShowAuditArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)?;
    let mut info = folder.info()?;
    let ending = RunEnding::of_stored(&info);
    if ending.unfinished {
        output::print_warning("the audit did not finish; only its finished cases are measured", context);
    }

    let wanted = ResultOutput { json: args.json, quiet: false, out: &[] };
    if let Some(kind) = ProbingKind::from_run(&info) {
        let report = kind.report(&folder, &info)?;
        let limit = args.max_flip_rate.map(assize_rubric::UnitInterval::get);
        let (exit, reason) = ProbingKind::conclusion(&report, limit, ending);
        if let Some(summary) = &mut info.summary {
            summary.exit_code = exit.code();
            summary.exit_reason = reason;
        }

        probing::print(&report, &info, &folder, wanted, context)?;
        return Ok(exit);
    }

    if info.command != InjectionAudit::COMMAND {
        let shown = folder.path().display();
        return Err(format!("`{shown}` is a run of `{}`, not an audit", info.command).into());
    }

    let report = InjectionAudit::report(&folder)?;
    let (exit, reason) = InjectionAudit::conclusion(&report, args.max_flip_rate, ending);
    if let Some(summary) = &mut info.summary {
        summary.exit_code = exit.code();
        summary.exit_reason = reason;
    }

    injection::print(&report, &info, &folder, wanted, context)?;
    Ok(exit)
}
