//! Scored scorecard: its tree with scores and blockers.

use assize_rubric::{
    Criticality, NodeScore, NodeStatus, ScorecardNodeId, ScorecardNodeKind, ScorecardScores, at_least,
};
use assize_stats::{ConfidenceLevel, zero_failures};

use crate::ReportStyle;
use crate::number::{format_beside, format_count, format_plain, format_score};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table_on_demand};

/// Maximum number of gains that are listed.
const MAX_GAINS: usize = 5;
/// Maximum number of weakest benchmarks that are named.
const MAX_WEAKEST: usize = 3;
/// Maximum number of blockers and gates that are named below the table.
const MAX_NAMED: usize = 8;

/// Renders a scored scorecard as a tree, then its blockers, the largest possible gains, and how high the
/// failure rate of a passed gate may still be.
pub fn render_scorecard_scores(scores: &ScorecardScores<'_>, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::left("code"),
        ReportColumn::left("standing"),
        ReportColumn::right("score"),
        ReportColumn::right("pass at"),
        ReportColumn::right("cases"),
        ReportColumn::right("covered"),
        ReportColumn::shrinking("why"),
    ];

    let order = nodes_in_order(scores);
    render_table_on_demand(&mut page, 0, &columns, order.len(), |at| {
        node_row(scores, order[at].0, order[at].1)
    });
    page.add_blank();

    for line in closing_lines(scores) {
        page.add_text(&[], &[ReportPiece::plain(line)]);
    }

    page.finish()
}

/// Returns all nodes in depth-first order with their depth.
pub(crate) fn nodes_in_order(scores: &ScorecardScores<'_>) -> Vec<(ScorecardNodeId, usize)> {
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

fn node_row(scores: &ScorecardScores<'_>, id: ScorecardNodeId, depth: usize) -> Vec<ReportPiece> {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return Vec::new() };
    let line = node.line.get();
    let strong = if matches!(node.kind, ScorecardNodeKind::Group { .. }) {
        ReportTone::Strong
    } else {
        ReportTone::Plain
    };
    vec![
        ReportPiece::new(strong, format!("{}{}", "  ".repeat(depth), node.code)),
        ReportPiece::new(status_tone(found.standing), found.standing.name()),
        ReportPiece::plain(format_node_score(found, line)),
        ReportPiece::plain(format_plain(line)),
        ReportPiece::plain(format_cases(found)),
        ReportPiece::plain(
            found.coverage.filter(|share| *share < 1.0).map(format_coverage).unwrap_or_default(),
        ),
        ReportPiece::new(ReportTone::Dim, blocker_text(scores, id)),
    ]
}

/// Formats the score of a node, its range, or nothing.
pub(crate) fn format_node_score(found: &NodeScore, line: f64) -> String {
    match (found.score(), found.bounds) {
        (Some(value), _) if format_score(value) == format_score(line) && !at_least(value, line) => {
            format_beside(value, line)
        }
        (Some(value), _) => format_score(value),
        (None, Some((low, high))) => format!("{}–{}", format_score(low), format_score(high)),
        (None, None) => String::new(),
    }
}

/// Formats the number of cases with a score, and the planned number if some have none.
fn format_cases(found: &NodeScore) -> String {
    match found.missing {
        0 => found.scored.to_string(),
        missing => format!("{} of {}", found.scored, found.scored + missing),
    }
}

pub(crate) const fn status_tone(standing: NodeStatus) -> ReportTone {
    match standing {
        NodeStatus::Pass => ReportTone::Good,
        NodeStatus::Fail | NodeStatus::Blocked => ReportTone::Bad,
        NodeStatus::Incomplete => ReportTone::Open,
        NodeStatus::NotApplicable => ReportTone::Dim,
    }
}

/// Formats a share below 1 as a percentage that is never rounded up to 100 %.
fn format_coverage(share: f64) -> String {
    format!("{:.0}%", (share * 100.0).floor())
}

pub(crate) fn blocker_text(scores: &ScorecardScores<'_>, id: ScorecardNodeId) -> String {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return String::new() };
    let mut parts = Vec::new();
    let blockers = scores.blockers(id);
    if !blockers.is_empty() {
        // A row has little space; all blockers are named below the table.
        let more = if blockers.len() > 1 { format!(", +{}", blockers.len() - 1) } else { String::new() };
        parts.push(format!("blocked by {}{more}", node_code(scores, blockers[0])));
    }

    if found.gate_failed {
        parts.push("hard gate".to_owned());
    } else if let Some(bound) = green_gate_bound(scores, id) {
        parts.push(format!("holds; failure rate ≤ {:.1} %", bound * 100.0));
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

/// Returns the lines below a tree.
pub(crate) fn closing_lines(scores: &ScorecardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let mut lines = vec![headline(scores)];
    let weakest = weakest_benchmarks(scores);
    if !weakest.is_empty() {
        lines.push(format!("weakest: {}", weakest.join(", ")));
    }

    let gains: Vec<String> = scores
        .gains()
        .iter()
        .take(MAX_GAINS)
        .map(|gain| {
            let unblocks = if gain.unblocks { " and unblock it" } else { "" };
            format!("{} +{}{unblocks}", node_code(scores, gain.node), format_score(gain.gain))
        })
        .collect();
    if !gains.is_empty() {
        lines.push(format!("would raise it most, each if it scored 1: {}", gains.join(", ")));
    }

    // Fewest cases first: a long list of gates is cut.
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
        lines.push(format!("failure rate that a gate without a failure leaves possible (95 %): {gates}"));
    }

    lines
}

fn headline(scores: &ScorecardScores<'_>) -> String {
    let (root, id) = (scores.root(), scores.card().root());
    let top = node_code(scores, id);
    let figure = match (root.score(), root.bounds) {
        (Some(value), _) => format_score(value),
        (None, Some((low, high))) => format!("{} to {}", format_score(low), format_score(high)),
        (None, None) => return format!("{top}: {}", root.standing),
    };
    if root.standing == NodeStatus::Blocked {
        return format!(
            "{top}: would have been {figure}, blocked by {}",
            join_codes(scores, &scores.blockers(id))
        );
    }

    format!("{top}: {} at {figure}", root.standing)
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
        "{} up to {:.1} % ({})",
        node_code(scores, id),
        bound * 100.0,
        format_count(cases, "case", "cases")
    )
}

/// Returns the benchmarks that are furthest below their thresholds whatever the missing cases, each with its
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

            // Missing cases may still score well.
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
        .map(|(lack, id)| format!("{} (lacks {})", path(id), format_score(lack)))
        .collect()
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
        render_scorecard_scores(&scores, ReportStyle { width: 100, ..ReportStyle::default() })
    }

    #[test]
    fn a_blocked_index_names_its_gate_and_what_it_would_have_been() {
        let expected = [
            "code        standing  score  pass at  cases  why",
            "DII         blocked   0.954      0.9      2  blocked by A-REF1",
            "  A-REF     blocked   0.954     0.95      2  blocked by A-REF1",
            "    A-REF1  fail       0.99        1      1  hard gate",
            "    A-REF2  pass       0.90     0.85      1",
            "",
            "DII: would have been 0.954, blocked by A-REF1",
            "weakest: DII > A-REF > A-REF1 (lacks 0.01)",
            "would raise it most, each if it scored 1: A-REF2 +0.04, A-REF1 +0.006 and unblock it",
        ];
        assert_eq!(drawn(0.99, 0).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_green_gate_stands_beside_what_it_leaves_possible() {
        let text = drawn(1.0, 0);
        assert!(text.contains("DII: pass at 0.96\n"), "{text}");
        assert!(text.contains("A-REF1 up to 95.0 % (1 case)"), "{text}");
    }

    #[test]
    fn what_is_missing_leaves_a_range() {
        let text = drawn(1.0, 1);
        assert!(text.contains("DII: incomplete at 0.78 to 0.98\n"), "{text}");
        assert!(text.contains("incomplete  0.78–0.98"), "{text}");
    }
}
