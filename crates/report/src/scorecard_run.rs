//! Cost and open reviews of a scorecard run.

use assize_analysis::ScorecardRun;
use assize_rubric::{BenchmarkState, LabelCounts};
use assize_store::RunInfo;

use crate::ReportStyle;
use crate::cost::format_run_time;
use crate::number::{dollars, format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::summary::{render_next, render_result};

/// Renders the lines below the tree: decisions that need review, judges, cost and run folder.
pub fn render_scorecard_run(run: &ScorecardRun, info: &RunInfo, folder: &str, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let total = |state| run.parts.iter().map(|part| part.count(state)).sum::<u64>();
    let queue = [
        (BenchmarkState::Uncertain, "uncertain"),
        (BenchmarkState::Waiting, "waiting for a label"),
        (BenchmarkState::ReviewersDiffer, "on which reviewers disagree"),
        (BenchmarkState::Disputed, "on which people contradict the judge"),
        (BenchmarkState::JudgesDiffer, "on which judges disagree"),
    ];

    let queue: Vec<String> = queue
        .into_iter()
        .map(|(state, words)| (total(state), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", grouped(number)))
        .collect();

    let entry = |page: &mut ReportPage, label: &str, tone, text: String| {
        page.add_labelled(ReportTone::Dim, format!("{label:<10}"), ReportPiece::untrusted(tone, &text, 2000));
    };
    if !queue.is_empty() {
        entry(&mut page, "review", ReportTone::Open, format!("{} (review.jsonl)", queue.join(", ")));
    }

    let counts = run.label_counts();
    if let Some(line) = format_label_counts(counts) {
        let tone = if counts.stale + counts.unbound > 0 { ReportTone::Bad } else { ReportTone::Plain };
        entry(&mut page, "labels", tone, line);
    }

    let unjudged = total(BenchmarkState::Missing);
    if unjudged > 0 {
        let first = run.parts.iter().flat_map(|part| part.cases.values());
        let mut first = first.filter(|case| case.finding.state == BenchmarkState::Missing);
        let reason = first.next().map(|case| case.reason.clone()).unwrap_or_default();
        entry(
            &mut page,
            "unjudged",
            ReportTone::Bad,
            format!("{}; the first: {reason}", format_count(unjudged, "case", "cases")),
        );
    }

    let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
    if !judges.is_empty() {
        let note =
            if judges == ["offline"] { " (only compares words; name a model with --judge)" } else { "" };
        entry(&mut page, "judge", ReportTone::Plain, format!("{}{note}", judges.join(", ")));
    }

    if let Some(panel) = info.summary.as_ref().and_then(|summary| summary.panel.as_ref()) {
        page.add_text(
            &[ReportPiece::new(ReportTone::Dim, format!("{:<10}", "panels"))],
            &crate::panel::format_totals(panel),
        );
        if let Some(flips) = crate::panel::format_flip_rate(panel) {
            page.add_labelled(ReportTone::Dim, format!("{:<10}", "flips"), ReportPiece::plain(flips));
        }
    }

    if let Some(summary) = &info.summary {
        let hybrids = run.info.nodes.iter().zip(&run.parts);
        let hybrids = hybrids.filter(|(node, _)| node.evaluator.as_deref() == Some("hybrid"));
        let saved: u64 = hybrids.map(|(_, part)| part.settled_by_checks()).sum();
        let mut took = vec![format_count(summary.judge_calls, "judge call", "judge calls")];
        if summary.judge_calls_cached > 0 {
            took.push(format!("{} from the cache", grouped(summary.judge_calls_cached)));
        }
        if saved > 0 {
            took.push(format!("{} decided by checks alone", grouped(saved)));
        }
        if let Some(cost) = summary.cost_usd.map(assize_rubric::Usd::as_dollars).filter(|cost| *cost > 0.0) {
            took.push(dollars(cost));
        }

        took.push(format_run_time(info, summary));
        entry(&mut page, "took", ReportTone::Plain, took.join(", "));
    }

    entry(&mut page, "run", ReportTone::Plain, folder.to_owned());
    render_ending(&mut page, info, folder);
    page.finish()
}

/// Renders the result of a run that ended, and a command to continue with.
fn render_ending(page: &mut ReportPage, info: &RunInfo, folder: &str) {
    let Some(summary) = &info.summary else { return };
    page.add_blank();
    render_result(page, summary);
    if summary.exit_code != 0 {
        render_next(page, &format!("assize explain {folder}"), "list its cases");
    }
}

/// Describes how many labels of a scorecard count, and why the others don't; `None` if there are none.
pub fn format_label_counts(counts: LabelCounts) -> Option<String> {
    let LabelCounts { counted, stale, unbound, anonymous, unordered } = counts;
    let kinds = [
        (counted, "counted".to_owned()),
        (
            stale,
            "stale, not counted: the answer, target, case or question changed; `assize review` asks again"
                .to_owned(),
        ),
        (
            unbound,
            "not counted, because they do not name an answer (record them with `assize review RUN --decisions FILE`, or count them with `--accept-unbound-labels`)"
                .to_owned(),
        ),
        (anonymous, "not counted, because they name no reviewer".to_owned()),
        (
            unordered,
            "not counted: a person decided differently, and no time (`at`) says which decision is the later one"
                .to_owned(),
        ),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", grouped(number)))
        .collect();

    (!parts.is_empty()).then(|| parts.join("; "))
}
