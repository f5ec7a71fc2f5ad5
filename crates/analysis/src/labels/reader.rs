//! Reader of label files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::did_you_mean;
use assize_rubric::{
    FailureSeverity, LabelOutcome, LabelSplit, NO_FAILURE, NONE_OF_THE_ABOVE, SamplingMethod, SeenHash,
    composed_name, grouped, parse_label_time,
};
use assize_table::{NumberError, TABLE_ENDINGS, TextEncoding, parse_number, parse_yes_no};
use serde_json::Value;

use super::table::{TableLine, read_file};
use super::{
    ColumnMapping, ColumnRole, LabelLocation, LabelProblem, LabelRow, OutcomeSpellings, TableDecision,
};

/// Options for reading label files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelReadOptions {
    /// Column mapping.
    pub columns: ColumnMapping,
    /// Mapping of spellings to outcomes.
    pub values: OutcomeSpellings,
    /// Encoding of text tables; found by their bytes without one.
    pub encoding: Option<TextEncoding>,
    /// Required columns.
    pub needed: Vec<ColumnRole>,
}

/// Lists the files of a folder that can contain labels, by name: JSON lines and tables.
///
/// # Errors
/// If the folder can't be read.
pub fn label_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let has_labels = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        // Spreadsheet programs create a lock file next to an open file.
        let is_lock = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("~$"));
        path.is_file()
            && !is_lock
            && ending.is_some_and(|ending| {
                let ending = ending.as_str();
                ["jsonl", "ndjson"].contains(&ending) || TABLE_ENDINGS.contains(&ending)
            })
    };
    let entries = std::fs::read_dir(folder)?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(has_labels).collect();
    files.sort();

    Ok(files)
}

/// Reads label files, in the order of the times of labels; rows without a time come first, in the order of the files.
/// Reports the errors of all files together.
pub fn read_rows(files: &[PathBuf], reading: &LabelReadOptions) -> Result<Vec<LabelRow>, Vec<LabelProblem>> {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        let Some(lines) = read_file(file, reading.encoding, &mut problems) else { continue };
        if lines.is_empty() && problems.is_empty() {
            let place = LabelLocation { file: Arc::from(file.as_path()), line: 1 };
            problems.push(LabelProblem { place, message: "the file has no rows".to_owned() });
        }

        check_columns(&lines, reading, &mut problems);
        let problems = &mut problems;
        rows.extend(lines.iter().filter_map(|line| RowReader { line, reading, problems }.read_row()));
    }

    rows.sort_by_key(|row| row.at);
    let people: BTreeSet<&str> =
        rows.iter().flat_map(|row| &row.labels).filter_map(|(who, _)| who.as_deref()).collect();
    if people.len() > assize_limits::REVIEWERS
        && let Some(last) = rows.last()
    {
        let most = grouped(assize_limits::REVIEWERS as u64);
        let message =
            format!("labels of more than {most} people, who are compared pair by pair; split the file");
        problems.push(LabelProblem { place: last.place.clone(), message });
    }
    if problems.is_empty() { Ok(rows) } else { Err(problems) }
}

/// Reports requested columns that are missing, and unknown columns of Assize's own files.
fn check_columns(lines: &[TableLine], reading: &LabelReadOptions, problems: &mut Vec<LabelProblem>) {
    let Some(first) = lines.first() else { return };
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for line in lines {
        for name in line.cells.keys() {
            if known.insert(name) && line.is_json && !reading.columns.is_given() {
                unknown_key(name, &line.place, problems);
            }
        }
    }

    let has = |column: &str| lines.iter().any(|line| find_cell(&line.cells, column).is_some());
    let names = || known.iter().copied().collect::<Vec<_>>().join(", ");
    for (role, column) in &reading.columns.given {
        if !has(column) {
            let hint = did_you_mean(column, known.iter().copied())
                .map_or_else(|| format!("there are {}", names()), |near| format!("did you mean `{near}`?"));
            problems.push(LabelProblem {
                place: first.place.clone(),
                message: format!("no column `{column}` for {}; {hint}", role.name()),
            });
        }
    }

    for &role in &reading.needed {
        if reading.columns.given(role).is_none() && !reading.columns.names(role).into_iter().any(has) {
            problems.push(LabelProblem {
                place: first.place.clone(),
                message: format!(
                    "no column for {0}; name it with `--columns {0}=COLUMN`; the file has {1}",
                    role.name(),
                    names()
                ),
            });
        }
    }
}

fn unknown_key(name: &str, place: &LabelLocation, problems: &mut Vec<LabelProblem>) {
    let known = ColumnRole::NAMES.iter().flat_map(|(_, names)| names.iter().copied());
    if name.starts_with("x-") || known.clone().any(|other| other == name) {
        return;
    }

    let hint = did_you_mean(name, known).map_or_else(
        || "name the columns to read with `--columns`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    problems.push(LabelProblem {
        place: place.clone(),
        message: format!("unknown column or key `{name}`; {hint}"),
    });
}

/// Returns a cell by its name, or by a dotted path into nested objects.
fn find_cell<'c>(cells: &'c serde_json::Map<String, Value>, column: &str) -> Option<&'c Value> {
    if let Some(value) = cells.get(column) {
        return Some(value);
    }
    let (head, rest) = column.split_once('.')?;
    rest.split('.').try_fold(cells.get(head)?, |value, name| value.get(name))
}

/// A line together with the reading options, and the problems found so far.
struct RowReader<'l, 'p> {
    line: &'l TableLine,
    reading: &'l LabelReadOptions,
    problems: &'p mut Vec<LabelProblem>,
}

impl<'l> RowReader<'l, '_> {
    fn value(&self, role: ColumnRole) -> Option<&'l Value> {
        let names = self.reading.columns.names(role);
        let found = names.into_iter().find_map(|name| find_cell(&self.line.cells, name));
        // Tables write a missing value as an empty text.
        found.filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty()))
    }

    /// Returns true if the column exists, empty or not.
    fn has_column(&self, role: ColumnRole) -> bool {
        self.reading.columns.names(role).into_iter().any(|name| find_cell(&self.line.cells, name).is_some())
    }

    fn report_wrong(&mut self, role: ColumnRole, expected: &str, found: &Value) {
        let mut shown: String = found.to_string().chars().take(40).collect();
        if shown.len() < found.to_string().len() {
            shown.push('…');
        }

        self.problems.push(LabelProblem {
            place: self.line.place.clone(),
            message: format!("{}: expected {expected}, found {shown}", role.name()),
        });
    }

    /// Reads a value, and reports one that `parse` refuses.
    fn read<T>(
        &mut self,
        role: ColumnRole,
        expected: &str,
        parse: impl FnOnce(&'l Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(role)?;
        let found = parse(value);
        if found.is_none() {
            self.report_wrong(role, expected, value);
        }

        found
    }

    /// Reads a text; numbers and flags are accepted, as ids often are numbers.
    fn text(&mut self, role: ColumnRole) -> Option<String> {
        self.read(role, "a text", scalar_text)
    }

    /// Reads a name, in the form of [`composed_name`].
    fn name(&mut self, role: ColumnRole) -> Option<String> {
        self.text(role).map(composed_name)
    }

    fn number(&mut self, role: ColumnRole) -> Option<f64> {
        let advice = self.value(role).map(number_advice)?;
        self.read(role, &format!("a number{advice}"), as_number)
    }

    fn yes_no(&mut self, role: ColumnRole) -> Option<bool> {
        let parse = |value: &Value| value.as_bool().or_else(|| parse_yes_no(value.as_str()?));
        self.read(role, "true or false", parse)
    }

    /// Reads the name of a reviewer.
    fn who(&mut self) -> Option<String> {
        self.name(ColumnRole::Who).map(without_decimals)
    }

    fn word<T: serde::de::DeserializeOwned>(&mut self, role: ColumnRole, expected: &str) -> Option<T> {
        self.read(role, expected, |value| {
            let lower = value.as_str().map_or_else(|| value.clone(), |text| text.to_ascii_lowercase().into());
            serde_json::from_value(lower).ok()
        })
    }

    fn outcome(&mut self, role: ColumnRole, value: &Value) -> Option<LabelOutcome> {
        let text = scalar_text(value);
        let meant = text.as_deref().and_then(|text| {
            let word = || LabelOutcome::from_word(text).or_else(|| as_number(value).map(LabelOutcome::Score));
            self.reading.values.outcome_of_text(text).or_else(word)
        });
        let meant = meant.or_else(|| parse_yes_no(text.as_deref()?).map(met_if));
        if meant.is_none() {
            let expected = format!(
                "met, unmet, not_applicable, unsure or a score{} (other spellings: `--values met=…`)",
                number_advice(value)
            );
            self.report_wrong(role, &expected, value);
        }

        meant
    }

    fn labels(&mut self) -> Vec<(Option<String>, LabelOutcome)> {
        let Some(value) = self.value(ColumnRole::Label) else {
            // In a scorecard's labels, a label without an outcome means that the failure was found.
            let found = self.line.cells.contains_key("benchmark_code") && !self.has_column(ColumnRole::Label);
            return if found { vec![(self.who(), LabelOutcome::Unmet)] } else { Vec::new() };
        };

        let Value::Array(several) = value else {
            let who = self.who();
            let outcome = self.outcome(ColumnRole::Label, value);
            return outcome.map(|outcome| (who, outcome)).into_iter().collect();
        };

        let names: Vec<Option<String>> = match self.value(ColumnRole::Who) {
            Some(Value::Array(names)) if names.len() == several.len() => {
                names.iter().map(|name| scalar_text(name).map(composed_name).map(without_decimals)).collect()
            }
            Some(other) => {
                self.report_wrong(ColumnRole::Who, "a list as long as that of the labels", other);
                return Vec::new();
            }
            None => (1..=several.len()).map(|number| Some(number.to_string())).collect(),
        };
        several
            .iter()
            .zip(names)
            .filter(|(value, _)| !value.is_null())
            .filter_map(|(value, who)| Some((who, self.outcome(ColumnRole::Label, value)?)))
            .collect()
    }

    /// Labels of traces name one benchmark or none, and are no evidence about the others.
    fn first_failure(&self) -> bool {
        let cell = |name: &str| self.line.cells.get(name);
        cell("x-primary") == Some(&Value::Bool(true))
            || (cell("benchmark_code").is_some() && !self.has_column(ColumnRole::Label))
            || ["benchmark_code", "criterion"]
                .into_iter()
                .filter_map(cell)
                .any(|code| code == NONE_OF_THE_ABOVE || code == NO_FAILURE)
    }

    fn judge(&mut self) -> Option<TableDecision> {
        match self.value(ColumnRole::Judge) {
            None => self.has_column(ColumnRole::Judge).then_some(TableDecision::Ungraded),
            Some(Value::String(word)) if word.eq_ignore_ascii_case("ungraded") => {
                Some(TableDecision::Ungraded)
            }
            Some(value) => self.outcome(ColumnRole::Judge, value).map(TableDecision::Decided),
        }
    }

    fn probabilities(&mut self) -> Vec<(f64, f64)> {
        let one = |(score, probability): (&String, &Value)| {
            let probability = as_number(probability).filter(|p| (0.0..=1.0).contains(p))?;
            Some((score.parse().ok()?, probability))
        };
        let parse = |value: &Value| value.as_object()?.iter().map(one).collect();
        let expected = "an object from score to probability";
        self.read(ColumnRole::Probabilities, expected, parse).unwrap_or_default()
    }

    fn requires(&mut self) -> Vec<String> {
        let parse = |value: &Value| match value {
            Value::String(text) => {
                Some(text.split([',', ';', ' ']).filter(|id| !id.is_empty()).map(str::to_owned).collect())
            }
            Value::Array(ids) => ids.iter().map(scalar_text).collect::<Option<Vec<_>>>(),
            value => Some(scalar_text(value).into_iter().collect()),
        };
        let ids = self.read(ColumnRole::Requires, "a list of ids", parse).unwrap_or_default();
        ids.into_iter().map(composed_name).collect()
    }

    fn scores(&mut self) -> Vec<Vec<Option<f64>>> {
        let one = |value: &Value| match value {
            Value::Null => Some(None),
            value => as_number(value).map(Some),
        };
        let list = |value: &Value| value.as_array()?.iter().map(one).collect::<Option<Vec<_>>>();
        let parse = |value: &Value| match value.as_array() {
            Some(answers) if answers.iter().any(Value::is_array) => answers.iter().map(list).collect(),
            _ => list(value).map(|scores| vec![scores]),
        };
        let expected = "a list of scores, or one such list for each answer";
        self.read(ColumnRole::Scores, expected, parse).unwrap_or_default()
    }

    fn read_row(&mut self) -> Option<LabelRow> {
        let before = self.problems.len();
        let case = self.name(ColumnRole::Case);
        if case.is_none() && self.reading.needed.contains(&ColumnRole::Case) && self.problems.len() == before
        {
            self.problems.push(LabelProblem {
                place: self.line.place.clone(),
                message: "the row does not name a case".to_owned(),
            });
        }

        let probability = self.number(ColumnRole::Probability);
        if let Some(p) = probability.filter(|p| !(0.0..=1.0).contains(p)) {
            self.report_wrong(ColumnRole::Probability, "a number from 0 to 1", &Value::from(p));
        }

        let drawn = self.number(ColumnRole::Drawn);
        if let Some(p) = drawn.filter(|p| *p <= 0.0 || *p > 1.0) {
            self.report_wrong(ColumnRole::Drawn, "a number above 0 and up to 1", &Value::from(p));
        }

        let trial = self.number(ColumnRole::Trial);
        // Only read so that a mistake in it is reported.
        let _ = self.word::<FailureSeverity>(ColumnRole::Severity, "low, medium or high");
        let scores = self.scores();
        let row = LabelRow {
            first_failure: self.first_failure(),
            place: self.line.place.clone(),
            case: case.unwrap_or_else(|| format!("line {}", self.line.place.line)),
            suite: self.name(ColumnRole::Suite),
            system: self.name(ColumnRole::System),
            trial: trial.filter(|trial| *trial >= 1.0 && trial.fract() == 0.0).map(|trial| trial as u32),
            criterion: self.name(ColumnRole::Criterion),
            prompt: self.name(ColumnRole::Prompt),
            at: self.text(ColumnRole::At).as_deref().and_then(parse_label_time),
            labels: self.labels(),
            judge: self.judge(),
            probability,
            probabilities: self.probabilities(),
            length: self.number(ColumnRole::Length),
            cluster: self.name(ColumnRole::Cluster),
            requires: self.requires(),
            seen: self.word::<SeenHash>(ColumnRole::Seen, "a hash that `assize review` wrote"),
            sampled: self.word::<SamplingMethod>(ColumnRole::Sampled, "random, weighted or chosen"),
            drawn,
            split: self.word::<LabelSplit>(ColumnRole::Split, "train, test or example"),
            adjudicates: self.yes_no(ColumnRole::Adjudicates).unwrap_or_default(),
            preferred: self.name(ColumnRole::Preferred),
            orders: [self.name(ColumnRole::First), self.name(ColumnRole::Second)],
            note: self.text(ColumnRole::Note),
            is_after_judge: self.line.cells.get("x-after-judge") == Some(&Value::Bool(true)),
            scored_by: scores.first().and_then(|_| self.who()),
            scores,
        };
        if row.trial.is_none() && trial.is_some() {
            self.report_wrong(ColumnRole::Trial, "a whole number from 1", &Value::from(trial));
        }

        (self.problems.len() == before).then_some(row)
    }
}

const fn met_if(flag: bool) -> LabelOutcome {
    if flag { LabelOutcome::Met } else { LabelOutcome::Unmet }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Returns a name without decimals that are zero: one table has `1` for the person who is `1.0` in another,
/// because spreadsheet programs and data frames write whole numbers in both ways.
fn without_decimals(name: String) -> String {
    let whole = name.split_once('.').filter(|(whole, rest)| {
        let is_whole = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
        is_whole && !rest.is_empty() && rest.bytes().all(|byte| byte == b'0')
    });
    match whole {
        Some((whole, _)) => whole.to_owned(),
        None => name,
    }
}

/// Returns why a text is not read as a number, in parentheses; empty if it does not look like one.
fn number_advice(value: &Value) -> String {
    match value.as_str().map(parse_number) {
        Some(Err(error)) if error != NumberError::NotANumber => format!(" ({error})"),
        _ => String::new(),
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => parse_number(text).ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}
