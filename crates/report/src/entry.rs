//! Lines of a summary under a label, and the pieces they are made of.

use assize_store::{Counts, Figure};

use crate::clean;
use crate::number::{self, count, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Longest list of targets, judges or suites before the rest is only counted.
const NAMES: usize = 4;

/// Adds a line under a label.
pub(crate) fn entry(page: &mut Page, label: &str, body: Vec<Piece>) {
    page.text(&[Piece::new(Tone::Dim, format!("{label:<12}"))], &body);
}

/// `, 95% interval 0.49 to 0.943 (Wilson)`, or why there is none.
pub(crate) fn interval(figure: &Figure) -> String {
    let (Some(low), Some(high), Some(method)) = (figure.low, figure.high, &figure.method) else {
        let reason = figure.undefined.as_deref().unwrap_or("it was not computed");
        return format!(" (no interval, because {})", clean::said(reason, 200));
    };
    let clusters = figure.clusters.map(|n| format!(" over {}", count(n, "cluster", "clusters")));
    format!(
        ", {}% interval {} to {} ({}{})",
        number::plain(figure.level * 100.0),
        number::score(low),
        number::score(high),
        clean::said(method, 100),
        clusters.unwrap_or_default()
    )
}

/// The verdicts with their numbers, words and tones, the best first.
pub(crate) fn tallies(counts: Counts) -> [(usize, &'static str, Tone); 5] {
    [
        (counts.pass, "passed", Tone::Good),
        (counts.borderline, "borderline", Tone::Middling),
        (counts.fail, "failed", Tone::Bad),
        (counts.incomplete, "incomplete", Tone::Open),
        (counts.skipped, "skipped", Tone::Open),
    ]
}

/// Items with commas between them; the rest of a long list is only counted.
pub(crate) fn listed(items: impl ExactSizeIterator<Item = Vec<Piece>>) -> Vec<Piece> {
    let left = items.len().saturating_sub(NAMES);
    let mut pieces = Vec::new();
    for (index, item) in items.take(NAMES).enumerate() {
        if index > 0 {
            pieces.push(Piece::plain(", "));
        }
        pieces.extend(item);
    }
    if left > 0 {
        pieces.push(Piece::new(Tone::Dim, format!(" and {} more", grouped(left as u64))));
    }
    pieces
}
