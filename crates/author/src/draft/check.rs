//! Checks a draft before it is written.

use std::path::Path;

use assize_diagnostic::Severity;
use assize_document::to_yaml;
use assize_evalfile::{criterion_value, read_rubric};
use assize_lint::lint_rubric_for;
use assize_model::{Case, EvalFileFormat};
use assize_rubric::{Criterion, Rubric};
use serde_json::{Value, json};

/// Fewest criteria of a model's draft.
pub const MIN_CRITERIA: usize = 3;
/// Most criteria of a draft.
pub const MAX_CRITERIA: usize = 7;

/// Lint rules that a draft must not break: a criterion tests exactly one thing, and that thing is testable.
const FORBIDDEN_FINDINGS: [&str; 3] = ["L0101", "L0102", "L0104"];

/// Faults of a list of criteria.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DraftFaults {
    /// Faults that make it unusable.
    pub(super) errors: Vec<String>,
    /// Lint findings; the draft is usable with them.
    pub(super) findings: Vec<String>,
}

impl DraftFaults {
    pub(super) fn all(&self) -> Vec<String> {
        self.errors.iter().chain(&self.findings).cloned().collect()
    }
}

/// Checks a list of criteria on its own, and as a rubric of the case.
pub(super) fn check(criteria: &[Criterion], case: Option<&Case>) -> DraftFaults {
    let mut faults = DraftFaults::default();
    let count = criteria.len();
    if !(MIN_CRITERIA..=MAX_CRITERIA).contains(&count) {
        faults.errors.push(format!("there are {count} criteria; give {MIN_CRITERIA} to {MAX_CRITERIA}"));
    }
    if count > 1 && criteria.iter().all(|criterion| criterion.gate.is_some()) {
        faults.errors.push("every criterion is required, so that weights decide nothing".to_owned());
    }
    if let Err(errors) = Rubric::new(criteria.to_vec()) {
        faults.errors.extend(errors.iter().map(ToString::to_string));
        return faults;
    }

    for (code, message) in lint(criteria, case) {
        let list = if FORBIDDEN_FINDINGS.contains(&code.as_str()) {
            &mut faults.errors
        } else {
            &mut faults.findings
        };
        list.push(message);
    }

    faults
}

/// Lint findings about a list of criteria, as code and message.
pub(super) fn lint(criteria: &[Criterion], case: Option<&Case>) -> Vec<(String, String)> {
    let items: Vec<Value> =
        criteria.iter().map(|criterion| criterion_value(criterion, EvalFileFormat::Two)).collect();
    let text = to_yaml(&json!({"criteria": items}), 0);
    let loaded = read_rubric(Path::new("draft.yaml"), &text);
    let broken = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut found: Vec<(String, String)> =
        broken.map(|diagnostic| (FORBIDDEN_FINDINGS[0].to_owned(), diagnostic.title.clone())).collect();
    let linted = lint_rubric_for(&loaded, case);
    let lines: Vec<&str> = text.lines().collect();
    for diagnostic in &linted.diagnostics {
        let line = linted.sources.position(diagnostic.primary.span).line;
        // The id is above the finding.
        let id =
            lines[..line.min(lines.len())].iter().rev().find_map(|line| line.trim().strip_prefix("- id: "));
        let words = linted.sources.slice(diagnostic.primary.span);
        let name = id.map_or_else(|| "the rubric".to_owned(), |id| format!("criterion `{id}`"));
        let help = diagnostic.help.first().map(|help| format!("; {help}")).unwrap_or_default();
        let code = diagnostic.code.as_str();

        found.push((code.to_owned(), format!("{name}: {} ({code}): `{words}`{help}", diagnostic.title)));
    }

    found
}
