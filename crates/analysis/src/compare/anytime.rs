//! A comparison that may be looked at whenever one likes, and stopped as soon as it is clear.

use std::collections::HashMap;

use assize_stats::{ConfidenceLevel, UndefinedReason, sequential::BettingSequence};
use serde::Serialize;

use super::HeadlineMetric;
use crate::facts::{CaseFact, RunFacts};

/// Identity of a case by its numbers in the table of names: suite, case, repeat.
pub type CaseNumbers = (u32, u32, u32);

/// A comparison in the order in which cases were finished.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnytimeComparison {
    /// Number of clusters with a pair: cases, unless several belong together or were repeated.
    pub clusters: usize,
    /// Mean difference over them, candidate minus base.
    pub difference: f64,
    /// Lower end of the interval that holds the difference at all times at once.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of all intervals together.
    pub level: f64,
    /// Number of clusters after which the interval left out 0 for the first time; null if it never did.
    pub decided_after: Option<usize>,
    /// Number of clusters after which the interval lay within the margin for the first time.
    pub equivalent_after: Option<usize>,
}

/// Compares two runs along the cases of the candidate in the order in which they were finished. Pairs of a cluster count once, by
/// their mean, when the last of them is there.
pub fn compare_anytime(
    base: &RunFacts,
    candidate: &RunFacts,
    order: &[CaseNumbers],
    headline: HeadlineMetric,
    margin: Option<f64>,
    level: ConfidenceLevel,
) -> Result<AnytimeComparison, UndefinedReason> {
    let figure = |case: &CaseFact| match headline {
        HeadlineMetric::Score => case.score,
        HeadlineMetric::PassRate => case.passed().map(|passed| f64::from(u8::from(passed))),
    };
    let numbers = |case: &CaseFact| (case.suite, case.case, case.repeat);
    let before: HashMap<CaseNumbers, f64> =
        base.cases.iter().filter_map(|case| Some((numbers(case), figure(case)?))).collect();
    let after: HashMap<CaseNumbers, (f64, u32)> = candidate
        .cases
        .iter()
        .filter_map(|case| Some((numbers(case), (figure(case)?, case.cluster))))
        .collect();

    let mut clusters: HashMap<u32, (f64, f64, usize)> = HashMap::new();
    for (place, case) in order.iter().enumerate() {
        if let Some((before, (after, cluster))) = before.get(case).zip(after.get(case)) {
            let sum = clusters.entry(*cluster).or_default();
            *sum = (sum.0 + after - before, sum.1 + 1.0, place);
        }
    }
    let mut differences: Vec<(usize, f64)> =
        clusters.into_values().map(|(sum, n, place)| (place, sum / n)).collect();
    differences.sort_unstable_by_key(|(place, _)| *place);

    let mut sequence = BettingSequence::new((-1.0, 1.0), level)?;
    let (mut decided_after, mut equivalent_after) = (None, None);
    for (_, difference) in &differences {
        let interval = sequence.add(*difference)?;
        if decided_after.is_none() && (interval.low > 0.0 || interval.high < 0.0) {
            decided_after = Some(sequence.n());
        }
        let is_within = margin.is_some_and(|margin| interval.low > -margin && interval.high < margin);
        if equivalent_after.is_none() && is_within {
            equivalent_after = Some(sequence.n());
        }
    }

    let interval = sequence.interval();
    Ok(AnytimeComparison {
        clusters: sequence.n(),
        difference: sequence.mean()?,
        low: interval.low,
        high: interval.high,
        level: level.get(),
        decided_after,
        equivalent_after,
    })
}
