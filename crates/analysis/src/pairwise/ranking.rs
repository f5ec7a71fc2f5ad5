//! Where systems stand that were compared two at a time.

use assize_rubric::PairOutcome;
use assize_stats::ranking::{self, BradleyTerry, ContestEnd, Lead, TieRule, bradley_terry};
use assize_stats::{Interval, Level, Undefined};

use super::Contest;

/// One system.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Number of the system.
    pub system: usize,
    /// Its rank from 1 by strength; those of equal strength share one.
    pub rank: usize,
    /// Natural logarithm of its strength; over all systems they add up to 0.
    pub log_strength: f64,
    /// Interval of it.
    pub interval: Result<Interval, Undefined>,
    /// Comparisons it took part in.
    pub comparisons: usize,
    /// By how much it leads the system ranked below it; `None` for the last one.
    pub lead: Option<Lead>,
}

/// The systems, strongest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The systems.
    pub systems: Vec<Ranked>,
    /// What a tie, or orders that disagree, says.
    pub ties: TieRule,
    /// How likely ties are, where they are an end of their own.
    pub tie_weight: Option<f64>,
    /// Comparisons it rests on.
    pub comparisons: usize,
    /// Cases, or clusters of them.
    pub clusters: usize,
}

impl Ranking {
    /// Ranks by the model of Bradley and Terry. Orders that disagree count as a tie. Undefined, with the reason, where the
    /// comparisons do not tie all systems together.
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
                // Strengths that are equal are found by steps that stop just short of it.
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
