//! The effect that each benchmark could have on the root's score.

use serde::Serialize;

use super::{ScoreTree, ScorecardNodeId, ScorecardNodeKind, ScorecardScores};
use crate::ScorecardAggregation;

/// Effect of raising one benchmark's score to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreGain {
    /// The benchmark.
    pub node: ScorecardNodeId,
    /// Increase of the root's score, 0 to 1. Missing results count as 0 here.
    pub gain: f64,
    /// Share of the benchmark's score in the root's: the product of the shares on the path to the root, 0 to
    /// 1. A minimum or maximum on the path can reduce the effect.
    pub share: f64,
    /// True if this is the only hard gate that blocks the root.
    pub unblocks: bool,
}

/// Actual and possible contribution of a node to the root's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScoreContribution {
    /// Share of the node's score in the root's: the product of the shares on the path to the root, 0 to 1.
    pub share: f64,
    /// Decrease of the root's score if this node scored 0, all else unchanged, 0 to 1.
    pub given: f64,
    /// Increase of the root's score if this node scored 1, all else unchanged, 0 to 1.
    pub gain: f64,
}

/// The root's score as a function of one node's score: `clamp(slope x + offset, low, high)`. Means, minimums
/// and maximums with fixed siblings preserve this form, so it can be passed down the tree.
#[derive(Clone, Copy)]
struct ClampedLinearMap {
    slope: f64,
    offset: f64,
    low: f64,
    high: f64,
}

impl ClampedLinearMap {
    const IDENTITY: Self = Self { slope: 1.0, offset: 0.0, low: 0.0, high: 1.0 };
    const NONE: Self = Self { slope: 0.0, offset: 0.0, low: 0.0, high: 0.0 };

    fn evaluate(self, score: f64) -> f64 {
        (self.slope * score + self.offset).clamp(self.low, self.high)
    }
}

/// The two best values of a list. They give, for each element, the best value of all others.
#[derive(Clone, Copy, Default)]
struct TopTwo {
    first: Option<(usize, f64)>,
    second: Option<f64>,
}

impl TopTwo {
    fn add(&mut self, index: usize, value: f64, better: fn(f64, f64) -> bool) {
        match self.first {
            Some((_, first)) if !better(value, first) => {
                if self.second.is_none_or(|second| better(value, second)) {
                    self.second = Some(value);
                }
            }
            first => {
                self.second = first.map(|(_, value)| value);
                self.first = Some((index, value));
            }
        }
    }

    fn best_other(self, index: usize) -> Option<f64> {
        match self.first {
            Some((first, _)) if first == index => self.second,
            first => first.map(|(_, value)| value),
        }
    }
}

impl ScorecardScores<'_> {
    /// Returns the contribution of each node to the root's score, by node index; `None` for a node that has
    /// no score or does not count. Missing results count as 0 here.
    pub fn contributions(&self) -> Vec<Option<ScoreContribution>> {
        let lifts = self.node_maps();
        let parts = self.nodes.iter().zip(lifts).enumerate().map(|(index, (node, lift))| {
            let (low, _) = node.bounds.filter(|_| self.card.is_counted(index))?;
            let now = lift.evaluate(low);
            let (given, gain) = (now - lift.evaluate(0.0), lift.evaluate(1.0) - now);
            Some(ScoreContribution { share: lift.slope, given: given.max(0.0), gain: gain.max(0.0) })
        });
        parts.collect()
    }

    /// Returns the benchmarks that would raise the root's score, and failed hard gates, largest gain first.
    /// Equal gains are in the order of the tree.
    pub fn gains(&self) -> Vec<ScoreGain> {
        let lifts = self.node_maps();
        let only = self.root().gates_failed_below == 1;
        let mut gains = Vec::new();
        for (index, node) in self.card.nodes.iter().enumerate() {
            if !matches!(node.kind, ScorecardNodeKind::Benchmark { .. }) {
                continue;
            }

            let Some((low, _)) = self.nodes[index].bounds else { continue };
            let lift = lifts[index];
            let gain = (lift.evaluate(1.0) - lift.evaluate(low)).max(0.0);
            let failed = self.nodes[index].gate_failed;
            if gain > 0.0 || failed {
                gains.push(ScoreGain {
                    node: ScorecardNodeId(index),
                    gain,
                    share: lift.slope,
                    unblocks: failed && only,
                });
            }
        }

        gains.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        gains
    }

    fn node_maps(&self) -> Vec<ClampedLinearMap> {
        let mut lifts = vec![ClampedLinearMap::NONE; self.nodes.len()];
        lifts[0] = ClampedLinearMap::IDENTITY;

        for index in 0..self.nodes.len() {
            if let ScorecardNodeKind::Group { aggregation, .. } = self.card.nodes[index].kind {
                propagate_maps(self.card, self, index, aggregation, &mut lifts);
            }
        }

        lifts
    }
}

fn propagate_maps(
    card: &ScoreTree,
    scores: &ScorecardScores<'_>,
    index: usize,
    aggregation: ScorecardAggregation,
    lifts: &mut [ClampedLinearMap],
) {
    let above = lifts[index];
    let low_of =
        |child: usize| scores.nodes[child].bounds.filter(|_| card.is_counted(child)).map(|(low, _)| low);
    let (mut lowest, mut highest) = (TopTwo::default(), TopTwo::default());
    for &child in &card.children[index] {
        if let Some(low) = low_of(child) {
            lowest.add(child, low, |a, b| a < b);
            highest.add(child, low, |a, b| a > b);
        }
    }

    let covered = scores.nodes[index].covered_weight;
    let group_low = scores.nodes[index].bounds.map_or(0.0, |(low, _)| low);
    for &child in &card.children[index] {
        let Some(low) = low_of(child) else { continue };
        lifts[child] = match aggregation {
            ScorecardAggregation::WeightedAverage => {
                let share = if covered > 0.0 { card.nodes[child].weight.get() / covered } else { 0.0 };
                let rest = group_low - share * low;
                ClampedLinearMap {
                    slope: above.slope * share,
                    offset: above.offset + above.slope * rest,
                    ..above
                }
            }
            ScorecardAggregation::Minimum => match lowest.best_other(child) {
                Some(least) => ClampedLinearMap { high: above.evaluate(least), ..above },
                None => above,
            },
            ScorecardAggregation::Maximum => match highest.best_other(child) {
                Some(most) => ClampedLinearMap { low: above.evaluate(most), ..above },
                None => above,
            },
        };
    }
}
