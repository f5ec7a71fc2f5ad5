//! Tables of criteria: a header, then one criterion per row.

use std::collections::BTreeMap;

use assize_records::UniqueIds;
use assize_table::{Sheet, SheetRow, parse_number, parse_yes_no};
use serde_json::{Map, Value, json};

use crate::eval_file_builder::{EvalFileBuilder, slug};
use crate::note::ConversionNotes;

/// A row with its line number.
#[derive(Debug)]
pub(crate) struct CsvRow {
    line: usize,
    fields: Vec<String>,
}

/// Content of a table.
pub(crate) enum CriteriaTable {
    /// Criteria of cases that the table names.
    Cases(EvalFileBuilder),
    /// Criteria of one rubric.
    Rubric(Value),
}

const COLUMNS: [(&str, &[&str]); 9] = [
    (
        "criterion",
        &["criterion", "criteria", "text", "outcome", "expected_outcome", "requirement", "description"],
    ),
    ("id", &["id", "criterion_id"]),
    ("weight", &["weight", "points"]),
    ("required", &["required"]),
    ("min_score", &["min_score"]),
    ("case", &["case", "case_id", "test"]),
    ("input", &["input", "question", "prompt"]),
    ("expected_output", &["expected_output", "reference", "reference_answer"]),
    ("case_outcome", &["case_outcome", "expected"]),
];

/// Returns the rows of a table.
///
/// # Errors
/// If a row can't be read. The message names every such row, a line each.
pub(crate) fn table_rows(table: Sheet) -> Result<Vec<CsvRow>, String> {
    if !table.faults.is_empty() {
        let faults: Vec<String> = table.faults.iter().map(ToString::to_string).collect();
        return Err(faults.join("\n"));
    }

    // A text that would be a formula without its apostrophe loses it.
    let field = |cell: &str| cell.strip_prefix('\'').filter(|_| is_formula(cell)).unwrap_or(cell).to_owned();
    let row = |row: SheetRow| CsvRow {
        line: row.number,
        fields: row.cells.iter().map(|cell| field(cell)).collect(),
    };
    Ok(table.header.into_iter().chain(table.rows).map(row).collect())
}

/// Returns true for a text that a spreadsheet would run as a formula, or that would be one without its leading
/// apostrophes.
pub(crate) fn is_formula(field: &str) -> bool {
    field.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
        && parse_number(field).is_err()
}

/// Reads a table of criteria.
pub(crate) fn read_table(
    rows: &[CsvRow],
    name: &str,
    notes: &mut ConversionNotes,
) -> Result<CriteriaTable, String> {
    let Some((header, body)) = rows.split_first() else { return Err("the table is empty".to_owned()) };
    let mut columns: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, title) in header.fields.iter().enumerate() {
        let folded = title.trim().to_lowercase().replace([' ', '-'], "_");
        let known = COLUMNS
            .iter()
            .find(|(key, names)| names.contains(&folded.as_str()) && !columns.contains_key(key));
        match known {
            Some((key, _)) => {
                columns.insert(key, index);
            }
            None if title.trim().is_empty() => {}
            None => notes.add_loss(
                header.line,
                format!("column `{}`", title.trim()),
                "unknown, so it was skipped",
            ),
        }
    }

    if !columns.contains_key("criterion") {
        let names = COLUMNS[0].1.join("`, `");
        return Err(format!("line {}: no column holds the criteria; name one `{names}`", header.line));
    }

    check_cells(&columns, body)?;
    let reader = CriteriaTableReader { columns };
    if reader.columns.contains_key("case") {
        reader.cases(body, name, notes)
    } else {
        reader.rubric(body, name, notes)
    }
}

struct CriteriaTableReader<'h> {
    columns: BTreeMap<&'h str, usize>,
}

/// Checks all weights and truth values. Replacing an invalid value with a default would change scores, so the file is
/// refused.
///
/// # Errors
/// All cells that can't be read, each with its line.
fn check_cells(columns: &BTreeMap<&str, usize>, body: &[CsvRow]) -> Result<(), String> {
    let mut faults = Vec::new();
    for row in body {
        let cell = |key: &str| {
            let column = *columns.get(key)?;
            let text = row.fields.get(column)?.trim();
            (!text.is_empty()).then_some((column + 1, text))
        };
        if let Some((column, text)) = cell("weight")
            && let Err(error) = parse_number(text)
        {
            faults.push(format!("line {}, column {column}: the weight `{text}` is {error}", row.line));
        }
        if let Some((column, text)) = cell("required")
            && is_required(text).is_none()
        {
            let what = "is neither yes nor no; leave it empty for no";
            faults.push(format!("line {}, column {column}: `required` is `{text}`, which {what}", row.line));
        }
    }

    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Reads the cell of `required`: yes or no, or a mark for yes.
fn is_required(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("x") { Some(true) } else { parse_yes_no(text) }
}

impl CriteriaTableReader<'_> {
    fn field<'r>(&self, row: &'r CsvRow, key: &str) -> Option<&'r str> {
        let text = row.fields.get(*self.columns.get(key)?)?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn criterion(&self, row: &CsvRow, taken: &mut UniqueIds, notes: &mut ConversionNotes) -> Option<Value> {
        let Some(text) = self.field(row, "criterion") else {
            notes.add_loss(row.line, "row", "skipped: it has no criterion");
            return None;
        };
        let id = self.field(row, "id").map_or_else(|| slug(text, 4), str::to_owned);
        let id = if id.is_empty() { "criterion".to_owned() } else { id };
        let given = taken.is_taken(&id) && self.field(row, "id").is_some();
        if given {
            notes.add_loss(row.line, format!("criterion `{id}`"), "the id is taken; a number was added");
        }

        let mut map = Map::new();
        map.insert("id".to_owned(), json!(taken.take(&id)));
        map.insert("outcome".to_owned(), json!(text));

        // All weights were checked.
        if let Some(weight) = self.field(row, "weight").and_then(|weight| parse_number(weight).ok()) {
            map.insert("weight".to_owned(), json!(weight));
        }

        if let Some(minimum) = self.field(row, "min_score") {
            notes.add_loss(
                row.line,
                format!("criterion `{id}`"),
                format!("`min_score` {minimum} needs score ranges, which a table does not have"),
            );
        }

        let required = self.field(row, "required").and_then(is_required).unwrap_or_default();
        map.insert("required".to_owned(), json!(required));
        Some(Value::Object(map))
    }

    fn rubric(
        &self,
        body: &[CsvRow],
        name: &str,
        notes: &mut ConversionNotes,
    ) -> Result<CriteriaTable, String> {
        let mut taken = UniqueIds::default();
        let criteria: Vec<Value> =
            body.iter().filter_map(|row| self.criterion(row, &mut taken, notes)).collect();
        if criteria.is_empty() {
            return Err("the table has no criteria".to_owned());
        }

        Ok(CriteriaTable::Rubric(json!({"name": name, "criteria": criteria})))
    }

    fn cases(
        &self,
        body: &[CsvRow],
        name: &str,
        notes: &mut ConversionNotes,
    ) -> Result<CriteriaTable, String> {
        let mut doc = EvalFileBuilder::with_name(name);
        let mut groups: Vec<(&str, Vec<&CsvRow>)> = Vec::new();
        for row in body {
            let Some(case) = self.field(row, "case") else {
                notes.add_loss(row.line, "row", "skipped: it names no case");
                continue;
            };
            match groups.iter_mut().find(|(name, _)| *name == case) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((case, vec![row])),
            }
        }

        for (case, rows) in groups {
            let mut taken = UniqueIds::default();
            let criteria: Vec<Value> =
                rows.iter().filter_map(|row| self.criterion(row, &mut taken, notes)).collect();
            let first = |key: &str| rows.iter().find_map(|row| self.field(row, key));
            let line = rows[0].line;
            if criteria.is_empty() {
                notes.add_loss(line, format!("case `{case}`"), "skipped: it has no criteria");
                continue;
            }

            let mut map = Map::new();
            map.insert("id".to_owned(), json!(doc.unique_id(case)));

            let input = first("input");
            if input.is_none() {
                let what = "the table has no question for it; its id is used as the input";
                notes.add_loss(line, format!("case `{case}`"), what);
            }

            map.insert("input".to_owned(), json!(input.unwrap_or(case)));

            if let Some(outcome) = first("case_outcome") {
                map.insert("criteria".to_owned(), json!(outcome));
            }
            if let Some(reference) = first("expected_output") {
                map.insert("expected_output".to_owned(), json!(reference));
            }

            map.insert("assertions".to_owned(), json!([{"type": "rubrics", "criteria": criteria}]));
            doc.cases.push(Value::Object(map));
        }

        if doc.cases.is_empty() {
            Err("the table has no cases".to_owned())
        } else {
            Ok(CriteriaTable::Cases(doc))
        }
    }
}

#[cfg(test)]
mod tests {
    use assize_table::read_text_table;

    use super::*;

    fn rows(text: &str) -> Result<Vec<CsvRow>, String> {
        let table = read_text_table(text.as_bytes().to_vec(), false, None).expect("text");
        table_rows(table)
    }

    #[test]
    fn nothing_is_dropped_silently() {
        let mut notes = ConversionNotes::default();
        let rows = rows("Criterion,Owner\nNames it,me\n,you\n").expect("sound");
        let table = read_table(&rows, "t", &mut notes).expect("a table");
        let CriteriaTable::Rubric(value) = table else { panic!("no cases") };
        assert_eq!(value["criteria"].as_array().map(Vec::len), Some(1));
        let notes: Vec<String> = notes.into_list().iter().map(ToString::to_string).collect();
        for part in ["column `Owner`", "no criterion"] {
            assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
        }
    }

    #[test]
    fn weights_and_truth_values_are_read_or_all_refused() {
        let text = "criterion;weight;required\nA;-1,5;WAHR\nB;−２;否\nC;50 %;x\nD;;\n";
        let table = read_table(&rows(text).expect("sound"), "t", &mut ConversionNotes::default());
        let Ok(CriteriaTable::Rubric(value)) = table else { panic!("a rubric") };
        let found: Vec<(Option<f64>, Option<bool>)> = value["criteria"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|criterion| {
                (criterion.get("weight").and_then(Value::as_f64), criterion["required"].as_bool())
            })
            .collect();
        let expected = [
            (Some(-1.5), Some(true)),
            (Some(-2.0), Some(false)),
            (Some(0.5), Some(true)),
            (None, Some(false)),
        ];
        assert_eq!(found, expected);

        let text = "criterion;weight;required\nA;1.000,5;ja\nB;heavy;maybe\n";
        let table = read_table(&rows(text).expect("sound"), "t", &mut ConversionNotes::default());
        let Err(why) = table else { panic!("refused") };
        for part in
            ["line 2, column 2: the weight `1.000,5`", "line 3, column 2: the weight `heavy`", "`maybe`"]
        {
            assert!(why.contains(part), "{why}");
        }
        let wide = rows("a,b\n1,2,3\n\"x").expect_err("refused");
        assert!(wide.contains("line 2, column 3") && wide.contains("line 3, column 1"), "{wide}");
    }
}
