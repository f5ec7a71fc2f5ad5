//! Differences of small groups, shrunk towards the mean of all groups.
//!
//! The difference of a group with few pairs is mostly noise. Partial pooling estimates it from its own pairs
//! and from the other groups, weighted by how much the groups really vary.

use std::collections::{BTreeMap, BTreeSet};

use assize_stats::{ConfidenceLevel, UndefinedReason, pooling::partial_pooling};
use serde::Serialize;

use super::metric_difference::PairSample;
use crate::claims::MIN_PAIRS;

/// Maximum number of groups; a longer list would not help a reader.
const MAX_GROUPS: usize = 500;

/// The partially pooled difference of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledDifference {
    /// Name of the group.
    pub name: String,
    /// Number of pairs.
    pub pairs: usize,
    /// Its own difference, candidate minus base.
    pub difference: f64,
    /// The difference shrunk towards the mean of all groups.
    pub estimate: f64,
    /// Weight of the group's own difference, 0 to 1.
    pub own_weight: f64,
    /// Lower end of the interval, whose coverage holds on average over groups; null for a group with fewer than
    /// [`MIN_PAIRS`] pairs, and if groups have cases in common, as criteria do: it would be too narrow.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// Partially pooled differences of all groups of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledDifferences {
    /// Mean difference of the groups.
    pub mean: f64,
    /// Estimated standard deviation of the true differences between groups.
    pub spread: f64,
    /// All groups, including groups with fewer than six pairs.
    pub groups: Vec<PooledDifference>,
}

/// Data of a group: the mean difference of each of its clusters.
pub(crate) struct GroupDifferences {
    name: String,
    pairs: usize,
    clusters: Vec<f64>,
    /// Ids of the clusters in all groups.
    cluster_ids: Vec<u64>,
}

impl GroupDifferences {
    pub(crate) fn new(name: String, pairs: &PairSample) -> Self {
        let candidate = pairs.candidate();
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for ((before, after), cluster) in pairs.base.iter().zip(&candidate.values).zip(&candidate.clusters) {
            let sum = sums.entry(*cluster).or_default();
            sum.0 += after - before;
            sum.1 += 1.0;
        }
        Self {
            name,
            pairs: pairs.len(),
            clusters: sums.into_values().map(|(sum, n)| sum / n).collect(),
            cluster_ids: candidate.cluster_ids().collect(),
        }
    }

    fn mean(&self) -> f64 {
        self.clusters.iter().sum::<f64>() / self.clusters.len() as f64
    }

    /// Sum of the squared deviations from the mean.
    fn squares(&self) -> f64 {
        // Computed once, because the mean of a group of 100,000 clusters takes as many steps.
        let mean = self.mean();
        self.clusters.iter().map(|value| (value - mean).powi(2)).sum()
    }
}

/// Pools groups. They share one variance within groups, because two or three pairs are too few to estimate
/// one.
pub(crate) fn pool_groups(
    groups: &[GroupDifferences],
    level: ConfidenceLevel,
) -> Result<PooledDifferences, UndefinedReason> {
    if groups.len() > MAX_GROUPS {
        return Err(UndefinedReason::TooLarge);
    }
    let squares: f64 = groups.iter().map(GroupDifferences::squares).sum();
    let freedom: usize = groups.iter().map(|group| group.clusters.len().saturating_sub(1)).sum();
    if freedom < groups.len().max(10) {
        return Err(UndefinedReason::TooFew);
    }

    let variance = squares / freedom as f64;
    let estimates: Vec<f64> = groups.iter().map(GroupDifferences::mean).collect();
    let errors: Vec<f64> =
        groups.iter().map(|group| (variance / group.clusters.len() as f64).sqrt()).collect();
    let found = partial_pooling(&estimates, &errors, level)?;
    let mut seen = BTreeSet::new();
    let are_separate =
        groups.iter().flat_map(|group| &group.cluster_ids).all(|cluster| seen.insert(*cluster));
    Ok(PooledDifferences {
        mean: found.mean,
        spread: found.spread,
        groups: groups
            .iter()
            .zip(&estimates)
            .zip(found.groups)
            .map(|((group, own), pooled)| {
                let interval = (are_separate && group.pairs >= MIN_PAIRS).then_some(pooled.interval);
                PooledDifference {
                    name: group.name.clone(),
                    pairs: group.pairs,
                    difference: *own,
                    estimate: pooled.estimate.clamp(-1.0, 1.0),
                    own_weight: pooled.shrinkage,
                    low: interval.map(|interval| interval.low.max(-1.0)),
                    high: interval.map(|interval| interval.high.min(1.0)),
                }
            })
            .collect(),
    })
}
