//! Helpers for tests of rules: lint a few lines of an eval file.

use std::path::Path;

use assize_diagnostic::Diagnostic;
use assize_evalfile::LoadOptions;
use assize_load::load_suite;
use assize_scorecard::load_scorecard;

use crate::{LintReport, RuleExample, lint_scorecard, lint_suite};

/// Lints an eval file with this text.
pub(crate) fn lint_file(name: &str, text: &str) -> LintReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");

    let options = LoadOptions::new(folder.path());
    let loaded = load_suite(Path::new(&path), &options);
    assert!(!loaded.has_errors(), "{text}\n{:#?}", loaded.diagnostics);

    lint_suite(&loaded.suite.expect("sound"), &loaded.cases).expect("readable")
}

/// Returns the findings, each with the words that it points at.
pub(crate) fn found(text: &str) -> Vec<(String, String)> {
    let linted = lint_file("a.eval.yaml", text);
    let pair = |d: &Diagnostic| (d.code.as_str().to_owned(), linted.sources.slice(d.primary.span).to_owned());
    linted.diagnostics.iter().map(pair).collect()
}

/// Returns the findings in a single-file scorecard, each with the words that it points at.
pub(crate) fn found_in_card(text: &str) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card.yaml");
    std::fs::write(&path, text).expect("written");

    let options = LoadOptions::new(folder.path());
    let loaded = load_scorecard(&path, &options);
    assert!(loaded.scorecard.is_some(), "{text}\n{:#?}", loaded.diagnostics);

    let linted = lint_scorecard(&loaded);
    let pair = |d: &Diagnostic| (d.code.as_str().to_owned(), linted.sources.slice(d.primary.span).to_owned());
    linted.diagnostics.iter().map(pair).collect()
}

/// Returns the words in a scorecard that a rule points at.
pub(crate) fn in_card(code: &str, text: &str) -> Vec<String> {
    found_in_card(text).into_iter().filter(|(found, _)| found == code).map(|(_, words)| words).collect()
}

/// Returns the findings in an example.
pub(crate) fn found_in(example: RuleExample) -> Vec<(String, String)> {
    match example {
        RuleExample::Scorecard(text) => found_in_card(text),
        RuleExample::Criteria(_) | RuleExample::Case(_) => found(&example.file()),
    }
}

/// Returns the words in a list of criteria that a rule points at. The question is about parcels.
pub(crate) fn in_criteria(code: &str, criteria: &str) -> Vec<String> {
    of_code(code, &RuleExample::Criteria(&criteria.to_owned().leak()[..]).file())
}

/// Returns the words in the cases of a suite that a rule points at.
pub(crate) fn in_cases(code: &str, cases: &str) -> Vec<String> {
    of_code(code, &format!("tests:\n{cases}"))
}

/// Returns the words in a single criterion, given as text, that a rule points at.
pub(crate) fn in_text(code: &str, text: &str) -> Vec<String> {
    in_criteria(code, &format!("- outcome: {}\n", quoted(text)))
}

/// Fails unless the rule has a finding in each of these criterion texts.
pub(crate) fn finds(code: &str, texts: &[&str]) {
    for text in texts {
        assert!(!in_text(code, text).is_empty(), "{code} must find something in {text:?}");
    }
}

/// Fails if the rule has a finding in any of these criterion texts.
pub(crate) fn silent(code: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(in_text(code, text), Vec::<String>::new(), "{code} must be silent about {text:?}");
    }
}

fn of_code(code: &str, file: &str) -> Vec<String> {
    found(file).into_iter().filter(|(found, _)| found == code).map(|(_, words)| words).collect()
}

fn quoted(text: &str) -> String {
    // The escapes of a Rust string are also valid in double-quoted YAML, as far as tests use them.
    format!("{text:?}")
}
