//! Loading of answers that are graded against a rubric, without a suite.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;
use assize_model::{
    Case, CaseId, FilePosition, GivenOutput, Grader, GraderKind, RubricGrader, Suite, SuiteSettings,
};
use assize_records::RecordFormat;
use assize_rubric::{CaseMessage, GraderWeighting, MessageRole};
use assize_table::{Sheet, SheetPath, TableError, TextEncoding, TextSource, open_text_table};

use crate::decode::load_context;
use crate::decode::{
    AnswerColumns, AnswerFormat, AnswerTable, CaseCollector, DecodeContext, LoadedRubric, SuiteDefaults,
    add_fault, collect_answer_sheet, collect_records, find_format, first_text, is_text_table, jsonl,
    load_answer_sheet,
};
use crate::load_options::LoadOptions;
use crate::loaded_suite::LoadedSuite;

/// Loads a file of answers as the cases of a suite whose only grader is the rubric. The file may be JSONL, a
/// CSV or TSV table, a sheet of a spreadsheet (`answers.xlsx`, `answers.xlsx#Sheet`), a Parquet file, or
/// records of another tool. Records are recognised by their content, unless columns are named.
///
/// Each line or row has an `answer`, and optionally `id`, `question`, `reference`, `expected_outcome`, `tags`,
/// `file_changes` and `metadata`, each under this name, under another usual one, or under the one that
/// `columns` gives. Any other key is an error. The rubric must be valid; otherwise the result has no suite.
pub fn load_answers(
    path: &Path,
    columns: &AnswerColumns,
    rubric: &LoadedRubric,
    options: &LoadOptions,
) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let mut loaded = None;
    if let Some(grader) = &rubric.rubric {
        cx.format = rubric.format;
        let (suite, grader) = suite_for_rubric(rubric, grader, path);
        let (table, content) = open_answers(&mut cx, path, columns, options.encoding);
        let defaults = SuiteDefaults {
            graders: vec![Arc::new(grader)],
            input: Vec::new(),
            broken: false,
            files: Vec::new(),
            preprocessors: Arc::default(),
            container: None,
            answers: Some(AnswerFormat { columns: columns.clone(), table }),
        };

        let mut collector = CaseCollector::new(defaults, cx.problems.error_count());
        match content {
            AnswerContent::Unreadable => {}
            AnswerContent::Records(format) => collect_records(&mut cx, path, format, &mut collector),
            AnswerContent::Sheet(path, sheet) => collect_answer_sheet(&mut cx, &path, &sheet, &mut collector),
            AnswerContent::Text(text) => jsonl::keep_rows(&mut cx, path, &text, &mut collector),
            AnswerContent::Lines => {
                if !refuse_array(&mut cx, path)
                    && let Some(dataset) = jsonl::check_dataset(&mut cx, path, None, &mut collector)
                {
                    collector.add_dataset(dataset);
                }
            }
        }

        loaded = Some((suite, collector.into_cases()));
    }

    LoadedSuite::new(cx, loaded)
}

/// Returns the path of the answers file, without the `#Sheet` that the path of a spreadsheet may end with.
pub fn answers_file(path: &Path) -> Cow<'_, Path> {
    SheetPath::parse(path).map_or(Cow::Borrowed(path), |sheet| Cow::Owned(sheet.file))
}

/// Content of a file of answers.
enum AnswerContent {
    /// Lines of JSON, or rows of a table, which are read one by one.
    Lines,
    /// The text of a table in another encoding than UTF-8.
    Text(String),
    /// Records of another tool.
    Records(RecordFormat),
    /// A sheet of a spreadsheet, or a Parquet file.
    Sheet(SheetPath, Box<Sheet>),
    /// The file can't be read; the error has been reported.
    Unreadable,
}

/// Opens a file of answers and determines its kind, including the layout of a table.
fn open_answers(
    cx: &mut DecodeContext,
    path: &Path,
    columns: &AnswerColumns,
    encoding: Option<TextEncoding>,
) -> (Option<AnswerTable>, AnswerContent) {
    if let Some(path) = SheetPath::parse(path) {
        return match load_answer_sheet(cx, &path, columns) {
            Some((table, sheet)) => (Some(table), AnswerContent::Sheet(path, Box::new(sheet))),
            None => (None, AnswerContent::Unreadable),
        };
    }

    let is_plain = *columns == AnswerColumns::default();
    let records = if is_plain { find_format(cx, path) } else { Ok(None) };
    match records {
        Err(()) => return (None, AnswerContent::Unreadable),
        Ok(Some(format)) => return (None, AnswerContent::Records(format)),
        Ok(None) if !is_text_table(path) => return (None, AnswerContent::Lines),
        Ok(None) => {}
    }

    let (source, beginning) = match open_text_table(path, encoding) {
        Ok(opened) => opened,
        Err(TableError::Row(row)) => {
            add_fault(cx, &Arc::from(path), row.number, &row.fault, true);
            return (None, AnswerContent::Unreadable);
        }
        Err(TableError::Unreadable(error)) if error.kind() == ErrorKind::FileTooLarge => {
            let source = cx.sources.add(path, "");
            Diagnostic::error(codes::FILE_TOO_LARGE, "the table is too large for its encoding")
                .at(Span::new(source, 0, 0), error.to_string())
                .with_help("save it as UTF-8; such tables may have any size")
                .add_to(&mut cx.problems);
            return (None, AnswerContent::Unreadable);
        }
        // The lines are opened once more, which reports the error.
        Err(_) => return (None, AnswerContent::Lines),
    };
    match AnswerTable::read(cx, path, &beginning, columns) {
        Some(table) => {
            let content = match source {
                TextSource::File(_) => AnswerContent::Lines,
                TextSource::Decoded(text) => AnswerContent::Text(text),
            };
            (Some(table), content)
        }
        None => (None, AnswerContent::Unreadable),
    }
}

/// Refuses a file that is one JSON array, and returns true if it did. Read line by line as JSONL, every line of
/// it would get a misleading error.
fn refuse_array(cx: &mut DecodeContext, path: &Path) -> bool {
    let Some(line) = first_text(path).filter(|line| line.trim_start().starts_with('[')) else {
        return false;
    };
    // A one-line array in a file that is not `.json` is more likely a line that is a list by mistake. The line
    // decoder reports it.
    if line.trim_end().ends_with(']') && path.extension().is_none_or(|ending| ending != "json") {
        return false;
    }

    let source = cx.sources.add_fragment(path, &*line, 1);
    let end = line.len();
    Diagnostic::error(codes::NOT_SUPPORTED, "this file is a JSON array, not JSON lines")
        .at(Span::new(source, 0, end), "the array begins here")
        .with_help("write one object on each line, without brackets and commas: `jq -c '.[]' FILE`")
        .add_to(&mut cx.problems);
    true
}

/// A given answer with the context that a judge may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GivenAnswer {
    /// Text of the answer.
    pub text: String,
    /// Question that the answer is about.
    pub question: Option<String>,
    /// Reference answer.
    pub reference: Option<String>,
    /// Expected outcome, in a sentence.
    pub expected_outcome: Option<String>,
}

/// Returns one answer as the only case, with the id `id`, of a suite whose only grader is the rubric.
/// Environment variables are not substituted in the texts. Returns `None` for a rubric with errors.
pub fn suite_from_answer(rubric: &LoadedRubric, id: &str, answer: &GivenAnswer) -> Option<(Suite, Case)> {
    let decoded = rubric.rubric.as_deref()?;
    let message = |role: MessageRole, text: &Option<String>| -> Vec<CaseMessage> {
        text.iter().map(|text| CaseMessage::text(role, text.clone())).collect()
    };
    let (suite, grader) = suite_for_rubric(rubric, decoded, Path::new(&rubric.name));
    let case = Case {
        input: message(MessageRole::User, &answer.question),
        expected_outcome: answer.expected_outcome.clone(),
        expected_output: message(MessageRole::Assistant, &answer.reference),
        output: Some(GivenOutput::Text(answer.text.clone())),
        ..Case::new(CaseId::new(id), grader.place.clone(), vec![Arc::new(grader)])
    };

    Some((suite, case))
}

/// Returns a suite for the rubric, and the rubric as its grader. `path` is the file of the cases.
fn suite_for_rubric(rubric: &LoadedRubric, decoded: &RubricGrader, path: &Path) -> (Suite, Grader) {
    let grader = Grader {
        name: rubric.name.clone(),
        type_name: "rubrics".to_owned(),
        weighting: GraderWeighting::default(),
        place: decoded.places.first().cloned().unwrap_or_else(|| FilePosition::new(path, 1, 1)),
        kind: GraderKind::Rubric(decoded.clone()),
    };

    let suite = Suite {
        description: rubric.description.clone(),
        settings: SuiteSettings { thresholds: rubric.thresholds, ..SuiteSettings::default() },
        variables: rubric.variables.clone(),
        ..Suite::new(rubric.format, rubric.name.clone(), path)
    };
    (suite, grader)
}
