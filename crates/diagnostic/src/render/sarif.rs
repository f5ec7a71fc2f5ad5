//! SARIF 2.1.0, the format that code-scanning services read.
//!
//! Covers only the part of the format that diagnostics need. Names follow the OASIS standard.

use std::path::Path;

use serde::Serialize;

use super::location::{start_and_end, to_uri};
use crate::{Diagnostic, DiagnosticCode, Severity, SourceMap, Span};

/// The program that reports, and the descriptions of its codes.
#[derive(Clone, Copy)]
pub struct ReportingTool<'a> {
    /// Name of the program.
    pub name: &'a str,
    /// Version of the program.
    pub version: &'a str,
    /// Home page of the program, as an absolute URI.
    pub information_uri: Option<&'a str>,
    /// Returns a one-sentence description of a code, if there is one.
    pub describe: &'a dyn Fn(DiagnosticCode) -> Option<&'static str>,
}

/// A whole log file (3.13).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SarifLog {
    /// URI of the schema.
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    /// Always `2.1.0`.
    pub version: &'static str,
    /// Runs; always one.
    pub runs: Vec<SarifRun>,
}

/// One run of the tool (3.14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifRun {
    /// Tool that ran.
    pub tool: SarifTool,
    /// Unit of columns: always `unicodeCodePoints`.
    pub column_kind: &'static str,
    /// Results, in the order given.
    pub results: Vec<SarifResult>,
}

/// Tool that ran (3.18).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SarifTool {
    /// Component with the tool's name and rules.
    pub driver: SarifDriver,
}

/// Component with the tool's name and rules (3.19).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifDriver {
    /// Name of the program.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Home page of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub information_uri: Option<String>,
    /// Codes that occur, sorted.
    pub rules: Vec<SarifRule>,
}

/// A code (3.49).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifRule {
    /// Code, such as `E0203`.
    pub id: String,
    /// Description of the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_description: Option<SarifMessage>,
}

/// Plain text (3.11, 3.12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SarifMessage {
    /// Text of the message.
    pub text: String,
}

/// One diagnostic (3.27).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifResult {
    /// Code of the diagnostic.
    pub rule_id: String,
    /// Index of the code in the rules, from 0.
    pub rule_index: usize,
    /// `error` or `warning`.
    pub level: &'static str,
    /// Title, label, notes and help, one a line.
    pub message: SarifMessage,
    /// Primary location.
    pub locations: Vec<SarifLocation>,
    /// Secondary locations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<SarifLocation>,
    /// Suggested change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<SarifFix>,
}

/// A location (3.28).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifLocation {
    /// Number of a related location within its result, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    /// File and region.
    pub physical_location: SarifPhysicalLocation,
    /// Explanation of the location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<SarifMessage>,
}

/// A region of a file (3.29).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifPhysicalLocation {
    /// File of the region.
    pub artifact_location: SarifArtifactLocation,
    /// Range within the file.
    pub region: SarifRegion,
}

/// A file (3.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SarifArtifactLocation {
    /// Percent-encoded URI with forward slashes: relative as the user gave the path, or `file:///`.
    pub uri: String,
}

/// A range of text (3.30). Lines and columns count from 1; the end column is the one after the last
/// character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifRegion {
    /// First line.
    pub start_line: usize,
    /// Column of the first character.
    pub start_column: usize,
    /// Last line.
    pub end_line: usize,
    /// Column after the last character.
    pub end_column: usize,
}

/// A proposed change (3.55).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifFix {
    /// Description of the change.
    pub description: SarifMessage,
    /// Changed files; always one.
    pub artifact_changes: Vec<SarifArtifactChange>,
}

/// A change of one file (3.56).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifArtifactChange {
    /// Changed file.
    pub artifact_location: SarifArtifactLocation,
    /// Replacements in the file.
    pub replacements: Vec<SarifReplacement>,
}

/// A replacement (3.57).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifReplacement {
    /// Region to replace; empty for an insertion.
    pub deleted_region: SarifRegion,
    /// Replacement text.
    pub inserted_content: SarifMessage,
}

/// Returns the diagnostics of one or more loads, each with its sources, as serialisable data.
pub fn sarif_log(parts: &[(&[Diagnostic], &SourceMap)], tool: ReportingTool<'_>) -> SarifLog {
    let mut codes: Vec<DiagnosticCode> =
        parts.iter().flat_map(|(diagnostics, _)| diagnostics.iter()).map(|d| d.code).collect();
    codes.sort_unstable();
    codes.dedup();

    let rules = codes.iter().map(|code| SarifRule {
        id: code.to_string(),
        short_description: (tool.describe)(*code).map(plain_message),
    });
    let driver = SarifDriver {
        name: tool.name.to_owned(),
        version: tool.version.to_owned(),
        information_uri: tool.information_uri.map(str::to_owned),
        rules: rules.collect(),
    };

    let all = parts.iter().flat_map(|(diagnostics, sources)| diagnostics.iter().map(move |d| (d, *sources)));
    let results = all.map(|(d, sources)| {
        let index = codes.binary_search(&d.code).expect("every code of a diagnostic was collected");
        to_result(d, index, sources)
    });
    SarifLog {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: vec![SarifRun {
            tool: SarifTool { driver },
            column_kind: "unicodeCodePoints",
            results: results.collect(),
        }],
    }
}

/// Renders the diagnostics as an indented SARIF log with a trailing newline.
pub fn to_sarif(parts: &[(&[Diagnostic], &SourceMap)], tool: ReportingTool<'_>) -> String {
    let log = sarif_log(parts, tool);
    let mut text = serde_json::to_string_pretty(&log).expect("the log has string keys only");
    text.push('\n');
    text
}

fn to_result(diagnostic: &Diagnostic, rule_index: usize, sources: &SourceMap) -> SarifResult {
    let related = diagnostic.secondary.iter().zip(1..).map(|(label, id)| SarifLocation {
        id: Some(id),
        physical_location: physical_location(label.span, sources),
        message: (!label.text.is_empty()).then(|| plain_message(&label.text)),
    });

    let fix = diagnostic.suggestion.as_ref().map(|s| SarifFix {
        description: plain_message(&s.title),
        artifact_changes: vec![SarifArtifactChange {
            artifact_location: artifact_location(sources.file(s.span.source).path()),
            replacements: vec![SarifReplacement {
                deleted_region: region(s.span, sources),
                inserted_content: plain_message(&s.replacement),
            }],
        }],
    });
    SarifResult {
        rule_id: diagnostic.code.to_string(),
        rule_index,
        level: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        message: plain_message(message_text(diagnostic)),
        locations: vec![SarifLocation {
            id: None,
            physical_location: physical_location(diagnostic.primary.span, sources),
            message: (!diagnostic.primary.text.is_empty()).then(|| plain_message(&diagnostic.primary.text)),
        }],
        related_locations: related.collect(),
        fixes: fix.into_iter().collect(),
    }
}

fn message_text(diagnostic: &Diagnostic) -> String {
    let mut lines = vec![if diagnostic.primary.text.is_empty() {
        diagnostic.title.clone()
    } else {
        format!("{}: {}", diagnostic.title, diagnostic.primary.text)
    }];
    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));

    lines.join("\n")
}

fn plain_message(text: impl Into<String>) -> SarifMessage {
    SarifMessage { text: text.into() }
}

fn physical_location(span: Span, sources: &SourceMap) -> SarifPhysicalLocation {
    SarifPhysicalLocation {
        artifact_location: artifact_location(sources.file(span.source).path()),
        region: region(span, sources),
    }
}

fn artifact_location(path: &Path) -> SarifArtifactLocation {
    SarifArtifactLocation { uri: to_uri(path) }
}

fn region(span: Span, sources: &SourceMap) -> SarifRegion {
    let (start, end) = start_and_end(sources, span);
    SarifRegion {
        start_line: start.line,
        start_column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
