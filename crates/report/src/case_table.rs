//! Table of many cases, one per line.

use assize_store::ResultRow;

use crate::case_block::main_reason;
use crate::mark::VerdictMark;
use crate::number;
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};

/// Renders a compact table of cases: verdict, score, case, prompt, suite, target and main reason. The suite and
/// the target are omitted where they are equal for all. `more` is the number of cases not shown, which
/// the command `all` shows. Returns an empty string without cases.
pub fn render_case_table(rows: &[ResultRow], more: usize, all: Option<&str>, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    if !rows.is_empty() {
        let one_suite = rows.iter().all(|row| row.suite == rows[0].suite);
        let one_target = rows.iter().all(|row| row.target == rows[0].target);
        let columns = [
            ReportColumn::left("verdict"),
            ReportColumn::right("score"),
            ReportColumn::shrinking("case").naming_row(),
            ReportColumn::shrinking("prompt"),
            ReportColumn::shrinking("suite"),
            ReportColumn::shrinking("target"),
            ReportColumn::shrinking("why"),
        ];

        let lines: Vec<Vec<ReportPiece>> = rows
            .iter()
            .map(|row| {
                let mark = VerdictMark::for_case(row);
                let case = match row.trial {
                    0 | 1 => sanitize::sanitize_name(row.test_id()),
                    trial => format!("{} (trial {trial})", sanitize::sanitize_name(row.test_id())),
                };
                let target = row.target.as_deref().filter(|_| !one_target).map(sanitize::sanitize_name);
                vec![
                    ReportPiece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
                    ReportPiece::plain(format_case_score(row)),
                    ReportPiece::new(ReportTone::Strong, case),
                    ReportPiece::plain(
                        row.prompt.as_deref().map(sanitize::sanitize_name).unwrap_or_default(),
                    ),
                    ReportPiece::new(
                        ReportTone::Dim,
                        if one_suite { String::new() } else { sanitize::sanitize_name(&row.suite) },
                    ),
                    ReportPiece::new(ReportTone::Dim, target.unwrap_or_default()),
                    ReportPiece::untrusted(
                        ReportTone::Plain,
                        &main_reason(row).unwrap_or_default(),
                        sanitize::MAX_REASON,
                    ),
                ]
            })
            .collect();
        render_table(&mut page, 2, &columns, &lines);
    }

    if more > 0 {
        let all = all.map_or_else(String::new, |command| format!(": `{command}`"));
        page.add_line(&[ReportPiece::new(
            ReportTone::Dim,
            format!("  … and {} more{all}", number::grouped(more as u64)),
        )]);
    }

    page.finish()
}

fn format_case_score(row: &ResultRow) -> String {
    number::format_score_or_range(row.score, row.score_low, row.score_high)
        .unwrap_or_else(|| number::NO_VALUE.to_owned())
}
