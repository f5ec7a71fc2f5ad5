//! Output to stdout and stderr.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use assize_diagnostic::{Diagnostic, DiagnosticCode, SourceMap, render};
use assize_engine::ExitStatus;
use assize_report::{JSON_MARK, MARKDOWN_MARK, ReportStyle, is_own_report, wrap_message};
use serde::Serialize;

use crate::args::{NamedReports, ReportFile, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;

/// True once something was printed to stdout. Programs expect a single document there.
static HAS_RESULT: AtomicBool = AtomicBool::new(false);

/// Why stdout stopped accepting results.
static STDOUT_FAILURE: OnceLock<String> = OnceLock::new();

/// Diagnostics of files that were read together.
pub(crate) type DiagnosedPart<'a> = (&'a [Diagnostic], &'a SourceMap);

/// Prints a result. A closed pipe (`| head`) is ignored. Text that a CI job would take for a command in its log
/// is escaped.
pub(crate) fn print(text: &str) {
    write_stdout(&assize_report::escape_commands(text));
}

/// Prints serialised JSON, or annotations for a CI job. Annotations are commands in the job's log, so texts in them are
/// escaped: they can't add further commands.
pub(crate) fn print_json_text(text: &str) {
    write_stdout(&assize_report::escape_commands_in_json(text));
}

/// Prints diagnostics as annotations for a CI job.
pub(crate) fn print_annotations<'a>(parts: impl Iterator<Item = DiagnosedPart<'a>>) {
    for (diagnostics, sources) in parts {
        print_json_text(&render::to_github(diagnostics, sources));
    }
}

/// Prints diagnostics as SARIF. `describe` returns what a code means.
pub(crate) fn print_sarif(
    parts: &[DiagnosedPart<'_>],
    describe: &dyn Fn(DiagnosticCode) -> Option<&'static str>,
) {
    let version = env!("CARGO_PKG_VERSION");
    let tool = render::ReportingTool { name: "assize", version, information_uri: None, describe };
    print_json_text(&render::to_sarif(parts, tool));
}

/// Prints the contents of a file unchanged, for a pipe. On a terminal, control characters are escaped as in
/// other texts; in the log of a CI job, commands in the text are an error.
pub(crate) fn print_contents(text: &str, context: &CliContext) -> Result<(), CommandFailure> {
    if io::stdout().is_terminal() {
        let lines: Vec<String> = text.split('\n').map(assize_report::escape_unsafe).collect();
        print(&lines.join("\n"));
        return Ok(());
    }

    if !takes_any_bytes(context) && assize_report::escape_commands(text) != text {
        return Err(
            "the text contains workflow commands, which this CI job would run from its log; write it to a file with `--out`"
                .into(),
        );
    }

    write_stdout(text);
    Ok(())
}

/// Returns true if stdout is neither a terminal nor the log of a CI job. Escape sequences could control either.
pub(crate) fn takes_any_bytes(context: &CliContext) -> bool {
    let in_ci = ["GITHUB_ACTIONS", "TF_BUILD"].iter().any(|name| context.process.variable(name).is_some());
    !io::stdout().is_terminal() && (!in_ci || is_regular_file())
}

/// Returns true if stdout is redirected to a file and so is no log.
fn is_regular_file() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;

        let handle = io::stdout().as_fd().try_clone_to_owned();
        handle.and_then(|handle| std::fs::File::from(handle).metadata()).is_ok_and(|found| found.is_file())
    }
    #[cfg(not(unix))]
    false
}

fn write_stdout(text: &str) {
    HAS_RESULT.store(true, Ordering::Relaxed);
    let mut stdout = io::stdout().lock();
    note_failure(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Keeps the first error of writing to stdout, for [`stdout_failure`]. A closed pipe is no error.
fn note_failure(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = STDOUT_FAILURE.set(error.to_string());
    }
}

/// Why results could not be written to stdout; `None` if they were.
pub(crate) fn stdout_failure() -> Option<String> {
    STDOUT_FAILURE.get().map(|reason| format!("the results could not be written to stdout: {reason}"))
}

/// Prints a JSON value as a result.
pub(crate) fn print_json(value: &serde_json::Value) {
    print_json_text(&format!("{value:#}\n"));
}

/// Prints a result as JSON or as text.
pub(crate) fn print_either(
    as_json: bool,
    json: impl FnOnce() -> serde_json::Value,
    text: impl FnOnce() -> String,
) {
    if as_json { print_json(&json()) } else { print(&text()) }
}

/// Prints a result as JSON, serialised piece by piece instead of as one string.
pub(crate) fn stream_json(value: &impl serde::Serialize) {
    HAS_RESULT.store(true, Ordering::Relaxed);
    let mut stdout = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let written = serde_json::to_writer_pretty(LogWriter(&mut stdout), value);
    note_failure(
        written.map_err(io::Error::from).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()),
    );
}

/// Returns true if something was printed to stdout.
pub(crate) fn has_result() -> bool {
    HAS_RESULT.load(Ordering::Relaxed)
}

/// Prints the failure of a command as one JSON object: the message, the exit code, and the diagnostics printed so far.
pub(crate) fn print_failure_json(message: &str, exit: ExitStatus, context: Option<&CliContext>) {
    let printed = context.map(|context| context.printed.lock());
    let diagnostics = printed.as_ref().map_or(&[][..], |printed| &printed[..]);
    let count = |severity| diagnostics.iter().filter(|one| one.severity == severity).count();
    print_json(&serde_json::json!({
        "error": message,
        "exit_code": exit.code(),
        "diagnostics": diagnostics,
        "errors": count("error"),
        "warnings": count("warning"),
    }));
}

/// Prints which report files were written.
pub(crate) fn print_written(files: &[ReportFile]) {
    for file in files {
        print_message(&format!("wrote {}\n", file.path.display()));
    }
}

/// Where a result goes as JSON: stdout with `--json`, and files of `--out`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultOutput<'a> {
    /// True if stdout gets a JSON object instead of tables.
    pub(crate) json: bool,
    /// True to not print which files were written.
    pub(crate) quiet: bool,
    /// The report files. Files in other formats than JSON are written elsewhere.
    pub(crate) out: &'a [ReportFile],
}

impl ResultOutput<'_> {
    /// Writes a result to its destinations, and prints the names of the written files, including files in
    /// other formats. Returns true if stdout got the result as JSON and therefore gets no tables.
    pub(crate) fn deliver<T: Serialize>(self, result: impl FnOnce() -> T) -> Result<bool, CommandFailure> {
        let is_printed = self.write(result)?;
        if !self.quiet {
            print_written(self.out);
        }

        Ok(is_printed)
    }

    fn write<T: Serialize>(self, result: impl FnOnce() -> T) -> Result<bool, CommandFailure> {
        let mut files = self.out.iter().filter(|file| file.format == ReportFormat::Json).peekable();
        if !self.json && files.peek().is_none() {
            return Ok(false);
        }

        let result = result();
        if self.json {
            stream_json(&result);
        }
        for file in files {
            let text = serde_json::to_string_pretty(&result)
                .map_err(|error| format!("{}: can't be written: {error}", file.path.display()))?;
            // The first entry marks the file as a report, so that the next one may replace it.
            write_text(&file.path, &(text.replacen('{', &format!("{{\n  {JSON_MARK},"), 1) + "\n"))?;
        }

        Ok(self.json)
    }
}

/// Refuses reports that would replace a file which Assize did not write, unless the user forces them.
pub(crate) fn refuse_foreign_files(reports: &NamedReports<'_>) -> Result<(), CommandFailure> {
    /// Number of bytes that are read to recognise a file.
    const BEGINNING: u64 = 16 * 1024;

    for path in reports.files.iter().filter(|path| !reports.force && path.is_file()) {
        let beginning = assize_files::read_beginning(path, BEGINNING);
        if !beginning.is_ok_and(|beginning| is_own_report(&beginning)) {
            let why = "exists, and is no report of Assize; replace it with `--force`, or name another file";
            return Err(format!("`{}` {why}", path.display()).into());
        }
    }

    Ok(())
}

/// Writes a report file atomically. Markdown begins with a comment that marks the file as a report.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), CommandFailure> {
    create_parent(path)?;
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let mark = if is_markdown && !text.starts_with(MARKDOWN_MARK) { "<!-- assize -->\n\n" } else { "" };
    assize_engine::write_report_file(path, |file| {
        let text = format!("{mark}{text}");
        file.write_all(text.as_bytes())
            .map_err(|error| format!("{}: can't be written: {error}", path.display()).into())
    })
}

/// Creates the folder of a report file.
pub(crate) fn create_parent(path: &Path) -> Result<(), CommandFailure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("can't create the folder `{}`: {error}", folder.display()))?;
    }

    Ok(())
}

/// Writer whose output contains no commands for a CI job. It gets JSON in pieces, and each fragment of a string whole.
struct LogWriter<W>(W);

impl<W: Write> Write for LogWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(piece).map_err(io::Error::other)?;
        self.0.write_all(assize_report::escape_commands_in_json(text).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints a message to stderr, which is part of the log of a CI job.
pub(crate) fn print_message(text: &str) {
    let mut stderr = io::stderr().lock();
    let text = assize_report::escape_commands(text);
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Prints an error message.
pub(crate) fn print_error(message: &str, context: &CliContext) {
    print_labelled("error", "\u{1b}[1;31m", message, context);
}

/// Prints a message with a coloured label, wrapped to the terminal.
fn print_labelled(label: &str, color: &str, message: &str, context: &CliContext) {
    let (on, off) = if context.stderr.color { (color, "\u{1b}[0m") } else { ("", "") };
    let text = wrap_message(&format!("{label}: {}", escape_message(message)), context.stderr);
    print_message(&format!("{on}{label}{off}{}\n", &text[label.len()..]));
}

/// Prints a notice, wrapped to the terminal.
pub(crate) fn print_notice(text: &str, context: &CliContext) {
    print_message(&wrap_message(text, context.stderr));
}

/// Prints plain text as a result, wrapped to the terminal.
pub(crate) fn print_text(text: &str, context: &CliContext) {
    print(&wrap_message(text, context.stdout));
}

/// Prints an error message before the style of stderr is known.
pub(crate) fn print_plain_error(message: &str) {
    print_message(&format!("error: {}\n", escape_message(message)));
}

/// Prints a warning.
pub(crate) fn print_warning(message: &str, context: &CliContext) {
    print_labelled("warning", "\u{1b}[1;33m", message, context);
}

/// Escapes control characters, because a message may quote files, servers and programs.
pub(crate) fn escape_message(message: &str) -> String {
    let lines: Vec<String> = message.split('\n').map(assize_report::escape_unsafe).collect();
    lines.join("\n")
}

/// Prints diagnostics to stderr, and keeps them for the JSON document of a failure.
pub(crate) fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap, context: &CliContext) {
    let report = render::json_report(diagnostics, sources);
    context.printed.lock().extend(report.diagnostics);

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
    render::to_text(
        diagnostics,
        sources,
        render::TextOptions {
            color: style.color,
            width: style.text_width(),
            wrap: style.width != ReportStyle::UNLIMITED,
        },
    )
}
