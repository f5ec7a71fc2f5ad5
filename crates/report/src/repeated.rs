//! Cases with several trials, and several targets compared.

use assize_store::{Counts, Figure, RepeatFigures, RepeatedCaseRow, TargetFigures};

use crate::clean;
use crate::entry::{entry, tallies};
use crate::mark::Mark;
use crate::number::{self, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Maximum number of such cases that are listed: those that did not always pass come first.
const MAX_CASES: usize = 25;

/// Formats the counts of verdicts.
pub(crate) fn verdicts(counts: Counts) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, word, tone) in tallies(counts) {
        if number > 0 {
            if !pieces.is_empty() {
                pieces.push(Piece::plain(", "));
            }
            pieces.push(Piece::new(tone, format!("{} {word}", grouped(number as u64))));
        }
    }
    pieces
}

/// Renders pass@k and pass^k.
pub(crate) fn pass_k(page: &mut Page, repeats: &RepeatFigures) {
    let lines: Vec<Vec<Piece>> = repeats
        .pass_k
        .iter()
        .map(|row| {
            vec![
                Piece::plain(row.k.to_string()),
                Piece::new(Tone::Strong, value(&row.any)),
                Piece::new(Tone::Dim, interval(&row.any)),
                Piece::new(Tone::Strong, value(&row.all)),
                Piece::new(Tone::Dim, interval(&row.all)),
            ]
        })
        .collect();
    page.blank();
    let columns = [
        Column::right("k"),
        Column::right("pass@k"),
        Column::shrinking("95% interval"),
        Column::right("pass^k"),
        Column::shrinking("95% interval"),
    ];
    table(page, 2, &columns, &lines);
}

/// Renders the cases with several trials, a line each.
pub(crate) fn cases(page: &mut Page, repeats: &RepeatFigures) {
    let mut cases: Vec<&RepeatedCaseRow> = repeats.cases.iter().collect();
    if cases.len() > MAX_CASES {
        cases.sort_by(|a, b| (a.passed * b.count).cmp(&(b.passed * a.count)));
    }
    let Some(first) = cases.first() else { return };
    let one_suite = cases.iter().all(|case| case.suite == first.suite);
    let one_target = cases.iter().all(|case| case.target == first.target);
    let one_strategy = cases.iter().all(|case| case.strategy == first.strategy);
    let blank = |hide: bool, text: String| if hide { String::new() } else { text };
    let lines: Vec<Vec<Piece>> = cases
        .iter()
        .take(MAX_CASES)
        .map(|case| {
            let mark = if case.skipped { Mark::skipped() } else { Mark::verdict(case.verdict) };
            let target = case.target.as_deref().map(clean::name).unwrap_or_default();
            let undecided = case.run - case.decided;
            let open = if undecided > 0 && !case.skipped {
                format!(" ({undecided} undecided)")
            } else {
                String::new()
            };
            vec![
                Piece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
                Piece::plain(case.score.map_or_else(|| "–".to_owned(), number::score_column)),
                Piece::plain(format!("{}/{}{open}", case.passed, case.run)),
                Piece::plain(value(&case.mean_score)),
                Piece::new(Tone::Dim, interval(&case.mean_score)),
                Piece::new(Tone::Strong, clean::name(&case.case_id)),
                Piece::new(Tone::Dim, blank(one_suite, clean::name(&case.suite))),
                Piece::new(Tone::Dim, blank(one_target, target)),
                Piece::new(Tone::Dim, blank(one_strategy, case.strategy.name().to_owned())),
            ]
        })
        .collect();
    page.blank();
    let columns = [
        Column::left("verdict"),
        Column::right("score"),
        Column::right("passed"),
        Column::right("mean"),
        Column::left("95% interval"),
        Column::shrinking("case"),
        Column::shrinking("suite"),
        Column::shrinking("target"),
        Column::left("by"),
    ];
    table(page, 2, &columns, &lines);
    let more = cases.len().saturating_sub(MAX_CASES);
    if more > 0 {
        page.line(&[Piece::new(Tone::Dim, format!("  … and {} more", grouped(more as u64)))]);
    }
    if one_strategy {
        entry(page, "Verdicts by", vec![Piece::plain(first.strategy.name())]);
    }
}

/// Renders several targets, a line each.
pub(crate) fn targets(page: &mut Page, targets: &[TargetFigures]) {
    if targets.is_empty() {
        return;
    }
    let number = |count: usize| if count == 0 { String::new() } else { grouped(count as u64) };
    let lines: Vec<Vec<Piece>> = targets
        .iter()
        .map(|target| {
            let counts = target.counts;
            vec![
                Piece::new(Tone::Strong, target.target.as_deref().map_or("(given)".to_owned(), clean::name)),
                Piece::new(Tone::Good, number(counts.pass)),
                Piece::new(Tone::Middling, number(counts.borderline)),
                Piece::new(Tone::Bad, number(counts.fail)),
                Piece::new(Tone::Open, number(counts.incomplete)),
                Piece::new(Tone::Open, number(counts.skipped)),
                Piece::plain(value(&target.pass_rate)),
                Piece::new(Tone::Dim, interval(&target.pass_rate)),
                Piece::plain(value(&target.mean_score)),
                Piece::new(Tone::Dim, interval(&target.mean_score)),
            ]
        })
        .collect();
    page.blank();
    let columns = [
        Column::shrinking("target"),
        Column::right("passed"),
        Column::right("borderline"),
        Column::right("failed"),
        Column::right("incomplete"),
        Column::right("skipped"),
        Column::right("rate"),
        Column::left("95% interval"),
        Column::right("mean"),
        Column::left("95% interval"),
    ];
    table(page, 2, &columns, &lines);
}

fn value(figure: &Figure) -> String {
    figure.value.map_or_else(|| "–".to_owned(), number::score)
}

/// Formats the interval, or the reason why there is none.
fn interval(figure: &Figure) -> String {
    match (figure.low, figure.high, &figure.undefined) {
        (Some(low), Some(high), _) => format!("{} to {}", number::score(low), number::score(high)),
        (.., Some(reason)) => format!("none: {}", clean::said(reason, 120)),
        _ => String::new(),
    }
}
