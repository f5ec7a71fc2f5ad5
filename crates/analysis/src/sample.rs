//! Values with their clusters.

use std::collections::HashMap;

use assize_stats::{BoundedMean, ConfidenceLevel, UndefinedReason, bounded_mean_clustered};

use crate::case_metrics::MetricSample;

/// Values of cases, each with its cluster. Clusters are numbered in the order of their first value, so that
/// equal values in equal order give equal metrics, independent of the names of the clusters.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusteredSample {
    pub(crate) values: Vec<f64>,
    pub(crate) clusters: Vec<u32>,
    numbers: HashMap<u64, u32>,
}

impl ClusteredSample {
    pub(crate) fn push(&mut self, value: f64, cluster: u64) {
        let next = self.numbers.len() as u32;
        self.values.push(value);
        self.clusters.push(*self.numbers.entry(cluster).or_insert(next));
    }

    /// Returns the ids of the clusters, in any order.
    pub(crate) fn cluster_ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.numbers.keys().copied()
    }

    /// Returns the number of clusters, if any of them holds more than one value.
    pub(crate) fn clusters(&self) -> Option<usize> {
        (self.numbers.len() < self.values.len()).then_some(self.numbers.len())
    }
}

impl MetricSample for ClusteredSample {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn clusters(&self) -> Option<usize> {
        self.clusters()
    }

    fn successes(&self) -> u64 {
        self.values.iter().filter(|value| **value > 0.5).count() as u64
    }

    fn bounded_mean(&self, level: ConfidenceLevel) -> Result<BoundedMean, UndefinedReason> {
        bounded_mean_clustered(&self.values, &self.clusters, (0.0, 1.0), level)
    }
}
