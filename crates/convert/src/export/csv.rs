//! A table with one criterion per line, and the case that it belongs to.

use std::borrow::Cow;

use assize_model::{Case, Suite};

use super::criteria::{FlatCriterion, flatten_criteria, note_other_content, note_thresholds};
use super::settings::{KeptSettings, note_case_settings, note_suite_settings};
use crate::note::ConversionNotes;

const CASE_COLUMNS: &str = "case,input,expected_output,case_outcome,";
const CRITERION_COLUMNS: &str = "id,criterion,weight,required\n";

/// Writes the criteria of a rubric without a case. It is given as the only rubric of a suite.
pub(crate) fn write_rubric(cases: &[Case], notes: &mut ConversionNotes) -> (String, usize) {
    let mut text = CRITERION_COLUMNS.to_owned();
    let list: Vec<FlatCriterion<'_>> = cases.iter().flat_map(|case| flatten_criteria(case, notes)).collect();
    for flat in &list {
        push_row(&criterion_fields(flat), &mut text);
    }

    (text, usize::from(!list.is_empty()))
}

/// Writes the criteria of all cases. The question, reference and expected outcome of a case are only in the row
/// of its first criterion. Returns the text and the number of cases in it.
pub(crate) fn write(suite: &Suite, cases: &[Case], notes: &mut ConversionNotes) -> (String, usize) {
    let mut text = format!("{CASE_COLUMNS}{CRITERION_COLUMNS}");
    let mut written = 0;
    note_suite_settings(suite, KeptSettings::default(), notes);

    for case in cases {
        let list = flatten_criteria(case, notes);
        if list.is_empty() {
            notes.add_case_loss(case, "skipped: it has no criterion for a table");
            continue;
        }

        written += 1;
        note_thresholds(suite, case, notes);
        note_case_settings(case, KeptSettings::default(), notes);
        note_other_content(case, true, true, notes);

        if case.input.len() > 1 {
            notes.add_case_loss(case, "its messages became one text");
        }

        for (index, flat) in list.iter().enumerate() {
            let first = |text: String| if index == 0 { text } else { String::new() };
            let of_case = [
                case.id.to_string(),
                first(case.question()),
                first(case.reference().unwrap_or_default()),
                first(case.expected_outcome.clone().unwrap_or_default()),
            ];
            push_row(&[&of_case[..], &criterion_fields(flat)].concat(), &mut text);
        }
    }

    (text, written)
}

fn criterion_fields(flat: &FlatCriterion<'_>) -> [String; 4] {
    [
        flat.criterion.id.to_string(),
        flat.criterion.text.clone(),
        flat.weight.to_string(),
        if flat.required { "yes" } else { "no" }.to_owned(),
    ]
}

fn push_row(fields: &[String], text: &mut String) {
    let fields: Vec<String> = fields.iter().map(|field| quote_field(&without_formula(field))).collect();
    text.push_str(&fields.join(","));
    text.push('\n');
}

/// Puts an apostrophe before a text that a spreadsheet would run as a formula, as people do by hand. Numbers
/// are not formulas.
fn without_formula(field: &str) -> Cow<'_, str> {
    if crate::csv::is_formula(field) { Cow::Owned(format!("'{field}")) } else { Cow::Borrowed(field) }
}

/// Quotes a field if it contains a delimiter, a line end or a quotation mark (RFC 4180).
fn quote_field(field: &str) -> String {
    let plain = !field.contains([',', ';', '\t', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for (field, written) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1+1", "'+1+1"),
            ("@SUM(1)", "'@SUM(1)"),
            ("-2+3", "'-2+3"),
            ("-2.5", "-2.5"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            let mut text = String::new();
            push_row(&[field.to_owned()], &mut text);
            assert_eq!(text.trim_end_matches('\n').trim_matches('"'), written);
        }
    }
}
