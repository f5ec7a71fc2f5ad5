//! The rate of one criterion, over samples of any size.

use std::path::Path;

use assize_stats::ConfidenceLevel;
use assize_store::{EstimatedMetric, StoreError};

use crate::case_metrics::{case_mean_metric, case_rate_metric};
use crate::stored_sample::StoredSample;

/// Decisions on a criterion, for its rate. They must be added in the order of cluster and value: cases finish
/// in a different order each time, and sums of the same scores in another order differ in their last digits.
#[derive(Debug)]
pub struct CriterionSample(StoredSample);

impl CriterionSample {
    /// Creates an empty sample. If it grows large, it is moved to unnamed files in this folder.
    pub fn beside(folder: &Path) -> Self {
        Self(StoredSample::new(folder))
    }

    /// Adds a value from 0 to 1, with the cluster of its case.
    pub fn push(&mut self, value: f64, cluster: u64) {
        self.0.push(value, cluster);
    }

    /// Computes the rate: the share that meet the criterion, or the mean of its scores.
    ///
    /// # Errors
    /// When a file can't be written or read.
    pub fn rate(self, is_scored: bool, level: ConfidenceLevel) -> Result<EstimatedMetric, StoreError> {
        let sample = self.0.finish()?;
        let rate = if is_scored {
            case_mean_metric(&sample, level)
        } else {
            case_rate_metric(&sample, level, "meet this criterion")
        };
        sample.check()?;

        Ok(rate)
    }
}
