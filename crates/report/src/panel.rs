//! Panels, repeats and probabilities in words.

use assize_rubric::{Probability, Ties};
use assize_store::{EscalationRow, EscalationSummary, PanelRow, PanelSummary};

use crate::clean;
use crate::entry::entry;
use crate::number::{self, count, grouped, plain};
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Number of unstable criteria that the summary lists.
const LISTED: usize = 5;

/// Formats the agreement of the votes on a decision, in one line.
pub(crate) fn brief(panel: &PanelRow) -> String {
    // The vote of the judge that was escalated to comes last and is not part of the panel.
    let escalated = panel.escalation.as_ref().is_some_and(|row| row.because.is_some());
    let own = panel.votes.len().saturating_sub(usize::from(escalated));
    let mut words = vec![format!("{} of {}", panel.rule.name(), count(own as u64, "vote", "votes"))];
    words.extend(panel.agreement.map(|share| format!("{} agree", share_of(share))));
    words.extend(panel.tie.then(|| format!("a tie, {}", tie(panel.ties))));
    words.extend((panel.missing > 0).then(|| format!("{} missing", panel.missing)));
    words.extend(panel.escalation.as_ref().map(escalation));
    words.join(", ")
}

/// Formats all numbers of the votes on a decision.
pub(crate) fn figures(panel: &PanelRow) -> String {
    let mut words = vec![brief(panel)];
    words.extend(panel.mean.map(|mean| format!("mean {}", plain(mean))));
    words.extend(panel.flip_rate.map(|rate| format!("flips between repeats {}", share_of(rate))));
    words.extend(panel.disagreement.map(|rate| format!("judges differ {}", share_of(rate))));
    if panel.high > panel.low && (panel.missing > 0 || panel.tie) {
        words.push(format!("between {} and {}", plain(panel.low), plain(panel.high)));
    }
    words.join("; ")
}

/// Formats the probabilities: the expected decision and the captured probability mass.
pub(crate) fn probability(found: &Probability) -> String {
    let mass = share_of(found.mass);
    match found.written {
        Some(written) => format!(
            "expected {} of 10, written {written}, captured mass {mass}",
            number::hundredths(found.expected)
        ),
        None => format!(
            "probability of met {}, captured mass {mass}",
            plain((found.expected * 1e4).round() / 1e4)
        ),
    }
}

fn tie(ties: Ties) -> &'static str {
    match ties {
        Ties::Ungraded => "so nothing is decided",
        Ties::Fail => "counted as failed",
        Ties::Pass => "counted as passed",
    }
}

fn escalation(row: &EscalationRow) -> String {
    match &row.because {
        Some(because) => {
            format!("{} decides because {}", clean::name(&row.to), clean::said(because, clean::REASON))
        }
        None => format!("{} not needed", clean::name(&row.to)),
    }
}

/// Renders the panels of a run: agreement of votes, unstable criteria, and calls saved by escalation.
pub(crate) fn summary(page: &mut Page, panel: &PanelSummary) {
    entry(page, "Panels", totals(panel));
    if let Some(flips) = flips(panel) {
        entry(page, "Flip rate", vec![Piece::plain(flips)]);
    }
    for (index, one) in panel.unstable.iter().take(LISTED).enumerate() {
        let place = one.case_id.as_deref().map(|case| format!(" ({})", clean::name(case)));
        let mut rates = vec![format!("split in {} of {}", grouped(one.split), grouped(one.decisions))];
        rates.extend(one.flip_rate.map(|rate| format!("flips {}", share_of(rate))));
        rates.extend(one.disagreement.map(|rate| format!("judges differ {}", share_of(rate))));
        let body = vec![
            Piece::name(Tone::Strong, &one.criterion),
            Piece::new(Tone::Dim, format!("{}  ", place.unwrap_or_default())),
            Piece::plain(rates.join(", ")),
        ];
        entry(page, if index == 0 { "Unstable" } else { "" }, body);
    }
    let more = panel.unstable.len().saturating_sub(LISTED) as u64 + panel.unstable_more;
    if more > 0 {
        entry(page, "", vec![Piece::new(Tone::Dim, format!("and {} more", grouped(more)))]);
    }
    if panel.not_followed > 0 {
        let words = format!("{} not listed one by one", count(panel.not_followed, "decision", "decisions"));
        entry(page, "", vec![Piece::new(Tone::Dim, words)]);
    }
    if let Some(escalation) = panel.escalation {
        entry(page, "Escalated", vec![Piece::plain(saved(escalation))]);
    }
}

/// Formats the number of decisions of panels, and the agreement of their votes.
pub(crate) fn totals(panel: &PanelSummary) -> Vec<Piece> {
    let mut words = vec![Piece::plain(format!(
        "{} of {}; {} split",
        count(panel.decisions, "decision", "decisions"),
        count(panel.votes, "vote", "votes"),
        grouped(panel.split),
    ))];
    if panel.ties > 0 {
        words.push(Piece::new(Tone::Open, format!(", {}", count(panel.ties, "tie", "ties"))));
    }
    if panel.missing > 0 {
        words.push(Piece::new(Tone::Open, format!(", {} missing", count(panel.missing, "vote", "votes"))));
    }
    words.extend(
        panel
            .disagreement
            .map(|rate| Piece::plain(format!("; judges differ in {} of pairs", share_of(rate)))),
    );
    words
}

/// Formats the flip rate between repeats of one judge; `None` if no judge was asked twice.
pub(crate) fn flips(panel: &PanelSummary) -> Option<String> {
    let rate = panel.flips.rate?;
    let interval = match (panel.flips.low, panel.flips.high) {
        (Some(low), Some(high)) => format!(", 95% interval {} to {}", share_of(low), share_of(high)),
        _ => String::new(),
    };
    Some(format!(
        "{} of {} repeated decisions were not the same each time ({}{interval})",
        grouped(panel.flips.flipped),
        grouped(panel.flips.repeated),
        share_of(rate),
    ))
}

fn saved(escalation: EscalationSummary) -> String {
    let EscalationSummary { decisions, escalated, saved_calls, saved_tokens, saved_usd } = escalation;
    let money =
        saved_usd.map(|usd| format!(", about {}", number::dollars(usd.dollars()))).unwrap_or_default();
    // Replies from the cache took no tokens, so they give no estimate for the stronger judge.
    let tokens = match saved_tokens.input.unwrap_or(0).saturating_add(saved_tokens.output.unwrap_or(0)) {
        0 => String::new(),
        tokens => format!(" and about {}", count(tokens, "token", "tokens")),
    };
    format!(
        "{} of {}; the stronger judge was spared {}{tokens}{money}",
        grouped(escalated),
        count(decisions, "decision", "decisions"),
        count(saved_calls, "call", "calls"),
    )
}

/// Formats a share as a percentage with at most one decimal; 0 and 100 only if they are exact.
fn share_of(share: f64) -> String {
    number::percent((share * 1e6).round() as u64, 1_000_000)
}
