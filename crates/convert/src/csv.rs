//! Tables of criteria: a header line, then one criterion per line. Fields may be quoted (RFC 4180) and contain
//! line breaks. A sheet of a spreadsheet is such a table as well.

use std::collections::BTreeMap;

use assize_records::UniqueIds;
use assize_table::{Sheet, SheetRow};
use serde_json::{Map, Value, json};

use crate::eval_file_builder::{EvalFileBuilder, slug};
use crate::note::ConversionNotes;

/// A row with its line number.
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

/// Content of the record that is appended to every table. No table contains it.
const SENTINEL: &str = "\0";

/// Splits a table into rows. The divider is whichever of `,`, `;` and tab is most frequent in the header.
pub(crate) fn split_rows(text: &str) -> Result<Vec<CsvRow>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let header = text.lines().next().unwrap_or_default();
    let count = |c: char| header.matches(c).count();
    let divider = [',', ';', '\t'].into_iter().max_by_key(|c| (count(*c), *c == ',')).unwrap_or(',');

    // Append a record. If a quotation mark is never closed, the record becomes part of a field, and is missing.
    let whole = format!("{text}\n{SENTINEL}");
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(divider as u8)
        .flexible(true)
        .has_headers(false)
        .from_reader(whole.as_bytes());

    let (mut rows, mut counted, mut line) = (Vec::new(), 0, 1);

    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let start = record.position().and_then(|at| usize::try_from(at.byte()).ok()).unwrap_or(counted);
        let ends = whole[start..].bytes().take_while(|byte| [b'\r', b'\n'].contains(byte)).count();
        line += whole[counted..start + ends].matches('\n').count();
        counted = start + ends;

        if record.iter().eq([SENTINEL]) {
            return Ok(rows);
        }
        if record.iter().any(|field| !field.trim().is_empty()) {
            rows.push(CsvRow {
                line,
                fields: record.iter().map(without_apostrophe).map(str::to_owned).collect(),
            });
        }
    }

    Err(format!("line {line}: a quotation mark is not closed"))
}

/// Returns the rows of a sheet.
pub(crate) fn sheet_rows(sheet: Sheet) -> Vec<CsvRow> {
    let row = |row: SheetRow| CsvRow {
        line: row.number,
        fields: row.cells.iter().map(|cell| without_apostrophe(cell).to_owned()).collect(),
    };
    sheet.header.into_iter().chain(sheet.rows).map(row).collect()
}

/// Returns true for a text that a spreadsheet would run as a formula, or that would be one without its leading
/// apostrophes.
pub(crate) fn is_formula(field: &str) -> bool {
    field.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
        && field.parse::<f64>().is_err()
}

/// Removes the apostrophe from a text that would be a formula without it.
fn without_apostrophe(field: &str) -> &str {
    field.strip_prefix('\'').filter(|_| is_formula(field)).unwrap_or(field)
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

    let reader = CriteriaTableReader { columns, width: header.fields.len() };
    if reader.columns.contains_key("case") {
        reader.cases(body, name, notes)
    } else {
        reader.rubric(body, name, notes)
    }
}

struct CriteriaTableReader<'h> {
    columns: BTreeMap<&'h str, usize>,
    width: usize,
}

impl CriteriaTableReader<'_> {
    fn field<'r>(&self, row: &'r CsvRow, key: &str) -> Option<&'r str> {
        let text = row.fields.get(*self.columns.get(key)?)?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn criterion(&self, row: &CsvRow, taken: &mut UniqueIds, notes: &mut ConversionNotes) -> Option<Value> {
        if row.fields.len() > self.width {
            notes.add_loss(
                row.line,
                "row",
                format!("{} fields, the header has {}", row.fields.len(), self.width),
            );
        }

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

        if let Some(weight) = self.field(row, "weight") {
            match weight.parse::<f64>().ok().filter(|weight| weight.is_finite()) {
                Some(weight) => drop(map.insert("weight".to_owned(), json!(weight))),
                None => notes.add_loss(
                    row.line,
                    format!("criterion `{id}`"),
                    format!("its weight `{weight}` is not a number; 1 is used"),
                ),
            }
        }

        if let Some(minimum) = self.field(row, "min_score") {
            notes.add_loss(
                row.line,
                format!("criterion `{id}`"),
                format!("`min_score` {minimum} needs score ranges, which a table does not have"),
            );
        }

        let required = self.field(row, "required").map(str::to_lowercase);
        let required = match required.as_deref() {
            None | Some("false" | "no" | "n" | "0") => false,
            Some("true" | "yes" | "y" | "1" | "x") => true,
            Some(other) => {
                notes.add_loss(
                    row.line,
                    format!("criterion `{id}`"),
                    format!("`required` is `{other}`, neither yes nor no; no is used"),
                );
                false
            }
        };

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
    use super::*;

    #[test]
    fn quotes_line_ends_and_dividers_are_read() {
        let rows = split_rows("a;b\n\"x;\"\"y\"\"\nz\";2\r\n\n;\n3;4").expect("sound");
        let fields: Vec<_> = rows.iter().map(|row| (row.line, row.fields.join("|"))).collect();
        assert_eq!(fields, [(1, "a|b".into()), (2, "x;\"y\"\nz|2".into()), (6, "3|4".into())]);
        assert!(super::split_rows("a\n\"x").is_err());
    }

    #[test]
    fn nothing_is_dropped_silently() {
        let mut notes = ConversionNotes::default();
        let rows = split_rows("Criterion,Weight,Owner,required\nNames it,x,me,maybe\n,2,,\n").expect("sound");
        let table = read_table(&rows, "t", &mut notes).expect("a table");
        let CriteriaTable::Rubric(value) = table else { panic!("no cases") };
        assert_eq!(value["criteria"].as_array().map(Vec::len), Some(1));
        let notes: Vec<String> = notes.into_list().iter().map(ToString::to_string).collect();
        for part in ["column `Owner`", "`x` is not a number", "`maybe`", "no criterion"] {
            assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
        }
    }
}
