//! `assize generate rubrics`.

use assize_author::draft::{DraftOutcome, EditedFile};
use assize_engine::{ExitStatus, GenerateReport};

use crate::args::{GenerateArgs, GenerateCommand, GenerateRubricsArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(crate) fn execute(args: &GenerateArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let GenerateCommand::Rubrics(args) = &args.command;
    let engine = context.engine(args.quiet);
    let report = block_on(engine.generate(&args.options()))?;

    print(&report, args, context);
    Ok(report.exit())
}

fn print(report: &GenerateReport, args: &GenerateRubricsArgs, context: &CliContext) {
    if args.json {
        output::print_json(&report.to_json());
        return;
    }

    if args.dry_run {
        report.files.iter().map(EditedFile::diff).for_each(|diff| output::print(&diff));
    }

    for outcome in &report.outcomes {
        let place = format!("{}:{}", outcome.path.display(), outcome.line);
        match &outcome.result {
            DraftOutcome::LeftAlone(reason) => {
                let message = format!("{place}: case `{}` was skipped: {reason}", outcome.id);
                output::print_error(&message, context);
            }
            DraftOutcome::Drafted { criteria, .. } if !args.dry_run => {
                output::print(&format!("{place}: {}: {}\n", outcome.id, criteria.join(", ")));
            }
            _ => {}
        }
    }

    output::print_text(&format!("{}\n", summary(report, args)), context);

    if let Some(stop) = report.stop.as_ref().filter(|_| report.unreached() > 0) {
        let reason = stop.reason().trim_end_matches('.');
        output::print_warning(
            &format!("{reason}; run the same command again for the remaining cases"),
            context,
        );
    }

    if report.drafted() > 0 && !args.dry_run && !args.quiet {
        let lint = match findings(report) {
            0 => String::new(),
            findings => format!("; `assize lint` reports {findings} findings about them"),
        };
        output::print_notice(&format!("review the drafts, marked `Draft by`{lint}\n"), context);
    }
}

/// The last line: the number of cases by result.
fn summary(report: &GenerateReport, args: &GenerateRubricsArgs) -> String {
    let drafted = report.drafted();
    let verb = if args.dry_run { "would be written" } else { "written" };
    let plural = if drafted == 1 { "" } else { "s" };
    let mut parts = vec![format!("{drafted} draft{plural} {verb}, by {}", report.author)];

    let mut add = |count: usize, one: &str, more: &str| {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { more }));
        }
    };
    if !args.replace {
        let has = report.count(|result| matches!(result, DraftOutcome::HasRubric));
        add(has, "case has a rubric", "cases have a rubric");
    }

    let nothing = report.count(|result| matches!(result, DraftOutcome::NoOutcome));
    add(nothing, "case has no expected outcome", "cases have no expected outcome");
    add(report.left_alone(), "case was skipped", "cases were skipped");
    add(report.unreached(), "case was not reached", "cases were not reached");

    parts.join("; ")
}

/// Counts the lint findings about the drafts.
fn findings(report: &GenerateReport) -> usize {
    let of_case = |result: &DraftOutcome| match result {
        DraftOutcome::Drafted { findings, .. } => findings.len(),
        _ => 0,
    };

    report.outcomes.iter().map(|outcome| of_case(&outcome.result)).sum()
}
