//! Agreement of verdicts.

use assize_stats::{
    ConfidenceLevel, Interval, Proportion, SeededRandom, UndefinedReason,
    agreement::{AlphaMetric, UnitRatings, alpha, alpha_interval},
    bounded_mean_clustered,
    judge_quality::{
        ConfusionTable, DrawnTables, area_interval, area_under_curve, brier, reliability_bin,
        reliability_table,
    },
};

use super::item::{CalibrationItem, DecisionValue};
use super::pairing::{JudgePeoplePair, PairStatistic, confusion_table, group_positions, resampled_statistic};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Number of bins for the calibration error.
const BINS: usize = 10;

/// Bin of a reliability curve: the judge's probabilities and people's verdicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityBinRate {
    /// Mean probability of "met" that the judge gave.
    pub predicted: f64,
    /// Share that people found met.
    pub observed: f64,
    /// Interval of that share, or the reason why there is none.
    pub interval: Result<Interval, UndefinedReason>,
    /// Number of pairs.
    pub n: u64,
}

/// Value, interval and sample size of a metric.
pub(super) type MetricParts = (Result<f64, UndefinedReason>, Result<Interval, UndefinedReason>, u64);

/// Confusion tables of all pairs and of each cluster, for computing metrics and their intervals.
pub(super) struct ClusterTables {
    table: ConfusionTable,
    /// Table of each cluster.
    tables: Vec<ConfusionTable>,
    drawn: Result<DrawnTables, UndefinedReason>,
    level: ConfidenceLevel,
}

impl ClusterTables {
    pub(super) fn new(pairs: &[JudgePeoplePair], resampling: ResamplingOptions) -> Self {
        let groups = group_positions(pairs.iter().map(|pair| pair.cluster));
        let tables: Vec<ConfusionTable> =
            groups.iter().map(|members| confusion_table(members.iter().map(|&at| &pairs[at]))).collect();
        let mut random = SeededRandom::new(resampling.seed);
        Self {
            table: confusion_table(pairs),
            drawn: DrawnTables::draw(&tables, resampling.resamples, &mut random),
            tables,
            level: resampling.level,
        }
    }

    /// A proportion with Blaker's interval, or with Wilson's on the effective sample size if clusters hold
    /// several pairs.
    pub(super) fn rate(&self, figure: impl Fn(ConfusionTable, ConfidenceLevel) -> Proportion) -> MetricParts {
        let found = figure(self.table, self.level);
        let (mut values, mut clusters) = (Vec::new(), Vec::new());
        for (cluster, table) in self.tables.iter().enumerate() {
            let counts = figure(*table, self.level);
            values.extend((0..counts.n).map(|at| f64::from(u8::from(at < counts.successes))));
            clusters.extend((0..counts.n).map(|_| cluster));
        }

        let is_independent = clusters.windows(2).all(|pair| pair[0] != pair[1]);
        let interval = if is_independent {
            found.interval
        } else {
            bounded_mean_clustered(&values, &clusters, (0.0, 1.0), self.level).and_then(|mean| mean.interval)
        };

        (found.rate, found.rate.and(interval), found.n)
    }

    /// A statistic of the whole table, at most 1.
    pub(super) fn other(
        &self,
        figure: impl Fn(ConfusionTable) -> Result<f64, UndefinedReason>,
    ) -> MetricParts {
        let value = figure(self.table);
        let interval = value.and_then(|value| {
            self.drawn.as_ref().map_err(|reason| *reason)?.interval(value, self.level, figure)
        });
        (value, interval, self.table.n())
    }

    pub(super) fn kappa(&self) -> MetricParts {
        self.other(|table| table.kappa(self.level).and_then(|kappa| kappa.kappa))
    }
}

/// Computes the confusion table and all its metrics.
pub(crate) fn verdict_figures(
    pairs: &[JudgePeoplePair],
    resampling: ResamplingOptions,
) -> (ConfusionTable, Vec<MetricEstimate>) {
    let tables = ClusterTables::new(pairs, resampling);
    let estimate = |id, name, (value, interval, n): MetricParts, of, says| MetricEstimate {
        id,
        name,
        value,
        interval,
        n,
        of,
        says,
    };

    let figures = vec![
        estimate(
            "accuracy",
            "raw agreement",
            tables.rate(ConfusionTable::accuracy),
            "pairs",
            "Share of verdicts that match people; high by chance where nearly all verdicts are the same.",
        ),
        estimate(
            "sensitivity",
            "sensitivity",
            tables.rate(ConfusionTable::sensitivity),
            "met by people",
            "Of what people find met, the share that the judge finds met; a low value means too strict.",
        ),
        estimate(
            "specificity",
            "specificity",
            tables.rate(ConfusionTable::specificity),
            "unmet by people",
            "Of what people find unmet, the share that the judge finds unmet; a low value means too lenient.",
        ),
        estimate(
            "balanced_accuracy",
            "balanced accuracy",
            tables.other(ConfusionTable::balanced_accuracy),
            "pairs",
            "Mean of sensitivity and specificity; guessing gives 0.5 for any base rate.",
        ),
        estimate(
            "macro_f1",
            "macro-F1",
            tables.other(ConfusionTable::macro_f1),
            "pairs",
            "Mean F1 of met and unmet, often reported in published comparisons of judges.",
        ),
        estimate(
            "f1_met",
            "F1 of met",
            tables.other(ConfusionTable::f1),
            "pairs",
            "Harmonic mean of precision and recall for met.",
        ),
        estimate(
            "f1_unmet",
            "F1 of unmet",
            tables.other(ConfusionTable::f1_fail),
            "pairs",
            "Harmonic mean of precision and recall for unmet.",
        ),
        estimate(
            "mcc",
            "Matthews correlation",
            tables.other(ConfusionTable::matthews),
            "pairs",
            "Correlation of the verdicts: 0 is chance, 1 is full agreement.",
        ),
        estimate(
            "kappa",
            "Cohen's kappa",
            tables.kappa(),
            "pairs",
            "Agreement beyond chance; low where one verdict is rare.",
        ),
        estimate(
            "ac1",
            "Gwet's AC1",
            tables.other(ConfusionTable::gwet),
            "pairs",
            "Agreement beyond chance, stable where one verdict is rare.",
        ),
    ];

    (tables.table, figures)
}

/// Computes Krippendorff's alpha of the judge and all people, with items as units.
pub(crate) fn alpha_metric(
    items: &[&CalibrationItem],
    metric: AlphaMetric,
    with_judge: bool,
    resampling: ResamplingOptions,
) -> MetricEstimate {
    let (id, name) = match metric {
        AlphaMetric::Nominal => ("alpha_nominal", "Krippendorff's alpha, nominal"),
        AlphaMetric::Ordinal => ("alpha_ordinal", "Krippendorff's alpha, ordinal"),
        AlphaMetric::Interval => ("alpha_interval", "Krippendorff's alpha, interval"),
        AlphaMetric::Ratio => ("alpha_ratio", "Krippendorff's alpha, ratio"),
    };

    let rated: Vec<(usize, Vec<f64>)> = items
        .iter()
        .zip(super::pairing::item_cluster_numbers(items))
        .filter_map(|(item, cluster)| {
            let judge = if with_judge { item.judge_number() } else { None };
            let people: Vec<f64> = if with_judge {
                item.truths().filter_map(DecisionValue::number).collect()
            } else {
                item.people().iter().filter_map(|(_, said)| said.number()).collect()
            };
            let ratings: Vec<f64> = judge.into_iter().chain(people).collect();
            let enough = ratings.len() > 1 && (!with_judge || judge.is_some());
            enough.then_some((cluster, ratings))
        })
        .collect();

    let mut all = UnitRatings::new();
    for (_, ratings) in &rated {
        all.push(ratings.iter().copied());
    }

    let clusters: Vec<usize> = rated.iter().map(|(cluster, _)| *cluster).collect();
    let found = alpha(&all, metric);
    let interval = alpha_interval(
        &all,
        &clusters,
        metric,
        resampling.resamples,
        resampling.level,
        &mut SeededRandom::new(resampling.seed),
    );
    MetricEstimate {
        id,
        name,
        value: found.value,
        interval,
        n: found.units as u64,
        of: "items",
        says: "Agreement of all raters beyond chance; ratings may be missing: 1 is full agreement, 0 is chance.",
    }
}

/// Pairs with a probability of the judge.
fn with_probability<'p>(
    items: &[&CalibrationItem],
    pairs: &'p [JudgePeoplePair],
) -> Vec<(&'p JudgePeoplePair, f64)> {
    let known =
        pairs.iter().filter_map(|pair| Some((pair, items.get(pair.item)?.judge.as_ref()?.probability?)));
    known.collect()
}

/// Computes the reliability curve of the judge's probabilities, over the non-empty bins of the calibration
/// error. The interval of a share is computed as for a mean over the clusters of its pairs.
pub(crate) fn reliability_bins(
    items: &[&CalibrationItem],
    pairs: &[JudgePeoplePair],
    level: ConfidenceLevel,
) -> Vec<ReliabilityBinRate> {
    let known = with_probability(items, pairs);
    let probabilities: Vec<f64> = known.iter().map(|(_, probability)| *probability).collect();
    let met: Vec<bool> = known.iter().map(|(pair, _)| pair.people > 0.5).collect();
    let Ok(table) = reliability_table(&probabilities, &met, BINS) else { return Vec::new() };

    let bins = table.bins.iter().enumerate().filter_map(|(at, bin)| {
        let (predicted, observed) = (bin.predicted.ok()?, bin.observed.ok()?);
        let members = known.iter().filter(|(_, probability)| reliability_bin(*probability, BINS) == at);
        let (values, clusters): (Vec<f64>, Vec<usize>) =
            members.map(|(pair, _)| (f64::from(u8::from(pair.people > 0.5)), pair.cluster)).unzip();
        let mean = bounded_mean_clustered(&values, &clusters, (0.0, 1.0), level);
        let interval = mean.and_then(|mean| mean.interval);
        Some(ReliabilityBinRate { predicted, observed, interval, n: bin.n })
    });
    bins.collect()
}

/// Computes the metrics of the judge's probabilities, if it gave any.
pub(crate) fn probability_metrics(
    items: &[&CalibrationItem],
    pairs: &[JudgePeoplePair],
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let known = with_probability(items, pairs);
    if known.is_empty() {
        return Vec::new();
    }

    let probabilities: Vec<f64> = known.iter().map(|(_, probability)| *probability).collect();
    let people: Vec<f64> = known.iter().map(|(pair, _)| pair.people).collect();
    let groups = group_positions(known.iter().map(|(pair, _)| pair.cluster));
    let flags = |people: &[f64]| people.iter().map(|&value| value > 0.5).collect::<Vec<bool>>();
    let level = resampling.level;
    let area = move |p: &[f64], y: &[f64]| area_under_curve(p, &flags(y), level).map(|area| area.area);
    let of_brier = move |p: &[f64], y: &[f64]| brier(p, &flags(y));
    let error =
        move |p: &[f64], y: &[f64]| reliability_table(p, &flags(y), BINS).map(|found| found.expected_error);
    let n = known.len() as u64;
    let with = |figure: &PairStatistic<'_>| {
        let value = figure(&probabilities, &people);
        let interval = value.and_then(|_| {
            resampling.bootstrap_interval(
                groups.len(),
                resampled_statistic((&probabilities, &people), &groups, figure),
            )
        });
        (value, interval)
    };

    let clusters: Vec<usize> = known.iter().map(|(pair, _)| pair.cluster).collect();
    let auroc = area(&probabilities, &people);
    let auroc_interval = auroc.and(area_interval(&probabilities, &flags(&people), &clusters, level));
    let brier = of_brier(&probabilities, &people);
    let squares: Vec<f64> = probabilities.iter().zip(&people).map(|(p, y)| (p - y).powi(2)).collect();
    let brier_interval =
        bounded_mean_clustered(&squares, &clusters, (0.0, 1.0), level).and_then(|found| found.interval);
    let (ece, ece_interval) = with(&error);
    vec![
        MetricEstimate {
            id: "auroc",
            name: "area under the ROC curve",
            value: auroc,
            interval: auroc_interval.map(|interval| interval.clip(0.0, 1.0)),
            n,
            of: "pairs",
            says: "Probability that a met item ranks above an unmet one; guessing gives 0.5.",
        },
        MetricEstimate {
            id: "brier",
            name: "Brier score",
            value: brier,
            interval: brier_interval,
            n,
            of: "pairs",
            says: "Mean squared error of the probabilities; 0 is best.",
        },
        MetricEstimate {
            id: "ece",
            name: "calibration error, 10 bins",
            value: ece,
            interval: ece_interval,
            n,
            of: "pairs",
            says: "Mean distance between stated probability and observed rate; depends on the bins.",
        },
    ]
}
