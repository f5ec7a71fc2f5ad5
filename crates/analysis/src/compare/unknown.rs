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
pub(super) struct UnknownCounts {
    incomplete: usize,
    missing: usize,
    possible_regressions: usize,
    worst: [PairSample; 2],
    best: [PairSample; 2],
}

impl UnknownCounts {
    /// Adds a case of the base; `candidate` is `None` if only the base has it.
    pub(super) fn add(&mut self, base: &CaseFact, candidate: Option<&CaseFact>) {
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

        let rate = |passed: Option<bool>, unknown: bool| f64::from(u8::from(passed.unwrap_or(unknown)));
        let (low, high) = candidate.map_or((0.0, 1.0), |case| (case.low, case.high));
        let score = candidate.and_then(|case| case.score);
        let cluster = base.cluster;
        self.worst[0].push(rate(before, true), rate(after, false), cluster);
        self.worst[1].push(base.score.unwrap_or(base.high), score.unwrap_or(low), cluster);
        self.best[0].push(rate(before, false), rate(after, true), cluster);
        self.best[1].push(base.score.unwrap_or(base.low), score.unwrap_or(high), cluster);
    }

    pub(super) fn finish(self, options: &ComparisonOptions) -> UnknownPairs {
        let is_open = self.incomplete + self.missing > 0;
        let metrics = |[rate, score]: &[PairSample; 2]| {
            let all = [(rate, MetricUnit::Rate), (score, MetricUnit::Score)];
            all.map(|(sample, unit)| compare_metric(sample, unit, options)).to_vec()
        };

        UnknownPairs {
            incomplete: self.incomplete,
            missing: self.missing,
            possible_regressions: self.possible_regressions,
            worst: if is_open { metrics(&self.worst) } else { Vec::new() },
            best: if is_open { metrics(&self.best) } else { Vec::new() },
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
