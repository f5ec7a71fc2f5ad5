//! Cases of the base without a known result on a side, and their possible effect on a comparison.
//!
//! A gate must not hold because cases are missing. So each metric is also computed with every unknown result
//! at its worst for the candidate, and at its best.

use serde::Serialize;

use super::metric_difference::{MetricDifference, PairSample, compare_metric};
use super::{ComparisonOptions, MetricUnit};
use crate::facts::CaseFact;

/// Cases of the base without a known result on a side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnknownPairs {
    /// Number of cases of both runs that are incomplete on a side.
    pub incomplete: usize,
    /// Number of cases missing from the candidate.
    pub missing: usize,
    /// Number of these cases that may have passed before and may not pass now.
    pub possible_regressions: usize,
    /// Pass rate and mean score with each unknown result at its worst for the candidate; empty if all results
    /// are known.
    #[serde(skip)]
    pub worst: Vec<MetricDifference>,
    /// Pass rate and mean score with each unknown result at its best.
    #[serde(skip)]
    pub best: Vec<MetricDifference>,
}

/// Collects the pairs of a comparison with their unknown results filled in.
#[derive(Debug, Default)]
pub(super) struct UnknownCounts<'f> {
    incomplete: usize,
    missing: usize,
    possible_regressions: usize,
    pairs: Vec<(&'f CaseFact, Option<&'f CaseFact>)>,
}

impl<'f> UnknownCounts<'f> {
    /// Adds a case of the base; `candidate` is `None` if only the base has it.
    pub(super) fn add(&mut self, base: &'f CaseFact, candidate: Option<&'f CaseFact>) {
        let (before, after) = (base.passed(), candidate.and_then(CaseFact::passed));
        let is_known = before.is_some() && after.is_some();
        match candidate {
            None => self.missing += 1,
            Some(other) if !is_known || base.score.is_none() || other.score.is_none() => self.incomplete += 1,
            Some(_) => {}
        }
        if !is_known && before != Some(false) && after != Some(true) {
            self.possible_regressions += 1;
        }

        self.pairs.push((base, candidate));
    }

    pub(super) fn finish(self, options: &ComparisonOptions) -> UnknownPairs {
        let is_open = self.incomplete + self.missing > 0;
        let rate = |passed: Option<bool>, unknown: bool| f64::from(u8::from(passed.unwrap_or(unknown)));
        let compared = |is_worst: bool| {
            let (mut rates, mut scores) = <(PairSample, PairSample)>::default();
            for (base, candidate) in &self.pairs {
                let after = candidate.and_then(CaseFact::passed);
                let (low, high) = candidate.map_or((0.0, 1.0), |case| (case.low, case.high));
                let score = candidate.and_then(|case| case.score);
                let (ours, theirs) = if is_worst { (base.high, low) } else { (base.low, high) };
                rates.push(rate(base.passed(), is_worst), rate(after, !is_worst), base.cluster);
                scores.push(base.score.unwrap_or(ours), score.unwrap_or(theirs), base.cluster);
            }
            let samples = [(rates, MetricUnit::Rate), (scores, MetricUnit::Score)];
            samples.iter().map(|(sample, unit)| compare_metric(sample, *unit, options)).collect()
        };

        UnknownPairs {
            incomplete: self.incomplete,
            missing: self.missing,
            possible_regressions: self.possible_regressions,
            worst: if is_open { compared(true) } else { Vec::new() },
            best: if is_open { compared(false) } else { Vec::new() },
        }
    }
}

impl UnknownPairs {
    /// Returns true if every case of the base has a result on both sides.
    pub fn is_empty(&self) -> bool {
        self.incomplete + self.missing == 0
    }

    /// Formats the numbers, such as `2 cases incomplete, 3 missing from the candidate`.
    pub fn describe(&self) -> String {
        let cases = |count: usize| if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
        match (self.incomplete, self.missing) {
            (incomplete, 0) => format!("{} incomplete", cases(incomplete)),
            (0, missing) => format!("{} missing from the candidate", cases(missing)),
            (incomplete, missing) => {
                format!("{} incomplete, {missing} missing from the candidate", cases(incomplete))
            }
        }
    }
}
