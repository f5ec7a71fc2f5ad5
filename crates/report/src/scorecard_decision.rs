//! Summary for a committee that decides about a release: one page, without rates or means of cases.

use std::collections::BTreeMap;

use assize_analysis::{ScorecardComparison, ScorecardRun, ScorecardTree};
use assize_rubric::{NodeStatus, ScorecardNodeId, ScorecardScores, at_least};
use assize_store::RunInfo;

use crate::number::{format_count, format_plain, format_rate, format_score, grouped};
use crate::scorecard_comparison::list_codes;

/// Maximum number of lines below a heading.
const MAX_LINES: usize = 6;

/// Lines below a heading, such as the reasons that block the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionPart {
    /// The heading.
    pub title: &'static str,
    /// The lines, the most important first.
    pub lines: Vec<String>,
}

/// Summary of a scorecard run for a committee. `earlier` is the comparison with the last release, and its name.
pub fn scorecard_decision(
    run: &ScorecardRun,
    info: &RunInfo,
    trees: &[(&ScorecardTree, ScorecardScores<'_>)],
    earlier: Option<(&str, &ScorecardComparison)>,
) -> Vec<DecisionPart> {
    let conclusion = info.summary.as_ref().map(|summary| &summary.conclusion);
    let lines = |found: Option<Vec<String>>| found.unwrap_or_default();
    let blocked = conclusion.map(|found| found.blocked_by.iter().map(ToString::to_string).collect());
    let disputed = conclusion.map(|found| found.disputed.iter().map(ToString::to_string).collect());
    let relaxed = conclusion.map(|found| found.relaxed_by.clone());
    let waiting = run.review_rows().len() as u64;
    let mut disputed: Vec<String> = lines(disputed);
    if waiting > 0 {
        disputed.push(format!("{} for a person", format_count(waiting, "result waits", "results wait")));
    }

    let parts = [
        ("Blocked by", lines(blocked), "no gate failed"),
        (
            "Without gates",
            trees.iter().flat_map(|(tree, scores)| below_thresholds(run, tree, scores)).collect(),
            "nothing would fail",
        ),
        ("Disputed or open", disputed, "nothing"),
        ("Covered", covered(info, trees), "nothing is known about the coverage"),
        (
            "Changed since",
            earlier.map(|(name, found)| changes(name, found)).unwrap_or_default(),
            "there is no earlier run by the same judges",
        ),
        ("Labelled by", labelled_by(run), "nobody"),
        ("Weakened by", lines(relaxed), "no option"),
    ];
    let part = |(title, lines, nothing): (&'static str, Vec<String>, &str)| DecisionPart {
        title,
        lines: if lines.is_empty() { vec![nothing.to_owned()] } else { at_most(lines) },
    };
    parts.into_iter().map(part).collect()
}

/// At most [`MAX_LINES`] lines; the last one then counts the rest.
fn at_most(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MAX_LINES {
        let more = lines.len() - (MAX_LINES - 1);
        lines.truncate(MAX_LINES - 1);
        lines.push(format!("and {} more", grouped(more as u64)));
    }
    lines
}

/// The top of a tree and the parts directly below it, if they do not reach their thresholds. Gates are ignored.
fn below_thresholds(run: &ScorecardRun, tree: &ScorecardTree, scores: &ScorecardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let below = |id: ScorecardNodeId| {
        let (node, (low, high)) = (card.node(id)?, scores.node(id)?.bounds?);
        let stored = tree.places.get(id.index()).and_then(|place| run.info.nodes.get(*place));
        let label = stored.and_then(|stored| stored.label.as_ref());
        let label = label.map(|label| format!(" {label}")).unwrap_or_default();
        let score = if low == high {
            format_score(low)
        } else {
            format!("{} to {}", format_score(low), format_score(high))
        };
        // Missing cases may still score well, so the upper bound counts.
        let is_below = !at_least(high, node.line.get());
        is_below
            .then(|| format!("{}{label} is below {} at {score}", node.code, format_plain(node.line.get())))
    };
    let root = card.root();
    std::iter::once(root).chain(card.children(root)).filter_map(below).collect()
}

/// What of the scorecard has results.
fn covered(info: &RunInfo, trees: &[(&ScorecardTree, ScorecardScores<'_>)]) -> Vec<String> {
    let scope = info.summary.as_ref().and_then(|summary| summary.conclusion.scope.clone());
    let cases: usize = info.suites.iter().map(|suite| suite.cases).sum();
    let mut lines =
        vec![scope.unwrap_or_else(|| format!("all {}", format_count(cases as u64, "case", "cases")))];
    for (_, scores) in trees {
        let root = scores.card().root();
        let top = scores.card().node(root).map_or("", |node| &node.code);
        lines.extend(
            scores.root().coverage.map(|share| format!("{} of the weight of {top}", format_rate(share))),
        );
        let code = |id: &ScorecardNodeId| scores.card().node(*id).map(|node| node.code.to_string());
        let untested: Vec<String> = scores.untested_gates(root).iter().filter_map(code).collect();
        if !untested.is_empty() {
            lines.push(format!("hard gates without a case: {}", untested.join(", ")));
        }
    }
    lines
}

/// What differs from an earlier run: statuses, then gates, parts and how they were measured.
fn changes(name: &str, found: &ScorecardComparison) -> Vec<String> {
    let cases = format_count(found.shared as u64, "case", "cases");
    let moved = found.nodes.iter().filter(|node| node.base.status != node.candidate.status);
    let mut moved: Vec<_> = moved.collect();
    let is_worse = |status: NodeStatus| matches!(status, NodeStatus::Blocked | NodeStatus::Fail);
    moved.sort_by_key(|node| (!node.is_top, !is_worse(node.candidate.status)));
    let mut lines = vec![format!("{name}, over the {cases} in both")];
    if moved.is_empty() {
        lines.push("no part has another status".to_owned());
    }
    lines.extend(
        moved.iter().map(|node| format!("{}: {} → {}", node.code, node.base.status, node.candidate.status)),
    );
    let lost: Vec<String> =
        found.nodes.iter().filter(|node| node.lost_gate).map(|node| node.code.clone()).collect();
    let measured: Vec<String> = found.measured.iter().map(|change| change.code.clone()).collect();
    for (words, codes) in [
        ("hard gates that are gone", &found.gates_gone),
        ("no hard gates any more", &lost),
        ("parts that are gone", &found.gone),
        ("new parts", &found.new),
        ("other weights or thresholds", &found.changed),
        ("measured differently", &measured),
    ] {
        let mut codes: Vec<&str> = codes.iter().map(String::as_str).collect();
        codes.dedup();
        if !codes.is_empty() {
            lines.push(format!("{words}: {}", list_codes(&codes)));
        }
    }
    lines
}

/// The people whose labels count, with the number of results that each labelled.
fn labelled_by(run: &ScorecardRun) -> Vec<String> {
    let mut people: BTreeMap<&str, u64> = BTreeMap::new();
    let cases = run.parts.iter().flat_map(|part| part.cases.values());
    for account in cases.filter_map(|case| case.labels.as_deref()) {
        for label in &account.current {
            *people.entry(label.who.as_deref().unwrap_or("nobody")).or_default() += 1;
        }
    }
    let named =
        people.into_iter().map(|(who, count)| format!("{who}, {}", format_count(count, "result", "results")));
    named.collect()
}
