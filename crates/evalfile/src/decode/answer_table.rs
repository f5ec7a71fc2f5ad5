//! Tables of answers (CSV, TSV): a header with the names of the columns, then one answer per row.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_document::{MapEntry, NodeValue, TreeNode, codes, file_extension};
use assize_rubric::composed_name;
use assize_table::{TextRows, check_width, find_divider, is_tabbed, split_cells};

use super::DecodeContext;
use super::answer_columns::{
    ANSWER, AnswerColumns, ColumnUse, ID, METADATA, field_of, two_columns, unknown_column, unknown_columns,
};
use super::dataset_lines::first_text;
use super::file::{add_fault, fault_diagnostic};
use super::format::case_list_keys;

/// Most rows that are looked at to find a column of ids.
pub(super) const SAMPLE_ROWS: usize = 200;
/// Longest text that looks like an id.
const MAX_ID_BYTES: usize = 64;

/// Layout of a table.
#[derive(Debug, Clone)]
pub(crate) struct AnswerTable {
    /// Character between cells; `None` for a spreadsheet, whose rows are JSON lists of strings.
    pub(super) divider: Option<u8>,
    columns: Vec<TableColumn>,
}

/// A column of a table.
#[derive(Debug, Clone)]
struct TableColumn {
    /// Name in the header.
    name: String,
    usage: ColumnUse,
}

/// Returns true if a file of answers is a text table, by its extension or content, and not JSON lines.
pub(crate) fn is_text_table(path: &Path) -> bool {
    match file_extension(path).as_str() {
        "csv" | "tsv" | "tab" => true,
        "jsonl" | "ndjson" | "json" => false,
        _ => first_text(path).is_some_and(|first| !first.trim_start().starts_with(['{', '['])),
    }
}

/// Returns the diagnostic for a YAML file that was given instead of answers.
fn yaml_is_no_table(path: &Path, first_line: &str, at: Span) -> Diagnostic {
    let is_eval_file = path.to_string_lossy().contains(".eval.")
        || case_list_keys().iter().any(|key| first_line.trim_end() == format!("{key}:"));
    let title = if is_eval_file { "this is an eval file" } else { "this is a YAML file" };

    Diagnostic::error(codes::BAD_TABLE, title)
        .at(at, "not answers")
        .with_help(format!("to run an eval file, use `assize eval {}`", path.display()))
        .with_help("answers are JSONL, CSV, TSV, XLSX or Parquet")
}

impl AnswerTable {
    /// Reads the header of a table from its beginning. Returns `None` after reporting that it is wrong. An empty
    /// file has an empty header: its lines are checked later, and report the problem.
    pub(crate) fn read(
        cx: &mut DecodeContext,
        path: &Path,
        beginning: &[u8],
        columns: &AnswerColumns,
    ) -> Option<Self> {
        let divider = find_divider(beginning, is_tabbed(path));
        let empty = Self { divider: Some(divider), columns: Vec::new() };
        // Reading from memory can't fail.
        let mut rows = TextRows::new(beginning, divider);
        let Some(row) = rows.next_row().ok().flatten() else {
            return Some(empty);
        };
        let file: Arc<Path> = Arc::from(path);
        let header = row.content.and_then(|text| Ok((split_cells(&text, divider)?, text)));
        let (cells, text) = match header {
            Ok(header) => header,
            Err(fault) => {
                add_fault(cx, &file, row.number, &fault, true);
                return None;
            }
        };

        let mut sample = Vec::new();
        while sample.len() < SAMPLE_ROWS
            && let Some(row) = rows.next_row().ok().flatten()
            && let Ok(cells) = row.content.and_then(|text| split_cells(&text, divider))
        {
            sample.push(cells.into_iter().map(|cell| cell.text).collect());
        }

        let source = cx.sources.add_fragment_shared(file, Arc::clone(&text), row.number);
        if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            let whole = Span::new(source, 0, text.trim_end().len());
            return cx.problems.reject(yaml_is_no_table(path, &text, whole));
        }
        let cells = cells.into_iter().map(|cell| (cell.text, cell.at)).collect();
        Self::from_header(cx, source, cells, &sample, Some(divider), columns)
    }

    /// Makes the layout of a table from the cells of its header and of its first rows, and reports problems. Returns
    /// `None` if the rows can't be read. If a column is merely unknown, they can be read, and their problems are
    /// reported together with the header's.
    pub(super) fn from_header(
        cx: &mut DecodeContext,
        source: SourceId,
        cells: Vec<(String, Range<usize>)>,
        sample: &[Vec<String>],
        divider: Option<u8>,
        columns: &AnswerColumns,
    ) -> Option<Self> {
        let names: Vec<(String, Span)> = cells
            .into_iter()
            .map(|(name, at)| (composed_name(name.trim().to_owned()), span(source, &at)))
            .collect();

        let table = Self {
            divider,
            columns: names
                .iter()
                .map(|(name, _)| TableColumn {
                    name: name.clone(),
                    usage: columns.use_of(name, &key_of_column(name)),
                })
                .collect(),
        };
        table.check(cx, &names, sample, columns).then_some(table)
    }

    /// Reports columns that are unknown, missing, or given twice. Returns true if the rows can be read: there
    /// is exactly one column of answers, and no field has two columns.
    fn check(
        &self,
        cx: &mut DecodeContext,
        names: &[(String, Span)],
        sample: &[Vec<String>],
        given: &AnswerColumns,
    ) -> bool {
        let Some((_, first)) = names.first() else { return true };
        let mut is_ambiguous = false;
        let mut fields: Vec<(&str, &str, Span)> = Vec::new();
        let mut unknown: Vec<(&str, Span)> = Vec::new();
        let all = names.iter().map(|(name, _)| name.as_str());
        let meant = meant_columns(given.all_named(), all.clone());
        for (index, (column, (name, at))) in self.columns.iter().zip(names).enumerate() {
            if name.is_empty() {
                Diagnostic::warning(
                    codes::NO_EFFECT,
                    format!("column {} has no name and is not read", index + 1),
                )
                .at(*at, "no name")
                .with_help("name it in the first row of the table")
                .add_to(&mut cx.problems);
                continue;
            }

            let field = match column.usage {
                ColumnUse::Field(key) => field_of(key).unwrap_or(key),
                ColumnUse::Metadata => name,
                ColumnUse::Ignored => continue,
                // Already suggested in the diagnostic about the name on the command line.
                ColumnUse::Unknown if meant.contains(&name.as_str()) => continue,
                ColumnUse::Unknown => {
                    unknown.push((name, *at));
                    continue;
                }
            };
            match fields.iter().find(|(known, ..)| *known == field) {
                Some((_, other, place)) => {
                    is_ambiguous = true;
                    cx.problems.add(two_columns((other, *place), (name, *at), field));
                }
                None => fields.push((field, name, *at)),
            }
        }

        let missing = given.all_named().filter(|column| !names.iter().any(|(name, _)| name == column));
        cx.problems.extend(missing.map(|column| missing_column(column, all.clone(), *first)));

        let is_there = |wanted: &str| {
            given.given().any(|(_, field)| field == wanted)
                || fields.iter().any(|(field, ..)| *field == wanted)
        };
        let has_answer = is_there(ANSWER[0]);
        let unique = self.unique_column(sample).filter(|_| !is_there(ID[0]));
        let unique = unique.map(|at| names[at].0.as_str());
        match unknown.as_slice() {
            [] => {}
            [(name, at)] if has_answer => {
                cx.problems.add(unknown_column(name, "column", *at, given, unique));
            }
            several @ [(_, at), ..] => cx.problems.add(unknown_columns(several, *at, is_there, unique)),
        }

        if !has_answer && unknown.is_empty() {
            Diagnostic::error(codes::NO_ANSWER, "this table has no column with the answers")
                .at(*first, "the header is here")
                .with_help("name it: `--columns answer=COLUMN`")
                .add_to(&mut cx.problems);
        }

        fields.iter().any(|(field, ..)| *field == ANSWER[0]) && !is_ambiguous
    }

    /// Finds the first unknown column whose cells differ in all of these rows, like ids.
    fn unique_column(&self, sample: &[Vec<String>]) -> Option<usize> {
        let is_other = |at: &usize| self.columns[*at].usage == ColumnUse::Unknown;
        let is_unique = |at: &usize| {
            let cells = || sample.iter().map(|row| row.get(*at).map_or("", |cell| cell.trim()));
            let is_id = |cell: &str| {
                !cell.is_empty() && cell.len() <= MAX_ID_BYTES && !cell.contains(char::is_whitespace)
            };
            sample.len() > 1 && cells().all(is_id) && cells().collect::<HashSet<_>>().len() == sample.len()
        };
        (0..self.columns.len()).filter(is_other).find(is_unique)
    }

    /// Returns a row as the map of a JSON object with the same keys.
    pub(super) fn read_row(&self, cx: &mut DecodeContext, source: SourceId, text: &str) -> Option<TreeNode> {
        let whole = Span::new(source, 0, text.len());
        let cells = match self.divider {
            Some(divider) => split_cells(text, divider).and_then(|cells| {
                check_width(text, cells.len(), self.columns.len())?;
                Ok(cells.into_iter().map(|cell| (Some(cell.text), cell.at)).collect())
            }),
            // The reader of sheets makes all rows as wide as the header.
            None => Ok(read_list(text)),
        };
        let cells: Vec<(Option<String>, Range<usize>)> = match cells {
            Ok(cells) => cells,
            Err(fault) => {
                return cx.problems.reject(fault_diagnostic(&fault, span(source, &fault.at), true));
            }
        };

        let (mut entries, mut metadata) = (Vec::new(), Vec::new());
        for (column, (value, at)) in self.columns.iter().zip(cells) {
            let at = span(source, &at);
            let (key, list) = match column.usage {
                ColumnUse::Field(key) => (key.to_owned(), &mut entries),
                ColumnUse::Metadata => (column.name.clone(), &mut metadata),
                ColumnUse::Ignored | ColumnUse::Unknown => continue,
            };

            // An empty cell means that there is no value, except for the answer: a model may answer with an
            // empty text. Null is not an answer.
            let is_answer = ANSWER.contains(&key.as_str());
            let data = match value {
                None if is_answer => continue,
                Some(text) if is_answer || !text.trim().is_empty() => NodeValue::Str(text),
                _ => NodeValue::Null,
            };
            list.push(MapEntry { key, key_span: at, value: TreeNode::new(at, data) });
        }

        if !metadata.is_empty() {
            let value = TreeNode::new(whole, NodeValue::Map(metadata));
            entries.push(MapEntry { key: METADATA.to_owned(), key_span: whole, value });
        }

        Some(TreeNode::new(whole, NodeValue::Map(entries)))
    }
}

/// Returns the columns of a file that misspelt names on the command line probably mean.
pub(super) fn meant_columns<'n>(
    named: impl Iterator<Item = &'n str>,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Vec<&'n str> {
    named
        .filter(|column| !names.clone().any(|name| name == *column))
        .filter_map(|column| assize_diagnostic::did_you_mean(column, names.clone()))
        .collect()
}

/// Returns the diagnostic for a column that is named on the command line but missing in the file.
pub(super) fn missing_column<'n>(
    column: &str,
    names: impl Iterator<Item = &'n str> + Clone,
    at: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        codes::NO_COLUMN,
        format!("there is no column `{column}`, which `--columns` names"),
    )
    .at(at, "not here");
    if let Some(near) = assize_diagnostic::did_you_mean(column, names.clone()) {
        return diagnostic.with_help(format!("did you mean `{near}`?"));
    }

    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    diagnostic.with_help(format!("there are {}", names.join(", ")))
}

/// Returns the key that a column name is read as: `Model Output` becomes `model_output`.
fn key_of_column(name: &str) -> String {
    name.chars().map(|sign| if sign == ' ' { '_' } else { sign.to_ascii_lowercase() }).collect()
}

fn span(source: SourceId, range: &Range<usize>) -> Span {
    Span::new(source, range.start, range.end)
}

/// Splits a JSON list of strings and nulls into its items, each with its range in the list.
pub(super) fn read_list(text: &str) -> Vec<(Option<String>, Range<usize>)> {
    let mut places = Vec::new();
    let (mut start, mut is_escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (start, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(begin), b'"') => {
                places.push(begin..at + 1);
                start = None;
            }
            (None, b'"') => start = Some(at),
            (None, b'n') => places.push(at..at + "null".len()),
            _ => {}
        }
    }

    let items: Vec<Option<String>> = serde_json::from_str(text).unwrap_or_default();
    items.into_iter().zip(places).collect()
}

/// Layout of a file of answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerFormat {
    /// Columns that the user named.
    pub(crate) columns: AnswerColumns,
    /// Layout of a table; `None` for JSON objects.
    pub(crate) table: Option<AnswerTable>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_list_have_their_texts_and_places() {
        let text = r#"["a","b \"c\"\nd\\",null,"","null"]"#;
        let items = read_list(text);
        let found: Vec<(Option<&str>, &str)> =
            items.iter().map(|(item, at)| (item.as_deref(), &text[at.clone()])).collect();
        assert_eq!(
            found,
            [
                (Some("a"), "\"a\""),
                (Some("b \"c\"\nd\\"), r#""b \"c\"\nd\\""#),
                (None, "null"),
                (Some(""), "\"\""),
                (Some("null"), "\"null\""),
            ]
        );
    }

    #[test]
    fn column_names_are_read_as_keys() {
        assert_eq!(key_of_column("Model Output"), "model_output");
    }
}
