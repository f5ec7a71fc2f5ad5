//! A comparison that can be looked at any number of times, and stopped as soon as it is clear.
//!
//! An ordinary interval is only valid if the number of cases is fixed before the first look. A user who keeps looking
//! until it excludes 0 will eventually see that, even if the runs do not differ. Here the interval is a confidence
//! sequence: at the given level, it contains the difference at all times simultaneously. Each cluster is added once,
//! when both runs have all its cases, in the order in which its last case finished, so that the order can't be chosen
//! after the fact.

use std::collections::{BTreeMap, HashMap, HashSet};

use assize_stats::{ConfidenceLevel, UndefinedReason, sequential::BettingSequence};
use serde::Serialize;

use super::HeadlineMetric;
use crate::facts::{CaseFact, RunFacts};

/// Identity of a case by its numbers in the table of names: suite, case, trial.
pub type CaseNumbers = (u32, u32, Option<u32>, u32);

/// A comparison over cases in the order in which they finished.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnytimeComparison {
    /// Number of clusters with a pair. A case is its own cluster unless cases are related or repeated.
    pub clusters: usize,
    /// Mean difference over clusters, candidate minus base.
    pub difference: f64,
    /// Lower end of the interval, which is valid at all times at once.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of all looks together.
    pub level: f64,
    /// Number of clusters after which the interval first excluded 0; null if it never did.
    pub decided_after: Option<usize>,
    /// Number of clusters after which the interval was first within the margin.
    pub equivalent_after: Option<usize>,
}

/// Paired differences in the order in which clusters were completed, with an interval that is valid at all
/// times at once.
#[derive(Debug, Clone)]
pub struct AnytimeTracker {
    sequence: BettingSequence,
    level: ConfidenceLevel,
    margin: Option<f64>,
    decided_after: Option<usize>,
    equivalent_after: Option<usize>,
    /// Clusters that were added; later cases of these are ignored.
    counted: HashSet<u64>,
}

impl AnytimeTracker {
    /// Creates a tracker without pairs. `margin` is the margin of equivalence.
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

    /// Adds the new clusters of two growing runs, ordered by the position of their last case in `order`. A
    /// cluster waits until both runs have all its cases that one of them has, unless the runs are over.
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
            // A cluster without a score on both sides never contributes.
            if sum.pairs > 0.0 {
                self.add(sum.difference / sum.pairs)?;
            }
            self.counted.insert(cluster);
        }

        Ok(())
    }

    /// Returns true once the interval has excluded 0, or has been within the margin.
    pub const fn is_clear(&self) -> bool {
        self.decided_after.is_some() || self.equivalent_after.is_some()
    }

    /// The comparison so far; undefined without a pair.
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

/// Sum over the pairs of a cluster.
#[derive(Debug, Clone, Copy, Default)]
struct ClusterSum {
    difference: f64,
    pairs: f64,
    /// Position of the last pair among the cases of the candidate.
    place: usize,
    /// Cases that only one of the runs has.
    one_sided: usize,
}

fn clusters_of(
    base: &RunFacts,
    candidate: &RunFacts,
    places: &HashMap<CaseNumbers, usize>,
    headline: HeadlineMetric,
) -> Vec<(u64, ClusterSum)> {
    let figure = |case: &CaseFact| match headline {
        HeadlineMetric::Score => case.score,
        HeadlineMetric::PassRate => case.passed().map(|passed| f64::from(u8::from(passed))),
    };
    let before: HashMap<CaseNumbers, &CaseFact> =
        base.cases.iter().map(|case| (case.numbers(), case)).collect();
    let after: HashSet<CaseNumbers> = candidate.cases.iter().map(CaseFact::numbers).collect();

    // An ordered map, so that sums and ties of positions do not depend on hashes.
    let mut clusters: BTreeMap<u64, ClusterSum> = BTreeMap::new();
    for case in &candidate.cases {
        let sum = clusters.entry(case.cluster).or_default();
        let Some(other) = before.get(&case.numbers()) else {
            sum.one_sided += 1;
            continue;
        };
        sum.place = sum.place.max(places.get(&case.numbers()).copied().unwrap_or(usize::MAX));
        if let Some((before, after)) = figure(other).zip(figure(case)) {
            sum.difference += after - before;
            sum.pairs += 1.0;
        }
    }
    for case in base.cases.iter().filter(|case| !after.contains(&case.numbers())) {
        clusters.entry(case.cluster).or_default().one_sided += 1;
    }

    clusters.into_iter().collect()
}

/// Compares two runs in the order in which the cases of the candidate finished. The pairs of a cluster count
/// once, as their mean, when the last of them is complete.
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

    /// A case that is its own cluster unless another one is given.
    fn case(number: u32, cluster: u32, score: f64) -> CaseFact {
        CaseFact {
            suite: 0,
            case: number,
            prompt: None,
            trial: 1,
            target: None,
            cluster: cluster.into(),
            tags: Box::default(),
            question: None,
            thresholds: None,
            verdict: assize_rubric::Verdict::Pass,
            score: Some(score),
            low: score,
            high: score,
            graders: Box::default(),
            criteria: Box::default(),
        }
    }

    fn facts(cases: Vec<CaseFact>) -> RunFacts {
        RunFacts { cases, ..RunFacts::default() }
    }

    fn look(tracker: &mut AnytimeTracker, base: &RunFacts, candidate: &RunFacts, is_over: bool) -> usize {
        let order: Vec<CaseNumbers> = candidate.cases.iter().map(CaseFact::numbers).collect();
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

        // A case missing from the candidate excludes its cluster, and a case missing from the base is no
        // pair.
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
        let order: Vec<CaseNumbers> = (0..120).map(|number| (0, number, None, 1)).collect();
        let at_once =
            compare_anytime(&base, &candidate, &order, HeadlineMetric::Score, None, ConfidenceLevel::P95);
        assert_eq!(tracker.comparison(), at_once);
        assert!(tracker.is_clear());
    }
}
