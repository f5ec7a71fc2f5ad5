//! Report of pairwise comparisons: pair by pair, then all targets together.

use std::collections::BTreeMap;

use assize_rubric::PairOutcome;
use assize_stats::compare::sign_flip_clustered;
use assize_stats::ranking::TieRule;
use assize_stats::{ConfidenceLevel, SeededRandom, UndefinedReason};

use super::{PairwiseMatch, PairwiseMatches, PositionBiasReport, TargetRanking, measure_position_bias};
use crate::MetricEstimate;
use crate::claims::{ALPHA, decide_together};
use crate::shares::{mean_metric, share_metric};

/// Seed of the sign-flip test: fixed, so that p values are reproducible.
const SEED: u64 = 1;
/// Number of random sign flips if there are too many clusters to enumerate all of them.
const DRAWS: u32 = 20_000;

/// Comparison of two targets.
#[derive(Debug, Clone, PartialEq)]
pub struct PairReport {
    /// Index of the first target.
    pub first: usize,
    /// Index of the second target.
    pub second: usize,
    /// Number of comparisons by outcome, from the first target's side.
    pub counts: BTreeMap<PairOutcome, u64>,
    /// Number of comparisons that are excluded because an order could not be judged.
    pub ungraded: u64,
    /// Shares of the outcomes, and the win score.
    pub figures: Vec<MetricEstimate>,
    /// Two-sided p value of the sign-flip test on wins and losses by case; or the reason why it is undefined.
    pub p: Result<f64, UndefinedReason>,
    /// `p` adjusted by Holm for the number of pairs.
    pub p_adjusted: Result<f64, UndefinedReason>,
    /// Conclusion.
    pub told: PairConclusion,
}

/// Conclusion about two targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairConclusion {
    /// The first is better.
    First,
    /// The second is better.
    Second,
    /// The comparisons do not show a difference.
    Inconclusive,
}

assize_rubric::named_variants!(PairConclusion { First = "first", Second = "second", Inconclusive = "inconclusive" });

/// Report of all pairwise comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct PairwiseReport {
    /// Names of the targets, by index.
    pub systems: Vec<String>,
    /// Pairs, in the order of the targets.
    pub pairs: Vec<PairReport>,
    /// Position bias.
    pub place: PositionBiasReport,
    /// Ranking, or the reason why it is undefined.
    pub ranking: Result<TargetRanking, UndefinedReason>,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Number of cases or clusters.
    pub clusters: usize,
    /// Number of comparisons in which an order could not be judged.
    pub ungraded: u64,
}

/// Computes the report.
pub fn pairwise_report(
    systems: Vec<String>,
    contests: &PairwiseMatches,
    ties: TieRule,
    level: ConfidenceLevel,
) -> PairwiseReport {
    let mut by_pair: BTreeMap<(usize, usize), Vec<&PairwiseMatch>> = BTreeMap::new();
    for contest in &contests.all {
        by_pair.entry((contest.first, contest.second)).or_default().push(contest);
    }

    let mut pairs: Vec<PairReport> =
        by_pair.into_iter().map(|((first, second), found)| pair_report(first, second, &found)).collect();
    // An undefined p value does not count as a comparison.
    let known: Vec<f64> = pairs.iter().filter_map(|pair| pair.p.ok()).collect();
    let mut decided = decide_together(&known, ALPHA).into_iter();
    for pair in &mut pairs {
        let claim = pair.p.and_then(|_| decided.next().ok_or(UndefinedReason::NoValues));
        pair.p_adjusted = claim.map(|claim| claim.p_adjusted);
        let wins = |outcome| pair.counts.get(&outcome).copied().unwrap_or(0);
        let (won, lost) = (wins(PairOutcome::Win), wins(PairOutcome::Loss));
        pair.told = match claim {
            Ok(claim) if claim.is_shown && won > lost => PairConclusion::First,
            Ok(claim) if claim.is_shown && lost > won => PairConclusion::Second,
            _ => PairConclusion::Inconclusive,
        };
    }

    PairwiseReport {
        ranking: TargetRanking::from_matches(systems.len(), &contests.all, ties, level),
        place: measure_position_bias(&contests.all),
        comparisons: contests.all.len(),
        clusters: contests.clusters(),
        ungraded: pairs.iter().map(|pair| pair.ungraded).sum(),
        systems,
        pairs,
    }
}

fn pair_report(first: usize, second: usize, contests: &[&PairwiseMatch]) -> PairReport {
    let judged: Vec<(usize, PairOutcome)> =
        contests.iter().filter_map(|contest| Some((contest.cluster, contest.outcome?))).collect();
    let mut counts: BTreeMap<PairOutcome, u64> = PairOutcome::ALL.map(|outcome| (outcome, 0)).into();
    for (_, outcome) in &judged {
        *counts.entry(*outcome).or_default() += 1;
    }

    let share = |outcome: PairOutcome, names: (&'static str, &'static str), says: &'static str| {
        let hits: Vec<(usize, bool)> =
            judged.iter().map(|(cluster, found)| (*cluster, *found == outcome)).collect();
        share_metric((names.0, names.1, "comparisons"), says, &hits)
    };

    let value = |outcome: PairOutcome| match outcome {
        PairOutcome::Win => 1.0,
        PairOutcome::Loss => 0.0,
        PairOutcome::Tie | PairOutcome::Inconsistent => 0.5,
    };
    let scores: Vec<(usize, f64)> =
        judged.iter().map(|(cluster, outcome)| (*cluster, value(*outcome))).collect();
    let score = mean_metric(
        ("win_score", "win score", "comparisons"),
        "Wins plus half of the ties and inconsistent comparisons; 0.5 if neither is better.",
        &scores,
    );
    let score = MetricEstimate { interval: score.interval.map(|interval| interval.clip(0.0, 1.0)), ..score };
    let figures = vec![
        share(PairOutcome::Win, ("win", "wins"), "Better in both orders."),
        share(PairOutcome::Loss, ("loss", "losses"), "Worse in both orders."),
        share(PairOutcome::Tie, ("tie", "ties"), "A tie in both orders."),
        share(
            PairOutcome::Inconsistent,
            ("inconsistent", "inconsistent"),
            "The two orders disagree; counts for neither.",
        ),
        score,
    ];

    PairReport {
        first,
        second,
        ungraded: (contests.len() - judged.len()) as u64,
        figures,
        p: sign_flip_p_value(&scores),
        p_adjusted: Err(UndefinedReason::NoValues),
        told: PairConclusion::Inconclusive,
        counts,
    }
}

/// Tests whether wins and losses differ, by flipping the signs of each case's score.
fn sign_flip_p_value(scores: &[(usize, f64)]) -> Result<f64, UndefinedReason> {
    let differences: Vec<f64> = scores.iter().map(|(_, score)| score - 0.5).collect();
    let clusters: Vec<usize> = scores.iter().map(|(cluster, _)| *cluster).collect();
    let mut random = SeededRandom::new(SEED);
    sign_flip_clustered(&differences, &clusters, DRAWS, &mut random).map(|found| found.p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_rubric::AnswerPreference;

    /// This many wins, losses and ties of the first over the second target, each in a case of its own.
    fn played(first: usize, second: usize, wins: usize, losses: usize, ties: usize) -> PairwiseMatches {
        let ends = [(PairOutcome::Win, wins), (PairOutcome::Loss, losses), (PairOutcome::Tie, ties)];
        let all = ends.iter().flat_map(|&(outcome, times)| std::iter::repeat_n(outcome, times));
        let all = all
            .enumerate()
            .map(|(cluster, outcome)| PairwiseMatch {
                first,
                second,
                cluster,
                outcome: Some(outcome),
                preferences: [Some(AnswerPreference::First), Some(AnswerPreference::Second)],
            })
            .collect();
        PairwiseMatches { all, ..PairwiseMatches::default() }
    }

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|number| format!("s{number}")).collect()
    }

    #[test]
    fn the_test_of_one_comparison_a_case_is_the_sign_test() {
        // 9 wins, 1 loss: 2 * (1 + 10) / 2^10, whatever the ties.
        let found = pairwise_report(names(2), &played(0, 1, 9, 1, 4), TieRule::HalfWin, ConfidenceLevel::P95);
        let pair = &found.pairs[0];
        assert!((pair.p.unwrap() - 22.0 / 1024.0).abs() < 1e-9, "{:?}", pair.p);
        assert_eq!((pair.p_adjusted, pair.told), (pair.p, PairConclusion::First));
        assert_eq!(pair.figures.last().unwrap().value, Ok(11.0 / 14.0));
        let ranking = found.ranking.unwrap();
        assert_eq!((ranking.systems[0].system, ranking.systems[0].rank), (0, 1));
        assert!(ranking.systems[0].lead.is_some() && ranking.systems[1].lead.is_none());
    }

    #[test]
    fn what_can_not_be_ranked_says_why() {
        let one_sided =
            pairwise_report(names(2), &played(0, 1, 5, 0, 0), TieRule::HalfWin, ConfidenceLevel::P95);
        assert_eq!(one_sided.ranking.unwrap_err(), UndefinedReason::OneSided);
        let alone = pairwise_report(names(3), &played(0, 1, 5, 3, 0), TieRule::HalfWin, ConfidenceLevel::P95);
        assert_eq!(alone.ranking.unwrap_err(), UndefinedReason::NotConnected);
        let nothing =
            pairwise_report(names(2), &PairwiseMatches::default(), TieRule::HalfWin, ConfidenceLevel::P95);
        assert!(nothing.ranking.is_err() && nothing.pairs.is_empty());
    }

    #[test]
    fn equal_systems_share_a_rank_and_are_not_told_apart() {
        let found = pairwise_report(names(2), &played(0, 1, 3, 3, 2), TieRule::HalfWin, ConfidenceLevel::P95);
        assert_eq!(found.pairs[0].told, PairConclusion::Inconclusive);
        assert_eq!(found.ranking.unwrap().systems.iter().map(|one| one.rank).collect::<Vec<_>>(), [1, 1]);
    }
}
