//! Ranking of targets from pairwise comparisons.

use assize_rubric::PairOutcome;
use assize_stats::ranking::{self, BradleyTerry, ContestEnd, Lead, TieRule, bradley_terry};
use assize_stats::{Interval, Level, Undefined};

use super::Contest;

/// One ranked target.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Index of the target.
    pub system: usize,
    /// Rank from 1 by strength; equal strengths share a rank.
    pub rank: usize,
    /// Natural logarithm of the strength; over all targets these sum to 0.
    pub log_strength: f64,
    /// Interval of `log_strength`.
    pub interval: Result<Interval, Undefined>,
    /// Number of its comparisons.
    pub comparisons: usize,
    /// Lead over the target ranked below; `None` for the last one.
    pub lead: Option<Lead>,
}

/// Ranked targets, strongest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Targets in the order of their rank.
    pub systems: Vec<Ranked>,
    /// Treatment of ties and of orders that disagree.
    pub ties: TieRule,
    /// Frequency of ties, if they are modelled as an outcome of their own.
    pub tie_weight: Option<f64>,
    /// Number of comparisons.
    pub comparisons: usize,
    /// Number of cases or clusters.
    pub clusters: usize,
}

impl Ranking {
    /// Ranks by the Bradley-Terry model. Orders that disagree count as a tie. Undefined, with the reason, if
    /// the comparisons do not connect all targets.
    pub fn of(systems: usize, contests: &[Contest], ties: TieRule, level: Level) -> Result<Self, Undefined> {
        let ends: Vec<ranking::Contest> = contests
            .iter()
            .filter_map(|contest| {
                let end = match contest.outcome? {
                    PairOutcome::Win => ContestEnd::First,
                    PairOutcome::Loss => ContestEnd::Second,
                    PairOutcome::Tie | PairOutcome::Inconsistent => ContestEnd::Tie,
                };
                let Contest { first, second, cluster, .. } = *contest;
                Some(ranking::Contest { first, second, end, cluster })
            })
            .collect();
        let fitted = bradley_terry(systems, &ends, ties, level)?;
        Ok(Self::sorted(&fitted, ties))
    }

    fn sorted(fitted: &BradleyTerry, ties: TieRule) -> Self {
        let strength = |system: usize| fitted.strengths[system].log_strength;
        let mut order: Vec<usize> = (0..fitted.strengths.len()).collect();
        order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
        let systems = order
            .iter()
            .enumerate()
            .map(|(at, &system)| {
                let found = &fitted.strengths[system];
                // Equal strengths are reached by Newton steps that stop just short of equality.
                let ahead = order.iter().filter(|&&other| strength(other) > strength(system) + 1e-9).count();
                Ranked {
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
