//! Cases with several trials, and several targets compared.

use assize_store::{CaseTrialsRow, PartTable, TrialMetrics, VerdictCounts, named_case};

use crate::cost::format_cost;
use crate::entry::{UndefinedIntervals, entry, percent, score, tallies};
use crate::mark::VerdictMark;
use crate::number::{self, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of cases that are listed. Cases that did not always pass come first.
const MAX_CASES: usize = 25;

/// Number of them in a brief summary.
const MAX_CASES_BRIEF: usize = 4;

/// Formats the counts of verdicts.
pub(crate) fn format_verdict_counts(counts: VerdictCounts) -> Vec<ReportPiece> {
    let mut pieces = Vec::new();
    for (number, word, tone) in tallies(counts) {
        if number > 0 {
            if !pieces.is_empty() {
                pieces.push(ReportPiece::plain(", "));
            }
            pieces.push(ReportPiece::new(tone, format!("{} {word}", grouped(number as u64))));
        }
    }

    pieces
}

/// Renders pass@k and pass^k.
pub(crate) fn render_pass_k(page: &mut ReportPage, repeats: &TrialMetrics) {
    let mut undefined = UndefinedIntervals::default();
    let lines: Vec<Vec<ReportPiece>> = repeats
        .pass_k
        .iter()
        .map(|row| {
            vec![
                ReportPiece::plain(row.k.to_string()),
                ReportPiece::new(ReportTone::Strong, percent(&row.any)),
                undefined.or_dash(&row.any, number::format_rate),
                ReportPiece::new(ReportTone::Strong, percent(&row.all)),
                undefined.or_dash(&row.all, number::format_rate),
            ]
        })
        .collect();

    page.add_blank();
    let columns = [
        ReportColumn::right("k"),
        ReportColumn::right("pass@k"),
        ReportColumn::shrinking("95% CI"),
        ReportColumn::right("pass^k"),
        ReportColumn::shrinking("95% CI"),
    ];
    render_table(page, 2, &columns, &lines);
    undefined.render(page);
    let text =
        "pass@k: at least one of k trials passes; pass^k: all of them. Means over cases with several trials.";
    page.add_indented(2, ReportPiece::new(ReportTone::Dim, text));
}

/// Renders the cases with several trials, a line each.
pub(crate) fn render_case_trials(page: &mut ReportPage, repeats: &TrialMetrics, is_brief: bool) {
    let most = if is_brief { MAX_CASES_BRIEF } else { MAX_CASES };
    let mut cases: Vec<&CaseTrialsRow> = repeats.cases.iter().collect();
    if cases.len() > most {
        cases.sort_by(|a, b| (a.passed * b.count).cmp(&(b.passed * a.count)));
    }

    let Some(first) = cases.first() else { return };
    let one_suite = cases.iter().all(|case| case.suite == first.suite);
    let one_target = cases.iter().all(|case| case.target == first.target);
    let one_strategy = cases.iter().all(|case| case.strategy == first.strategy);
    let mut undefined = UndefinedIntervals::default();
    let blank = |hide: bool, text: String| if hide { String::new() } else { text };
    let lines: Vec<Vec<ReportPiece>> = cases
        .iter()
        .take(most)
        .map(|case| {
            let mark =
                if case.skipped { VerdictMark::skipped() } else { VerdictMark::for_verdict(case.verdict) };
            let target = case.target.as_deref().map(sanitize::sanitize_name).unwrap_or_default();
            let undecided = case.run - case.decided;
            let open = if undecided > 0 && !case.skipped {
                format!(" ({undecided} incomplete)")
            } else {
                String::new()
            };

            vec![
                ReportPiece::new(mark.tone, format!("{} {}", mark.sign, mark.word)),
                ReportPiece::plain(
                    case.score.map_or_else(|| number::NO_VALUE.to_owned(), number::format_score),
                ),
                ReportPiece::plain(format!("{}/{}{open}", case.passed, case.run)),
                ReportPiece::plain(score(&case.mean_score)),
                undefined.or_dash(&case.mean_score, number::format_score),
                ReportPiece::new(
                    ReportTone::Strong,
                    sanitize::sanitize_name(&named_case(
                        case.test.as_deref().unwrap_or(&case.case_id),
                        case.prompt.as_deref(),
                    )),
                ),
                ReportPiece::new(ReportTone::Dim, blank(one_suite, sanitize::sanitize_name(&case.suite))),
                ReportPiece::new(ReportTone::Dim, blank(one_target, target)),
                ReportPiece::new(ReportTone::Dim, blank(one_strategy, case.strategy.name().to_owned())),
            ]
        })
        .collect();

    page.add_blank();
    let columns = [
        ReportColumn::left("verdict"),
        ReportColumn::right("score"),
        ReportColumn::right("passed"),
        ReportColumn::right("mean"),
        ReportColumn::shrinking("95% CI"),
        ReportColumn::shrinking("case").naming_row(),
        ReportColumn::shrinking("suite"),
        ReportColumn::shrinking("target"),
        ReportColumn::left("by"),
    ];

    render_table(page, 2, &columns, &lines);
    undefined.render(page);
    let more = cases.len().saturating_sub(most);
    if more > 0 {
        page.add_line(&[ReportPiece::new(ReportTone::Dim, format!("  … and {} more", grouped(more as u64)))]);
    }
    if one_strategy {
        entry(page, "Verdicts by", ReportPiece::plain(first.strategy.name()));
    }
}

/// Renders several targets or prompts, one per line. `kind` is the word for them.
pub(crate) fn render_parts(page: &mut ReportPage, kind: &'static str, parts: &PartTable<'_>) {
    if parts.is_empty() {
        return;
    }

    let number = |count: usize| if count == 0 { String::new() } else { grouped(count as u64) };
    let mut undefined = UndefinedIntervals::default();
    let lines: Vec<Vec<ReportPiece>> = parts
        .iter()
        .map(|(name, part)| {
            let counts = part.counts;
            vec![
                ReportPiece::new(
                    ReportTone::Strong,
                    name.map_or("(given)".to_owned(), sanitize::sanitize_name),
                ),
                ReportPiece::new(ReportTone::Good, number(counts.pass)),
                ReportPiece::new(ReportTone::Middling, number(counts.borderline)),
                ReportPiece::new(ReportTone::Bad, number(counts.fail)),
                ReportPiece::new(ReportTone::Open, number(counts.incomplete)),
                ReportPiece::new(ReportTone::Open, number(counts.skipped)),
                ReportPiece::plain(percent(&part.pass_rate)),
                undefined.or_dash(&part.pass_rate, number::format_rate),
                ReportPiece::plain(score(&part.mean_score)),
                undefined.or_dash(&part.mean_score, number::format_score),
                ReportPiece::plain(format_cost(part.cost_usd, None)),
            ]
        })
        .collect();

    page.add_blank();
    let columns = [
        ReportColumn::shrinking(kind),
        ReportColumn::right("passed"),
        ReportColumn::right("borderline"),
        ReportColumn::right("failed"),
        ReportColumn::right("incomplete"),
        ReportColumn::right("skipped"),
        ReportColumn::right("pass rate"),
        ReportColumn::shrinking("95% CI"),
        ReportColumn::right("mean score"),
        ReportColumn::shrinking("95% CI"),
        ReportColumn::right("cost"),
    ];
    render_table(page, 2, &columns, &lines);
    undefined.render(page);
}
