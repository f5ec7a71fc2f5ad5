//! Scored scorecard: its tree with scores and blockers.

use assize_analysis::ScorecardTree;
use assize_rubric::{
    Criticality, NodeScore, NodeStatus, ScorecardNodeId, ScorecardNodeKind, ScorecardScores, at_least,
};
use assize_stats::{ConfidenceLevel, zero_failures};
use assize_store::ScorecardInfo;

use crate::ReportStyle;
use crate::number::{
    format_beside, format_count, format_plain, format_rate, format_score, format_score_or_range,
};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table_on_demand};

/// Maximum number of gains that are listed.
const MAX_GAINS: usize = 5;
/// Maximum number of weakest benchmarks that are named.
const MAX_WEAKEST: usize = 3;
/// Maximum number of blockers and gates that are named below the table.
const MAX_NAMED: usize = 8;

/// Maximum number of rows of a tree. Above that, lower levels are folded, unless a depth is given.
const MAX_ROWS: usize = 200;
/// A code of at least this many characters is probably an opaque id, so the label is shown beside it.
const OPAQUE_CODE: usize = 20;

/// Levels and labels that a rendered scorecard shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScorecardLayout<'a> {
    /// Number of levels below the top; all that fit if not given.
    pub depth: Option<usize>,
    /// The stored tree, for labels.
    pub labels: Option<(&'a ScorecardInfo, &'a ScorecardTree)>,
}

impl ScorecardLayout<'_> {
    /// Returns the deepest level shown.
    fn deepest(&self, order: &[(ScorecardNodeId, usize)]) -> usize {
        let most = order.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let fits = |level: &usize| order.iter().filter(|(_, depth)| depth <= level).count() <= MAX_ROWS;

        self.depth.unwrap_or_else(|| (1..=most).rev().find(fits).unwrap_or(1))
    }

    /// Returns the label of a node whose code is an opaque id.
    fn label(&self, code: &str, id: ScorecardNodeId) -> Option<&str> {
        let (info, tree) = self.labels.filter(|_| code.chars().count() >= OPAQUE_CODE)?;
        info.nodes.get(*tree.places.get(id.index())?)?.label.as_deref()
    }
}

/// Renders a scored scorecard as a tree, then its blockers, the largest possible gains, and the highest
/// failure rate that a passed gate is still compatible with. The lower levels of a large tree are folded.
pub fn render_scorecard_scores(
    scores: &ScorecardScores<'_>,
    layout: ScorecardLayout<'_>,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::left("code"),
        ReportColumn::left("verdict"),
        ReportColumn::right("score"),
        ReportColumn::right("threshold"),
        ReportColumn::right("cases"),
        ReportColumn::right("covered"),
        ReportColumn::shrinking("why"),
    ];

    let all = nodes_in_order(scores);
    let deepest = layout.deepest(&all);
    let order: Vec<(ScorecardNodeId, usize)> =
        all.iter().copied().filter(|(_, depth)| *depth <= deepest).collect();
    render_table_on_demand(&mut page, 0, &columns, order.len(), |at| {
        node_row(scores, order[at].0, order[at].1, layout)
    });
    page.add_blank();

    let folded = all.len() - order.len();
    if folded > 0 {
        let parts = format_count(folded as u64, "node", "nodes");
        let text = format!("hidden: {parts} below level {deepest}; show more levels with `--depth N`");
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
    }

    for line in closing_lines(scores) {
        page.add_paragraph(ReportPiece::plain(line));
    }

    page.finish()
}

/// Returns all nodes in depth-first order with their depth.
pub fn nodes_in_order(scores: &ScorecardScores<'_>) -> Vec<(ScorecardNodeId, usize)> {
    let card = scores.card();
    let mut order = Vec::new();
    let mut waiting = vec![(card.root(), 0)];
    while let Some((id, depth)) = waiting.pop() {
        order.push((id, depth));
        let children: Vec<ScorecardNodeId> = card.children(id).collect();
        waiting.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }

    order
}

fn node_code<'s>(scores: &'s ScorecardScores<'_>, id: ScorecardNodeId) -> &'s str {
    scores.card().node(id).map_or("", |node| &node.code)
}

fn node_row(
    scores: &ScorecardScores<'_>,
    id: ScorecardNodeId,
    depth: usize,
    layout: ScorecardLayout<'_>,
) -> Vec<ReportPiece> {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return Vec::new() };
    let line = node.line.get();
    let why = blocker_text(scores, id);
    let described = match layout.label(&node.code, id) {
        Some(label) if why.is_empty() => label.to_owned(),
        Some(label) => format!("{label}; {why}"),
        None => why,
    };
    let strong = if matches!(node.kind, ScorecardNodeKind::Group { .. }) {
        ReportTone::Strong
    } else {
        ReportTone::Plain
    };
    vec![
        ReportPiece::new(strong, format!("{}{}", "  ".repeat(depth), node.code)),
        ReportPiece::new(status_tone(found.status), found.status.name()),
        ReportPiece::plain(format_node_score(found, line)),
        ReportPiece::plain(format_plain(line)),
        ReportPiece::plain(format_cases(found)),
        ReportPiece::plain(found.coverage.filter(|share| *share < 1.0).map(format_rate).unwrap_or_default()),
        ReportPiece::untrusted(ReportTone::Dim, &described, 400),
    ]
}

/// Formats a score or its range; `None` if there is neither.
pub(crate) fn format_score_or_bounds(score: Option<f64>, bounds: Option<(f64, f64)>) -> Option<String> {
    format_score_or_range(score, bounds.map(|(low, _)| low), bounds.map(|(_, high)| high))
}

/// Formats the score of a node or its range; empty if it has neither.
pub(crate) fn format_node_score(found: &NodeScore, line: f64) -> String {
    match (found.score(), found.bounds) {
        (Some(value), _) if format_score(value) == format_score(line) && !at_least(value, line) => {
            format_beside(value, line)
        }
        (score, bounds) => format_score_or_bounds(score, bounds).unwrap_or_default(),
    }
}

/// Formats the number of cases with a score, and the planned number if some have none.
fn format_cases(found: &NodeScore) -> String {
    match found.missing {
        0 => found.scored.to_string(),
        missing => format!("{} of {}", found.scored, found.scored + missing),
    }
}

pub(crate) const fn status_tone(status: NodeStatus) -> ReportTone {
    match status {
        NodeStatus::Pass => ReportTone::Good,
        NodeStatus::Fail | NodeStatus::Blocked => ReportTone::Bad,
        NodeStatus::Incomplete => ReportTone::Open,
        NodeStatus::NotApplicable => ReportTone::Dim,
    }
}

pub(crate) fn blocker_text(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> String {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return String::new() };
    let mut parts = Vec::new();
    let blockers = scores.blockers(id);
    if !blockers.is_empty() {
        // A row has little space; all blockers are named below the table.
        let more =
            if blockers.len() > 1 { format!(" and {} more", blockers.len() - 1) } else { String::new() };
        parts.push(format!("blocked by {}{more}", node_code(scores, blockers[0])));
    }

    let untested = scores.untested_gates(id);
    if let Some(first) = untested.first().filter(|first| **first != id) {
        let more =
            if untested.len() > 1 { format!(" and {} more", untested.len() - 1) } else { String::new() };
        parts.push(format!("no case for {}{more}", node_code(scores, *first)));
    }

    if found.gate_failed {
        parts.push("hard gate".to_owned());
    } else if untested.contains(&id) {
        parts.push("hard gate without a case".to_owned());
    } else if let Some(bound) = green_gate_bound(scores, id) {
        parts.push(format!("passed; failure rate ≤ {}", format_rate(bound)));
    } else if node.kind == (ScorecardNodeKind::Benchmark { criticality: Criticality::ImprovementSignal }) {
        parts.push("reported only".to_owned());
    }

    if found.covered_weight < found.weight - 1e-9 {
        parts.push(format!(
            "weight {} of {} covered",
            format_plain(found.covered_weight),
            format_plain(found.weight)
        ));
    }

    parts.join("; ")
}

fn join_codes(scores: &ScorecardScores<'_>, ids: &[ScorecardNodeId]) -> String {
    let named: Vec<&str> = ids.iter().take(MAX_NAMED).map(|id| node_code(scores, *id)).collect();
    let more = ids.len().saturating_sub(MAX_NAMED);
    if more == 0 { named.join(", ") } else { format!("{} and {more} more", named.join(", ")) }
}

/// Returns the lines below the tree.
pub fn closing_lines(scores: &ScorecardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let mut lines = vec![headline(scores)];
    let untested = scores.untested_gates(card.root());
    if !untested.is_empty() {
        lines.push(format!("hard gates without a case: {}", join_codes(scores, &untested)));
    }

    if scores.root().status == NodeStatus::Incomplete {
        let without = scores.children_without_case();
        if !without.is_empty() && scores.root().open + scores.root().untested_gates == 0 {
            lines.push(format!(
                "components without a case: {}; cases of each are needed, or `optional: true` in the index",
                join_codes(scores, &without)
            ));
        }
    }

    let weakest = weakest_benchmarks(scores);
    if !weakest.is_empty() {
        lines.push(format!("weakest: {}", weakest.join(", ")));
    }

    let gains: Vec<String> = scores
        .gains()
        .iter()
        .take(MAX_GAINS)
        .map(|gain| {
            let unblocks = if gain.unblocks { " and unblocks it" } else { "" };
            format!("{} +{}{unblocks}", node_code(scores, gain.node), format_score(gain.gain))
        })
        .collect();
    if !gains.is_empty() {
        lines.push(format!("largest gain at score 1: {}", gains.join(", ")));
    }

    // Gates with the fewest cases come first, because a long list of gates is cut.
    let mut gates: Vec<(f64, ScorecardNodeId)> =
        card.ids().filter_map(|id| Some((green_gate_bound(scores, id)?, id))).collect();
    gates.sort_by(|a, b| b.0.total_cmp(&a.0));

    if !gates.is_empty() {
        let more = gates.len().saturating_sub(MAX_NAMED);
        let mut named: Vec<String> =
            gates.iter().take(MAX_NAMED).map(|(bound, id)| green_gate_text(scores, *id, *bound)).collect();
        if more > 0 {
            named.push(format!("and {more} more"));
        }

        let gates = named.join(", ");
        lines.push(format!("possible failure rate of gates without failures (95% confidence): {gates}"));
    }

    lines
}

fn headline(scores: &ScorecardScores<'_>) -> String {
    let (root, id) = (scores.root(), scores.card().root());
    let top = node_code(scores, id);
    let Some(figure) = format_score_or_bounds(root.score(), root.bounds) else {
        return format!("{top}: {}", root.status);
    };
    if root.status == NodeStatus::Blocked {
        return format!(
            "{top} is blocked by {}; ignoring gates, it would score {figure}",
            join_codes(scores, &scores.blockers(id))
        );
    }

    format!("{top}: {} at {figure}", root.status)
}

/// Returns the highest failure rate, 0 to 1, that is compatible with the cases of a hard gate without a
/// failure: one-sided, 95 %, exact. `None` for anything but a benchmark that is a hard gate, complete and
/// without a failure.
pub fn green_gate_bound(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> Option<f64> {
    let (node, found) = (scores.card().node(id)?, scores.node(id)?);
    let is_gate = node.kind == ScorecardNodeKind::Benchmark { criticality: Criticality::HardGate };
    if !is_gate || found.score() != Some(1.0) || found.missing > 0 {
        return None;
    }

    zero_failures(found.scored, ConfidenceLevel::P95).ok().map(|bound| bound.exact)
}

fn green_gate_text(scores: &ScorecardScores<'_>, id: ScorecardNodeId, bound: f64) -> String {
    let cases = scores.node(id).map_or(0, |found| found.scored);
    format!(
        "{} up to {} ({})",
        node_code(scores, id),
        format_rate(bound),
        format_count(cases, "case", "cases")
    )
}

/// Returns the benchmarks that are furthest below their thresholds for any scores of the missing cases, each with its
/// path.
fn weakest_benchmarks(scores: &ScorecardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let mut below: Vec<(f64, ScorecardNodeId)> = card
        .ids()
        .filter_map(|id| {
            let (node, found) = (card.node(id)?, scores.node(id)?);
            let counts = match node.kind {
                ScorecardNodeKind::Benchmark { criticality } => criticality != Criticality::ImprovementSignal,
                ScorecardNodeKind::Group { .. } => false,
            };

            // Missing cases may still score well, so the upper bound counts.
            let (_, high) = found.bounds.filter(|_| counts)?;
            (!at_least(high, node.line.get())).then(|| (node.line.get() - high, id))
        })
        .collect();

    below.sort_by(|a, b| b.0.total_cmp(&a.0));
    let path = |id: ScorecardNodeId| {
        let mut way: Vec<&str> =
            std::iter::successors(Some(id), |at| card.parent(*at)).map(|at| node_code(scores, at)).collect();
        way.reverse();
        way.join(" > ")
    };
    below
        .into_iter()
        .take(MAX_WEAKEST)
        .map(|(lack, id)| format!("{} (lacks {})", path(id), format_lack(lack)))
        .collect()
}

/// Formats the distance to a threshold; a distance that would be rounded to 0 is written in full.
fn format_lack(lack: f64) -> String {
    let rounded = format_score(lack);
    if rounded.parse() == Ok(0.0) { format!("{lack:.1e}") } else { rounded }
}

#[cfg(test)]
mod tests {
    use assize_rubric::{
        CaseTally, MissingPolicy, ScoreTree, ScorecardAggregation, ScorecardNode, UnitInterval, Weight,
        score_card,
    };

    use super::*;

    fn node(code: &str, weight: f64, line: f64, kind: ScorecardNodeKind) -> ScorecardNode {
        ScorecardNode {
            code: code.into(),
            weight: Weight::new(weight).expect("finite"),
            line: UnitInterval::new(line).expect("in range"),
            kind,
        }
    }

    fn drawn(first: f64, missing: u64) -> String {
        let group =
            ScorecardNodeKind::Group { aggregation: ScorecardAggregation::WeightedAverage, hard_gate: false };
        let gate = ScorecardNodeKind::Benchmark { criticality: Criticality::HardGate };
        let plain = ScorecardNodeKind::Benchmark { criticality: Criticality::ThresholdGate };
        let mut card = ScoreTree::new(node("DII", 1.0, 0.9, group));
        let rubric = card.add_node(card.root(), node("A-REF", 1.0, 0.95, group)).expect("a group");
        let one = card.add_node(rubric, node("A-REF1", 0.6, 1.0, gate)).expect("a group");
        card.add_node(rubric, node("A-REF2", 0.4, 0.85, plain)).expect("a group");
        let unit = |value| UnitInterval::new(value).expect("in range");
        let tally = |id| {
            if id == one { CaseTally::new([unit(first)], 0) } else { CaseTally::new([unit(0.9)], missing) }
        };
        let scores = score_card(&card, tally, MissingPolicy::Incomplete);
        render_scorecard_scores(
            &scores,
            ScorecardLayout::default(),
            ReportStyle { width: 100, ..ReportStyle::default() },
        )
    }

    #[test]
    fn a_blocked_index_names_its_gate_and_what_it_would_have_been() {
        let expected = [
            "code        verdict  score  threshold  cases  why",
            "DII         blocked  0.954        0.9      2  blocked by A-REF1",
            "  A-REF     blocked  0.954       0.95      2  blocked by A-REF1",
            "    A-REF1  fail     0.990          1      1  hard gate",
            "    A-REF2  pass     0.900       0.85      1",
            "",
            "DII is blocked by A-REF1; ignoring gates, it would score 0.954",
            "weakest: DII > A-REF > A-REF1 (lacks 0.010)",
            "largest gain at score 1: A-REF2 +0.040, A-REF1 +0.006 and unblocks it",
        ];
        assert_eq!(drawn(0.99, 0).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_green_gate_stands_beside_what_it_leaves_possible() {
        let text = drawn(1.0, 0);
        assert!(text.contains("DII: pass at 0.960\n"), "{text}");
        assert!(text.contains("A-REF1 up to 95.0% (1 case)"), "{text}");
    }

    #[test]
    fn large_trees_are_folded_and_opaque_codes_have_labels() {
        let group =
            ScorecardNodeKind::Group { aggregation: ScorecardAggregation::WeightedAverage, hard_gate: false };
        let plain = ScorecardNodeKind::Benchmark { criticality: Criticality::ThresholdGate };
        let mut card = ScoreTree::new(node("TOP", 1.0, 0.5, group));
        for number in 0..30 {
            let part =
                card.add_node(card.root(), node(&format!("P{number}"), 1.0, 0.5, group)).expect("a group");
            for leaf in 0..10 {
                card.add_node(part, node(&format!("P{number}-{leaf}"), 1.0, 0.5, plain)).expect("a group");
            }
        }
        let unit = UnitInterval::new(1.0).expect("in range");
        let scores = score_card(&card, |_| CaseTally::new([unit], 0), MissingPolicy::Incomplete);
        let lines = |depth| {
            let layout = ScorecardLayout { depth, labels: None };
            render_scorecard_scores(&scores, layout, ReportStyle::default())
        };
        let folded = lines(None);
        assert!(folded.contains("hidden: 300 nodes below level 1") && !folded.contains("P3-1"), "{folded}");
        assert_eq!(lines(Some(2)).matches("P29-").count(), 10);
        assert!(!lines(Some(0)).contains("P1"));
    }

    #[test]
    fn what_is_missing_leaves_a_range() {
        let text = drawn(1.0, 1);
        assert!(text.contains("DII: incomplete at 0.780 to 0.980\n"), "{text}");
        assert!(text.contains("incomplete  0.780 to 0.980"), "{text}");
    }
}
