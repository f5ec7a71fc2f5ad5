//! Ranking of targets from pairwise comparisons.

use assize_rubric::PairOutcome;
use assize_stats::ranking::{self, BradleyTerryFit, ContestOutcome, StrengthLead, TieRule, bradley_terry};
use assize_stats::{ConfidenceLevel, Interval, UndefinedReason};

use super::PairwiseMatch;

/// One ranked target.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedTarget {
    /// Index of the target.
    pub system: usize,
    /// Rank by strength, from 1; equal strengths share a rank.
    pub rank: usize,
    /// Natural logarithm of the strength; these sum to 0 over all targets.
    pub log_strength: f64,
    /// Interval of `log_strength`.
    pub interval: Result<Interval, UndefinedReason>,
    /// Number of its comparisons.
    pub comparisons: usize,
    /// Lead over the target ranked below; `None` for the last one.
    pub lead: Option<StrengthLead>,
}

/// Ranked targets, strongest first.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetRanking {
    /// Targets in the order of their rank.
    pub systems: Vec<RankedTarget>,
    /// How ties, and orders that disagree, are counted.
    pub ties: TieRule,
    /// Frequency of ties, if the model has ties as an outcome of their own.
    pub tie_weight: Option<f64>,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Number of cases or clusters.
    pub clusters: usize,
}

impl TargetRanking {
    /// Ranks by the Bradley-Terry model. Orders that disagree count as a tie. Undefined, with the reason, if
    /// the comparisons do not connect all targets.
    pub fn from_matches(
        systems: usize,
        contests: &[PairwiseMatch],
        ties: TieRule,
        level: ConfidenceLevel,
    ) -> Result<Self, UndefinedReason> {
        let ends: Vec<ranking::SystemContest> = contests
            .iter()
            .filter_map(|contest| {
                let end = match contest.outcome? {
                    PairOutcome::Win => ContestOutcome::First,
                    PairOutcome::Loss => ContestOutcome::Second,
                    PairOutcome::Tie | PairOutcome::Inconsistent => ContestOutcome::Tie,
                };

                let PairwiseMatch { first, second, cluster, .. } = *contest;
                Some(ranking::SystemContest { first, second, end, cluster })
            })
            .collect();

        let fitted = bradley_terry(systems, &ends, ties, level)?;
        Ok(Self::from_strengths(&fitted, ties))
    }

    fn from_strengths(fitted: &BradleyTerryFit, ties: TieRule) -> Self {
        let strength = |system: usize| fitted.strengths[system].log_strength;
        let mut order: Vec<usize> = (0..fitted.strengths.len()).collect();
        order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));

        let systems = order
            .iter()
            .enumerate()
            .map(|(at, &system)| {
                let found = &fitted.strengths[system];
                // Newton's method stops just short of equality for equal strengths.
                let ahead = order.iter().filter(|&&other| strength(other) > strength(system) + 1e-9).count();
                RankedTarget {
                    system,
                    rank: ahead + 1,
                    log_strength: found.log_strength,
                    interval: found.interval,
                    comparisons: found.contests,
                    lead: order.get(at + 1).and_then(|&below| fitted.lead(system, below)),
                }
            })
            .collect();
        Self {
            systems,
            ties,
            tie_weight: fitted.tie_weight,
            comparisons: fitted.contests,
            clusters: fitted.clusters,
        }
    }
}
