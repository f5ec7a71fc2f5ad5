//! Panels, repeats and probabilities in words.

use assize_rubric::{DecisionProbability, EscalationReport, PanelReport, TiePolicy};
use assize_store::{EscalationSummary, PanelSummary};

use crate::entry::{entry, entry_pieces};
use crate::number::{self, format_count, format_plain, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;

/// Number of unstable criteria that the summary lists.
const MAX_UNSTABLE: usize = 5;

/// Number of them in a brief summary.
const MAX_UNSTABLE_BRIEF: usize = 1;

/// Formats the agreement of the votes on a decision, in one line.
pub(crate) fn format_votes(panel: &PanelReport) -> String {
    // The vote of the stronger judge comes last and is not part of the panel.
    let escalated = panel.escalation.as_ref().is_some_and(|row| row.because.is_some());
    let own = panel.votes.len().saturating_sub(usize::from(escalated));
    let mut words = vec![format!("{} of {}", panel.rule.name(), format_count(own as u64, "vote", "votes"))];
    words.extend(panel.agreement.map(|share| format!("{} agree", format_share(share))));
    words.extend(panel.tie.then(|| format!("a tie, {}", tie_rule_text(panel.ties))));
    words.extend((panel.missing > 0).then(|| format!("{} missing", panel.missing)));
    words.extend(panel.escalation.as_ref().map(format_escalation));

    words.join(", ")
}

/// Formats everything known about the votes on a decision.
pub fn format_vote_metrics(panel: &PanelReport) -> String {
    let mut words = vec![format_votes(panel)];
    words.extend(panel.mean.map(|mean| format!("mean {}", format_plain(mean))));
    words.extend(panel.flip_rate.map(|rate| format!("flips between repeats {}", format_share(rate))));
    words.extend(panel.disagreement.map(|rate| format!("judges disagree {}", format_share(rate))));

    if panel.high > panel.low && (panel.missing > 0 || panel.tie) {
        words.push(format!("between {} and {}", format_plain(panel.low), format_plain(panel.high)));
    }

    words.join("; ")
}

/// Formats the probabilities: the expected decision and the captured probability mass.
pub fn format_probability(found: &DecisionProbability) -> String {
    let mass = format_share(found.mass);
    match found.written {
        Some(written) => format!(
            "expected {} of 10, written {written}, captured mass {mass}",
            number::format_hundredths(found.expected)
        ),
        None => format!(
            "probability of met {}, captured mass {mass}",
            format_plain((found.expected * 1e4).round() / 1e4)
        ),
    }
}

fn tie_rule_text(ties: TiePolicy) -> &'static str {
    match ties {
        TiePolicy::Ungraded => "left ungraded",
        TiePolicy::Fail => "counted as failed",
        TiePolicy::Pass => "counted as passed",
    }
}

fn format_escalation(row: &EscalationReport) -> String {
    match &row.because {
        Some(because) => {
            format!(
                "{} decides, because {}",
                sanitize::sanitize_name(&row.to),
                sanitize::sanitize_text(because, sanitize::MAX_REASON)
            )
        }
        None => format!("{} not needed", sanitize::sanitize_name(&row.to)),
    }
}

/// Renders the panels of a run: agreement of votes, unstable criteria, and calls saved by escalation.
pub(crate) fn render_panel_summary(page: &mut ReportPage, panel: &PanelSummary, is_brief: bool) {
    let most = if is_brief { MAX_UNSTABLE_BRIEF } else { MAX_UNSTABLE };
    entry_pieces(page, "Panels", &format_totals(panel));

    if let Some(flips) = format_flip_rate(panel) {
        entry(page, "Flip rate", ReportPiece::plain(flips));
    }

    for (index, one) in panel.unstable.iter().take(most).enumerate() {
        let place = one.case_id.as_deref().map(|case| format!(" ({})", sanitize::sanitize_name(case)));
        let mut rates = vec![format!("split in {} of {}", grouped(one.split), grouped(one.decisions))];
        rates.extend(one.flip_rate.map(|rate| format!("flips {}", format_share(rate))));
        rates.extend(one.disagreement.map(|rate| format!("judges disagree {}", format_share(rate))));

        let body = vec![
            ReportPiece::untrusted_name(ReportTone::Strong, &one.criterion),
            ReportPiece::new(ReportTone::Dim, format!("{}  ", place.unwrap_or_default())),
            ReportPiece::plain(rates.join(", ")),
        ];
        entry_pieces(page, if index == 0 { "Unstable" } else { "" }, &body);
    }

    let more = panel.unstable.len().saturating_sub(most) as u64 + panel.unstable_more;
    if more > 0 {
        entry(page, "", ReportPiece::new(ReportTone::Dim, format!("and {} more", grouped(more))));
    }

    if panel.not_followed > 0 {
        let words =
            format!("{} not listed one by one", format_count(panel.not_followed, "decision", "decisions"));
        entry(page, "", ReportPiece::new(ReportTone::Dim, words));
    }

    if let Some(escalation) = panel.escalation {
        entry(page, "Escalated", ReportPiece::plain(format_saved_calls(escalation)));
    }
}

/// Formats the number of decisions of panels, and the agreement of their votes.
pub(crate) fn format_totals(panel: &PanelSummary) -> Vec<ReportPiece> {
    let mut words = vec![ReportPiece::plain(format!(
        "{} of {}; {} split",
        format_count(panel.decisions, "decision", "decisions"),
        format_count(panel.votes, "vote", "votes"),
        grouped(panel.split),
    ))];
    if panel.ties > 0 {
        words.push(ReportPiece::new(
            ReportTone::Open,
            format!(", {}", format_count(panel.ties, "tie", "ties")),
        ));
    }

    if panel.missing > 0 {
        words.push(ReportPiece::new(
            ReportTone::Open,
            format!(", {} missing", format_count(panel.missing, "vote", "votes")),
        ));
    }

    words.extend(
        panel
            .disagreement
            .map(|rate| ReportPiece::plain(format!("; judges disagree in {} of pairs", format_share(rate)))),
    );
    words
}

/// Formats the flip rate between repeats of one judge; `None` if no judge was repeated.
pub(crate) fn format_flip_rate(panel: &PanelSummary) -> Option<String> {
    let rate = panel.flips.rate?;
    let interval = match (panel.flips.low, panel.flips.high) {
        (Some(low), Some(high)) => format!(", 95% CI {} to {}", format_share(low), format_share(high)),
        _ => String::new(),
    };
    Some(format!(
        "{} of {} repeated decisions changed ({}{interval})",
        grouped(panel.flips.flipped),
        grouped(panel.flips.repeated),
        format_share(rate),
    ))
}

fn format_saved_calls(escalation: EscalationSummary) -> String {
    let EscalationSummary { decisions, escalated, saved_calls, saved_tokens, saved_usd } = escalation;
    let money =
        saved_usd.map(|usd| format!(", about {}", number::dollars(usd.as_dollars()))).unwrap_or_default();

    // Replies from the cache took no tokens, so they give no estimate for the stronger judge.
    let tokens = match saved_tokens.input.unwrap_or(0).saturating_add(saved_tokens.output.unwrap_or(0)) {
        0 => String::new(),
        tokens => format!(" and about {}", format_count(tokens, "token", "tokens")),
    };
    format!(
        "{} of {} escalated; {}{tokens}{money} saved",
        grouped(escalated),
        format_count(decisions, "decision", "decisions"),
        format_count(saved_calls, "call", "calls"),
    )
}

/// Formats a share as a percentage with at most one decimal; 0 and 100 only if they are exact.
fn format_share(share: f64) -> String {
    number::format_percent((share * 1e6).round() as u64, 1_000_000)
}
