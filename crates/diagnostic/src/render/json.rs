//! JSON for programs: one object that holds every diagnostic.

use serde::{Deserialize, Serialize};

use super::place::extent;
use super::summary::tally;
use crate::{Diagnostic, Severity, SourceMap, Span};

/// All diagnostics of one load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonReport {
    /// The diagnostics, in the order given.
    pub diagnostics: Vec<JsonDiagnostic>,
    /// How many of them are errors.
    pub errors: usize,
    /// How many of them are warnings.
    pub warnings: usize,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonDiagnostic {
    /// The kind of complaint, such as `E0203`.
    pub code: String,
    /// `error` or `warning`.
    pub severity: String,
    /// What is wrong, in one line.
    pub title: String,
    /// The main place.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// What is said about the main place; may be empty.
    pub label: String,
    /// Other places that explain it.
    pub secondary: Vec<JsonSecondary>,
    /// Facts that explain why it is wrong.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
    /// A change that is likely to be right, or null.
    pub suggestion: Option<JsonSuggestion>,
}

/// A stretch of a file. Lines and columns count from 1; columns count characters (Unicode code
/// points). The end is the position after the last character; for a point it equals the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonPlace {
    /// The path as the user gave it.
    pub file: String,
    /// First line.
    pub line: usize,
    /// Column of the first character.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// Column of the end.
    pub end_column: usize,
}

/// Another place, with a few words about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonSecondary {
    /// Where.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// What it has to do with the problem; may be empty.
    pub text: String,
}

/// A change of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonSuggestion {
    /// What the change does.
    pub title: String,
    /// The text to replace; a point if something is to be inserted.
    #[serde(flatten)]
    pub place: JsonPlace,
    /// What to put there; empty if something is to be removed.
    pub replacement: String,
}

/// The diagnostics as data to serialise.
pub fn json_report(diagnostics: &[Diagnostic], sources: &SourceMap) -> JsonReport {
    let (errors, warnings) = tally(diagnostics);
    JsonReport { diagnostics: diagnostics.iter().map(|d| convert(d, sources)).collect(), errors, warnings }
}

/// The diagnostics as an indented JSON object with a line end after it.
pub fn to_json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let report = json_report(diagnostics, sources);
    let mut text = serde_json::to_string_pretty(&report).expect("the report has string keys only");
    text.push('\n');
    text
}

fn convert(diagnostic: &Diagnostic, sources: &SourceMap) -> JsonDiagnostic {
    JsonDiagnostic {
        code: diagnostic.code.to_string(),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
        .to_owned(),
        title: diagnostic.title.clone(),
        place: place(diagnostic.primary.span, sources),
        label: diagnostic.primary.text.clone(),
        secondary: diagnostic
            .secondary
            .iter()
            .map(|label| JsonSecondary { place: place(label.span, sources), text: label.text.clone() })
            .collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
        suggestion: diagnostic.suggestion.as_ref().map(|s| JsonSuggestion {
            title: s.title.clone(),
            place: place(s.span, sources),
            replacement: s.replacement.clone(),
        }),
    }
}

fn place(span: Span, sources: &SourceMap) -> JsonPlace {
    let (start, end) = extent(sources, span);
    JsonPlace {
        file: sources.file(span.source).path().to_string_lossy().into_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
