//! The tree of a scorecard with scores, thresholds and gates.

use askama::Template;
use assize_analysis::ScorecardTree;
use assize_rubric::{Criticality, ScorecardNodeId, ScorecardNodeKind, ScorecardScores};

use super::tone;
use crate::chart::{ChartAxis, IntervalMark, interval_bar};
use crate::export::ScorecardMaterial;
use crate::number::{format_plain, grouped};
use crate::sanitize::escape_lines;
use crate::scorecard_scores::{blocker_text, closing_lines, format_node_score, nodes_in_order, status_tone};

/// Maximum number of parts of a tree that are shown.
const MAX_PARTS: usize = 1_000;

/// A scored tree.
#[derive(Template)]
#[template(path = "scorecard.html")]
pub(super) struct ScorecardView {
    title: String,
    lines: Vec<String>,
    parts: Vec<PartView>,
    more: usize,
}

struct PartView {
    depth: usize,
    group: bool,
    gate: bool,
    code: String,
    label: String,
    status: &'static str,
    class: &'static str,
    score: String,
    threshold: String,
    chart: String,
    weight: String,
    cases: String,
    missing: String,
    why: String,
}

/// The trees of a scorecard.
pub(super) fn scorecard_views(card: &ScorecardMaterial<'_>) -> Vec<ScorecardView> {
    card.scores.iter().map(|(tree, scores)| tree_view(card, tree, scores)).collect()
}

fn tree_view(
    card: &ScorecardMaterial<'_>,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
) -> ScorecardView {
    let nodes = nodes_in_order(scores);
    let top = scores.card().node(scores.card().root()).map_or("", |node| &node.code);
    let parts =
        nodes.iter().take(MAX_PARTS).filter_map(|(id, depth)| part_view(card, tree, scores, *id, *depth));

    ScorecardView {
        title: escape_lines(top),
        lines: closing_lines(scores).iter().map(|line| escape_lines(line)).collect(),
        parts: parts.collect(),
        more: nodes.len().saturating_sub(MAX_PARTS),
    }
}

fn part_view(
    card: &ScorecardMaterial<'_>,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
    id: ScorecardNodeId,
    depth: usize,
) -> Option<PartView> {
    let (node, found) = scores.card().node(id).zip(scores.node(id))?;
    let stored = tree.places.get(id.index()).and_then(|place| card.run.info.nodes.get(*place));
    let (group, gate) = match node.kind {
        ScorecardNodeKind::Group { hard_gate, .. } => (true, hard_gate),
        ScorecardNodeKind::Benchmark { criticality } => (false, criticality == Criticality::HardGate),
    };

    let score = format_node_score(found, node.line.get());
    let tone = tone(status_tone(found.status));
    let title = format!("{} {score}, passes at {}", found.status.name(), format_plain(node.line.get()));
    let bounds = found.bounds.filter(|(low, high)| low < high);
    let value = found.score().or(found.bounds.map(|(low, _)| low));
    let mark = IntervalMark { value, interval: bounds, tone, title: &title };

    Some(PartView {
        depth: depth.min(8),
        group,
        gate,
        code: escape_lines(&node.code),
        label: stored.and_then(|part| part.label.as_deref()).map(escape_lines).unwrap_or_default(),
        status: found.status.name(),
        class: tone.class(),
        chart: interval_bar(ChartAxis::UNIT, mark, Some(node.line.get())),
        score,
        threshold: format_plain(node.line.get()),
        weight: if depth == 0 { String::new() } else { format_plain(node.weight.get()) },
        cases: grouped(found.scored),
        missing: if found.missing == 0 { String::new() } else { grouped(found.missing) },
        why: escape_lines(&blocker_text(scores, id)),
    })
}
