//! Combines the votes of a panel into one decision.

use std::sync::Arc;

use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, CriterionScale, DecidedBy, Decision, DecisionProbability,
    EscalateWhen, EscalationReport, EvidenceQuote, Finding, GraderFinding, JudgeConfidence, JudgeIdentity,
    PanelDecision, PanelReport, PanelResult, PanelRule, TOLERANCE, TiePolicy, UngradedKind, UngradedReason,
    UnitInterval, VoteSummary, VoteValue, panel_decision, panel_decision_if, select_deciding_votes,
};
use assize_stats::ConfidenceLevel;
use assize_stats::combine::{majority_share, panel_scores};
use assize_stats::repeats::{disagreement, stability};

/// Scores that differ by more than this count as a split, on the scale from 0 to 1: more than one point of ten.
const SPLIT_DISTANCE: f64 = 0.1;

/// The decision that combines votes; `None` if there are no votes.
pub(super) fn combine_decisions(
    votes: &[CaseDecision],
    rule: PanelRule,
    ties: TiePolicy,
    escalation: Option<EscalationReport>,
) -> Option<CaseDecision> {
    let votes: Vec<&CaseDecision> = votes.iter().collect();
    let decision = panel_decision(&votes, rule, ties);
    let first = *votes.first()?;
    let deciding = select_deciding_votes(&votes);
    let panel = panel_report(&votes, decision, rule, ties, escalation);

    let name = match &panel.escalation {
        Some(EscalationReport { to, because: Some(_), .. }) => format!("{to} (escalated)").into(),
        _ if deciding.len() == 1 => Arc::clone(&first.decision.judge.name),
        _ => format!("{} of {} votes", rule.name(), deciding.len()).into(),
    };
    let judge = JudgeIdentity { name, ..JudgeIdentity::default() };
    let decision = Decision {
        truncated: votes.iter().find_map(|vote| vote.decision.truncated),
        ..build_decision(judge, &deciding, decision, rule, ties)
    };
    Some(CaseDecision { decision, vote: None, panel: Some(panel), ..first.clone() })
}

/// A combined decision computed again from its votes. Any other decision is returned unchanged.
pub(crate) fn recombine_votes(stored: &CaseDecision, votes: &[CaseDecision]) -> CaseDecision {
    let Some(panel) = &stored.panel else { return stored.clone() };

    // A check decided, regardless of the votes.
    if stored.decision.benchmark().is_some_and(|benchmark| benchmark.decided_by == Some(DecidedBy::Checks)) {
        return stored.clone();
    }

    let Some(mut again) = combine_decisions(votes, panel.rule, panel.ties, panel.escalation.clone()) else {
        return stored.clone();
    };

    match (&mut again.decision.finding, &stored.decision.finding) {
        // The weight of the criterion comes from the decision that is scored.
        (Finding::Criterion { criterion, .. }, Finding::Criterion { criterion: stored, .. }) => {
            criterion.clone_from(stored);
        }
        // The results of a hybrid's checks are not in the votes.
        (Finding::Grader(finding), Finding::Grader(stored)) if stored.benchmark().is_some() => {
            finding.notes.clone_from(&stored.notes);
        }
        _ => {}
    }

    CaseDecision { thresholds: stored.thresholds, weighting: stored.weighting, ..again }
}

/// The panel's decision, with the reason of a vote that agrees.
fn build_decision(
    judge: JudgeIdentity,
    votes: &[&CaseDecision],
    decision: PanelDecision,
    rule: PanelRule,
    ties: TiePolicy,
) -> Decision {
    let benchmark = benchmark_finding(votes, decision, rule, ties);
    let agrees = |vote: &Decision| match &benchmark {
        Some(found) => agrees_with_decision(vote, found),
        None => is_close_to_decision(vote, decision),
    };
    let agreeing: Vec<&Decision> =
        votes.iter().map(|vote| &vote.decision).filter(|vote| agrees(vote)).collect();
    let open = match (&benchmark, decision.result) {
        (Some(found), _) if found.is_uncertain() => None,
        (_, PanelResult::Tie) => Some((UngradedKind::Tie, "the votes are evenly split".to_owned())),
        (_, PanelResult::Open) => Some(describe_missing_votes(votes, benchmark.is_some())),
        (_, PanelResult::Value(_) | PanelResult::NotApplicable) => None,
    };

    let counts = describe_votes(votes);
    let reason = match (&open, agreeing.first()) {
        (Some((_, words)), _) => format!("{counts}; {words}"),
        (None, Some(vote)) if votes.len() == 1 => vote.reason.clone(),
        (None, Some(vote)) => format!("{counts}; {}: {}", vote.judge.name, vote.reason),
        (None, None) => counts,
    };

    let ungraded = open.map(|(kind, _)| UngradedReason { kind, message: reason.clone() });
    let value = match decision.result {
        // A mean of numbers up to 1 may exceed 1 by rounding.
        PanelResult::Value(value) => UnitInterval::new(value.clamp(0.0, 1.0)).ok(),
        _ => None,
    };
    let score = |broken: &str| match &ungraded {
        Some(ungraded) => Err(format!("{broken}: {}", ungraded.message)),
        None => Ok(value),
    };
    let finding = match (votes.first().and_then(|vote| vote.criterion()), benchmark) {
        (Some(criterion), _) => {
            Finding::Criterion { criterion: criterion.clone(), outcome: decision.outcome(&criterion.scale) }
        }
        (None, Some(found)) if found.is_uncertain() => {
            found.with_score(Ok(Some(UnitInterval::ZERO)), Vec::new()).into()
        }
        (None, Some(found)) => found.with_score(score("not decided"), Vec::new()).into(),
        (None, None) => {
            let notes = agreeing.first().and_then(|vote| vote.grader());
            let notes = notes.map(|finding| finding.notes.clone()).unwrap_or_default();
            GraderFinding { score: score("could not be judged"), ..GraderFinding::new(None, notes) }.into()
        }
    };

    let evidence = distinct_quotes(&agreeing);
    Decision { evidence, ungraded, ..Decision::new(judge, finding, reason) }
}

/// The panel's finding on a benchmark; `None` if the decision is about something else.
///
/// An uncertain judge might have voted either way. If the others decide regardless of that, the benchmark is
/// decided. Otherwise it is uncertain, which is not a pass and needs a person, as with a single judge. Missing
/// votes never count as anything.
fn benchmark_finding(
    votes: &[&CaseDecision],
    decision: PanelDecision,
    rule: PanelRule,
    ties: TiePolicy,
) -> Option<BenchmarkFinding> {
    let first = votes.first()?.decision.benchmark()?;
    let state = match decision.result {
        PanelResult::Value(_) => BenchmarkState::Scored,
        PanelResult::NotApplicable => BenchmarkState::NotApplicable,
        PanelResult::Tie => BenchmarkState::JudgesDiffer,
        PanelResult::Open if is_open_for_doubt(votes, rule, ties) => BenchmarkState::Uncertain,
        PanelResult::Open => BenchmarkState::Missing,
    };

    let decided =
        matches!(state, BenchmarkState::Scored | BenchmarkState::Uncertain | BenchmarkState::NotApplicable);
    let is_scaled =
        |vote: &&CaseDecision| vote.decision.benchmark().is_some_and(|benchmark| benchmark.scaled);

    Some(BenchmarkFinding {
        pass: match state {
            BenchmarkState::Scored => combine_passes(votes, rule, ties),
            BenchmarkState::Uncertain => Some(false),
            _ => None,
        },
        decided_by: decided.then_some(DecidedBy::Judge),
        may_not_apply: first.may_not_apply,
        ..BenchmarkFinding::undecided(state, votes.iter().any(is_scaled))
    })
}

/// Whether doubt leaves a decision open, and not missing votes: it would be decided if all uncertain judges had
/// failed the case.
fn is_open_for_doubt(votes: &[&CaseDecision], rule: PanelRule, ties: TiePolicy) -> bool {
    if !votes.iter().any(|vote| vote.decision.is_uncertain()) {
        return false;
    }

    let failed = votes.iter().any(|vote| is_missing(&vote.decision));
    let as_fail =
        |vote: &Decision| if vote.is_uncertain() { VoteValue::Value(0.0) } else { vote.vote_value() };
    !failed || panel_decision_if(votes, rule, ties, as_fail).result != PanelResult::Open
}

/// The verdict on the case: the same rule, applied to each judge's verdict. `None` if they are evenly split.
fn combine_passes(votes: &[&CaseDecision], rule: PanelRule, ties: TiePolicy) -> Option<bool> {
    let value = |vote: &Decision| match vote.benchmark().and_then(|benchmark| benchmark.pass) {
        Some(pass) if vote.vote_value() != VoteValue::Missing => VoteValue::Value(f64::from(u8::from(pass))),
        _ => vote.vote_value(),
    };
    match panel_decision_if(votes, rule, ties, value).result {
        PanelResult::Value(value) if (value - 0.5).abs() > TOLERANCE => Some(value > 0.5),
        _ => None,
    }
}

/// Whether a vote on a benchmark agrees with the decision.
fn agrees_with_decision(vote: &Decision, found: &BenchmarkFinding) -> bool {
    vote.benchmark().is_some_and(|benchmark| {
        benchmark.state == found.state
            && (found.state != BenchmarkState::Scored || found.pass.is_none() || benchmark.pass == found.pass)
    })
}

/// Whether a vote is close to the decision.
fn is_close_to_decision(vote: &Decision, decision: PanelDecision) -> bool {
    match (vote.vote_value(), decision.result) {
        (VoteValue::NotApplicable, PanelResult::NotApplicable) => true,
        (VoteValue::Value(said), PanelResult::Value(value)) => {
            (said - value).abs() <= SPLIT_DISTANCE + TOLERANCE
        }
        _ => false,
    }
}

/// Whether a vote is missing. An uncertain judge did vote.
fn is_missing(vote: &Decision) -> bool {
    vote.vote_value() == VoteValue::Missing && !vote.is_uncertain()
}

/// Why missing votes leave a decision open.
fn describe_missing_votes(votes: &[&CaseDecision], is_benchmark: bool) -> (UngradedKind, String) {
    let missing: Vec<&Decision> =
        votes.iter().map(|vote| &vote.decision).filter(|vote| is_missing(vote)).collect();
    let first = missing.first();
    let kind = first.and_then(|vote| vote.ungraded.as_ref()).map_or(UngradedKind::NotJudged, |why| why.kind);
    let why = first.map_or("", |vote| describe_missing_vote(vote));

    let words = match missing.len() {
        _ if is_benchmark => format!("the missing votes could change the decision: {why}"),
        1 => format!("1 vote is missing and could change the decision: {why}"),
        more => format!("{more} votes are missing and could change the decision: {why}"),
    };
    (kind, words)
}

/// The quotes of votes without duplicates.
fn distinct_quotes(votes: &[&Decision]) -> Vec<EvidenceQuote> {
    let mut quotes: Vec<EvidenceQuote> = Vec::new();
    for quote in votes.iter().flat_map(|vote| &vote.evidence) {
        if !quotes.iter().any(|known| known.quote == quote.quote) {
            quotes.push(quote.clone());
        }
    }

    quotes
}

/// Why a vote is missing, in words.
fn describe_missing_vote(vote: &Decision) -> &str {
    let broken = vote.grader().and_then(GraderFinding::error);
    if vote.reason.is_empty() { broken.unwrap_or("it was not judged") } else { &vote.reason }
}

/// The votes in a few words: `2 met, 1 unmet`, for a penalty `2 incurred, 1 avoided`, or `2 at 8/10, 1 at
/// 7/10`.
fn describe_votes(votes: &[&CaseDecision]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for vote in votes {
        let vote = &vote.decision;
        let all_or_nothing = |value: f64| value == 0.0 || value == 1.0;
        let word = match (vote.vote_value(), vote.criterion()) {
            (VoteValue::Missing, _) if vote.is_uncertain() => "uncertain".to_owned(),
            (VoteValue::Missing, _) => "missing".to_owned(),
            (VoteValue::NotApplicable, _) => "not applicable".to_owned(),
            (VoteValue::Value(value), Some(criterion)) if criterion.scale == CriterionScale::Checklist => {
                let word = match (value >= 0.5, criterion.weight.get() < 0.0) {
                    (true, false) => "met",
                    (false, false) => "unmet",
                    (true, true) => "incurred",
                    (false, true) => "avoided",
                };
                word.to_owned()
            }
            (VoteValue::Value(value), Some(_)) => format!("at {}/10", round_value(value * 10.0)),
            (VoteValue::Value(value), None) if vote.benchmark().is_some() && all_or_nothing(value) => {
                if value >= 0.5 { "pass".to_owned() } else { "fail".to_owned() }
            }
            (VoteValue::Value(value), None) => format!("at {}", round_value(value)),
        };
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }

    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn round_value(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value of a vote in a form that can be compared with others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ComparableVote {
    /// The criterion does not apply.
    NotApplicable,
    /// The judge is uncertain.
    Uncertain,
    /// Its value in millionths, so that rounding does not make votes differ.
    Value(i64),
}

/// The comparable value of a vote; `None` if the vote is missing. If the decision is based on probabilities, this is
/// the value that the judge wrote, because two expected scores are almost never equal.
pub(crate) fn comparable_vote(vote: &Decision) -> Option<ComparableVote> {
    let written = vote.probability.and_then(|found| found.written);
    match vote.vote_value() {
        VoteValue::Missing => vote.is_uncertain().then_some(ComparableVote::Uncertain),
        VoteValue::NotApplicable => Some(ComparableVote::NotApplicable),
        VoteValue::Value(value) => {
            let value = written.map_or(value, |written| f64::from(written) / 10.0);
            Some(ComparableVote::Value((value * 1e6).round() as i64))
        }
    }
}

fn panel_report(
    votes: &[&CaseDecision],
    decision: PanelDecision,
    rule: PanelRule,
    ties: TiePolicy,
    escalation: Option<EscalationReport>,
) -> PanelReport {
    let own: Vec<&CaseDecision> = votes.iter().filter(|vote| !vote.is_escalation()).copied().collect();
    let mut by_judge: Vec<(u32, Vec<ComparableVote>)> = Vec::new();
    for vote in &own {
        let (Some(by), Some(value)) = (vote.vote, comparable_vote(&vote.decision)) else { continue };
        match by_judge.iter_mut().find(|(judge, _)| *judge == by.judge) {
            Some((_, all)) => all.push(value),
            None => by_judge.push((by.judge, vec![value])),
        }
    }

    let by_judge: Vec<Vec<ComparableVote>> = by_judge.into_iter().map(|(_, all)| all).collect();
    let all: Vec<ComparableVote> = by_judge.iter().flatten().copied().collect();

    PanelReport {
        rule,
        ties,
        votes: votes.iter().map(|vote| VoteSummary::new(vote)).collect(),
        missing: u32::try_from(own.len() - all.len()).unwrap_or(u32::MAX),
        tie: decision.tie,
        mean: panel_scores(&vote_values(own.iter().copied())).ok().map(|scores| scores.mean),
        // A single vote has no agreement.
        agreement: majority_share(&all).ok().filter(|_| all.len() > 1),
        flip_rate: stability(&by_judge, ConfidenceLevel::P95).pair_flips.ok(),
        disagreement: disagreement(&by_judge).ok(),
        low: decision.low,
        high: decision.high,
        escalation,
    }
}

/// The values of votes that have one.
fn vote_values<'a>(votes: impl Iterator<Item = &'a CaseDecision>) -> Vec<f64> {
    let values = votes.filter_map(|vote| match vote.decision.vote_value() {
        VoteValue::Value(value) => Some(value),
        VoteValue::NotApplicable | VoteValue::Missing => None,
    });
    values.collect()
}

/// The reason to call a stronger judge; `None` if the panel is sure. Decisions that were cancelled because the run ends
/// are not a reason.
pub(super) fn escalation_reason(votes: &[CaseDecision], when: EscalateWhen) -> Option<String> {
    let decisions = || votes.iter().map(|vote| &vote.decision);
    let is_cancelled =
        |vote: &Decision| vote.ungraded.as_ref().is_some_and(|why| why.kind == UngradedKind::Cancelled);
    if decisions().any(is_cancelled) {
        return None;
    }
    if let Some(uncertain) = decisions().find(|vote| vote.is_uncertain()) {
        return Some(format!("{} is uncertain", uncertain.judge.name));
    }
    if let Some(missing) = decisions().find(|vote| vote.vote_value() == VoteValue::Missing) {
        return Some(format!("{} did not answer", missing.judge.name));
    }

    let values = vote_values(votes.iter());
    let spread = panel_scores(&values).map_or(0.0, |scores| scores.range());
    if spread > SPLIT_DISTANCE + TOLERANCE || (!values.is_empty() && values.len() < votes.len()) {
        return Some(format!("the votes differ: {}", describe_votes(&votes.iter().collect::<Vec<_>>())));
    }

    match when {
        EscalateWhen::Split => None,
        EscalateWhen::Unsure => decisions().find_map(doubt_of_judge),
    }
}

/// The doubt in a judge's own reason, if there is any.
fn doubt_of_judge(vote: &Decision) -> Option<String> {
    let name = &vote.judge.name;
    if vote.confidence == Some(JudgeConfidence::Low) {
        return Some(format!("{name} has low confidence"));
    }
    if vote.evidence.iter().any(|quote| !quote.verified) {
        return Some(format!("{name} has quotes that were not found"));
    }

    let DecisionProbability { expected, written, .. } = vote.probability?;
    let unsure = match written {
        None => expected.max(1.0 - expected) < EscalateWhen::SURE,
        Some(written) => (expected - f64::from(written)).abs() > 1.0,
    };
    unsure.then(|| format!("{name} has a low probability"))
}
