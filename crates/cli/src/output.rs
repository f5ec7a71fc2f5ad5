//! Output to stdout and stderr.

use std::io::Write;

use assize_diagnostic::{Diagnostic, SourceMap, render};
use assize_report::ReportStyle;

use crate::context::CliContext;

/// Prints a result. A closed pipe (`| head`) is ignored.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Prints a JSON value as a result.
pub(crate) fn print_json(value: &serde_json::Value) {
    print(&format!("{value:#}\n"));
}

/// Prints a result as JSON, serialised in pieces instead of as one string.
pub(crate) fn stream_json(value: &impl serde::Serialize) {
    let mut stdout = std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
    let _ = serde_json::to_writer_pretty(&mut stdout, value);
    let _ = stdout.write_all(b"\n").and_then(|()| stdout.flush());
}

/// Prints a message to stderr.
pub(crate) fn print_message(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Prints an error message.
pub(crate) fn print_error(message: &str, context: &CliContext) {
    let (on, off) = if context.stderr.color { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
    print_message(&format!("{on}error{off}: {}\n", escape_message(message)));
}

/// Prints an error message before the style of stderr is known.
pub(crate) fn print_plain_error(message: &str) {
    print_message(&format!("error: {}\n", escape_message(message)));
}

/// Prints a warning.
pub(crate) fn print_warning(message: &str, context: &CliContext) {
    let (on, off) = if context.stderr.color { ("\u{1b}[1;33m", "\u{1b}[0m") } else { ("", "") };
    print_message(&format!("{on}warning{off}: {}\n", escape_message(message)));
}

/// Escapes control characters, because a message may quote files, servers and programs.
fn escape_message(message: &str) -> String {
    let lines: Vec<String> = message.split('\n').map(assize_report::escape_unsafe).collect();
    lines.join("\n")
}

/// Prints diagnostics to stderr.
pub(crate) fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap, context: &CliContext) {
    if !diagnostics.is_empty() {
        print_message(&format!("{}\n", render_diagnostics(diagnostics, sources, context.stderr)));
    }
}

/// Formats diagnostics as text.
pub(crate) fn render_diagnostics(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    style: ReportStyle,
) -> String {
    render::to_text(diagnostics, sources, render::TextOptions { color: style.color, width: style.width })
}
