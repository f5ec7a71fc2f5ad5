//! Item-rest correlation: the correlation of a criterion with the other ones.

use std::collections::BTreeMap;

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::student_critical_value,
    judge_quality::{fisher_z, pearson},
    undefined::check_finite,
};

/// Minimum number of answers.
const MIN_ANSWERS: usize = 5;

/// Correlation of one criterion with the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemRestCorrelation {
    /// Number of answers on which the criterion and at least one other criterion were decided.
    pub n: usize,
    /// Pearson's correlation of the criterion and the mean of the others, -1 to 1.
    pub correlation: Result<f64, UndefinedReason>,
    /// Interval of the correlation: the wider of Fisher's and the one from the clustered error of its
    /// influence values.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Correlates a criterion with the mean of the other criteria on the same answer. `answers` has a row for
/// each answer, with the value of each criterion from 0 to 1, or `None`. `clusters` names the cluster of each
/// answer, such as its case; answers of one cluster are not independent. Undefined for fewer than five
/// answers, and if either side does not vary.
///
/// The standard error is computed from the influence values `zx zy - r (zx^2 + zy^2) / 2`, summed within clusters. The
/// interval is `tanh(atanh r +- t se / (1 - r^2))` with one degree of freedom less than there are clusters, or with
/// Fisher's `z / sqrt(n - 3)` if that is longer. Sources: F. Lord and M. Novick, Statistical Theories of Mental Test
/// Scores (1968), section 15.3 (corrected for overlap); influence values: S. Devlin, R. Gnanadesikan and J. Kettenring,
/// Biometrika 62 (1975), 531-545.
pub fn item_rest_correlation<K: Ord>(
    answers: &[Vec<Option<f64>>],
    clusters: &[K],
    criterion: usize,
    level: ConfidenceLevel,
) -> ItemRestCorrelation {
    let (mut own, mut rest, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (answer, cluster) in answers.iter().zip(clusters) {
        let others: Vec<f64> = answer
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != criterion)
            .filter_map(|(_, value)| *value)
            .collect();
        if let Some(value) = answer.get(criterion).copied().flatten().filter(|_| !others.is_empty()) {
            own.push(value);
            rest.push(others.iter().sum::<f64>() / others.len() as f64);
            kept.push(cluster);
        }
    }

    let n = own.len();
    let correlation =
        if n < MIN_ANSWERS { Err(UndefinedReason::TooFew) } else { pearson(&own, &rest).map(snapped) };
    let interval = correlation.and_then(|r| interval(&own, &rest, &kept, r, level));
    ItemRestCorrelation { n, correlation, interval }
}

/// Returns exactly 1 for a correlation that is below 1 only by rounding.
fn snapped(r: f64) -> f64 {
    if r.abs() > 1.0 - 1e-12 { r.signum() } else { r }
}

fn interval<K: Ord>(
    own: &[f64],
    rest: &[f64],
    clusters: &[K],
    r: f64,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let n = own.len() as f64;
    let fisher = fisher_z(r, own.len() as u64, level)?;

    let standardized = |values: &[f64]| -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        values.iter().map(|value| (value - mean) / sd).collect()
    };
    let mut sums: BTreeMap<&K, f64> = BTreeMap::new();
    for ((x, y), cluster) in standardized(own).iter().zip(standardized(rest)).zip(clusters) {
        *sums.entry(cluster).or_default() += x * y - r * (x * x + y * y) / 2.0;
    }
    let groups = sums.len() as f64;
    if sums.len() < 2 {
        return Err(UndefinedReason::OneCluster);
    }

    let squares: f64 = sums.values().map(|sum| sum * sum).sum();
    let error = check_finite((squares * groups / (groups - 1.0)).sqrt() / n / (1.0 - r * r))?;
    let reach = student_critical_value(groups - 1.0, level)? * error;
    let robust = Interval {
        low: (r.atanh() - reach).tanh(),
        high: (r.atanh() + reach).tanh(),
        level,
        method: IntervalMethod::RobustZ,
    };
    Ok(if robust.width() > fisher.width() { robust } else { fisher })
}
