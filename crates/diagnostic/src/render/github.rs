//! GitHub workflow commands, which become annotations on the changed files.
//!
//! Format: "Workflow commands for GitHub Actions", `::error` and `::warning`. Data escapes `%`, CR
//! and LF; properties escape `:` and `,` as well.

use super::clean;
use super::place::{slashed, visible_range};
use crate::{Diagnostic, Severity, SourceMap};

/// Maximum number of characters of each part of a message.
const LIMIT: usize = 4_000;

/// Renders one workflow command a line for each diagnostic; the text is empty if there are none.
///
/// Lines and columns count from 1; the end column is the one after the last character. Columns are omitted
/// where a span has several lines, since GitHub rejects them there.
pub fn to_github(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| command(diagnostic, sources)).collect()
}

fn command(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let command = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let file = sources.file(diagnostic.primary.span.source);
    let range = visible_range(file, diagnostic.primary.span);
    let (start, end) = (file.position(range.start), file.position(range.end));
    let path = slashed(file.path());
    let path = property(path.strip_prefix("./").unwrap_or(&path));
    let columns = if start.line == end.line {
        format!(",col={},endColumn={}", start.column, end.column)
    } else {
        String::new()
    };
    let (line, end_line) = (start.line, end.line);
    let title = property(diagnostic.code.as_str());
    let message = data(&message(diagnostic));
    format!("::{command} file={path},line={line},endLine={end_line}{columns},title={title}::{message}\n")
}

fn message(diagnostic: &Diagnostic) -> String {
    let mut lines = vec![clean::line(&diagnostic.title, LIMIT)];
    if !diagnostic.primary.text.is_empty() {
        lines.push(clean::line(&diagnostic.primary.text, LIMIT));
    }
    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {}", clean::block(note, LIMIT))));
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {}", clean::block(help, LIMIT))));
    if let Some(suggestion) = &diagnostic.suggestion {
        let title = clean::line(&suggestion.title, LIMIT);
        let replacement = clean::block(&suggestion.replacement, LIMIT);
        lines.push(if replacement.is_empty() {
            format!("help: {title}")
        } else {
            format!("help: {title}: `{replacement}`")
        });
    }
    lines.join("\n")
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
