//! Table of many cases, one per line.

use assize_store::ResultRow;

use crate::case_block::why;
use crate::clean;
use crate::mark::Mark;
use crate::number;
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};
use crate::table::{Column, table};

/// Renders a compact table of cases: verdict, score, case, suite, target and main reason. The suite and the
/// target are omitted where they are equal for all. `more` is the number of cases not shown. Returns an empty
/// string without cases.
pub fn case_table(rows: &[ResultRow], more: usize, style: Style) -> String {
    let mut page = Page::new(style);
    if !rows.is_empty() {
        let one_suite = rows.iter().all(|row| row.suite == rows[0].suite);
        let one_target = rows.iter().all(|row| row.target == rows[0].target);
        let columns = [
            Column::left("verdict"),
            Column::right("score"),
            Column::shrinking("case"),
            Column::shrinking("suite"),
            Column::shrinking("target"),
            Column::shrinking("why"),
        ];
        let lines: Vec<Vec<Piece>> = rows
            .iter()
            .map(|row| {
                let mark = Mark::row(row);
                let case = match row.repeat {
                    0 | 1 => clean::name(&row.case_id),
                    repeat => format!("{} (repeat {repeat})", clean::name(&row.case_id)),
                };
                let target = row.target.as_deref().filter(|_| !one_target).map(clean::name);
                vec![
                    Piece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
                    Piece::plain(figure(row)),
                    Piece::new(Tone::Strong, case),
                    Piece::new(Tone::Dim, if one_suite { String::new() } else { clean::name(&row.suite) }),
                    Piece::new(Tone::Dim, target.unwrap_or_default()),
                    Piece::said(Tone::Plain, &why(row).unwrap_or_default(), clean::REASON),
                ]
            })
            .collect();
        table(&mut page, 2, &columns, &lines);
    }
    if more > 0 {
        page.line(&[Piece::new(Tone::Dim, format!("  … and {} more", number::grouped(more as u64)))]);
    }
    page.finish()
}

fn figure(row: &ResultRow) -> String {
    match row.score {
        Some(score) => number::score_column(score),
        None => number::score_or_range(None, row.score_low, row.score_high).unwrap_or_else(|| "–".to_owned()),
    }
}
