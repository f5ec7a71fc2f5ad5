//! Items as a table for a spreadsheet that reviewers fill in and import again.

use std::io::{self, Write};

use assize_limits::REVIEW_CELL_CHARACTERS as MAX_CELL;
use assize_report::spreadsheet_text;

use crate::script::{FILLED_COLUMNS, ITEM_COLUMN, ITEM_PREFIX};
use crate::{ReviewItem, ReviewQuestion, ReviewSection};

/// Counts of a written table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpreadsheetCount {
    /// Number of items in the table.
    pub written: usize,
    /// Number of items that are omitted because one of their texts is too long for a cell.
    pub too_long: usize,
}

/// Writes items as CSV: their names, all texts that a reviewer is shown, and empty columns for the decision.
/// It contains nothing about the judge.
///
/// # Errors
/// If the table can't be written.
pub fn write_spreadsheet(
    out: &mut dyn Write,
    items: &[ReviewItem],
    who: &str,
) -> io::Result<SpreadsheetCount> {
    let mut titles: Vec<String> = Vec::new();
    for section in
        items.iter().flat_map(|item| item.sections.iter().map(move |section| column(item, section)))
    {
        if !titles.contains(&section) {
            titles.push(section);
        }
    }

    // Without this mark, some spreadsheet programs assume another encoding.
    out.write_all("\u{feff}".as_bytes())?;
    let mut table = csv::Writer::from_writer(out);
    let fixed = [ITEM_COLUMN, "case", "criterion"];
    let header = fixed.into_iter().chain(titles.iter().map(String::as_str));
    table.write_record(header.chain(["possible labels"]).chain(FILLED_COLUMNS))?;

    let mut count = SpreadsheetCount::default();
    for item in items {
        let text_of = |title: &String| {
            let sections = item.sections.iter().filter(|section| column(item, section) == *title);
            let texts: Vec<&str> = sections.map(|section| section.text.as_str()).collect();
            spreadsheet_text(&texts.join("\n\n"))
        };
        let texts: Vec<String> = titles.iter().map(text_of).collect();
        if texts.iter().any(|text| text.chars().count() > MAX_CELL) {
            count.too_long += 1;
            continue;
        }

        let named = [
            format!("{ITEM_PREFIX}{}", item.key()),
            spreadsheet_text(&item.case),
            spreadsheet_text(&item.criterion),
        ];
        let empty = [String::new(), String::new(), String::new(), spreadsheet_text(who)];
        let cells = named.into_iter().chain(texts).chain([possible_labels(&item.question)]).chain(empty);
        table.write_record(cells)?;
        count.written += 1;
    }

    table.flush()?;
    Ok(count)
}

/// Returns the column of a text. Titles that only differ in the name of the criterion share a column.
fn column(item: &ReviewItem, section: &ReviewSection) -> String {
    let title = section.title.strip_suffix(&item.criterion).filter(|_| !item.criterion.is_empty());
    let title = title.unwrap_or(&section.title).trim();
    // There is already a column of this name for the id.
    if title.eq_ignore_ascii_case("criterion") { "criterion text".to_owned() } else { title.to_owned() }
}

fn possible_labels(question: &ReviewQuestion) -> String {
    match question {
        ReviewQuestion::Verdict(None) => "pass, fail, na, unsure".to_owned(),
        ReviewQuestion::Verdict(Some(scale)) => format!("{} to {}, na, unsure", scale.min, scale.max),
        ReviewQuestion::Primary(choices) => {
            let codes: Vec<&str> = choices.iter().map(|choice| choice.code.as_str()).collect();
            spreadsheet_text(&format!("{}, none, clean", codes.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::items;

    #[test]
    fn a_table_has_every_text_but_none_of_the_judge() {
        let mut all = items(3);
        all[0].sections[1].text = "=1+1, \"two\"\nlines".to_owned();
        all[1].sections[1].text = "long ".repeat(MAX_CELL);
        let mut out = Vec::new();
        let count = write_spreadsheet(&mut out, &all, "ann").expect("written");
        assert_eq!(count, SpreadsheetCount { written: 2, too_long: 1 });

        let text = String::from_utf8(out).expect("text");
        let header =
            "\u{feff}item,case,criterion,criterion text,Answer,possible labels,label,severity,note,who\n";
        assert!(text.starts_with(header), "{text}");
        assert!(text.contains("\"'=1+1, \"\"two\"\"\nlines\",\"pass, fail, na, unsure\",,,,ann\n"), "{text}");
        assert!(!text.contains("SECRET-REASON") && !text.contains("unmet"), "{text}");
    }
}
