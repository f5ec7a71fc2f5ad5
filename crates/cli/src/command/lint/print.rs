//! Output formats of findings.

use assize_diagnostic::render;
use assize_document::codes;
use assize_engine::CritiqueReport;
use assize_lint::RULES;
use assize_report::{ListingRow, render_listing};
use serde_json::json;

use super::linted_file::LintedFile;
use crate::args::FormatChoice;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn print(
    files: &[LintedFile],
    format: FormatChoice,
    fixed: Option<usize>,
    judged: Option<&CritiqueReport>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let (errors, warnings) = tally(files);
    let allowed: usize = files.iter().map(|file| file.linted.allowed).sum();
    match format {
        FormatChoice::Text => {
            for (diagnostics, sources) in
                files.iter().flat_map(LintedFile::parts).filter(|part| !part.0.is_empty())
            {
                output::print(&format!(
                    "{}\n",
                    output::render_diagnostics(diagnostics, sources, context.stdout)
                ));
            }
            output::print(&summary(files.len(), errors, warnings, allowed, fixed, judged));
        }
        FormatChoice::Json => {
            let mut diagnostics = Vec::new();
            let mut listed = Vec::new();
            for file in files {
                let found: Vec<_> = file
                    .parts()
                    .into_iter()
                    .flat_map(|(diagnostics, sources)| render::json_report(diagnostics, sources).diagnostics)
                    .collect();
                listed.push(json!({
                    "path": file.path.display().to_string(),
                    "cases": file.cases,
                    "problems": found.len(),
                }));

                diagnostics.extend(found);
            }

            let diagnostics = serde_json::to_value(diagnostics).map_err(|error| error.to_string())?;
            let mut report = json!({
                "files": listed,
                "diagnostics": diagnostics,
                "errors": errors,
                "warnings": warnings,
                "allowed": allowed,
                "fixed": fixed.unwrap_or(0),
            });
            if let Some(judged) = judged {
                report["judge"] = judged.to_json();
            }

            output::print_json(&report);
        }
        FormatChoice::Github => output::print_annotations(files.iter().flat_map(LintedFile::parts)),
        FormatChoice::Sarif => {
            let describe = |code| {
                let rule = RULES.iter().find(|rule| rule.code == code).map(|rule| rule.title);
                rule.or_else(|| codes::ALL.iter().find(|page| page.code == code).map(|page| page.title))
            };
            let parts: Vec<_> = files
                .iter()
                .flat_map(LintedFile::parts)
                .filter(|(diagnostics, _)| !diagnostics.is_empty())
                .collect();
            output::print_sarif(&parts, &describe);
        }
    }

    Ok(())
}

fn tally(files: &[LintedFile]) -> (usize, usize) {
    let parts = files.iter().flat_map(LintedFile::parts);
    render::count_by_severity(parts.flat_map(|(diagnostics, _)| diagnostics))
}

fn summary(
    files: usize,
    errors: usize,
    warnings: usize,
    allowed: usize,
    fixed: Option<usize>,
    judged: Option<&CritiqueReport>,
) -> String {
    let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }

    parts.push(if warnings == 0 { "no findings".to_owned() } else { count(warnings, "finding") });

    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if let Some(fixed) = fixed {
        parts.push(format!("{} made", count(fixed, "change")));
    }
    if let Some(judged) = judged {
        parts.push(judged.summary());
    }

    format!("{}: {}\n", count(files, "file"), parts.join(", "))
}

pub(super) fn print_rules(format: FormatChoice, context: &CliContext) {
    if format == FormatChoice::Json {
        let rules: Vec<_> = RULES
            .iter()
            .map(|rule| {
                json!({
                    "code": rule.code.as_str(), "name": rule.name, "title": rule.title, "reason": rule.reason,
                    "source": rule.source, "bad": rule.bad.text(), "good": rule.good.text(), "fixes": rule.fixes(),
                    "question": rule.question().map(|question| question.text),
                })
            })
            .collect();

        output::print_json(&json!({ "rules": rules }));
        return;
    }

    let rows: Vec<ListingRow> = RULES
        .iter()
        .map(|rule| {
            let fix = match (rule.fixes(), rule.question()) {
                (true, _) => " (--fix where certain)",
                (false, Some(_)) => " (--judge)",
                (false, None) => "",
            };
            ListingRow {
                label: rule.name.to_owned(),
                ..ListingRow::new(rule.code.as_str(), format!("{}{fix}", rule.title))
            }
        })
        .collect();
    output::print(&render_listing(&rows, context.stdout));
}
