//! Report of an order, length or self-preference audit.

use assize_analysis::MetricEstimate;
use assize_stats::{DifferenceReach, bounded_difference};

/// Metrics of one part of an audit: a criterion, an edit, or a family of judges.
#[derive(Debug, Clone)]
pub struct AuditSection {
    /// Title of the part.
    pub title: String,
    /// Metrics of the part.
    pub figures: Vec<MetricEstimate>,
}

/// Report of an audit, computed only from stored decisions.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// Number of cases.
    pub cases: usize,
    /// Overall metrics.
    pub figures: Vec<MetricEstimate>,
    /// Metrics by part, the most important first.
    pub sections: Vec<AuditSection>,
    /// Value that is compared with the limit of a gate, and its description; `None` if there is no such
    /// value.
    pub worst: Option<(f64, String)>,
    /// Conclusion in one sentence.
    pub says: String,
    /// Effects that could not be measured, one sentence each with the reason.
    pub unmeasured: Vec<String>,
    /// Descriptions of missing decisions and answers; empty if the audit is complete.
    pub missing: Vec<String>,
}

impl AuditReport {
    /// Returns true if a decision or answer is missing.
    pub fn is_incomplete(&self) -> bool {
        !self.missing.is_empty()
    }
}

/// Returns the p-value of the null hypothesis that the mean difference over cases is 0; 1 if it is undefined.
/// Differences of scores lie between -1 and 1. Differences of such differences can lie outside, so the range
/// grows with the largest value.
pub(crate) fn p_of_no_effect<K: Ord>(differences: &[(K, f64)]) -> f64 {
    let values: Vec<f64> = differences.iter().map(|(_, value)| *value).collect();
    let cases: Vec<&K> = differences.iter().map(|(case, _)| case).collect();
    let reach = values.iter().fold(1.0_f64, |reach, value| reach.max(value.abs()));
    bounded_difference(&values, &cases, DifferenceReach::symmetric(reach))
        .and_then(|found| found.p())
        .unwrap_or(1.0)
}

/// Formats a count with its noun: `1 case`, `2 cases`.
pub(crate) fn format_count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
