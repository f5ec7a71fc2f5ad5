//! `assize validate`.

use std::path::PathBuf;

use assize_diagnostic::list_first;
use assize_document::codes;
use assize_engine::{CaseSequence, ExitStatus};

use super::eval::print_capabilities;
use crate::args::{FormatChoice, ValidateArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Most unchecked files that are named; the others are counted.
const MAX_NAMED: usize = 3;

pub(crate) fn execute(args: &ValidateArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let report = context.engine(true).validate(&args.paths, &args.root, args.targets.as_deref())?;
    let checked = &report.files;
    let (errors, warnings) = report.tally();
    let too_many_warnings = args.max_warnings.is_some_and(|most| warnings > most);
    let exit = if errors > 0 || too_many_warnings { ExitStatus::Invalid } else { ExitStatus::Passed };

    let parts = checked.iter().map(|part| (&part.diagnostics[..], &part.sources));
    match if args.json { FormatChoice::Json } else { args.format } {
        FormatChoice::Text => {
            for part in checked {
                output::print(&output::render_diagnostics(&part.diagnostics, &part.sources, context.stdout));
                if !part.diagnostics.is_empty() {
                    output::print("\n");
                }
            }

            let cases: usize = checked.iter().map(|part| part.cases + part.left_out).sum();
            let files: usize = checked.iter().map(|part| part.files).sum();
            let of_cards = match checked.iter().filter(|part| part.is_scorecard).count() {
                0 => String::new(),
                1 => " (1 scorecard)".to_owned(),
                number => format!(" ({number} scorecards)"),
            };
            output::print(&format!(
                "{files} file{}{of_cards}, {cases} case{}: {}\n",
                plural(files),
                plural(cases),
                count(errors, warnings, checked.iter().flat_map(|part| &part.diagnostics).count())
            ));
            for part in checked {
                if let Some(text) = CaseSequence::describe(&part.in_order) {
                    output::print_text(&format!("{}: {text}\n", part.path.display()), context);
                }
            }
            print_capabilities(&report.capabilities, context);
            if let Some(note) = describe_unchecked(&report.unchecked) {
                output::print_notice(&note, context);
            }
        }
        FormatChoice::Json => output::print_json(&report.to_json()),
        FormatChoice::Github => output::print_annotations(parts),
        FormatChoice::Sarif => {
            let describe = |code| codes::ALL.iter().find(|page| page.code == code).map(|page| page.title);
            output::print_sarif(&parts.collect::<Vec<_>>(), &describe);
        }
    }

    if too_many_warnings && errors == 0 {
        let found = format!("{warnings} warning{}, more than `--max-warnings` allows", plural(warnings));
        output::print_error(&found, context);
    }

    Ok(exit)
}

/// Lists files of unknown kind in the given folders, so that users don't assume that they were checked.
fn describe_unchecked(paths: &[PathBuf]) -> Option<String> {
    let (files, are) = match paths {
        [] => return None,
        [_] => ("1 YAML file".to_owned(), "is neither an eval file nor a rubric"),
        several => (format!("{} YAML files", several.len()), "are neither eval files nor rubrics"),
    };

    let shown = list_first(paths.iter().map(|path| path.display()), MAX_NAMED);
    Some(format!("not checked: {files} that {are}: {shown}\n"))
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn count(errors: usize, warnings: usize, found: usize) -> String {
    match (errors, warnings) {
        (0, 0) if found == 0 => "no problems".to_owned(),
        (0, 0) => format!("no errors or warnings, {found} note{}", plural(found)),
        (errors, warnings) => {
            format!("{errors} error{}, {warnings} warning{}", plural(errors), plural(warnings))
        }
    }
}
