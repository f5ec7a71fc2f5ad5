//! GitHub workflow commands, which become annotations on the changed files.
//!
//! The format is described in "Workflow commands for GitHub Actions" (`::error` and `::warning`). Data escapes
//! `%`, CR and LF; properties escape `:` and `,` as well.

use super::location::{forward_slashes, visible_range};
use super::sanitize;
use crate::{Diagnostic, Severity, SourceMap};

/// Maximum number of characters of each part of a message.
const MAX_PART_LENGTH: usize = 4_000;

/// Renders one workflow command per line and diagnostic. Empty if there are no diagnostics.
///
/// Lines and columns count from 1, and the end column is the one after the last character. Columns are omitted if a
/// span has several lines, because GitHub rejects columns of such spans.
pub fn to_github(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| format_command(diagnostic, sources)).collect()
}

fn format_command(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let file = sources.file(diagnostic.primary.span.source);
    let range = visible_range(file, diagnostic.primary.span);
    let (start, end) = (file.position(range.start), file.position(range.end));
    let path = forward_slashes(file.path());
    let columns = if start.line == end.line {
        format!(",col={},endColumn={}", start.column, end.column)
    } else {
        String::new()
    };

    let place = format!("{},endLine={}{columns}", format_place(&path, start.line), end.line);
    format_line(command, &place, diagnostic.code.as_str(), &format_message(diagnostic))
}

/// Renders a workflow command (`error`, `warning` or `notice`) about a line of a file, or without a file. Title
/// and text are escaped for GitHub, but must not contain characters that control a terminal.
pub fn github_command(
    command: &'static str,
    place: Option<(&str, usize)>,
    title: &str,
    text: &str,
) -> String {
    let place = place.map(|(path, line)| format_place(path, line)).unwrap_or_default();
    format_line(command, &place, title, text)
}

fn format_place(path: &str, line: usize) -> String {
    format!("file={},line={line}", escape_property(path.strip_prefix("./").unwrap_or(path)))
}

fn format_line(command: &str, place: &str, title: &str, text: &str) -> String {
    let comma = if place.is_empty() { "" } else { "," };
    format!("::{command} {place}{comma}title={}::{}\n", escape_property(title), escape_data(text))
}

fn format_message(diagnostic: &Diagnostic) -> String {
    let block = |text: &String| sanitize::sanitize_block(text, MAX_PART_LENGTH);
    let mut lines = vec![sanitize::sanitize_line(&diagnostic.title, MAX_PART_LENGTH)];
    if !diagnostic.primary.text.is_empty() {
        lines.push(sanitize::sanitize_line(&diagnostic.primary.text, MAX_PART_LENGTH));
    }

    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {}", block(note))));
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {}", block(help))));

    if let Some(suggestion) = &diagnostic.suggestion {
        let title = sanitize::sanitize_line(&suggestion.title, MAX_PART_LENGTH);
        let replacement = block(&suggestion.replacement);
        lines.push(if replacement.is_empty() {
            format!("help: {title}")
        } else {
            format!("help: {title}: `{replacement}`")
        });
    }

    lines.join("\n")
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
