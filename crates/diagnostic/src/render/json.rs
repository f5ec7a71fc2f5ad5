//! JSON output: a single object with all diagnostics.

use serde::{Deserialize, Serialize};

use super::location::start_and_end;
use super::summary::count_by_severity;
use crate::{Diagnostic, Severity, SourceMap, Span};

/// All diagnostics of one load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonReport {
    /// Diagnostics, in the order given.
    pub diagnostics: Vec<JsonDiagnostic>,
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonDiagnostic {
    /// Code, such as `E0203`.
    pub code: String,
    /// `error` or `warning`.
    pub severity: String,
    /// Message of one line.
    pub title: String,
    /// Primary location.
    #[serde(flatten)]
    pub place: JsonLocation,
    /// Text of the primary label; may be empty.
    pub label: String,
    /// Other locations that explain the problem.
    pub secondary: Vec<JsonSecondaryLabel>,
    /// Facts that explain the cause.
    pub notes: Vec<String>,
    /// Advice on how to fix the problem.
    pub help: Vec<String>,
    /// A change that is likely to be right, or null.
    pub suggestion: Option<JsonSuggestion>,
}

/// A range of a file. Lines and columns count from 1; columns count characters (Unicode code points). The end
/// is the position after the last character; in an empty range it equals the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonLocation {
    /// Path as the user gave it.
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

/// A secondary location with a short explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonSecondaryLabel {
    /// Location.
    #[serde(flatten)]
    pub place: JsonLocation,
    /// How it relates to the problem; may be empty.
    pub text: String,
}

/// A suggested change of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonSuggestion {
    /// Description of the change.
    pub title: String,
    /// Text to replace; empty for an insertion.
    #[serde(flatten)]
    pub place: JsonLocation,
    /// Replacement text; empty for a removal.
    pub replacement: String,
}

/// Returns the diagnostics as serialisable data.
pub fn json_report(diagnostics: &[Diagnostic], sources: &SourceMap) -> JsonReport {
    let (errors, warnings) = count_by_severity(diagnostics);
    JsonReport {
        diagnostics: diagnostics.iter().map(|d| to_json_diagnostic(d, sources)).collect(),
        errors,
        warnings,
    }
}

/// Renders the diagnostics as an indented JSON object with a trailing newline.
pub fn to_json(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let report = json_report(diagnostics, sources);
    let mut text = serde_json::to_string_pretty(&report).expect("the report has string keys only");
    text.push('\n');
    text
}

fn to_json_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> JsonDiagnostic {
    JsonDiagnostic {
        code: diagnostic.code.to_string(),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
        .to_owned(),
        title: diagnostic.title.clone(),
        place: to_json_location(diagnostic.primary.span, sources),
        label: diagnostic.primary.text.clone(),
        secondary: diagnostic
            .secondary
            .iter()
            .map(|label| JsonSecondaryLabel {
                place: to_json_location(label.span, sources),
                text: label.text.clone(),
            })
            .collect(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
        suggestion: diagnostic.suggestion.as_ref().map(|s| JsonSuggestion {
            title: s.title.clone(),
            place: to_json_location(s.span, sources),
            replacement: s.replacement.clone(),
        }),
    }
}

fn to_json_location(span: Span, sources: &SourceMap) -> JsonLocation {
    let (start, end) = start_and_end(sources, span);
    JsonLocation {
        file: sources.file(span.source).path().to_string_lossy().into_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
