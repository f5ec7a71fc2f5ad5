//! Printing of an audit that has just ended, and `assize audit show`.

use assize_audit::StoredAudit;
use assize_engine::audit::{conclusion, read_audit};
use assize_engine::{ExitStatus, RunEnding, runs, summary_json};
use assize_report::{audit_json, render_audit, render_injection_audit};
use assize_rubric::UnitInterval;
use assize_store::{RunFolder, RunInfo};
use serde_json::Value;

use crate::args::ShowAuditArgs;
use crate::command::present::print_footer;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};

pub(super) fn show(args: &ShowAuditArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)?;
    let mut info = folder.info()?;
    let ending = RunEnding::of_stored(&info);
    if ending.unfinished {
        output::print_warning("the audit did not finish; only its finished cases are measured", context);
    }

    let Some(audit) = read_audit(&folder, &info)? else {
        let shown = folder.path().display();
        return Err(format!("`{shown}` is a run of `{}`, not an audit", info.command).into());
    };
    let (exit, reason) = conclusion(&audit, args.max_flip_rate.map(UnitInterval::get), ending);
    if let Some(summary) = &mut info.summary {
        summary.exit_code = exit.code();
        summary.exit_reason = reason;
    }
    print(&audit, &info, &folder, ResultOutput { json: args.json, quiet: false, out: &[] }, context)?;
    Ok(exit)
}

pub(super) fn print(
    audit: &StoredAudit,
    info: &RunInfo,
    folder: &RunFolder,
    output: ResultOutput<'_>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    // Scores of manipulated answers are meaningless.
    let json = || match audit {
        StoredAudit::Probing(report) => {
            json(info, folder, &["counts", "mean_score", "metrics"], audit_json(report))
        }
        StoredAudit::Injection(report) => json(info, folder, &["counts", "mean_score"], report.to_json()),
    };
    if output.deliver(json)? {
        return Ok(());
    }

    output::print(&match audit {
        StoredAudit::Probing(report) => render_audit(report, context.stdout),
        StoredAudit::Injection(report) => render_injection_audit(report, context.stdout),
    });
    print_footer(info, folder.path(), context);
    Ok(())
}

/// The metrics of an audit and the summary of its run, without the keys in `unrelated`.
fn json(info: &RunInfo, folder: &RunFolder, unrelated: &[&str], audit: Value) -> Value {
    let mut value = summary_json(info, folder.path());
    if let Value::Object(members) = &mut value {
        for key in unrelated {
            members.remove(*key);
        }
        members.insert("audit".to_owned(), audit);
    }

    value
}
