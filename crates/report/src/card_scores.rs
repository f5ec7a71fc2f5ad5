//! Scored scorecard: its tree with scores and blockers.

use assize_rubric::{CardKind, CardScores, Criticality, NodeId, NodeScore, Standing, at_least};
use assize_stats::{Level, zero_failures};

use crate::Style;
use crate::number::{beside, count, plain, score};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table_of};

/// Maximum number of gains that are listed.
const MAX_GAINS: usize = 5;
/// Maximum number of weakest benchmarks that are named.
const MAX_WEAKEST: usize = 3;
/// Maximum number of blockers and gates that are named below the table.
const BELOW: usize = 8;

/// Renders a scored scorecard as a tree, then its blockers, the largest possible gains, and how high the
/// failure rate of a passed gate may still be.
pub fn card_scores(scores: &CardScores<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let columns = [
        Column::left("code"),
        Column::left("standing"),
        Column::right("score"),
        Column::right("pass at"),
        Column::right("cases"),
        Column::right("covered"),
        Column::shrinking("why"),
    ];
    let order = in_order(scores);
    table_of(&mut page, 0, &columns, order.len(), |at| row(scores, order[at].0, order[at].1));
    page.blank();
    for line in closing(scores) {
        page.text(&[], &[Piece::plain(line)]);
    }
    page.finish()
}

/// Returns all nodes in depth-first order with their depth.
pub(crate) fn in_order(scores: &CardScores<'_>) -> Vec<(NodeId, usize)> {
    let card = scores.card();
    let mut order = Vec::new();
    let mut waiting = vec![(card.root(), 0)];
    while let Some((id, depth)) = waiting.pop() {
        order.push((id, depth));
        let children: Vec<NodeId> = card.children(id).collect();
        waiting.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    order
}

fn code<'s>(scores: &'s CardScores<'_>, id: NodeId) -> &'s str {
    scores.card().node(id).map_or("", |node| &node.code)
}

fn row(scores: &CardScores<'_>, id: NodeId, depth: usize) -> Vec<Piece> {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return Vec::new() };
    let line = node.line.get();
    let strong = if matches!(node.kind, CardKind::Group { .. }) { Tone::Strong } else { Tone::Plain };
    vec![
        Piece::new(strong, format!("{}{}", "  ".repeat(depth), node.code)),
        Piece::new(tone_of(found.standing), found.standing.name()),
        Piece::plain(figure(found, line)),
        Piece::plain(plain(line)),
        Piece::plain(cases(found)),
        Piece::plain(found.coverage.filter(|share| *share < 1.0).map(covered).unwrap_or_default()),
        Piece::new(Tone::Dim, why(scores, id)),
    ]
}

/// Formats the score of a node, its range, or nothing.
pub(crate) fn figure(found: &NodeScore, line: f64) -> String {
    match (found.score(), found.bounds) {
        (Some(value), _) if score(value) == score(line) && !at_least(value, line) => beside(value, line),
        (Some(value), _) => score(value),
        (None, Some((low, high))) => format!("{}–{}", score(low), score(high)),
        (None, None) => String::new(),
    }
}

/// Formats the number of cases with a score, and the planned number if some have none.
fn cases(found: &NodeScore) -> String {
    match found.missing {
        0 => found.scored.to_string(),
        missing => format!("{} of {}", found.scored, found.scored + missing),
    }
}

pub(crate) const fn tone_of(standing: Standing) -> Tone {
    match standing {
        Standing::Pass => Tone::Good,
        Standing::Fail | Standing::Blocked => Tone::Bad,
        Standing::Incomplete => Tone::Open,
        Standing::NotApplicable => Tone::Dim,
    }
}

/// Formats a share below 1 as a percentage that is never rounded up to 100 %.
fn covered(share: f64) -> String {
    format!("{:.0}%", (share * 100.0).floor())
}

pub(crate) fn why(scores: &CardScores<'_>, id: NodeId) -> String {
    let (Some(node), Some(found)) = (scores.card().node(id), scores.node(id)) else { return String::new() };
    let mut parts = Vec::new();
    let blockers = scores.blockers(id);
    if !blockers.is_empty() {
        // A row has little space; all blockers are named below the table.
        let more = if blockers.len() > 1 { format!(", +{}", blockers.len() - 1) } else { String::new() };
        parts.push(format!("blocked by {}{more}", code(scores, blockers[0])));
    }
    if found.gate_failed {
        parts.push("hard gate".to_owned());
    } else if let Some(bound) = green_gate_bound(scores, id) {
        parts.push(format!("holds; failure rate ≤ {:.1} %", bound * 100.0));
    } else if node.kind == (CardKind::Benchmark { criticality: Criticality::ImprovementSignal }) {
        parts.push("reported only".to_owned());
    }
    if found.covered_weight < found.weight - 1e-9 {
        parts.push(format!("weight {} of {} covered", plain(found.covered_weight), plain(found.weight)));
    }
    parts.join("; ")
}

fn names(scores: &CardScores<'_>, ids: &[NodeId]) -> String {
    let named: Vec<&str> = ids.iter().take(BELOW).map(|id| code(scores, *id)).collect();
    let more = ids.len().saturating_sub(BELOW);
    if more == 0 { named.join(", ") } else { format!("{} and {more} more", named.join(", ")) }
}

/// Returns the lines below a tree.
pub(crate) fn closing(scores: &CardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let mut lines = vec![headline(scores)];
    let weakest = weakest(scores);
    if !weakest.is_empty() {
        lines.push(format!("weakest: {}", weakest.join(", ")));
    }
    let gains: Vec<String> = scores
        .gains()
        .iter()
        .take(MAX_GAINS)
        .map(|gain| {
            let unblocks = if gain.unblocks { " and unblock it" } else { "" };
            format!("{} +{}{unblocks}", code(scores, gain.node), score(gain.gain))
        })
        .collect();
    if !gains.is_empty() {
        lines.push(format!("would raise it most, each if it scored 1: {}", gains.join(", ")));
    }
    // Fewest cases first: a long list of gates is cut.
    let mut gates: Vec<(f64, NodeId)> =
        card.ids().filter_map(|id| Some((green_gate_bound(scores, id)?, id))).collect();
    gates.sort_by(|a, b| b.0.total_cmp(&a.0));
    if !gates.is_empty() {
        let more = gates.len().saturating_sub(BELOW);
        let mut named: Vec<String> =
            gates.iter().take(BELOW).map(|(bound, id)| green_gate(scores, *id, *bound)).collect();
        if more > 0 {
            named.push(format!("and {more} more"));
        }
        let gates = named.join(", ");
        lines.push(format!("failure rate that a gate without a failure leaves possible (95 %): {gates}"));
    }
    lines
}

fn headline(scores: &CardScores<'_>) -> String {
    let (root, id) = (scores.root(), scores.card().root());
    let top = code(scores, id);
    let figure = match (root.score(), root.bounds) {
        (Some(value), _) => score(value),
        (None, Some((low, high))) => format!("{} to {}", score(low), score(high)),
        (None, None) => return format!("{top}: {}", root.standing),
    };
    if root.standing == Standing::Blocked {
        return format!(
            "{top}: would have been {figure}, blocked by {}",
            names(scores, &scores.blockers(id))
        );
    }
    format!("{top}: {} at {figure}", root.standing)
}

/// Returns the highest failure rate, 0 to 1, that is compatible with the cases of a hard gate without a
/// failure: one-sided, 95 %, exact. `None` for anything but a benchmark that is a hard gate, complete and
/// without a failure.
pub fn green_gate_bound(scores: &CardScores<'_>, id: NodeId) -> Option<f64> {
    let (node, found) = (scores.card().node(id)?, scores.node(id)?);
    let is_gate = node.kind == CardKind::Benchmark { criticality: Criticality::HardGate };
    if !is_gate || found.score() != Some(1.0) || found.missing > 0 {
        return None;
    }
    zero_failures(found.scored, Level::P95).ok().map(|bound| bound.exact)
}

fn green_gate(scores: &CardScores<'_>, id: NodeId, bound: f64) -> String {
    let cases = scores.node(id).map_or(0, |found| found.scored);
    format!("{} up to {:.1} % ({})", code(scores, id), bound * 100.0, count(cases, "case", "cases"))
}

/// Returns the benchmarks that are furthest below their thresholds whatever the missing cases, each with its
/// path.
fn weakest(scores: &CardScores<'_>) -> Vec<String> {
    let card = scores.card();
    let mut below: Vec<(f64, NodeId)> = card
        .ids()
        .filter_map(|id| {
            let (node, found) = (card.node(id)?, scores.node(id)?);
            let counts = match node.kind {
                CardKind::Benchmark { criticality } => criticality != Criticality::ImprovementSignal,
                CardKind::Group { .. } => false,
            };
            // Missing cases may still score well.
            let (_, high) = found.bounds.filter(|_| counts)?;
            (!at_least(high, node.line.get())).then(|| (node.line.get() - high, id))
        })
        .collect();
    below.sort_by(|a, b| b.0.total_cmp(&a.0));
    let path = |id: NodeId| {
        let mut way: Vec<&str> =
            std::iter::successors(Some(id), |at| card.parent(*at)).map(|at| code(scores, at)).collect();
        way.reverse();
        way.join(" > ")
    };
    below
        .into_iter()
        .take(MAX_WEAKEST)
        .map(|(lack, id)| format!("{} (lacks {})", path(id), score(lack)))
        .collect()
}

#[cfg(test)]
mod tests {
    use assize_rubric::{Aggregation, Card, CardNode, CaseTally, MissingPolicy, Unit, Weight, score_card};

    use super::*;

    fn node(code: &str, weight: f64, line: f64, kind: CardKind) -> CardNode {
        CardNode {
            code: code.into(),
            weight: Weight::new(weight).expect("finite"),
            line: Unit::new(line).expect("in range"),
            kind,
        }
    }

    fn drawn(first: f64, missing: u64) -> String {
        let group = CardKind::Group { aggregation: Aggregation::WeightedAverage, hard_gate: false };
        let gate = CardKind::Benchmark { criticality: Criticality::HardGate };
        let plain = CardKind::Benchmark { criticality: Criticality::ThresholdGate };
        let mut card = Card::new(node("DII", 1.0, 0.9, group));
        let rubric = card.add(card.root(), node("A-REF", 1.0, 0.95, group)).expect("a group");
        let one = card.add(rubric, node("A-REF1", 0.6, 1.0, gate)).expect("a group");
        card.add(rubric, node("A-REF2", 0.4, 0.85, plain)).expect("a group");
        let unit = |value| Unit::new(value).expect("in range");
        let tally = |id| {
            if id == one { CaseTally::new([unit(first)], 0) } else { CaseTally::new([unit(0.9)], missing) }
        };
        let scores = score_card(&card, tally, MissingPolicy::Incomplete);
        card_scores(&scores, Style { width: 100, ..Style::default() })
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
