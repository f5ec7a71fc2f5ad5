//! Cost and open reviews of a scorecard run.

use assize_analysis::CardRun;
use assize_rubric::BenchmarkState;
use assize_store::RunInfo;

use crate::Style;
use crate::number::{count, dollars, duration, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Renders the lines below the tree: decisions that need review, judges, cost and run folder.
pub fn card_run_lines(run: &CardRun, info: &RunInfo, folder: &str, style: Style) -> String {
    let mut page = Page::new(style);
    let total = |state| run.parts.iter().map(|part| part.count(state)).sum::<u64>();
    let queue = [
        (BenchmarkState::Uncertain, "uncertain"),
        (BenchmarkState::Waiting, "waiting for a label"),
        (BenchmarkState::ReviewersDiffer, "on which reviewers differ"),
        (BenchmarkState::JudgesDiffer, "on which judges differ"),
    ];
    let queue: Vec<String> = queue
        .into_iter()
        .map(|(state, words)| (total(state), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", grouped(number)))
        .collect();
    let mut entry = |label: &str, tone, text: String| {
        page.text(&[Piece::new(Tone::Dim, format!("{label:<10}"))], &[Piece::said(tone, &text, 2000)]);
    };
    if !queue.is_empty() {
        entry("review", Tone::Open, format!("{} (review.jsonl)", queue.join(", ")));
    }
    let unjudged = total(BenchmarkState::Missing);
    if unjudged > 0 {
        let first = run.parts.iter().flat_map(|part| part.cases.values());
        let mut first = first.filter(|case| case.finding.state == BenchmarkState::Missing);
        let reason = first.next().map(|case| case.reason.clone()).unwrap_or_default();
        entry("unjudged", Tone::Bad, format!("{}; the first: {reason}", count(unjudged, "case", "cases")));
    }
    let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
    if !judges.is_empty() {
        let note = if judges == ["offline"] {
            " (compares words and understands nothing; name a model with --judge)"
        } else {
            ""
        };
        entry("judge", Tone::Plain, format!("{}{note}", judges.join(", ")));
    }
    if let Some(panel) = info.summary.as_ref().and_then(|summary| summary.panel.as_ref()) {
        page.text(&[Piece::new(Tone::Dim, format!("{:<10}", "panels"))], &crate::panel::totals(panel));
        if let Some(flips) = crate::panel::flips(panel) {
            page.text(&[Piece::new(Tone::Dim, format!("{:<10}", "flips"))], &[Piece::plain(flips)]);
        }
    }
    let mut entry = |label: &str, tone, text: String| {
        page.text(&[Piece::new(Tone::Dim, format!("{label:<10}"))], &[Piece::said(tone, &text, 2000)]);
    };
    if let Some(summary) = &info.summary {
        let hybrids = run.info.nodes.iter().zip(&run.parts);
        let hybrids = hybrids.filter(|(node, _)| node.evaluator.as_deref() == Some("hybrid"));
        let saved: u64 = hybrids.map(|(_, part)| part.settled_by_checks()).sum();
        let mut took = vec![count(summary.judge_calls, "judge call", "judge calls")];
        if summary.judge_calls_cached > 0 {
            took.push(format!("{} from the cache", grouped(summary.judge_calls_cached)));
        }
        if saved > 0 {
            took.push(format!("{} settled by checks alone", grouped(saved)));
        }
        if let Some(cost) = summary.cost_usd.map(assize_rubric::Usd::dollars).filter(|cost| *cost > 0.0) {
            took.push(dollars(cost));
        }
        took.push(duration(summary.duration_ms));
        entry("took", Tone::Plain, took.join(", "));
    }
    entry("run", Tone::Plain, folder.to_owned());
    page.finish()
}
