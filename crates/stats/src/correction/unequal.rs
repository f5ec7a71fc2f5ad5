//! Mean from many decisions of a judge and few labels that were drawn with different probabilities.

use std::collections::BTreeMap;

use super::prediction_powered::{CorrectedMean, PSEUDO_LABELS, PredictionPowered};
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    bounded_mean::wilson_ends,
    distribution::student_critical_value,
    undefined::{check_all_finite, check_finite, check_lengths},
};

/// With few labels of the rarer kind, the spread of the labels is unreliable and gets less weight than their number:
/// one half at this many labels.
const PSEUDO_MINORITY: f64 = 2.0;

/// A judged and labelled case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnLabel {
    /// Value that people gave.
    pub human: f64,
    /// Value that the judge gave.
    pub judge: f64,
    /// Probability with which the case was drawn for labelling, above 0 and up to 1. A factor common to all
    /// probabilities changes nothing, so an incomplete list of labels is still a sample if it is in random
    /// order.
    pub probability: f64,
}

/// Prediction-powered inference for values between `range.0` and `range.1`, with labels that were drawn with
/// different probabilities p, such as doubtful or rare cases more often. With weights w = 1/p, whose sum is
/// W, people alone have `m = sum(w y) / W`, and with the judge's mean f over all cases it is `m + b (f -
/// sum(w f_i) / W)`.
///
/// Variances are computed for `sum(w (y - m)) / W` over clusters, times G/(G - 1). The interval is Wilson's on the
/// effective number `m (1 - m) / variance`. If the labels have no spread, the effective number is `W / max(w)` instead,
/// which is the number of labels with the same total weight if all had the largest weight. It is between the two if few
/// labels differ from the rest. The judge multiplies it by `1 / (1 - r^2 / (1 + V/v))`, as in
/// [`prediction_powered_within`](super::prediction_powered_within). `all` has the judge's value of each case, labelled
/// or not.
///
/// Sources: J. Hájek in V. Godambe and D. Sprott, Foundations of Statistical Inference (1971), 236; T. Zrnic and E.
/// Candès, "Active Statistical Inference", arXiv 2403.03208; A. Fisch et al., "Stratified Prediction-Powered
/// Inference", arXiv 2406.04291. The treatment of few labels is Assize's own, chosen by simulation: with Kish's number,
/// `W^2 / sum(w^2)`, a hundred labels, five of them with five times the weight, cover a rate of .1 in 87 % of samples;
/// with this one in 97 %.
pub fn prediction_powered_drawn<K: Ord>(
    labels: &[DrawnLabel],
    clusters: &[K],
    all: &[f64],
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<PredictionPowered, UndefinedReason> {
    check_lengths(labels.len(), clusters.len())?;
    if labels.is_empty() || all.is_empty() {
        return Err(UndefinedReason::NoValues);
    }
    check_all_finite(all)?;
    let width = check_finite(range.1 - range.0)?;
    let within = |value: f64| (range.0..=range.1).contains(&value);
    let valid = |label: &DrawnLabel| {
        within(label.human) && within(label.judge) && label.probability > 0.0 && label.probability <= 1.0
    };
    if width <= 0.0 || !labels.iter().all(valid) || !all.iter().copied().all(within) {
        return Err(UndefinedReason::OutOfRange);
    }

    let scaled = |value: f64| (value - range.0) / width;
    let sample = WeightedSample {
        people: labels.iter().map(|label| scaled(label.human)).collect(),
        judge: labels.iter().map(|label| scaled(label.judge)).collect(),
        weights: labels.iter().map(|label| 1.0 / label.probability).collect(),
        groups: group(clusters),
    };
    if sample.groups.len() < 2 {
        return Err(UndefinedReason::OneCluster);
    }

    let n = all.len() as f64;
    let judge_everywhere = scaled(all.iter().sum::<f64>() / n);
    let spread = all.iter().map(|value| (scaled(*value) - judge_everywhere).powi(2)).sum::<f64>() / n / n;
    let people = sample.mean(&sample.people);
    let judge = sample.mean(&sample.judge);
    let alone = sample.effective_n(people);
    let (weight, gain, plain_se) = sample.gain(spread);

    let critical = student_critical_value(sample.groups.len() as f64 - 1.0, level)?;
    let estimate = |mean: f64, effective_n: f64, method: IntervalMethod| {
        let mean = mean.clamp(0.0, 1.0);
        let (low, high) = wilson_ends(mean, effective_n, critical);
        let interval = Interval { low: range.0 + width * low, high: range.0 + width * high, level, method };
        CorrectedMean { mean: range.0 + width * mean, se: interval.width() / 2.0 / critical, interval }
    };
    let plain = people + judge_everywhere - judge;
    let plain_interval = Interval::symmetric_around(
        range.0 + width * plain,
        critical * plain_se * width,
        level,
        IntervalMethod::PredictionPowered,
    )?;

    Ok(PredictionPowered {
        labelled: labels.len(),
        unlabelled: all.len().saturating_sub(labels.len()),
        human: estimate(people, alone, IntervalMethod::WilsonEffective),
        judge: range.0 + width * judge_everywhere,
        plain: CorrectedMean {
            mean: (range.0 + width * plain).clamp(range.0, range.1),
            se: plain_se * width,
            interval: plain_interval.clip(range.0, range.1),
        },
        weight,
        tuned: estimate(
            people + weight * (judge_everywhere - judge),
            alone * gain,
            IntervalMethod::WilsonPowered,
        ),
        gain: check_finite(gain),
    })
}

/// Returns the positions of each cluster.
fn group<K: Ord>(clusters: &[K]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate() {
        groups.entry(cluster).or_default().push(at);
    }
    groups.into_values().collect()
}

/// Labels with their weights, on a range of 0 to 1.
struct WeightedSample {
    people: Vec<f64>,
    judge: Vec<f64>,
    weights: Vec<f64>,
    groups: Vec<Vec<usize>>,
}

impl WeightedSample {
    fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    fn mean(&self, values: &[f64]) -> f64 {
        values.iter().zip(&self.weights).map(|(value, weight)| value * weight).sum::<f64>() / self.total()
    }

    /// Deviations from the mean, weighted and summed within clusters, as shares of the total weight.
    fn deviations(&self, values: &[f64]) -> Vec<f64> {
        let (mean, total) = (self.mean(values), self.total());
        let sum = |members: &Vec<usize>| {
            members.iter().map(|&at| self.weights[at] * (values[at] - mean)).sum::<f64>() / total
        };
        self.groups.iter().map(sum).collect()
    }

    fn covariance(&self, one: &[f64], other: &[f64]) -> f64 {
        let groups = self.groups.len() as f64;
        let sum: f64 = self.deviations(one).iter().zip(self.deviations(other)).map(|(a, b)| a * b).sum();
        sum * groups / (groups - 1.0)
    }

    /// Number of labels at the ends of the range that would carry as much information about people.
    fn effective_n(&self, mean: f64) -> f64 {
        let of_group = |members: &Vec<usize>| members.iter().map(|&at| self.weights[at]).sum::<f64>();
        // If the few labels with a large weight agree, that may be chance, even with many labels of a small weight.
        let by_heaviest = self.total() / self.groups.iter().map(of_group).fold(0.0, f64::max);
        let spread = mean * (1.0 - mean);
        let variance = self.covariance(&self.people, &self.people);
        if spread <= 0.0 || variance <= 0.0 {
            return by_heaviest;
        }

        let high = self.people.iter().sum::<f64>();
        let minority = high.min(self.people.len() as f64 - high);
        let by_number = spread / by_heaviest;
        let mixed = (minority * variance + PSEUDO_MINORITY * by_number) / (minority + PSEUDO_MINORITY);
        spread / mixed.max(variance)
    }

    /// Returns the judge's weight, its factor for the effective number, and the error with a weight of 1. `spread` is
    /// the variance of the judge's mean over all cases.
    fn gain(&self, spread: f64) -> (f64, f64, f64) {
        let of_people = self.covariance(&self.people, &self.people);
        let of_judge = self.covariance(&self.judge, &self.judge);
        let together = self.covariance(&self.people, &self.judge);
        let plain = (of_people + of_judge - 2.0 * together + spread).max(0.0).sqrt();
        if of_people <= 0.0 || of_judge <= 0.0 {
            return (0.0, 1.0, plain);
        }

        let n = self.people.len() as f64;
        let correlation =
            (together / (of_people * of_judge).sqrt()).clamp(0.0, 1.0) * n / (n + PSEUDO_LABELS);
        let remaining = of_judge / (of_judge + spread);
        let weight = (correlation * (of_people / of_judge).sqrt() * remaining).min(1.0);
        (weight, 1.0 / (1.0 - correlation * correlation * remaining), plain)
    }
}
