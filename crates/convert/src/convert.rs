//! Conversion of one file to another format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_evalfile::{
    Case, Document, Format, LoadOptions, LoadedSuite, Suite, criterion_value, load_rubric, load_scorecard,
    load_suite, read_rubric, read_suite, yaml,
};
use serde_json::{Value, json};

use crate::compare::{differences, other};
use crate::csv::{Table, read as read_csv};
use crate::doc::EvalDoc;
use crate::formats::{Way, suite};
use crate::note::Notes;
use crate::tree::{Tree, flat, scorecard};
use crate::{From, Note, card, devai, export, healthbench, paperbench, promptfoo};

/// Format to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// An eval file of format 1 (`evalcases`).
    Format1,
    /// An eval file of format 2 (`tests`, `assertions`).
    Format2,
    /// A scorecard in one file.
    Scorecard,
    /// A promptfoo configuration.
    Promptfoo,
    /// HealthBench examples: one JSON object a line.
    HealthBench,
    /// A PaperBench tree: JSON.
    PaperBench,
    /// A table of criteria.
    Csv,
}

impl To {
    /// Returns the eval file format if the output is an eval file.
    const fn format(self) -> Option<Format> {
        match self {
            Self::Format1 => Some(Format::One),
            Self::Format2 => Some(Format::Two),
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
pub struct Converted {
    /// Text of the file: YAML, JSON, JSON lines or CSV.
    pub text: String,
    /// Number of cases in it; 0 for a table of criteria without cases and for the rubrics and benchmarks of a
    /// scorecard.
    pub cases: usize,
    /// Losses and remarks, in the order of the original.
    pub notes: Vec<Note>,
}

/// Failure of a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The file cannot be read.
    #[error("{}: can't be read: {why}", .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    /// The format of the file is not recognised.
    #[error("{}: nothing that is known; name its kind", .0.display())]
    Unknown(PathBuf),
    /// The file has errors of its own.
    #[error("{}: has problems; nothing was converted", .0.display())]
    Broken(PathBuf, Vec<Diagnostic>, Box<SourceMap>),
    /// The format is recognised, but nothing in the file can be converted.
    #[error("{}: {why}", .0.display(), why = .1)]
    Nothing(PathBuf, String, Vec<Note>),
}

/// Converts a file. `options` say where the files it refers to are looked up.
///
/// Environment variables (`${{ NAME }}`) are not substituted: the new file refers to them as the old one
/// does.
pub fn convert(path: &Path, from: From, to: To, options: &LoadOptions) -> Result<Converted, ConvertError> {
    let options =
        &LoadOptions { environment: Arc::new(|name| Some(format!("${{{{ {name} }}}}"))), ..options.clone() };
    let mut notes = Notes::new(path.to_path_buf());
    let name = name_of(path);
    let made = match from {
        From::Suite => return from_suite(path, to, options, notes),
        From::Scorecard => {
            let loaded = load_scorecard(path, options);
            let card = loaded.scorecard.ok_or_else(|| broken(path, loaded.diagnostics, loaded.sources))?;
            Made::Tree(card::of_scorecard(&card, &mut notes))
        }
        From::PaperBench => Made::Tree(paperbench::read(&document(path)?, &name, &mut notes)),
        From::DevAi => Made::Tree(devai::read(&lines(path)?, &name, &mut notes)),
        From::HealthBench => Made::Doc(healthbench::read(&lines(path)?, &name, &mut notes)),
        From::Promptfoo => {
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
            let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
            Made::Doc(promptfoo::read(&document(path)?, &name, &folder, &mut notes))
        }
        From::Csv => match read_csv(&text_of(path)?, &name, &mut notes) {
            Ok(Table::Cases(doc)) => Made::Doc(doc),
            Ok(Table::Rubric(value)) => return from_rubric(path, &value, From::Csv, to, notes),
            Err(why) => return Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list())),
        },
    };
    match (made, to) {
        (Made::Tree(tree), to) if to.is_tree() => write_tree(path, &tree, from, to, notes),
        (Made::Tree(tree), to) => {
            let doc = flat(&tree, &mut notes);
            write_doc(path, doc, from, to, options, notes)
        }
        (Made::Doc(doc), to) if to.is_tree() => {
            let loaded = read_suite(&shadow(path), &yaml(&doc.into_value(), 0), options);
            let tree = suite_tree(path, &loaded, &mut notes)?;
            write_tree(path, &tree, from, to, notes)
        }
        (Made::Doc(doc), to) => write_doc(path, doc, from, to, options, notes),
    }
}

enum Made {
    Doc(EvalDoc),
    Tree(Tree),
}

/// Returns the header comment of every file that is written.
fn head(path: &Path, from: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    format!("# Converted from `{name}` ({from}).\n")
}

fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.strip_suffix(".eval").unwrap_or(&stem);
    let clean: String = stem.chars().filter(|c| !c.is_control()).collect();
    if clean.trim().is_empty() { "converted".to_owned() } else { clean }
}

/// Returns the path under which the new text is checked: beside the original, as YAML.
fn shadow(path: &Path) -> PathBuf {
    path.with_extension("yaml")
}

fn text_of(path: &Path) -> Result<String, ConvertError> {
    std::fs::read_to_string(path)
        .map_err(|error| ConvertError::Unreadable(path.to_path_buf(), error.to_string()))
}

fn document(path: &Path) -> Result<Document, ConvertError> {
    Document::read(path, &text_of(path)?).map_err(|(diagnostics, sources)| broken(path, diagnostics, sources))
}

fn broken(path: &Path, diagnostics: Vec<Diagnostic>, sources: SourceMap) -> ConvertError {
    ConvertError::Broken(path.to_path_buf(), diagnostics, Box::new(sources))
}

/// Reads the objects of a JSONL file with their line numbers.
fn lines(path: &Path) -> Result<Vec<(usize, Value)>, ConvertError> {
    let text = text_of(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => values.push((index + 1, value)),
            Err(error) => {
                let why = format!("line {} is not valid JSON: {error}", index + 1);
                return Err(ConvertError::Nothing(path.to_path_buf(), why, Vec::new()));
            }
        }
    }
    Ok(values)
}

fn cases_of(path: &Path, loaded: &LoadedSuite) -> Result<Vec<Case>, ConvertError> {
    let read = loaded.cases.iter().map(|case| case.map(|case| (*case).clone())).collect::<Result<_, _>>();
    read.map_err(|error| ConvertError::Unreadable(path.to_path_buf(), error.to_string()))
}

fn from_suite(
    path: &Path,
    to: To,
    options: &LoadOptions,
    mut notes: Notes,
) -> Result<Converted, ConvertError> {
    let loaded = load_suite(path, options);
    if loaded.suite.is_none() {
        // A rubric in a file of its own has criteria and no cases.
        let rubric = load_rubric(path, options);
        if let Some(grader) = rubric.rubric.as_ref().filter(|_| !rubric.has_errors()) {
            let criteria = grader.rubric.criteria().iter().map(|c| criterion_value(c, Format::Two));
            let value = json!({"name": name_of(path), "criteria": criteria.collect::<Vec<_>>()});
            return from_rubric(path, &value, From::Suite, to, notes);
        }
    }
    if loaded.has_errors() || loaded.suite.is_none() {
        return Err(broken(path, loaded.diagnostics, loaded.sources));
    }
    let cases = cases_of(path, &loaded)?;
    let Some(original) = &loaded.suite else {
        return Err(broken(path, loaded.diagnostics, loaded.sources));
    };
    let Some(target) = to.format() else {
        if to.is_tree() {
            let tree = suite_tree(path, &loaded, &mut notes)?;
            return write_tree(path, &tree, From::Suite, to, notes);
        }
        return write_other(path, (original, &cases), From::Suite, to, notes);
    };
    let way = Way { from: original.format, to: target };
    let is_lines = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
    let value = if is_lines {
        let lines = lines(path)?;
        if !original.graders.is_empty() || original.settings != assize_evalfile::SuiteSettings::default() {
            notes.lost(None, "settings", "the file of settings beside the dataset is not carried over");
        }
        let key = if original.format == Format::One { "evalcases" } else { "tests" };
        let line = |pointer: &str| {
            let index = pointer.split('/').nth(2).and_then(|part| part.parse::<usize>().ok());
            index.and_then(|index| lines.get(index)).map_or(1, |(line, _)| *line)
        };
        let cases: Vec<Value> = lines.iter().map(|(_, value)| value.clone()).collect();
        suite(&json!({"name": original.name, key: cases}), way, &line, &mut notes)
    } else {
        let document = document(path)?;
        match document.value() {
            same if way.from == way.to => same,
            value => suite(&value, way, &|pointer| document.line(pointer), &mut notes),
        }
    };
    if way.from == way.to {
        notes.tell(None, "format", "it is in this format already; comments and layout are not kept");
    }
    let number = original.format.number();
    let text = format!("{}{}", head(path, &format!("format {number}")), yaml(&value, 0));
    let again = read_suite(&shadow(path), &text, options);
    check(path, &again, &mut notes)?;
    if let Some(converted) = &again.suite {
        let new = cases_of(path, &again)?;
        for difference in differences((original, &cases), (converted, &new)) {
            notes.lost(None, "meaning", difference);
        }
    }
    Ok(Converted { text, cases: again.cases.len(), notes: notes.into_list() })
}

fn suite_tree(path: &Path, loaded: &LoadedSuite, notes: &mut Notes) -> Result<Tree, ConvertError> {
    let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
        return Err(broken(path, loaded.diagnostics.clone(), loaded.sources.clone()));
    };
    Ok(card::of_suite(suite, &cases_of(path, loaded)?, notes))
}

/// Reports errors of a new file. There are none unless an importer has a bug: importers write valid files.
fn check(path: &Path, loaded: &LoadedSuite, notes: &mut Notes) -> Result<(), ConvertError> {
    if loaded.has_errors() || loaded.suite.is_none() {
        let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        for error in errors {
            notes.lost(None, "new file", format!("{}: {}", error.title, error.primary.text));
        }
        if loaded.suite.is_none() {
            return Err(broken(path, loaded.diagnostics.clone(), loaded.sources.clone()));
        }
    }
    Ok(())
}

fn write_doc(
    path: &Path,
    doc: EvalDoc,
    from: From,
    to: To,
    options: &LoadOptions,
    mut notes: Notes,
) -> Result<Converted, ConvertError> {
    if doc.cases.is_empty() {
        let why = "nothing in it could be carried over".to_owned();
        return Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list()));
    }
    let mut value = doc.into_value();
    if to.format().is_none() {
        let loaded = read_suite(&shadow(path), &yaml(&value, 0), options);
        let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
            return Err(broken(path, loaded.diagnostics, loaded.sources));
        };
        return write_other(path, (suite, &cases_of(path, &loaded)?), from, to, notes);
    }
    if to == To::Format1 {
        let way = Way { from: Format::Two, to: other(Format::Two) };
        value = suite(&value, way, &|_| 1, &mut notes);
    }
    let text = format!("{}{}", head(path, from.name()), yaml(&value, 0));
    let again = read_suite(&shadow(path), &text, options);
    check(path, &again, &mut notes)?;
    Ok(Converted { text, cases: again.cases.len(), notes: notes.into_list() })
}

/// Writes the cases of a suite in the format of another tool.
fn write_other(
    path: &Path,
    (suite, cases): (&Suite, &[Case]),
    from: From,
    to: To,
    mut notes: Notes,
) -> Result<Converted, ConvertError> {
    let (text, cases) = match to {
        To::Csv => export::csv(suite, cases, &mut notes),
        To::HealthBench => export::healthbench(suite, cases, &mut notes),
        _ => {
            let (value, tests) = export::promptfoo(suite, cases, &mut notes);
            (format!("{}{}", head(path, from.name()), yaml(&value, 0)), tests)
        }
    };
    if cases == 0 {
        let why = "nothing in it could be carried over".to_owned();
        return Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list()));
    }
    Ok(Converted { text, cases, notes: notes.into_list() })
}

fn write_tree(
    path: &Path,
    tree: &Tree,
    from: From,
    to: To,
    mut notes: Notes,
) -> Result<Converted, ConvertError> {
    if to == To::Scorecard {
        return write_card(path, tree, from, notes);
    }
    if tree.root.parts.is_empty() {
        let why = "nothing in it could be carried over".to_owned();
        return Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list()));
    }
    let text = export::paperbench(tree, &mut notes);
    Ok(Converted { text, cases: 0, notes: notes.into_list() })
}

fn write_card(path: &Path, tree: &Tree, from: From, mut notes: Notes) -> Result<Converted, ConvertError> {
    let value = scorecard(tree, &mut notes);
    if value["rubrics"].as_array().is_none_or(Vec::is_empty) {
        let why = "nothing in it could be carried over".to_owned();
        return Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list()));
    }
    let text = format!("{}{}", head(path, from.name()), yaml(&value, 0));
    Ok(Converted { text, cases: 0, notes: notes.into_list() })
}

/// Converts a rubric without cases: to a rubric file, a scorecard of one rubric, or a case of its name.
fn from_rubric(
    path: &Path,
    value: &Value,
    from: From,
    to: To,
    mut notes: Notes,
) -> Result<Converted, ConvertError> {
    if to.format().is_none() {
        let case = json!({"name": value["name"], "tests": [{"id": value["name"], "input": value["name"], "assertions": [{"type": "rubrics", "criteria": value["criteria"]}]}]});
        let options = LoadOptions {
            environment: Arc::new(|_| None),
            working_folder: PathBuf::from("."),
            extra_roots: Vec::new(),
        };
        let loaded = read_suite(&shadow(path), &yaml(&case, 0), &options);
        if to.is_tree() {
            let tree = suite_tree(path, &loaded, &mut notes)?;
            return write_tree(path, &tree, from, to, notes);
        }
        let Some(suite) = loaded.suite.as_ref().filter(|_| !loaded.has_errors()) else {
            return Err(broken(path, loaded.diagnostics, loaded.sources));
        };
        let cases = cases_of(path, &loaded)?;
        if to == To::Csv {
            let (text, rubrics) = export::csv_rubric(&cases, &mut notes);
            let why = "nothing in it could be carried over".to_owned();
            return match rubrics {
                0 => Err(ConvertError::Nothing(path.to_path_buf(), why, notes.into_list())),
                _ => Ok(Converted { text, cases: 0, notes: notes.into_list() }),
            };
        }
        notes.lost(None, "question", "the rubric belongs to no case; its name stands as the question of one");
        return write_other(path, (suite, &cases), from, to, notes);
    }
    let mut value = value.clone();
    if to == To::Format1 {
        let way = Way { from: Format::Two, to: Format::One };
        let graders = json!({"name": "t", "tests": [{"id": "t", "assertions": [{"type": "rubrics", "criteria": value["criteria"]}]}]});
        let converted = suite(&graders, way, &|_| 1, &mut notes);
        value = json!({"name": value["name"], "rubrics": converted.pointer("/evalcases/0/execution/evaluators/0/rubrics")});
    }
    let text = format!("{}{}", head(path, from.name()), yaml(&value, 0));
    let loaded = read_rubric(&shadow(path), &text);
    if loaded.has_errors() {
        return Err(broken(path, loaded.diagnostics, loaded.sources));
    }
    notes.tell(None, "rubric", "belongs to no case: written as a rubric file, for `assize grade --rubric`");
    Ok(Converted { text, cases: 0, notes: notes.into_list() })
}
