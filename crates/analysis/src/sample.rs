//! Values with their clusters.

use std::collections::HashMap;

/// Values of cases, each with its cluster. Clusters are numbered in the order of their first value, so that
/// equal values in equal order give equal metrics whatever the clusters are called.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusteredSample {
    pub(crate) values: Vec<f64>,
    pub(crate) clusters: Vec<u32>,
    numbers: HashMap<u64, u32>,
}

impl ClusteredSample {
    /// Creates a sample with capacity for this many values.
    pub(crate) fn with_capacity(values: usize) -> Self {
        Self {
            values: Vec::with_capacity(values),
            clusters: Vec::with_capacity(values),
            numbers: HashMap::with_capacity(values),
        }
    }

    pub(crate) fn push(&mut self, value: f64, cluster: u64) {
        let next = self.numbers.len() as u32;
        self.values.push(value);
        self.clusters.push(*self.numbers.entry(cluster).or_insert(next));
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of clusters, if any of them holds more than one value.
    pub(crate) fn clusters(&self) -> Option<usize> {
        (self.numbers.len() < self.values.len()).then_some(self.numbers.len())
    }
}
