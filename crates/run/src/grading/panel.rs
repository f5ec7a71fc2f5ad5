//! From the votes of a panel to the row that combines them.

use std::sync::Arc;

use assize_evalfile::EscalateWhen;
use assize_rubric::{
    Cast, Confidence, Evidence, JudgeIdentity, PanelDecision, PanelResult, PanelRule, Probability, Scale,
    TOLERANCE, Ties, Tokens, Ungraded, UngradedKind, Usd,
};
use assize_stats::Level;
use assize_stats::combine::{agreement, panel_scores};
use assize_stats::repeats::{disagreement, stability};
use assize_store::{
    BenchmarkState, DecidedBy, EscalationRow, GraderResult, JudgementRow, PanelRow, PanelVoteRow, VoteRow,
    panel_decision,
};

use super::benchmark_votes::decide_benchmark;
use super::rows::not_judged;

/// Scores further apart than this count as a split, on the scale from 0 to 1: more than one point of ten.
const APART: f64 = 0.1;

/// A row as the vote of the judge that was escalated to.
pub(super) fn vote(row: JudgementRow) -> JudgementRow {
    JudgementRow { vote: Some(VoteRow { judge: 0, repeat: 1, weight: 1.0 }), ..row }
}

/// The row that combines votes; none where there are no votes.
pub(super) fn combined(
    votes: &[JudgementRow],
    rule: PanelRule,
    ties: Ties,
    escalation: Option<EscalationRow>,
) -> Option<JudgementRow> {
    let votes: Vec<&JudgementRow> = votes.iter().collect();
    let decision = panel_decision(&votes, rule, ties);
    let first = *votes.first()?;
    let deciding = deciding(&votes);
    let panel = panel_row(&votes, decision, rule, ties, escalation);
    let name = match &panel.escalation {
        Some(EscalationRow { to, because: Some(_), .. }) => format!("{to} (escalated)").into(),
        _ if deciding.len() == 1 => Arc::clone(&first.judge.name),
        _ => format!("{} of {} votes", rule.name(), deciding.len()).into(),
    };
    let mut row = JudgementRow {
        judge: JudgeIdentity { name, ..JudgeIdentity::default() },
        attempts: 0,
        cached_calls: 0,
        tokens: Tokens::default(),
        latency_ms: None,
        cost_usd: Some(Usd::ZERO),
        cost_partial: None,
        truncated: votes.iter().find_map(|row| row.truncated),
        replies: Vec::new(),
        confidence: None,
        probability: None,
        vote: None,
        panel: Some(panel),
        ..first.clone()
    };
    if first.benchmark_state().is_some() {
        decide_benchmark(&mut row, &deciding, decision, rule, ties);
    } else {
        decide(&mut row, &deciding, decision);
    }
    Some(row)
}

/// A combining row worked out again from its votes; as it is if it combines none.
pub(crate) fn recombined(row: &JudgementRow, votes: &[JudgementRow]) -> JudgementRow {
    let Some(panel) = &row.panel else { return row.clone() };
    let benchmark = row.grader_result.as_ref().and_then(|result| result.benchmark);
    // A check decided, whatever the votes say.
    if benchmark.is_some_and(|benchmark| benchmark.decided_by == Some(DecidedBy::Checks)) {
        return row.clone();
    }
    let again = combined(votes, panel.rule, panel.ties, panel.escalation.clone());
    // What the criterion is worth stands with the row that is scored.
    again.map_or_else(
        || row.clone(),
        |again| JudgementRow {
            criterion: row.criterion.clone(),
            lines: row.lines,
            standing: row.standing,
            grader_result: with_notes(again.grader_result, row),
            ..again
        },
    )
}

/// A result with what the checks of a hybrid found, which is in no vote.
fn with_notes(result: Option<GraderResult>, stored: &JudgementRow) -> Option<GraderResult> {
    let stored = stored.grader_result.as_ref().filter(|stored| stored.benchmark.is_some());
    match (result, stored) {
        (Some(result), Some(stored)) => Some(GraderResult { notes: stored.notes.clone(), ..result }),
        (result, _) => result,
    }
}

/// The votes that decide: that of the judge that was escalated to, if there is one.
fn deciding<'a>(votes: &[&'a JudgementRow]) -> Vec<&'a JudgementRow> {
    let is_escalation = |row: &JudgementRow| row.vote.is_some_and(VoteRow::is_escalation);
    let escalated = votes.iter().any(|row| is_escalation(row));
    votes.iter().filter(|row| is_escalation(row) == escalated).copied().collect()
}

/// Writes what the panel says into its row, with the words of a vote that says the same.
fn decide(row: &mut JudgementRow, votes: &[&JudgementRow], decision: PanelDecision) {
    let whole = row.grader_result.is_some();
    let outcome = decision.outcome(&row.criterion.scale);
    let value = match decision.result {
        PanelResult::Value(value) => Some(value),
        _ => None,
    };
    let agreeing = votes.iter().filter(|vote| match (vote.cast(), value) {
        (Cast::NotApplicable, None) => decision.result == PanelResult::NotApplicable,
        (Cast::Value(said), Some(value)) => (said - value).abs() <= APART + TOLERANCE,
        _ => false,
    });
    let agreeing: Vec<&&JudgementRow> = agreeing.collect();
    let open = match decision.result {
        PanelResult::Tie => Some((UngradedKind::Tie, "the votes are evenly split".to_owned())),
        PanelResult::Open => {
            let first = votes.iter().find(|vote| vote.cast() == Cast::Missing);
            let kind =
                first.and_then(|vote| vote.ungraded.as_ref()).map_or(UngradedKind::NotJudged, |why| why.kind);
            let missing = votes.iter().filter(|vote| vote.cast() == Cast::Missing).count();
            let why = first.map_or("", |vote| why_missing(vote));
            let words = match missing {
                1 => format!("1 vote is missing and could change the decision: {why}"),
                more => format!("{more} votes are missing and could change the decision: {why}"),
            };
            Some((kind, words))
        }
        PanelResult::Value(_) | PanelResult::NotApplicable => None,
    };
    let said = tally(votes);
    row.reason = match (&open, agreeing.first()) {
        (Some((_, words)), _) => format!("{said}; {words}"),
        (None, Some(vote)) if votes.len() == 1 => vote.reason.clone(),
        (None, Some(vote)) => format!("{said}; {}: {}", vote.judge.name, vote.reason),
        (None, None) => said,
    };
    row.evidence = quotes_of(agreeing.iter().map(|vote| **vote));
    row.ungraded = open.map(|(kind, _)| Ungraded { kind, message: row.reason.clone() });
    if whole {
        let notes = agreeing.first().and_then(|vote| vote.grader_result.as_ref());
        let error = row.ungraded.as_ref().map(not_judged);
        row.outcome = if error.is_some() { "error" } else { "graded" }.into();
        let notes = notes.map(|result| result.notes.clone()).unwrap_or_default();
        row.grader_result = Some(GraderResult { score: value, error, notes, ..GraderResult::default() });
        return;
    }
    row.outcome = outcome.name().into();
    row.raw_score = outcome.raw_score().map(assize_rubric::RawScore::get);
    row.points = outcome.points().filter(|_| row.raw_score.is_none());
}

/// The quotes of votes, each once.
pub(super) fn quotes_of<'a>(votes: impl Iterator<Item = &'a JudgementRow>) -> Vec<Evidence> {
    let mut quotes: Vec<Evidence> = Vec::new();
    for quote in votes.flat_map(|vote| &vote.evidence) {
        if !quotes.iter().any(|known| known.quote == quote.quote) {
            quotes.push(quote.clone());
        }
    }
    quotes
}

/// Why a vote did not come about, in words.
pub(super) fn why_missing(vote: &JudgementRow) -> &str {
    let broken = vote.grader_result.as_ref().and_then(|result| result.error.as_deref());
    if vote.reason.is_empty() { broken.unwrap_or("it was not judged") } else { &vote.reason }
}

/// The votes in a few words: `2 met, 1 unmet`, or `2 at 8/10, 1 at 7/10`.
pub(super) fn tally(votes: &[&JudgementRow]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for vote in votes {
        let word = match vote.cast() {
            Cast::Missing if is_uncertain(vote) => "uncertain".to_owned(),
            Cast::Missing => "missing".to_owned(),
            Cast::NotApplicable => "not applicable".to_owned(),
            Cast::Value(value)
                if vote.grader_result.is_none() && vote.criterion.scale == Scale::Checklist =>
            {
                if value >= 0.5 { "met".to_owned() } else { "unmet".to_owned() }
            }
            Cast::Value(value) if vote.benchmark_state().is_some() && (value == 0.0 || value == 1.0) => {
                if value >= 0.5 {
                    "pass".to_owned()
                } else {
                    "fail".to_owned()
                }
            }
            Cast::Value(value) if vote.grader_result.is_some() => format!("at {}", rounded(value)),
            Cast::Value(value) => format!("at {}/10", rounded(value * 10.0)),
        };
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a vote says, for comparing votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Said {
    /// The criterion does not apply.
    NotApplicable,
    /// The judge is not certain.
    Uncertain,
    /// Its value in millionths, so that rounding tells no two votes apart.
    Value(i64),
}

/// What a vote says, if it came about. Where probabilities made the decision, it is what the judge wrote: two expected
/// scores are hardly ever the same number.
pub(crate) fn said(row: &JudgementRow) -> Option<Said> {
    let written = row.probability.and_then(|found| found.written);
    match row.cast() {
        Cast::Missing => is_uncertain(row).then_some(Said::Uncertain),
        Cast::NotApplicable => Some(Said::NotApplicable),
        Cast::Value(value) => {
            let value = written.map_or(value, |written| f64::from(written) / 10.0);
            Some(Said::Value((value * 1e6).round() as i64))
        }
    }
}

fn panel_row(
    votes: &[&JudgementRow],
    decision: PanelDecision,
    rule: PanelRule,
    ties: Ties,
    escalation: Option<EscalationRow>,
) -> PanelRow {
    let own: Vec<&JudgementRow> =
        votes.iter().filter(|row| !row.vote.is_some_and(VoteRow::is_escalation)).copied().collect();
    let mut by_judge: Vec<(u32, Vec<Said>)> = Vec::new();
    for row in &own {
        let (Some(vote), Some(said)) = (row.vote, said(row)) else { continue };
        match by_judge.iter_mut().find(|(judge, _)| *judge == vote.judge) {
            Some((_, all)) => all.push(said),
            None => by_judge.push((vote.judge, vec![said])),
        }
    }
    let by_judge: Vec<Vec<Said>> = by_judge.into_iter().map(|(_, all)| all).collect();
    let all: Vec<Said> = by_judge.iter().flatten().copied().collect();
    let values: Vec<f64> = own
        .iter()
        .filter_map(|row| match row.cast() {
            Cast::Value(value) => Some(value),
            _ => None,
        })
        .collect();
    PanelRow {
        rule,
        ties,
        votes: votes.iter().map(|row| short(row)).collect(),
        missing: u32::try_from(own.len() - all.len()).unwrap_or(u32::MAX),
        tie: decision.tie,
        mean: panel_scores(&values).ok().map(|scores| scores.mean),
        // One vote agrees with nobody.
        agreement: agreement(&all).ok().filter(|_| all.len() > 1),
        flip_rate: stability(&by_judge, Level::P95).pair_flips.ok(),
        disagreement: disagreement(&by_judge).ok(),
        low: decision.low,
        high: decision.high,
        escalation,
    }
}

/// Whether a judge said of a benchmark that it is not certain.
pub(super) fn is_uncertain(row: &JudgementRow) -> bool {
    row.benchmark_state() == Some(BenchmarkState::Uncertain)
}

fn short(row: &JudgementRow) -> PanelVoteRow {
    let whole = row.grader_result.is_some();
    let (outcome, value) = match row.cast() {
        Cast::Value(value) if whole => ("scored".to_owned(), Some(value)),
        Cast::Missing if is_uncertain(row) => ("uncertain".to_owned(), None),
        Cast::NotApplicable if whole => ("not_applicable".to_owned(), None),
        Cast::Missing if whole => ("ungraded".to_owned(), None),
        cast => (
            row.decided().name().to_owned(),
            match cast {
                Cast::Value(value) => Some(value),
                _ => None,
            },
        ),
    };
    let repeat = row.vote.map_or(1, |vote| vote.repeat);
    PanelVoteRow { judge: row.judge.name.to_string(), repeat, outcome, value }
}

/// Why a stronger judge should be asked; `None` where the panel is sure. What was given up because the run ends is
/// nothing to ask again about.
pub(super) fn doubt(votes: &[&JudgementRow], when: EscalateWhen) -> Option<String> {
    let cancelled =
        |row: &&&JudgementRow| row.ungraded.as_ref().is_some_and(|why| why.kind == UngradedKind::Cancelled);
    if votes.iter().any(|row| cancelled(&row)) {
        return None;
    }
    if let Some(uncertain) = votes.iter().find(|row| is_uncertain(row)) {
        return Some(format!("{} is not certain", uncertain.judge.name));
    }
    if let Some(missing) = votes.iter().find(|row| row.cast() == Cast::Missing) {
        return Some(format!("{} could not be made to answer", missing.judge.name));
    }
    let values: Vec<f64> = votes
        .iter()
        .filter_map(|row| match row.cast() {
            Cast::Value(value) => Some(value),
            _ => None,
        })
        .collect();
    let spread = panel_scores(&values).map_or(0.0, |scores| scores.range());
    if spread > APART + TOLERANCE || (!values.is_empty() && values.len() < votes.len()) {
        return Some(format!("the votes differ: {}", tally(votes)));
    }
    if when == EscalateWhen::Split {
        return None;
    }
    for row in votes {
        let name = &row.judge.name;
        if row.confidence == Some(Confidence::Low) {
            return Some(format!("{name} is little sure"));
        }
        if row.evidence.iter().any(|quote| !quote.verified) {
            return Some(format!("{name} quotes what is not there"));
        }
        if let Some(Probability { expected, written, .. }) = row.probability {
            let unsure = match written {
                None => expected.max(1.0 - expected) < EscalateWhen::SURE,
                Some(written) => (expected - f64::from(written)).abs() > 1.0,
            };
            if unsure {
                return Some(format!("{name} gives its decision too little probability"));
            }
        }
    }
    None
}
