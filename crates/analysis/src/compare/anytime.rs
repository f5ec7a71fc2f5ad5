//! A comparison that may be looked at whenever one likes, and stopped as soon as it is clear.

use std::collections::{BTreeMap, HashMap, HashSet};

use assize_stats::{ConfidenceLevel, UndefinedReason, sequential::BettingSequence};
use serde::Serialize;

use super::HeadlineMetric;
use crate::facts::{CaseFact, RunFacts};

/// Identity of a case by its numbers in the table of names: suite, case, trial.
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

/// Paired differences along the order in which clusters of cases became known, with an interval that holds at all times at once.
#[derive(Debug, Clone)]
pub struct AnytimeTracker {
    sequence: BettingSequence,
    level: ConfidenceLevel,
    margin: Option<f64>,
    decided_after: Option<usize>,
    equivalent_after: Option<usize>,
    /// Clusters that count already: what comes later of them does not.
    counted: HashSet<u32>,
}

impl AnytimeTracker {
    /// Begins without pairs. `margin` is that of equivalence.
    pub fn new(margin: Option<f64>, level: ConfidenceLevel) -> Result<Self, UndefinedReason> {
        Ok(Self {
            sequence: BettingSequence::new((-1.0, 1.0), level)?,
            level,
            margin,
            decided_after: None,
            equivalent_after: None,
            counted: HashSet::new(),
        })
    }

    /// Adds the mean difference of a cluster, from -1 to 1.
    pub fn add(&mut self, difference: f64) -> Result<(), UndefinedReason> {
        let interval = self.sequence.add(difference)?;
        if self.decided_after.is_none() && (interval.low > 0.0 || interval.high < 0.0) {
            self.decided_after = Some(self.sequence.n());
        }
        let is_within = self.margin.is_some_and(|margin| interval.low > -margin && interval.high < margin);
        if self.equivalent_after.is_none() && is_within {
            self.equivalent_after = Some(self.sequence.n());
        }

        Ok(())
    }

    /// Adds the clusters of two growing runs that do not count yet, by the place of their last case in `order`. A cluster waits
    /// until both runs have each case of it that one of them has, unless the runs are over.
    pub fn add_new(
        &mut self,
        base: &RunFacts,
        candidate: &RunFacts,
        order: &[CaseNumbers],
        headline: HeadlineMetric,
        is_over: bool,
    ) -> Result<(), UndefinedReason> {
        let places: HashMap<CaseNumbers, usize> =
            order.iter().enumerate().map(|(place, case)| (*case, place)).collect();
        let mut found = clusters_of(base, candidate, &places, headline);
        found.retain(|(cluster, sum)| !self.counted.contains(cluster) && (is_over || sum.one_sided == 0));
        found.sort_unstable_by_key(|(_, sum)| sum.place);

        for (cluster, sum) in found {
            // A cluster without a score on both sides says nothing, now or later.
            if sum.pairs > 0.0 {
                self.add(sum.difference / sum.pairs)?;
            }
            self.counted.insert(cluster);
        }

        Ok(())
    }

    /// Returns true once the interval left out 0, or lay within the margin.
    pub const fn is_clear(&self) -> bool {
        self.decided_after.is_some() || self.equivalent_after.is_some()
    }

    /// Comparison so far; undefined without a pair.
    pub fn comparison(&self) -> Result<AnytimeComparison, UndefinedReason> {
        let interval = self.sequence.interval();
        Ok(AnytimeComparison {
            clusters: self.sequence.n(),
            difference: self.sequence.mean()?,
            low: interval.low,
            high: interval.high,
            level: self.level.get(),
            decided_after: self.decided_after,
            equivalent_after: self.equivalent_after,
        })
    }
}

/// Pairs of a cluster.
#[derive(Debug, Clone, Copy, Default)]
struct ClusterSum {
    difference: f64,
    pairs: f64,
    /// Place of the last pair among the cases of the candidate.
    place: usize,
    /// Cases that only one of the runs has.
    one_sided: usize,
}

fn clusters_of(
    base: &RunFacts,
    candidate: &RunFacts,
    places: &HashMap<CaseNumbers, usize>,
    headline: HeadlineMetric,
) -> Vec<(u32, ClusterSum)> {
    let figure = |case: &CaseFact| match headline {
        HeadlineMetric::Score => case.score,
        HeadlineMetric::PassRate => case.passed().map(|passed| f64::from(u8::from(passed))),
    };
    let numbers = |case: &CaseFact| (case.suite, case.case, case.trial);
    let before: HashMap<CaseNumbers, &CaseFact> =
        base.cases.iter().map(|case| (numbers(case), case)).collect();
    let after: HashSet<CaseNumbers> = candidate.cases.iter().map(numbers).collect();

    // An ordered map, so that sums and ties of places do not depend on hashes.
    let mut clusters: BTreeMap<u32, ClusterSum> = BTreeMap::new();
    for case in &candidate.cases {
        let sum = clusters.entry(case.cluster).or_default();
        let Some(other) = before.get(&numbers(case)) else {
            sum.one_sided += 1;
            continue;
        };
        sum.place = sum.place.max(places.get(&numbers(case)).copied().unwrap_or(usize::MAX));
        if let Some((before, after)) = figure(other).zip(figure(case)) {
            sum.difference += after - before;
            sum.pairs += 1.0;
        }
    }
    for case in base.cases.iter().filter(|case| !after.contains(&numbers(case))) {
        clusters.entry(case.cluster).or_default().one_sided += 1;
    }

    clusters.into_iter().collect()
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
    let mut tracker = AnytimeTracker::new(margin, level)?;
    tracker.add_new(base, candidate, order, headline, true)?;
    tracker.comparison()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case that is a cluster of its own unless another one is named.
    fn case(number: u32, cluster: u32, score: f64) -> CaseFact {
        CaseFact {
            suite: 0,
            case: number,
            trial: 1,
            target: None,
            cluster,
            tags: Box::default(),
            question: None,
            lines: None,
            verdict: assize_rubric::Verdict::Pass,
            score: Some(score),
            low: score,
            high: score,
            graders: Box::default(),
            criteria: Box::default(),
        }
    }

    fn facts(cases: Vec<CaseFact>) -> RunFacts {
        RunFacts { label: String::new(), cases }
    }

    fn look(tracker: &mut AnytimeTracker, base: &RunFacts, candidate: &RunFacts, is_over: bool) -> usize {
        let order: Vec<CaseNumbers> =
            candidate.cases.iter().map(|case| (case.suite, case.case, case.trial)).collect();
        tracker
            .add_new(base, candidate, &order, HeadlineMetric::Score, is_over)
            .expect("differences within -1 to 1");
        tracker.sequence.n()
    }

    #[test]
    fn clusters_count_once_and_only_when_both_runs_have_all_of_them() {
        let base = facts(vec![case(1, 1, 0.2), case(2, 2, 0.2), case(3, 2, 0.4), case(4, 4, 0.5)]);
        let mut tracker = AnytimeTracker::new(None, ConfidenceLevel::P95).expect("a level");
        assert!(tracker.comparison().is_err());

        let one = facts(vec![case(2, 2, 0.6), case(1, 1, 0.3)]);
        assert_eq!(look(&mut tracker, &base, &one, false), 1);
        let two = facts(vec![case(2, 2, 0.6), case(1, 1, 0.3), case(3, 2, 0.6)]);
        assert_eq!(look(&mut tracker, &base, &two, false), 2);
        assert_eq!(look(&mut tracker, &base, &two, false), 2);
        let mean = tracker.comparison().expect("two pairs").difference;
        assert!((mean - f64::midpoint(0.1, 0.3)).abs() < 1e-12, "{mean}");

        // A case that the candidate never had leaves its cluster out, and one that only it has is no pair.
        let three = facts(vec![case(2, 2, 0.6), case(1, 1, 0.3), case(3, 2, 0.6), case(9, 9, 1.0)]);
        assert_eq!(look(&mut tracker, &base, &three, true), 2);
    }

    #[test]
    fn looking_at_every_case_gives_the_same_as_one_look_at_the_end() {
        let score = |number: u32| f64::from(number % 7) / 10.0;
        let base = facts((0..120).map(|number| case(number, number, score(number))).collect());
        let cases: Vec<CaseFact> =
            (0..120).map(|number| case(number, number, score(number) + 0.25)).collect();
        let mut tracker = AnytimeTracker::new(None, ConfidenceLevel::P95).expect("a level");
        for n in 1..=cases.len() {
            look(&mut tracker, &base, &facts(cases[..n].to_vec()), n == cases.len());
        }

        let candidate = facts(cases);
        let order: Vec<CaseNumbers> = (0..120).map(|number| (0, number, 1)).collect();
        let at_once =
            compare_anytime(&base, &candidate, &order, HeadlineMetric::Score, None, ConfidenceLevel::P95);
        assert_eq!(tracker.comparison(), at_once);
        assert!(tracker.is_clear());
    }
}
