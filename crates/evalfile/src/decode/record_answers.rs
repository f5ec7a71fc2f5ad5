//! Answers in records of other tools: logs, results and datasets.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;
use assize_records::{RecordError, RecordFile, RecordFormat, detect_records, read_records};

use super::case_collector::CaseCollector;
use super::{DecodeContext, jsonl};

/// Maximum number of records without an answer that are named.
const MAX_NAMED: usize = 5;

/// Advice if some records can't be read.
const KEEP_GOING: &str =
    "write the others to a file and grade that: `assize convert FILE --to cases --keep-going -o cases.jsonl`";

/// Returns the format of a file of records. `Ok(None)` means that it is no such file, and should be read as
/// lines or as a table.
///
/// # Errors
/// After reporting that this kind of file is not supported.
pub(crate) fn find_format(cx: &mut DecodeContext, path: &Path) -> Result<Option<RecordFormat>, ()> {
    match detect_records(path) {
        Ok(format) => Ok(format),
        // The reader of lines has a better message.
        Err(RecordError::Unreadable(_)) => Ok(None),
        Err(error) => {
            refuse(cx, path, "this file holds no answers that are read", &error);
            Err(())
        }
    }
}

/// Reads the answers of a file of records. Records without an answer are invalid cases.
pub(crate) fn collect_records(
    cx: &mut DecodeContext,
    path: &Path,
    format: RecordFormat,
    collector: &mut CaseCollector,
) {
    let file = match read_records(path, format) {
        Ok(file) => file,
        Err(error) => {
            refuse(cx, path, &format!("{} can't be read", format.description()), &error);
            return;
        }
    };
    let source = cx.sources.add(path, "");
    let beginning = Span::new(source, 0, 0);
    for remark in &file.remarks {
        Diagnostic::warning(codes::RECORDS_REMARK, remark.clone())
            .at(beginning, format.description())
            .with_help("make sure that these are the answers that you want to grade")
            .add_to(&mut cx.problems);
    }
    report_problems(cx, path, &file);
    collector.broken += file.problems.len();
    if file.records.is_empty() {
        if file.problems.is_empty() {
            let help = match format {
                RecordFormat::SkillEvals => "add an eval with a `prompt` to the list `evals`",
                RecordFormat::Inspect => "a log without samples can't be graded",
                _ => "check that the other tool had finished when it wrote the file",
            };
            Diagnostic::error(codes::NO_CASES, "the file has no records")
                .at(beginning, format.description())
                .with_help(help)
                .add_to(&mut cx.problems);
        }
        return;
    }

    report_unanswered(cx, &file, beginning);
    collector.broken += file.unanswered().count();
    let mut lines = String::new();
    for answer in file.records.iter().filter_map(assize_records::Record::to_answer) {
        lines.push_str(&answer.to_string());
        lines.push('\n');
    }
    drop(file);

    jsonl::keep_cases(cx, path, &lines, collector);
}

fn refuse(cx: &mut DecodeContext, path: &Path, title: &str, error: &RecordError) {
    let source = cx.sources.add(path, "");
    let help = error.help().unwrap_or("write the file again with the tool that made it");
    Diagnostic::error(codes::RECORDS_UNREADABLE, title)
        .at(Span::new(source, 0, 0), error.to_string())
        .with_help(help)
        .add_to(&mut cx.problems);
}

/// Reports the records that can't be read, each at its line.
fn report_problems(cx: &mut DecodeContext, path: &Path, file: &RecordFile) {
    /// Maximum number of records that are reported one by one.
    const MAX_SHOWN: usize = 200;

    let has_answers = file.records.iter().any(|record| record.output.is_ok());
    let help =
        if has_answers { KEEP_GOING } else { "fix the file, or write it again with the tool that made it" };
    for (index, problem) in file.problems.iter().take(MAX_SHOWN).enumerate() {
        let source = cx.sources.add_fragment(path, "", problem.line);
        let title = match &problem.part {
            Some(part) => format!("`{part}` in the archive can't be read"),
            None => "a record can't be read".to_owned(),
        };
        let mut diagnostic = Diagnostic::error(codes::RECORDS_UNREADABLE, title)
            .at(Span::new(source, 0, 0), problem.why.clone());
        if index == 0 {
            if let Some(more) = file.problems.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
                diagnostic.notes.push(format!("and {more} more, which are not shown"));
            }
            diagnostic = diagnostic.with_help(help);
        }
        cx.problems.add(diagnostic);
    }
}

/// Reports the records without an answer. A missing answer is not the same as an empty one.
fn report_unanswered(cx: &mut DecodeContext, file: &RecordFile, at: Span) {
    let unanswered: Vec<_> = file.unanswered().collect();
    let Some((first, why)) = unanswered.first() else { return };
    let (count, total) = (unanswered.len(), file.records.len());
    let title = match (count, total) {
        (1, _) => format!("1 of {total} records has no answer"),
        _ => format!("{count} of {total} records have no answer"),
    };
    let mut diagnostic = Diagnostic::error(codes::NO_ANSWER, title).at(at, format!("`{}`: {why}", first.id));
    for (record, why) in unanswered.iter().take(MAX_NAMED).skip(1) {
        diagnostic.notes.push(format!("`{}`: {why}", record.id));
    }
    if count > MAX_NAMED {
        diagnostic.notes.push(format!("and {} more", count - MAX_NAMED));
    }
    let help = match (count == total, file.problems.is_empty()) {
        (true, _) => "for cases without answers, make an eval file of them: `assize convert FILE --to tests`",
        (_, true) => {
            "write the others to a file and grade that: `assize convert FILE --to cases -o cases.jsonl`"
        }
        (_, false) => KEEP_GOING,
    };
    cx.problems.add(diagnostic.with_help(help));
}
