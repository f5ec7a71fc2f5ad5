//! Comparison of two runs of a scorecard as text.

use assize_analysis::{CardComparison, NodeDifference, NodeSide};
use assize_store::CardPartKind;

use crate::Style;
use crate::card_scores::tone_of;
use crate::number::{count, score};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Number of codes that are listed before the rest is only counted.
const NAMED: usize = 8;

/// Renders every node that both runs have: its scores, the difference with its 95 % interval, and the change
/// of its status.
pub fn card_comparison(found: &CardComparison, style: Style) -> String {
    let mut page = Page::new(style);
    let columns = [
        Column::left("code"),
        Column::right("base"),
        Column::right("candidate"),
        Column::right("difference"),
        Column::left("95 % interval"),
        Column::right("pairs"),
        Column::shrinking("standing"),
    ];
    let rows: Vec<Vec<Piece>> = found.nodes.iter().map(row).collect();
    table(&mut page, 0, &columns, &rows);
    page.blank();
    let mut lines =
        vec![format!("over the {} that both runs have", count(found.shared as u64, "case", "cases"))];
    let left_out = [(found.only_base, "base"), (found.only_candidate, "candidate")];
    for (number, side) in left_out.into_iter().filter(|(number, _)| *number > 0) {
        lines.push(format!("left out: {} only in the {side}", count(number as u64, "case", "cases")));
    }
    let parts = [
        ("only in the base", &found.gone),
        ("only in the candidate", &found.new),
        ("with another weight, threshold or rule", &found.changed),
    ];
    for (words, codes) in parts.into_iter().filter(|(_, codes)| !codes.is_empty()) {
        let named: Vec<&str> = codes.iter().take(NAMED).map(String::as_str).collect();
        let more = codes.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("parts {words}: {}{more}", named.join(", ")));
    }
    let mut reasons: Vec<String> = found
        .nodes
        .iter()
        .filter(|node| node.difference.is_some())
        .filter_map(|node| node.interval.as_ref().err().map(ToString::to_string))
        .collect();
    reasons.sort();
    reasons.dedup();
    for reason in reasons {
        lines.push(format!("where there is no interval: {reason}"));
    }
    for line in lines {
        page.text(&[], &[Piece::plain(line)]);
    }
    page.finish()
}

fn row(node: &NodeDifference) -> Vec<Piece> {
    let strong = if node.kind == CardPartKind::Benchmark { Tone::Plain } else { Tone::Strong };
    let of = |side: NodeSide| match (side.score, side.bounds) {
        (Some(value), _) => score(value),
        (None, Some((low, high))) => format!("{}–{}", score(low), score(high)),
        (None, None) => "none".to_owned(),
    };
    let interval = match &node.interval {
        Ok(interval) => format!("{} to {}", signed(interval.low), signed(interval.high)),
        Err(_) => "–".to_owned(),
    };
    let standing = if node.base.standing == node.candidate.standing {
        node.candidate.standing.name().to_owned()
    } else {
        format!("{} → {}", node.base.standing, node.candidate.standing)
    };
    let tone = if node.base.standing == node.candidate.standing {
        Tone::Dim
    } else {
        tone_of(node.candidate.standing)
    };
    vec![
        Piece::new(strong, format!("{}{}", "  ".repeat(node.depth), node.code)),
        Piece::plain(of(node.base)),
        Piece::plain(of(node.candidate)),
        Piece::plain(node.difference.map(signed).unwrap_or_default()),
        Piece::plain(if node.difference.is_some() { interval } else { String::new() }),
        Piece::plain(node.pairs.to_string()),
        Piece::new(tone, standing),
    ]
}

/// Formats a difference with its sign.
fn signed(value: f64) -> String {
    let text = format!("{value:+.3}");
    if matches!(text.as_str(), "+0.000" | "-0.000") { "0.000".to_owned() } else { text }
}
