//! Votes of several judges on the cases of a benchmark.

use assize_analysis::{BenchmarkCase, BenchmarkVote};
use assize_rubric::BenchmarkState;

use crate::number::{format_count, format_plain};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of votes listed; the rest is counted.
const MAX_VOTES: usize = 200;
/// Maximum length of a reason in a line, in characters.
const MAX_REASON: usize = 200;

/// Describes the decision on a benchmark and case in a word or two.
pub fn benchmark_decision_text(state: BenchmarkState, pass: Option<bool>) -> String {
    match (state, pass) {
        (BenchmarkState::Scored, Some(true)) => "pass".to_owned(),
        (BenchmarkState::Scored, Some(false)) => "fail".to_owned(),
        (state, _) => state.name().replace('_', " "),
    }
}

/// Renders one line for each vote, starting with the cases on which judges disagree, and the number of these.
/// Renders nothing if there is only one vote for each case.
pub(crate) fn render_votes(page: &mut ReportPage, cases: &[(&str, &BenchmarkCase)]) {
    let mut voted: Vec<&(&str, &BenchmarkCase)> =
        cases.iter().filter(|(_, case)| !case.votes.is_empty()).collect();
    if voted.is_empty() {
        return;
    }

    voted.sort_by_key(|(_, case)| !votes_differ(case));
    let columns = [
        ReportColumn::left("votes on"),
        ReportColumn::left("judge"),
        ReportColumn::right("asked"),
        ReportColumn::right("score"),
        ReportColumn::left("says"),
        ReportColumn::shrinking("reason"),
    ];

    let repeated = voted.iter().any(|(_, case)| case.votes.iter().any(|vote| vote.repeat > 1));
    let all: Vec<Vec<ReportPiece>> = voted
        .iter()
        .flat_map(|(id, case)| case.votes.iter().enumerate().map(move |(at, vote)| (id, at, vote)))
        .map(|(id, at, vote)| {
            vec![
                if at == 0 {
                    ReportPiece::untrusted_name(ReportTone::Plain, id)
                } else {
                    ReportPiece::plain("")
                },
                ReportPiece::untrusted_name(ReportTone::Plain, &vote.judge),
                ReportPiece::plain(match (vote.escalated, repeated) {
                    (true, _) => "as the stronger".to_owned(),
                    (false, true) => vote.repeat.to_string(),
                    (false, false) => String::new(),
                }),
                ReportPiece::plain(vote.score.map(|score| format_plain(score.get())).unwrap_or_default()),
                ReportPiece::plain(benchmark_decision_text(vote.finding.state, vote.finding.pass)),
                ReportPiece::untrusted(ReportTone::Dim, &vote.reason, MAX_REASON),
            ]
        })
        .collect();

    render_table(page, 0, &columns, &all[..all.len().min(MAX_VOTES)]);
    let more = all.len().saturating_sub(MAX_VOTES);
    if more > 0 {
        page.add_paragraph(ReportPiece::new(
            ReportTone::Dim,
            format!("and {}", format_count(more as u64, "more vote", "more votes")),
        ));
    }

    page.add_blank();
    let split = voted.iter().filter(|(_, case)| votes_differ(case)).count();
    let text = match split {
        0 => format!("unanimous on {}", format_count(voted.len() as u64, "case", "cases")),
        split => format!("split on {split} of {}", format_count(voted.len() as u64, "case", "cases")),
    };
    page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
}

/// Returns true if the votes of a panel are not all equal. A failed vote is not a different opinion, and the
/// stronger judge, which is called when a panel is unsure, is not part of the panel.
fn votes_differ(case: &BenchmarkCase) -> bool {
    let cast = |vote: &&BenchmarkVote| !vote.escalated && vote.finding.state != BenchmarkState::Missing;
    let mut votes =
        case.votes.iter().filter(cast).map(|vote| (vote.finding.state, vote.finding.pass, vote.score));
    votes.next().is_some_and(|first| votes.any(|other| other != first))
}
