//! Converts a file to another format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_document::{ParsedDocument, to_yaml};
use assize_evalfile::{
    LoadOptions, LoadedRubric, LoadedSuite, criterion_value, is_rubric_in_place_of_suite, load_rubric,
    read_rubric,
};
use assize_limits::excess_of_values;
use assize_load::{load_suite, read_suite};
use assize_model::{Case, EvalFileFormat, PanelSpec, RubricGrader, Suite, ThresholdOverrides};
use assize_rubric::{UnitInterval, VerdictThresholds};
use assize_scorecard::{LoadedScorecard, load_scorecard};
use assize_table::{TableError, TextEncoding, read_table};
use serde_json::{Value, json};

use crate::ConvertError;
use crate::compare::{differences, other_format};
use crate::csv::{CriteriaTable, CsvRow, read_table as read_csv, table_rows};
use crate::eval_file_builder::{EvalFileBuilder, simplify_settings};
use crate::formats::{FormatDirection, convert_format};
use crate::loaded::{broken_file, collect_cases};
use crate::note::ConversionNotes;
use crate::promptfoo::MatrixContent;
use crate::tree::{RequirementTree, flatten_tree, scorecard_value};
use crate::{
    ConversionNote, ImportFormat, devai, export, healthbench, paperbench, promptfoo, scorecard_tree,
};
pub(crate) use assize_limits::RECORD_BYTES as MAX_IMPORT_BYTES;

/// Format to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// An eval file in the `evalcases` format.
    Format1,
    /// An eval file in the `tests` format.
    Format2,
    /// A single-file scorecard.
    Scorecard,
    /// A promptfoo configuration.
    Promptfoo,
    /// HealthBench examples: one JSON object per line.
    HealthBench,
    /// A PaperBench tree, in JSON.
    PaperBench,
    /// A table of criteria.
    Csv,
}

impl ExportFormat {
    /// Returns the eval file format if the output is an eval file.
    const fn eval_file_format(self) -> Option<EvalFileFormat> {
        match self {
            Self::Format1 => Some(EvalFileFormat::One),
            Self::Format2 => Some(EvalFileFormat::Two),
            _ => None,
        }
    }

    /// Returns true if the output is a tree rather than a list of cases.
    const fn is_tree(self) -> bool {
        matches!(self, Self::Scorecard | Self::PaperBench)
    }
}

/// A converted file.
#[derive(Debug, Clone)]
pub struct ConvertedFile {
    /// Text of the file: YAML, JSON, JSON lines or CSV.
    pub text: String,
    /// Number of cases in it. 0 for a table of criteria without cases, and for the rubrics and benchmarks of a
    /// scorecard.
    pub cases: usize,
    /// Losses and remarks, in the order of the original file.
    pub notes: Vec<ConversionNote>,
    /// Warnings about the original file that the notes do not repeat.
    pub warnings: Vec<Diagnostic>,
    /// Texts that the warnings point into.
    pub sources: SourceMap,
}

impl ConvertedFile {
    fn new(text: String, cases: usize, notes: ConversionNotes) -> Self {
        Self { text, cases, notes: notes.into_list(), warnings: Vec::new(), sources: SourceMap::new() }
    }

    /// Adds the warnings among the diagnostics about the original.
    fn with_warnings(mut self, diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Self {
        self.warnings = diagnostics;
        self.warnings.retain(|found| found.severity == Severity::Warning);
        self.sources = sources;
        self
    }
}

/// Converts a file. `options` say where the files that it refers to are looked up.
///
/// Environment variables (`${{ NAME }}`) are not substituted. The new file refers to them like the original.
pub fn convert(
    path: &Path,
    from: ImportFormat,
    to: ExportFormat,
    options: &LoadOptions,
) -> Result<ConvertedFile, ConvertError> {
    let options = &keep_variables(options);
    let mut notes = ConversionNotes::new(path.to_path_buf());
    let name = document_name(path);
    let made = match from {
        ImportFormat::Suite => return convert_suite(path, to, options, notes),
        ImportFormat::Scorecard => {
            let LoadedScorecard { scorecard, diagnostics, sources, .. } = load_scorecard(path, options);
            let Some(card) = scorecard else { return Err(broken_file(path, diagnostics, sources)) };
            let tree = scorecard_tree::tree_from_scorecard(&card, &mut notes);
            let converted = write_content(path, ImportedContent::Tree(tree), from, to, options, notes)?;
            return Ok(converted.with_warnings(diagnostics, sources));
        }
        ImportFormat::PaperBench => {
            ImportedContent::Tree(paperbench::read_tree(&read_document(path)?, &name, &mut notes))
        }
        ImportFormat::DevAi => {
            ImportedContent::Tree(devai::read_tasks(&read_jsonl(path)?, &name, &mut notes))
        }
        ImportFormat::HealthBench => {
            ImportedContent::Doc(healthbench::read_examples(&read_jsonl(path)?, &name, &mut notes))
        }
        ImportFormat::Promptfoo => return convert_matrix(path, to, options, notes),
        ImportFormat::Csv => match read_csv(&read_rows(path, options.encoding)?, &name, &mut notes) {
            Ok(CriteriaTable::Cases(doc)) => ImportedContent::Doc(doc),
            Ok(CriteriaTable::Rubric(value)) => {
                return convert_rubric(path, &value, ImportFormat::Csv, to, notes);
            }
            Err(why) => return Err(ConvertError::Empty(path.to_path_buf(), why, notes.into_list())),
        },
    };
    write_content(path, made, from, to, options, notes)
}

/// Writes content that was read from a file of another tool or from a scorecard.
fn write_content(
    path: &Path,
    content: ImportedContent,
    from: ImportFormat,
    to: ExportFormat,
    options: &LoadOptions,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    match (content, to) {
        (ImportedContent::Tree(tree), to) if to.is_tree() => write_tree(path, &tree, from, to, notes),
        (ImportedContent::Tree(tree), to) => {
            let doc = flatten_tree(&tree, &mut notes);
            write_doc(path, doc, from.name(), to, options, notes)
        }
        (ImportedContent::Doc(doc), to) if to.is_tree() => {
            let loaded = read_suite(&path_for_check(path), &to_yaml(&doc.into_value(), 0), options);
            let tree = suite_tree(path, &loaded, &mut notes)?;
            write_tree(path, &tree, from, to, notes)
        }
        (ImportedContent::Doc(doc), to) => write_doc(path, doc, from.name(), to, options, notes),
    }
}

/// Returns options that leave references to environment variables as they are.
pub(crate) fn keep_variables(options: &LoadOptions) -> LoadOptions {
    LoadOptions { environment: Arc::new(|name| Some(format!("${{{{ {name} }}}}"))), ..options.clone() }
}

enum ImportedContent {
    Doc(EvalFileBuilder),
    Tree(RequirementTree),
}

/// Returns the comment at the beginning of every written file.
fn header_comment(path: &Path, from: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    format!("# Converted from `{name}` ({from}).\n")
}

pub(crate) fn document_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.strip_suffix(".eval").unwrap_or(&stem);
    let clean: String = stem.chars().filter(|c| !c.is_control()).collect();
    if clean.trim().is_empty() { "converted".to_owned() } else { clean }
}

/// Returns the path under which the new text is checked: beside the original file, with the extension of YAML.
fn path_for_check(path: &Path) -> PathBuf {
    path.with_extension("yaml")
}

fn read_text(path: &Path) -> Result<String, ConvertError> {
    assize_files::read_text_up_to(path, MAX_IMPORT_BYTES)
        .map_err(|error| ConvertError::Unreadable(path.to_path_buf(), error.to_string()))
}

/// Reads the rows of a table.
fn read_rows(path: &Path, encoding: Option<TextEncoding>) -> Result<Vec<CsvRow>, ConvertError> {
    let unreadable = |why| ConvertError::Unreadable(path.to_path_buf(), why);
    let table = read_table(path, encoding, MAX_IMPORT_BYTES).map_err(|error| match error {
        TableError::Unreadable(_) | TableError::Row(_) => unreadable(error.to_string()),
        error => unreadable(format!("{error}\n{}", error.help())),
    })?;

    table_rows(table).map_err(|why| ConvertError::Empty(path.to_path_buf(), why, Vec::new()))
}

fn read_document(path: &Path) -> Result<ParsedDocument, ConvertError> {
    ParsedDocument::parse(path, &read_text(path)?)
        .map_err(|(diagnostics, sources)| broken_file(path, diagnostics, sources))
}

/// Reads the objects in a JSONL file, with their line numbers.
fn read_jsonl(path: &Path) -> Result<Vec<(usize, Value)>, ConvertError> {
    let text = read_text(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Some(reason) = excess_of_values(line) {
            let why = format!("line {} is too large: {reason}", index + 1);
            return Err(ConvertError::Empty(path.to_path_buf(), why, Vec::new()));
        }
        match serde_json::from_str(line) {
            Ok(value) => values.push((index + 1, value)),
            Err(error) => {
                let why = format!("line {} is not valid JSON: {error}", index + 1);
                return Err(ConvertError::Empty(path.to_path_buf(), why, Vec::new()));
            }
        }
    }

    Ok(values)
}

/// Converts a file of prompts, providers and tests. Compares the new file with the suite that a run of the
/// original has.
fn convert_matrix(
    path: &Path,
    to: ExportFormat,
    options: &LoadOptions,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    let MatrixContent { doc, suite: original, cases, warnings, sources } =
        promptfoo::read_config(path, options, &mut notes)?;
    let name = ImportFormat::Promptfoo.name();
    let text = to_yaml(&doc.clone().into_value(), 0);
    let lowered = read_suite(&path_for_check(path), &text, options);
    if to.is_tree() {
        let tree = suite_tree(path, &lowered, &mut notes)?;
        let converted = write_tree(path, &tree, ImportFormat::Promptfoo, to, notes)?;
        return Ok(converted.with_warnings(warnings, sources));
    }
    report_errors(path, &lowered, &mut notes)?;
    if let Some(suite) = &lowered.suite {
        let new = collect_cases(path, &lowered)?;
        note_differences(differences((&original, &cases), (suite, &new)), &mut notes);
    }

    Ok(write_doc(path, doc, name, to, options, notes)?.with_warnings(warnings, sources))
}

fn convert_suite(
    path: &Path,
    to: ExportFormat,
    options: &LoadOptions,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    let loaded = load_suite(path, options);
    if loaded.suite.is_none() {
        // A rubric file has criteria but no cases.
        let rubric = load_rubric(path, options);
        if let Some(grader) = rubric.rubric.as_ref().filter(|_| !rubric.has_errors()) {
            let value = rubric_value(&rubric, grader, &mut notes);
            let converted = convert_rubric(path, &value, ImportFormat::Suite, to, notes)?;
            return Ok(converted.with_warnings(rubric.diagnostics, rubric.sources));
        }
        if is_rubric_in_place_of_suite(&loaded.diagnostics) {
            return Err(broken_file(path, rubric.diagnostics, rubric.sources));
        }
    }

    if loaded.has_errors() || loaded.suite.is_none() {
        return Err(broken_file(path, loaded.diagnostics, loaded.sources));
    }

    let converted = convert_loaded_suite(path, &loaded, to, options, notes)?;
    Ok(converted.with_warnings(loaded.diagnostics, loaded.sources))
}

fn convert_loaded_suite(
    path: &Path,
    loaded: &LoadedSuite,
    to: ExportFormat,
    options: &LoadOptions,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    let cases = collect_cases(path, loaded)?;
    let Some(original) = &loaded.suite else {
        return Err(broken_file(path, loaded.diagnostics.clone(), loaded.sources.clone()));
    };
    let Some(target) = to.eval_file_format() else {
        if to.is_tree() {
            let tree = suite_tree(path, loaded, &mut notes)?;
            return write_tree(path, &tree, ImportFormat::Suite, to, notes);
        }
        note_own_keys_of_file(path, &mut notes)?;
        return write_other(path, original, &cases, ImportFormat::Suite.name(), to, notes);
    };

    let direction = FormatDirection { from: original.format, to: target };
    let is_lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
    let value = if is_lines {
        let lines = read_jsonl(path)?;

        if !original.graders.is_empty() || original.settings != assize_model::SuiteSettings::default() {
            notes.add_loss(None, "settings", "the settings file of the dataset is not converted");
        }

        let key = if original.format == EvalFileFormat::One { "evalcases" } else { "tests" };
        let line = |pointer: &str| {
            let index = pointer.split('/').nth(2).and_then(|part| part.parse::<usize>().ok());
            index.and_then(|index| lines.get(index)).map_or(1, |(line, _)| *line)
        };
        let cases: Vec<Value> = lines.iter().map(|(_, value)| value.clone()).collect();
        convert_format(&json!({"name": original.name, key: cases}), direction, &line, &mut notes)
    } else {
        let document = read_document(path)?;
        match document.value() {
            same if direction.from == direction.to => same,
            value => convert_format(&value, direction, &|pointer| document.line(pointer), &mut notes),
        }
    };

    if direction.from == direction.to {
        notes.add_remark(None, "format", "it is already in this format; comments and layout are not kept");
    }

    let number = original.format.case_list();
    let text = format!("{}{}", header_comment(path, &format!("the `{number}` format")), to_yaml(&value, 0));
    let again = read_suite(&path_for_check(path), &text, options);
    report_errors(path, &again, &mut notes)?;

    if let Some(converted) = &again.suite {
        let new = collect_cases(path, &again)?;
        for difference in differences((original, &cases), (converted, &new)) {
            notes.add_loss(None, "meaning", difference);
        }
    }

    Ok(ConvertedFile::new(text, again.cases.len(), notes))
}

/// Adds notes about differences in meaning. A difference that many cases share is noted once.
fn note_differences(differences: Vec<String>, notes: &mut ConversionNotes) {
    let mut found: Vec<(String, String, usize)> = Vec::new();
    for difference in differences {
        let (case, what) = difference.split_once(": ").unwrap_or(("", &difference));
        match found.iter_mut().find(|(_, known, _)| known == what) {
            Some((_, _, count)) => *count += 1,
            None => found.push((case.to_owned(), what.to_owned(), 1)),
        }
    }
    for (case, what, count) in found {
        let more = if count > 1 { format!(" ({count} cases)") } else { String::new() };
        notes.add_loss(None, "meaning", format!("{case}: {what}{more}"));
    }
}

/// Adds notes about the user's own keys in an eval file.
fn note_own_keys_of_file(path: &Path, notes: &mut ConversionNotes) -> Result<(), ConvertError> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl")) {
        for (line, value) in read_jsonl(path)? {
            export::note_own_keys(&value, &|_| line, notes);
        }
    } else {
        let document = read_document(path)?;
        export::note_own_keys(&document.value(), &|pointer| document.line(pointer), notes);
    }

    Ok(())
}

fn suite_tree(
    path: &Path,
    loaded: &LoadedSuite,
    notes: &mut ConversionNotes,
) -> Result<RequirementTree, ConvertError> {
    let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
        return Err(broken_file(path, loaded.diagnostics.clone(), loaded.sources.clone()));
    };
    Ok(scorecard_tree::tree_from_suite(suite, &collect_cases(path, loaded)?, notes))
}

/// Adds the errors of a new file to the losses, and returns an error if it can't be loaded at all. Importers
/// write valid files, so there are errors only if an importer has a bug.
fn report_errors(path: &Path, loaded: &LoadedSuite, notes: &mut ConversionNotes) -> Result<(), ConvertError> {
    if loaded.has_errors() || loaded.suite.is_none() {
        let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        for error in errors {
            notes.add_loss(None, "new file", format!("{}: {}", error.title, error.primary.text));
        }

        if loaded.suite.is_none() {
            return Err(broken_file(path, loaded.diagnostics.clone(), loaded.sources.clone()));
        }
    }
    Ok(())
}

fn nothing_converted(path: &Path, notes: ConversionNotes) -> ConvertError {
    let why = "nothing in it could be converted".to_owned();
    ConvertError::Empty(path.to_path_buf(), why, notes.into_list())
}

pub(crate) fn write_doc(
    path: &Path,
    doc: EvalFileBuilder,
    from: &str,
    to: ExportFormat,
    options: &LoadOptions,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    if doc.cases.is_empty() {
        return Err(nothing_converted(path, notes));
    }

    let mut value = doc.into_value();
    if to.eval_file_format().is_none() {
        let loaded = read_suite(&path_for_check(path), &to_yaml(&value, 0), options);
        let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
            return Err(broken_file(path, loaded.diagnostics, loaded.sources));
        };
        return write_other(path, suite, &collect_cases(path, &loaded)?, from, to, notes);
    }

    if to == ExportFormat::Format1 {
        let direction = FormatDirection { from: EvalFileFormat::Two, to: other_format(EvalFileFormat::Two) };
        value = convert_format(&value, direction, &|_| 1, &mut notes);
    }

    let text = format!("{}{}", header_comment(path, from), to_yaml(&value, 0));
    let again = read_suite(&path_for_check(path), &text, options);
    report_errors(path, &again, &mut notes)?;

    Ok(ConvertedFile::new(text, again.cases.len(), notes))
}

/// Writes the cases of a suite in the format of another tool.
fn write_other(
    path: &Path,
    suite: &Suite,
    cases: &[Case],
    from: &str,
    to: ExportFormat,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    let (text, cases) = match to {
        ExportFormat::Csv => export::csv(suite, cases, &mut notes),
        ExportFormat::HealthBench => export::healthbench(suite, cases, &mut notes),
        _ => {
            let (mut value, tests) = export::promptfoo(suite, cases, &mut notes);
            simplify_settings(&mut value);
            (format!("{}{}", header_comment(path, from), to_yaml(&value, 0)), tests)
        }
    };
    if cases == 0 {
        return Err(nothing_converted(path, notes));
    }

    Ok(ConvertedFile::new(text, cases, notes))
}

fn write_tree(
    path: &Path,
    tree: &RequirementTree,
    from: ImportFormat,
    to: ExportFormat,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    if to == ExportFormat::Scorecard {
        return write_card(path, tree, from, notes);
    }
    if tree.root.parts.is_empty() {
        return Err(nothing_converted(path, notes));
    }

    let text = export::paperbench(tree, &mut notes);
    Ok(ConvertedFile::new(text, 0, notes))
}

fn write_card(
    path: &Path,
    tree: &RequirementTree,
    from: ImportFormat,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    let value = scorecard_value(tree, &mut notes);
    if value["rubrics"].as_array().is_none_or(Vec::is_empty) {
        return Err(nothing_converted(path, notes));
    }

    let text = format!("{}{}", header_comment(path, from.name()), to_yaml(&value, 0));
    Ok(ConvertedFile::new(text, 0, notes))
}

/// Returns a rubric file in the spelling of the `tests` format. Adds notes about settings that can't be written
/// elsewhere.
fn rubric_value(loaded: &LoadedRubric, grader: &RubricGrader, notes: &mut ConversionNotes) -> Value {
    let RubricGrader { rubric, places: _, marks: _, instructions, judging, evidence, truncate, judge, panel } =
        grader;
    let settings = [
        ("prompt", instructions.is_some()),
        ("judging", judging.is_some()),
        ("evidence", evidence.is_some()),
        ("truncate", truncate.is_some()),
        ("judge", judge.is_some()),
        ("panel", *panel != PanelSpec::default()),
    ];
    for (key, _) in settings.into_iter().filter(|(_, is_set)| *is_set) {
        notes.add_loss(None, key, "not converted: a setting of the judge, which you can add to the result");
    }

    let mut value = json!({"name": loaded.name});
    if let Some(description) = &loaded.description {
        value["description"] = json!(description);
    }

    let ThresholdOverrides { pass, borderline } = loaded.thresholds;
    if let Some(pass) = pass {
        value["threshold"] = json!(pass.get());
    }
    // Only the `evalcases` format has a default borderline threshold, so it must be written out.
    let pass = pass.map_or(VerdictThresholds::DEFAULT_PASS, UnitInterval::get);
    let by_default = loaded.format.choose(Some(VerdictThresholds::DEFAULT_BORDERLINE.min(pass)), None);
    if let Some(borderline) = borderline.map(UnitInterval::get).or(by_default) {
        value["borderline"] = json!(borderline);
    }

    let criteria = rubric.criteria().iter().map(|criterion| criterion_value(criterion, EvalFileFormat::Two));
    value["criteria"] = criteria.collect();
    value
}

/// Converts a rubric without cases to a rubric file, to a scorecard with one rubric, or to a case that is named
/// after it.
fn convert_rubric(
    path: &Path,
    value: &Value,
    from: ImportFormat,
    to: ExportFormat,
    mut notes: ConversionNotes,
) -> Result<ConvertedFile, ConvertError> {
    if to.eval_file_format().is_none() {
        let mut case = json!({"name": value["name"], "tests": [{"id": value["name"], "input": value["name"], "assertions": [{"type": "rubrics", "criteria": value["criteria"]}]}]});
        for key in ["description", "threshold", "borderline"] {
            if let Some(setting) = value.get(key) {
                case[key] = setting.clone();
            }
        }

        let options = LoadOptions { environment: Arc::new(|_| None), ..LoadOptions::new(".") };
        let loaded = read_suite(&path_for_check(path), &to_yaml(&case, 0), &options);
        if to.is_tree() {
            let tree = suite_tree(path, &loaded, &mut notes)?;
            return write_tree(path, &tree, from, to, notes);
        }

        let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
            return Err(broken_file(path, loaded.diagnostics, loaded.sources));
        };
        let cases = collect_cases(path, &loaded)?;
        if to == ExportFormat::Csv {
            let (text, rubrics) = export::csv_rubric(&cases, &mut notes);
            return match rubrics {
                0 => Err(nothing_converted(path, notes)),
                _ => Ok(ConvertedFile::new(text, 0, notes)),
            };
        }

        notes.add_loss(
            None,
            "question",
            "the rubric belongs to no case; its name is used as the question of one",
        );
        return write_other(path, suite, &cases, from.name(), to, notes);
    }

    let mut value = value.clone();
    simplify_settings(&mut value);
    if to == ExportFormat::Format1 {
        let direction = FormatDirection { from: EvalFileFormat::Two, to: EvalFileFormat::One };
        let graders = json!({"name": "t", "tests": [{"id": "t", "assertions": [{"type": "rubrics", "criteria": value["criteria"]}]}]});
        let converted = convert_format(&graders, direction, &|_| 1, &mut notes);
        // A borderline threshold equal to the pass threshold has no effect.
        let pass = value.get("threshold").cloned().unwrap_or_else(|| json!(VerdictThresholds::DEFAULT_PASS));
        let borderline = value.get("borderline").cloned().unwrap_or(pass);
        if let Some(head) = value.as_object_mut() {
            head.remove("criteria");
            head.insert("borderline".to_owned(), borderline);
            head.insert(
                "rubrics".to_owned(),
                converted.pointer("/evalcases/0/execution/evaluators/0/rubrics").cloned().unwrap_or_default(),
            );
        }
    }

    let text = format!("{}{}", header_comment(path, from.name()), to_yaml(&value, 0));
    let loaded = read_rubric(&path_for_check(path), &text);
    if loaded.has_errors() {
        return Err(broken_file(path, loaded.diagnostics, loaded.sources));
    }

    notes.add_remark(
        None,
        "rubric",
        "belongs to no case: written as a rubric file, for `assize grade RUBRIC --answers FILE`",
    );
    Ok(ConvertedFile::new(text, 0, notes))
}
