//! A table: one criterion a line, with the case it belongs to.

use assize_spec::{Case, Suite};

use super::criteria::{beside, criteria, lines};
use crate::note::Notes;

const HEADER: &str = "case,input,expected_output,case_outcome,id,criterion,weight,required\n";

/// Writes the criteria of all cases; question, reference and expected outcome stand with the first one of each case.
/// Gives the text and the number of cases in it.
pub(crate) fn write(suite: &Suite, cases: &[Case], notes: &mut Notes) -> (String, usize) {
    let mut text = HEADER.to_owned();
    let mut written = 0;
    for case in cases {
        let list = criteria(case, notes);
        if list.is_empty() {
            notes.lost(
                case.place.line,
                format!("case `{}`", case.id),
                "left out: it has no criterion for a table",
            );
            continue;
        }
        written += 1;
        lines(suite, case, notes);
        beside(case, true, true, notes);
        if case.input.len() > 1 {
            notes.lost(case.place.line, format!("case `{}`", case.id), "its messages became one text");
        }
        for (index, flat) in list.iter().enumerate() {
            let first = |text: String| if index == 0 { text } else { String::new() };
            let fields = [
                case.id.to_string(),
                first(case.question()),
                first(case.reference().unwrap_or_default()),
                first(case.expected_outcome.clone().unwrap_or_default()),
                flat.criterion.id.to_string(),
                flat.criterion.text.clone(),
                flat.weight.to_string(),
                if flat.required { "yes" } else { "no" }.to_owned(),
            ];
            let row: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
            text.push_str(&row.join(","));
            text.push('\n');
        }
    }
    (text, written)
}

/// A field by RFC 4180: in quotation marks where it holds a divider, a line end or a quotation mark.
fn quoted(field: &str) -> String {
    let plain = !field.contains([',', ';', '\t', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}
