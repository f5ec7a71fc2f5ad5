//! Means of scores that come in clusters: several answers, criteria or turns of one prompt.

use std::collections::BTreeMap;

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, MeanAccumulator, MeanEstimate, UndefinedReason,
    distribution::student_critical_value,
    undefined::{check_all_finite, check_finite, check_lengths},
};

/// With fewer clusters than this, even the corrected error is too small on average; see A. C. Cameron and
/// D. L. Miller, Journal of Human Resources 50 (2015), 317-372, section VI.
pub const FEW_CLUSTERS: usize = 20;

/// A mean and its error when scores within a cluster are correlated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredMean {
    /// Number of values.
    pub n: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// The mean over all values; larger clusters have more weight.
    pub mean: f64,
    /// Standard error if all values were independent, `sd / sqrt(n)`.
    pub se_independent: Result<f64, UndefinedReason>,
    /// `sqrt(sum over clusters of (sum of deviations)^2) / n`.
    pub se_cr0: Result<f64, UndefinedReason>,
    /// `se_cr0` times `sqrt(G / (G - 1))` for G clusters.
    pub se_cr1: Result<f64, UndefinedReason>,
    /// `(se_cr0 / se_independent)^2`: the factor by which clustering raises the number of cases needed. Below
    /// 1 if the values of a cluster are negatively correlated.
    pub design_effect: Result<f64, UndefinedReason>,
    /// `n / design_effect`: the number of independent values that carry as much information.
    pub effective_n: Result<f64, UndefinedReason>,
    /// `mean +- t se_cr1` with G - 1 degrees of freedom.
    pub interval: Result<Interval, UndefinedReason>,
}

impl ClusteredMean {
    /// Returns true if there are too few clusters to trust the error.
    pub const fn few_clusters(&self) -> bool {
        self.clusters < FEW_CLUSTERS
    }

    /// Returns true if the clustered error is smaller than the independent one, because values within a
    /// cluster are negatively correlated. This is legitimate, and worth a note.
    pub fn is_balanced_within(&self) -> bool {
        // The design effect uses CR0, which is slightly too small, so a design effect below 1 alone does not
        // show this.
        self.se_cr1.is_ok_and(|clustered| self.se_independent.is_ok_and(|plain| clustered < plain))
    }
}

/// Computes the mean of clustered values; `clusters` names the cluster of each value. Source: E. Miller,
/// "Adding Error Bars to Evals", arXiv 2411.00640, section 2.2; K.-Y. Liang and S. Zeger, Biometrika 73
/// (1986).
pub fn clustered_mean<K: Ord>(
    values: &[f64],
    clusters: &[K],
    level: ConfidenceLevel,
) -> Result<ClusteredMean, UndefinedReason> {
    check_all_finite(values)?;
    let groups = group_by_cluster(values, clusters)?;
    let plain = values.iter().copied().collect::<MeanAccumulator>().mean(level);
    let mean = plain.mean?;
    let squares: f64 = groups
        .iter()
        .map(|members| members.iter().map(|&index| values[index] - mean).sum::<f64>().powi(2))
        .sum();

    ClusteredMean::from_squares(&plain, groups.len(), squares, level)
}

impl ClusteredMean {
    /// Computes the mean of values in this number of clusters. `squares` is the sum over clusters of the
    /// squared sum of the deviations of its values from the mean.
    ///
    /// # Errors
    /// If the mean is undefined.
    pub fn from_squares(
        plain: &MeanEstimate,
        clusters: usize,
        squares: f64,
        level: ConfidenceLevel,
    ) -> Result<Self, UndefinedReason> {
        let mean = plain.mean?;
        let (n, count) = (plain.n as f64, clusters as f64);
        let se_cr0 =
            if clusters < 2 { Err(UndefinedReason::OneCluster) } else { check_finite(squares.sqrt() / n) };
        let se_cr1 = se_cr0.map(|se| se * (count / (count - 1.0)).sqrt());
        let design_effect = match (se_cr0, plain.se) {
            (Ok(_), Ok(0.0)) => Err(UndefinedReason::NoSpread),
            (Ok(clustered), Ok(independent)) => check_finite((clustered / independent).powi(2)),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
        let effective_n = design_effect.and_then(|effect| {
            if effect > 0.0 { check_finite(n / effect) } else { Err(UndefinedReason::NoSpread) }
        });
        let interval = se_cr1.and_then(|se| {
            Interval::symmetric_around(
                mean,
                student_critical_value(count - 1.0, level)? * se,
                level,
                IntervalMethod::ClusterT,
            )
        });

        Ok(Self {
            n: plain.n as usize,
            clusters,
            mean,
            se_independent: plain.se,
            se_cr0,
            se_cr1,
            design_effect,
            effective_n,
            interval,
        })
    }
}

/// Returns the positions of the values of each cluster, in the order of the cluster names.
pub(crate) fn group_by_cluster<K: Ord>(
    values: &[f64],
    clusters: &[K],
) -> Result<Vec<Vec<usize>>, UndefinedReason> {
    check_lengths(values.len(), clusters.len())?;

    let mut groups: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
    for (index, cluster) in clusters.iter().enumerate() {
        groups.entry(cluster).or_default().push(index);
    }

    Ok(groups.into_values().collect())
}
