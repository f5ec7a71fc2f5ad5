//! `assize validate`.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_engine::ExitStatus;
use assize_evalfile::{LoadedScorecard, codes, load_scorecard, note_unset_variables};

use crate::args::{FormatChoice, ValidateArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// One eval file or scorecard with what is wrong with it.
struct ValidatedFile<'l> {
    path: &'l Path,
    /// Cases that can be used.
    cases: usize,
    /// Cases that can't.
    left_out: usize,
    diagnostics: &'l [Diagnostic],
    sources: &'l SourceMap,
}

pub(crate) fn execute(args: &ValidateArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut loaded = context.engine(true).load(&args.paths, &args.root)?;
    let options = context.process.load_options(&args.root);
    let mut scorecards: Vec<(&PathBuf, LoadedScorecard)> =
        loaded.scorecards.iter().map(|path| (path, load_scorecard(path, &options))).collect();

    // Files are checked where nothing is run, so that the variables of a run need not be set there.
    for file in &mut loaded.files {
        note_unset_variables(&mut file.diagnostics);
    }
    for (_, card) in &mut scorecards {
        note_unset_variables(&mut card.diagnostics);
    }

    let suites = loaded.files.iter().map(|file| ValidatedFile {
        path: &file.path,
        cases: file.cases.len(),
        left_out: file.cases.invalid_count(),
        diagnostics: &file.diagnostics,
        sources: &file.sources,
    });

    let cards = scorecards.iter().map(|(path, card)| ValidatedFile {
        path,
        cases: card.cases,
        left_out: 0,
        diagnostics: &card.diagnostics,
        sources: &card.sources,
    });

    let checked: Vec<ValidatedFile<'_>> = suites.chain(cards).collect();
    let (errors, warnings) = checked
        .iter()
        .map(|part| render::count_by_severity(part.diagnostics))
        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    let too_many_warnings = args.max_warnings.is_some_and(|most| warnings > most);
    let exit = if errors > 0 || too_many_warnings { ExitStatus::Invalid } else { ExitStatus::Passed };

    match if args.json { FormatChoice::Json } else { args.format } {
        FormatChoice::Text => {
            for part in &checked {
                output::print(&output::render_diagnostics(part.diagnostics, part.sources, context.stdout));
                if !part.diagnostics.is_empty() {
                    output::print("\n");
                }
            }

            let cases: usize = checked.iter().map(|part| part.cases + part.left_out).sum();
            let files = loaded.files.len() + scorecards.iter().map(|(_, card)| card.files).sum::<usize>();
            let of_cards = match scorecards.len() {
                0 => String::new(),
                1 => " (1 scorecard)".to_owned(),
                number => format!(" ({number} scorecards)"),
            };
            output::print(&format!(
                "{files} file{}{of_cards}, {cases} case{}: {}\n",
                plural(files),
                plural(cases),
                count(errors, warnings)
            ));
        }
        FormatChoice::Json => output::print_json(&json_report(&checked, errors, warnings)?),
        FormatChoice::Github => {
            for part in &checked {
                output::print_annotations(&render::to_github(part.diagnostics, part.sources));
            }
        }
        FormatChoice::Sarif => {
            let describe = |code| codes::ALL.iter().find(|page| page.code == code).map(|page| page.title);
            let tool = render::ReportingTool {
                name: "assize",
                version: env!("CARGO_PKG_VERSION"),
                information_uri: None,
                describe: &describe,
            };

            let parts: Vec<_> = checked.iter().map(|part| (part.diagnostics, part.sources)).collect();
            output::print_json_text(&render::to_sarif(&parts, tool));
        }
    }

    if too_many_warnings && errors == 0 {
        let found = format!("{warnings} warning{}, more than `--max-warnings` allows", plural(warnings));
        output::print_error(&found, context);
    }

    Ok(exit)
}

/// Returns the report for `--json`.
fn json_report(
    checked: &[ValidatedFile<'_>],
    errors: usize,
    warnings: usize,
) -> Result<serde_json::Value, CommandFailure> {
    let mut diagnostics = Vec::new();
    let mut files = Vec::new();
    for part in checked {
        let found = render::json_report(part.diagnostics, part.sources).diagnostics;
        let path = part.path.display().to_string();
        files.push(serde_json::json!({ "path": path, "cases": part.cases, "problems": found.len() }));
        diagnostics.extend(found);
    }

    let diagnostics = serde_json::to_value(diagnostics).map_err(|error| error.to_string())?;
    Ok(serde_json::json!({
        "files": files,
        "diagnostics": diagnostics,
        "errors": errors,
        "warnings": warnings,
    }))
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn count(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no problems".to_owned(),
        (errors, warnings) => {
            format!("{errors} error{}, {warnings} warning{}", plural(errors), plural(warnings))
        }
    }
}
