//! What the votes of several judges on a benchmark come to.
//!
//! A judge that is not certain has not said what it would say. If the others decide whatever that is, the
//! benchmark is decided; otherwise it is uncertain, which is no pass and a case for a person, as with one
//! judge. Votes that did not come about are never counted as anything.

use assize_rubric::{Cast, PanelDecision, PanelResult, PanelRule, TOLERANCE, Ties, Ungraded, UngradedKind};
use assize_store::{BenchmarkRow, BenchmarkState, DecidedBy, GraderResult, JudgementRow, panel_decision_if};

use super::panel::{is_uncertain, quotes_of, tally, why_missing};

/// Writes what a panel says about a benchmark into its row, with the words of a vote that says the same.
pub(super) fn decide_benchmark(
    row: &mut JudgementRow,
    votes: &[&JudgementRow],
    decision: PanelDecision,
    rule: PanelRule,
    ties: Ties,
) {
    let scaled = votes.iter().any(|vote| benchmark_of(vote).is_some_and(|benchmark| benchmark.scaled));
    let (state, score) = match decision.result {
        PanelResult::Value(value) => (BenchmarkState::Scored, Some(value)),
        PanelResult::NotApplicable => (BenchmarkState::NotApplicable, None),
        PanelResult::Tie => (BenchmarkState::JudgesDiffer, None),
        PanelResult::Open if open_for_doubt(votes, rule, ties) => (BenchmarkState::Uncertain, Some(0.0)),
        PanelResult::Open => (BenchmarkState::Missing, None),
    };
    let pass = match state {
        BenchmarkState::Scored => pass(votes, rule, ties),
        BenchmarkState::Uncertain => Some(false),
        _ => None,
    };
    let decided =
        matches!(state, BenchmarkState::Scored | BenchmarkState::Uncertain | BenchmarkState::NotApplicable);
    let agreeing: Vec<&JudgementRow> = votes.iter().filter(|vote| says(vote, state, pass)).copied().collect();
    let open = match state {
        BenchmarkState::JudgesDiffer => Some((UngradedKind::Tie, "the votes are evenly split".to_owned())),
        BenchmarkState::Missing => {
            let failed = votes.iter().find(|vote| vote.cast() == Cast::Missing && !is_uncertain(vote));
            let kind = failed
                .and_then(|vote| vote.ungraded.as_ref())
                .map_or(UngradedKind::NotJudged, |why| why.kind);
            let why = failed.map_or("", |vote| why_missing(vote));
            Some((kind, format!("what is missing could change the decision: {why}")))
        }
        _ => None,
    };
    let said = tally(votes);
    row.reason = match (&open, agreeing.first()) {
        (Some((_, words)), _) => format!("{said}; {words}"),
        (None, Some(vote)) if votes.len() == 1 => vote.reason.clone(),
        (None, Some(vote)) => format!("{said}; {}: {}", vote.judge.name, vote.reason),
        (None, None) => said,
    };
    row.evidence = quotes_of(agreeing.iter().copied());
    row.ungraded = open.map(|(kind, _)| Ungraded { kind, message: row.reason.clone() });
    let error = row.ungraded.as_ref().map(|ungraded| format!("not decided: {}", ungraded.message));
    row.outcome = if error.is_some() { "error" } else { "graded" }.into();
    row.grader_result = Some(GraderResult {
        score,
        error,
        benchmark: Some(BenchmarkRow {
            state,
            pass,
            raw_score: None,
            scaled,
            decided_by: decided.then_some(DecidedBy::Judge),
        }),
        ..GraderResult::default()
    });
}

fn benchmark_of(row: &JudgementRow) -> Option<BenchmarkRow> {
    row.grader_result.as_ref()?.benchmark
}

/// Whether it is doubt that leaves a decision open, and not votes that did not come about: if those that are
/// not certain failed the case, it would be decided.
fn open_for_doubt(votes: &[&JudgementRow], rule: PanelRule, ties: Ties) -> bool {
    if !votes.iter().any(|vote| is_uncertain(vote)) {
        return false;
    }
    let failed = votes.iter().any(|vote| vote.cast() == Cast::Missing && !is_uncertain(vote));
    let as_fail = |vote: &JudgementRow| if is_uncertain(vote) { Cast::Value(0.0) } else { vote.cast() };
    !failed || panel_decision_if(votes, rule, ties, as_fail).result != PanelResult::Open
}

/// Whether the case passes, by the same rule on what each judge said of that. `None` where they are evenly split.
fn pass(votes: &[&JudgementRow], rule: PanelRule, ties: Ties) -> Option<bool> {
    let cast = |vote: &JudgementRow| match benchmark_of(vote).and_then(|benchmark| benchmark.pass) {
        Some(pass) if vote.cast() != Cast::Missing => Cast::Value(f64::from(u8::from(pass))),
        _ => vote.cast(),
    };
    match panel_decision_if(votes, rule, ties, cast).result {
        PanelResult::Value(value) if (value - 0.5).abs() > TOLERANCE => Some(value > 0.5),
        _ => None,
    }
}

/// Whether a vote says what was decided.
fn says(vote: &JudgementRow, state: BenchmarkState, pass: Option<bool>) -> bool {
    benchmark_of(vote).is_some_and(|benchmark| {
        benchmark.state == state
            && (state != BenchmarkState::Scored || pass.is_none() || benchmark.pass == pass)
    })
}
