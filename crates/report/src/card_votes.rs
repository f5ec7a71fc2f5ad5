//! Votes of several judges on the cases of a benchmark.

use assize_analysis::{BenchmarkVote, CaseOfBenchmark};
use assize_rubric::BenchmarkState;
use serde_json::{Value, json};

use crate::number::{count, plain};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Number of votes that are listed before the rest is only counted.
const MAX_VOTES: usize = 200;
/// Maximum length of a reason in a line, in characters.
const REASON: usize = 200;

/// Describes the decision on a benchmark and case in a word or two.
pub(crate) fn said(state: BenchmarkState, pass: Option<bool>) -> String {
    match (state, pass) {
        (BenchmarkState::Scored, Some(true)) => "pass".to_owned(),
        (BenchmarkState::Scored, Some(false)) => "fail".to_owned(),
        (state, _) => state.name().replace('_', " "),
    }
}

/// Renders a line for each vote, starting with the cases on which judges differ, and the number of these.
/// Renders nothing if one judge was asked once.
pub(crate) fn votes(page: &mut Page, cases: &[(&str, &CaseOfBenchmark)]) {
    let mut voted: Vec<&(&str, &CaseOfBenchmark)> =
        cases.iter().filter(|(_, case)| !case.votes.is_empty()).collect();
    if voted.is_empty() {
        return;
    }
    voted.sort_by_key(|(_, case)| !differ(case));
    let columns = [
        Column::left("votes on"),
        Column::left("judge"),
        Column::right("asked"),
        Column::right("score"),
        Column::left("says"),
        Column::shrinking("reason"),
    ];
    let repeated = voted.iter().any(|(_, case)| case.votes.iter().any(|vote| vote.repeat > 1));
    let all: Vec<Vec<Piece>> = voted
        .iter()
        .flat_map(|(id, case)| case.votes.iter().enumerate().map(move |(at, vote)| (id, at, vote)))
        .map(|(id, at, vote)| {
            vec![
                if at == 0 { Piece::name(Tone::Plain, id) } else { Piece::plain("") },
                Piece::name(Tone::Plain, &vote.judge),
                Piece::plain(match (vote.escalated, repeated) {
                    (true, _) => "as the stronger".to_owned(),
                    (false, true) => vote.repeat.to_string(),
                    (false, false) => String::new(),
                }),
                Piece::plain(vote.score.map(|score| plain(score.get())).unwrap_or_default()),
                Piece::plain(said(vote.finding.state, vote.finding.pass)),
                Piece::said(Tone::Dim, &vote.reason, REASON),
            ]
        })
        .collect();
    table(page, 0, &columns, &all[..all.len().min(MAX_VOTES)]);
    let more = all.len().saturating_sub(MAX_VOTES);
    if more > 0 {
        page.text(
            &[],
            &[Piece::new(Tone::Dim, format!("and {}", count(more as u64, "more vote", "more votes")))],
        );
    }
    page.blank();
    let split = voted.iter().filter(|(_, case)| differ(case)).count();
    let text = match split {
        0 => format!("votes are the same on {}", count(voted.len() as u64, "case", "cases")),
        split => format!("votes differ on {split} of {}", count(voted.len() as u64, "case", "cases")),
    };
    page.text(&[], &[Piece::new(Tone::Dim, text)]);
}

/// Returns true if the votes of a panel are not all equal. A failed vote is not a different opinion, and the
/// judge that was escalated to is not part of the panel.
fn differ(case: &CaseOfBenchmark) -> bool {
    let cast = |vote: &&BenchmarkVote| !vote.escalated && vote.finding.state != BenchmarkState::Missing;
    let mut votes =
        case.votes.iter().filter(cast).map(|vote| (vote.finding.state, vote.finding.pass, vote.score));
    votes.next().is_some_and(|first| votes.any(|other| other != first))
}

/// Converts a vote to JSON.
pub(crate) fn vote_json(vote: &BenchmarkVote) -> Value {
    json!({
        "judge": vote.judge,
        "repeat": vote.repeat,
        "escalated": vote.escalated,
        "state": vote.finding.state,
        "score": vote.score,
        "pass": vote.finding.pass,
        "reason": vote.reason,
    })
}
