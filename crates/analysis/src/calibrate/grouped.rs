//! Agreement on the order of the answers to a case, and on the order of systems.

use std::collections::{BTreeMap, BTreeSet};

use assize_stats::{
    UndefinedReason,
    judge_quality::{correlations_within, kendall_tau_b, pairwise_accuracy, pearson, spearman},
};

use super::item::CalibrationItem;
use super::pairing::{cluster_numbers, units_of};
use crate::metric::{MetricEstimate, ResamplingOptions};
use crate::shares::bounded_metric;

/// Minimum number of systems whose order is compared: two always correlate perfectly.
const MIN_SYSTEMS: usize = 3;

/// A statistic of two lists.
type ListStatistic = fn(&[f64], &[f64]) -> Result<f64, UndefinedReason>;

/// Items scored by both the judge and people, by case and by system.
struct GroupedScores<'i> {
    judge: Vec<f64>,
    people: Vec<f64>,
    systems: Vec<&'i str>,
    clusters: Vec<usize>,
    /// Positions of the answers to the same case, judged by the same criterion.
    cases: Vec<Vec<usize>>,
    /// Number of criteria.
    criteria: usize,
}

impl<'i> GroupedScores<'i> {
    fn new(items: &[&'i CalibrationItem]) -> Self {
        let numbers = cluster_numbers(items.iter().copied());
        let mut found = Self {
            judge: Vec::new(),
            people: Vec::new(),
            systems: Vec::new(),
            clusters: Vec::new(),
            cases: Vec::new(),
            criteria: items.iter().map(|item| &item.key.criterion).collect::<BTreeSet<_>>().len(),
        };
        let mut cases: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for item in items {
            let Some((judge, people)) = item.judge_number().zip(item.people_mean()) else { continue };
            let key = &item.key;
            cases
                .entry((&key.suite, &key.case, key.trial, &key.criterion))
                .or_default()
                .push(found.judge.len());
            found.judge.push(judge);
            found.people.push(people);
            found.systems.push(&key.system);
            found.clusters.push(numbers.get(&*item.cluster).copied().unwrap_or_default());
        }
        found.cases = cases.into_values().filter(|members| members.len() > 1).collect();

        found
    }

    fn cluster_of(&self, group: usize) -> usize {
        self.clusters[self.cases[group][0]]
    }

    /// Mean over cases of a statistic within `range`, with the interval over clusters.
    fn mean_of_cases(
        &self,
        names: (&'static str, &'static str, &'static str),
        says: &'static str,
        values: &[(usize, f64)],
        range: (f64, f64),
        resampling: ResamplingOptions,
    ) -> MetricEstimate {
        let (groups, values): (Vec<usize>, Vec<f64>) = values.iter().copied().unzip();
        let clusters: Vec<usize> = groups.into_iter().map(|group| self.cluster_of(group)).collect();
        bounded_metric(names, says, (&values, &clusters), range, resampling.level)
    }

    /// The statistic of the systems' mean scores, over the items at these positions.
    fn of_systems(&self, at: &[usize], figure: ListStatistic) -> Result<f64, UndefinedReason> {
        let mut sums: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
        for &at in at {
            let (judge, people, n) = sums.entry(self.systems[at]).or_default();
            *judge += self.judge[at];
            *people += self.people[at];
            *n += 1.0;
        }

        let (judge, people): (Vec<f64>, Vec<f64>) =
            sums.values().map(|(judge, people, n)| (judge / n, people / n)).unzip();
        if judge.len() < MIN_SYSTEMS { Err(UndefinedReason::TooFew) } else { figure(&judge, &people) }
    }

    fn by_system(
        &self,
        (id, name): (&'static str, &'static str),
        figure: ListStatistic,
        resampling: ResamplingOptions,
    ) -> MetricEstimate {
        let groups = super::pairing::group_positions(self.clusters.iter().copied());
        let all: Vec<usize> = (0..self.judge.len()).collect();
        let value = self.of_systems(&all, figure);
        let interval = value.and_then(|_| {
            let drawn = |chosen: &[usize]| self.of_systems(&units_of(&groups, chosen), figure);
            resampling.bootstrap_interval(groups.len(), drawn)
        });
        MetricEstimate {
            id,
            name,
            value,
            interval,
            n: self.systems.iter().collect::<BTreeSet<_>>().len() as u64,
            of: "systems",
            says: "Agreement on the order of systems by their mean scores; the interval is over cases, for these systems.",
        }
    }
}

/// Computes correlations by case and by system, and pairwise accuracy. Empty unless several answers to a case
/// were judged.
pub(crate) fn grouped_metrics(
    items: &[&CalibrationItem],
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let scores = GroupedScores::new(items);
    if scores.cases.is_empty() {
        return Vec::new();
    }

    let correlations: [(&'static str, &'static str, ListStatistic); 3] = [
        ("spearman_by_case", "Spearman's correlation, mean over cases", spearman),
        ("kendall_by_case", "Kendall's tau-b, mean over cases", kendall_tau_b),
        ("pearson_by_case", "Pearson's correlation, mean over cases", pearson),
    ];
    let mut found: Vec<MetricEstimate> = correlations
        .into_iter()
        .map(|(id, name, figure)| {
            let by_case = correlations_within(&scores.judge, &scores.people, &scores.cases, figure);
            let known: Vec<(usize, f64)> = by_case
                .unwrap_or_default()
                .into_iter()
                .enumerate()
                .filter_map(|(group, value)| Some((group, value.ok()?)))
                .collect();
            let says = "Agreement on the order of the answers to one case; cases in which one side does not vary are excluded.";
            scores.mean_of_cases((id, name, "cases"), says, &known, (-1.0, 1.0), resampling)
        })
        .collect();

    if let Ok(accuracy) = pairwise_accuracy(&scores.judge, &scores.people, &scores.cases) {
        let says = "Share of pairs of answers to one case that are ordered or tied as by people; the difference that counts as \
                    a tie is chosen on these data, which favours the judge a little.";
        let names = ("pairwise_accuracy", "pairwise accuracy, ties calibrated", "cases");
        found.push(scores.mean_of_cases(names, says, &accuracy.groups, (0.0, 1.0), resampling));
        found.push(MetricEstimate {
            id: "tie_epsilon",
            name: "difference that counts as a tie",
            value: Ok(accuracy.epsilon),
            interval: Err(UndefinedReason::NoIntervalMethod),
            n: accuracy.groups.len() as u64,
            of: "cases",
            says: "Scores of the judge within this of each other are tied in the line above.",
        });
    }

    if scores.criteria == 1 {
        found.push(scores.by_system(
            ("spearman_by_system", "Spearman's correlation of systems"),
            spearman,
            resampling,
        ));
        found.push(scores.by_system(
            ("kendall_by_system", "Kendall's tau-b of systems"),
            kendall_tau_b,
            resampling,
        ));
    }

    found
}
