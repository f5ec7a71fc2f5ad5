//! Mean from many decisions of a judge combined with a few human labels.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, MeanAccumulator, UndefinedReason,
    bounded::{bounded_mean, bounded_mean_clustered},
    bounded_mean::wilson_ends,
    cluster::group_by_cluster,
    distribution::normal_critical_value,
    power::rate_half_width,
    undefined::{check_all_finite, check_finite, check_lengths},
    units::UnitSums,
};

/// With fewer labels than this, the weight of the judge is itself uncertain: the normal interval is too
/// narrow, and [`prediction_powered_within`] gives the judge less weight.
pub const FEW_LABELS: usize = 30;

/// A mean with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedMean {
    /// The estimate.
    pub mean: f64,
    /// Standard error of the estimate.
    pub se: f64,
    /// `mean +- z se`, not clipped to the range of scores.
    pub interval: Interval,
}

/// Estimates of the human mean from few human labels and many decisions of a judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionPowered {
    /// Number of cases with a human label.
    pub labelled: usize,
    /// Number of cases with only the judge's score.
    pub unlabelled: usize,
    /// Estimate from the human labels alone.
    pub human: CorrectedMean,
    /// The judge's mean over the unlabelled cases.
    pub judge: f64,
    /// Estimate with weight 1: the judge's scores with their bias removed.
    pub plain: CorrectedMean,
    /// The weight that minimises the error, 0 to 1; 0 uses the human labels alone. Also 0 if the judge is
    /// constant.
    pub weight: f64,
    /// Estimate with that weight (PPI++).
    pub tuned: CorrectedMean,
    /// Factor by which the number of human labels would have to grow for the same precision without the
    /// judge, `human.se^2 / tuned.se^2`.
    pub gain: Result<f64, UndefinedReason>,
}

impl PredictionPowered {
    /// Returns true if there are too few labels to know the judge's weight well.
    pub const fn few_labels(&self) -> bool {
        self.labelled < FEW_LABELS
    }
}

/// Prediction-powered inference for a mean: `w mean(judge on unlabelled) + mean(human - w judge on
/// labelled)`, with `se^2 = var(w judge)/N + var(human - w judge)/n` (variances divided by n) and `w =
/// cov(human, judge) / ((1 + n/N) var(judge))` within 0 to 1, where the covariance is divided by n, and the
/// variance over all judged cases by their number minus 1. The labelled cases must be a random sample; if
/// they are not, the result is wrong without any sign of it. Sources: A. Angelopoulos et al., Science 382
/// (2023), 669-674; A. Angelopoulos, J. Duchi and T. Zrnic, "PPI++", arXiv 2311.01453.
pub fn prediction_powered(
    human: &[f64],
    judge: &[f64],
    unlabelled: &[f64],
    level: ConfidenceLevel,
) -> Result<PredictionPowered, UndefinedReason> {
    compute_estimates(human, judge, unlabelled, level, variance_of_mean, variance_of_mean)
}

/// Runs [`prediction_powered`] on cases in clusters, such as several criteria of one prompt: deviations are
/// summed within each cluster before they are squared (K.-Y. Liang and S. Zeger, Biometrika 73, 1986).
/// `labelled_in` and `unlabelled_in` name the cluster of each case.
pub fn prediction_powered_clustered<K: Ord>(
    human: &[f64],
    judge: &[f64],
    labelled_in: &[K],
    unlabelled: &[f64],
    unlabelled_in: &[K],
    level: ConfidenceLevel,
) -> Result<PredictionPowered, UndefinedReason> {
    let (labelled_groups, unlabelled_groups) =
        (group_by_cluster(human, labelled_in)?, group_by_cluster(unlabelled, unlabelled_in)?);
    if labelled_groups.len() < 2 || unlabelled_groups.len() < 2 {
        return Err(UndefinedReason::OneCluster);
    }

    let by = |groups: Vec<Vec<usize>>| move |values: &[f64]| clustered_variance(values, &groups);
    compute_estimates(human, judge, unlabelled, level, by(labelled_groups), by(unlabelled_groups))
}

/// Number of pseudo labels without information: the correlation of people and judge is multiplied by n/(n + 8), because
/// with few labels it is often too high by chance.
pub(super) const PSEUDO_LABELS: f64 = 8.0;

/// Prediction-powered inference for values between `range.0` and `range.1`, for few labels and for means near either
/// end. The labels alone have the interval of [`bounded_mean_clustered`](crate::bounded_mean_clustered). The judge
/// multiplies their effective number by `1 / (1 - r^2 / (1 + V/v))`: r is the correlation of people and judge, shrunk
/// as if there were eight more labels without correlation, v is the variance of the judge's mean over the labelled
/// cases, and V over the others. So the interval is never wider than the one of people alone, and the judge does not
/// count if the labels have no spread. If an end of the labels' interval is further out than Wilson's on their
/// effective number, the end of the estimate's interval is too, in proportion. `clusters` names the clusters of the
/// labelled and the other cases. Source: as for [`prediction_powered`]; the factor is the share of its error that
/// remains at the best weight. The shrinkage is Assize's own, chosen by the simulation in the handbook.
pub fn prediction_powered_within<K: Ord>(
    human: &[f64],
    judge: &[f64],
    unlabelled: &[f64],
    clusters: Option<(&[K], &[K])>,
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<PredictionPowered, UndefinedReason> {
    let plain = match clusters {
        None => prediction_powered(human, judge, unlabelled, level)?,
        Some((within, outside)) => {
            prediction_powered_clustered(human, judge, within, unlabelled, outside, level)?
        }
    };
    let (people, machine, others) = match clusters {
        None => {
            let positions: Vec<usize> = (0..human.len().max(unlabelled.len())).collect();
            let labelled = &positions[..human.len()];
            (
                UnitSums::new(human, labelled, range)?,
                UnitSums::new(judge, labelled, range)?,
                UnitSums::new(unlabelled, &positions[..unlabelled.len()], range)?,
            )
        }
        Some((within, outside)) => (
            UnitSums::new(human, within, range)?,
            UnitSums::new(judge, within, range)?,
            UnitSums::new(unlabelled, outside, range)?,
        ),
    };

    let alone = people.effective_mean();
    let (shrunk, weight, remaining) = judge_weight(&people, &machine, &others);
    let critical = people.critical_value(level)?;
    let width = range.1 - range.0;
    let reported = match clusters {
        None => bounded_mean(human, range, level)?,
        Some((within, _)) => bounded_mean_clustered(human, within, range, level)?,
    };
    let alone_ends = reported.interval?;

    // If the ends of the labels' interval differ from Wilson's, the ends of the estimate's interval deviate in
    // proportion.
    let wilson = wilson_ends(alone.mean, alone.effective_n, critical);
    let relative = |distance: f64, wilson: f64| if wilson > 0.0 { distance / width / wilson } else { 1.0 };
    let (below, above) = (
        relative(reported.mean - alone_ends.low, alone.mean - wilson.0),
        relative(alone_ends.high - reported.mean, wilson.1 - alone.mean),
    );
    let estimate = |mean: f64, effective_n: f64| {
        let mean = mean.clamp(0.0, 1.0);
        let (low, high) = wilson_ends(mean, effective_n, critical);
        let place = |share: f64| range.0 + width * share.clamp(0.0, 1.0);
        let (low, high) = (place(mean - (mean - low) * below), place(mean + (high - mean) * above));
        let interval = Interval { low, high, level, method: IntervalMethod::WilsonPowered };
        CorrectedMean { mean: range.0 + width * mean, se: interval.width() / 2.0 / critical, interval }
    };
    let gain = 1.0 / (1.0 - shrunk * shrunk * remaining);
    let tuned = alone.mean + weight * (others.mean() - machine.mean());
    let clip = |found: CorrectedMean| CorrectedMean {
        mean: found.mean.clamp(range.0, range.1),
        interval: found.interval.clip(range.0, range.1),
        ..found
    };

    Ok(PredictionPowered {
        human: CorrectedMean {
            mean: reported.mean,
            se: alone_ends.width() / 2.0 / critical,
            interval: alone_ends,
        },
        plain: clip(plain.plain),
        weight,
        tuned: estimate(tuned, alone.effective_n * gain),
        gain: check_finite(gain),
        ..plain
    })
}

/// Returns the shrunk correlation of people and judge, the judge's weight, and `1 / (1 + V/v)`.
fn judge_weight(people: &UnitSums, machine: &UnitSums, others: &UnitSums) -> (f64, f64, f64) {
    let (of_people, of_judge) = (people.deviations(), machine.deviations());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let together = product(&of_people, &of_judge);
    let (n, rest) = (people.n(), others.n());

    // Independent unlabelled cases contribute to the judge's spread too.
    let spread = if people.is_independent() && others.is_independent() {
        machine.pooled_spread(others) * n
    } else {
        product(&of_judge, &of_judge)
    };
    let from_people = product(&of_people, &of_people);
    let outside = others.deviations();
    let outside = product(&outside, &outside);
    if spread <= 0.0 || from_people <= 0.0 || outside <= 0.0 {
        return (0.0, 0.0, 0.0);
    }

    let ratio = if people.is_independent() && others.is_independent() {
        n / rest
    } else {
        (outside / (rest * rest)) / (spread / (n * n))
    };
    let units = people.count() as f64;
    let correlation =
        (together / (spread * from_people).sqrt()).clamp(0.0, 1.0) * units / (units + PSEUDO_LABELS);
    let remaining = 1.0 / (1.0 + ratio);
    let weight = (correlation * (from_people / spread).sqrt() * remaining).clamp(0.0, 1.0);
    (correlation, weight, remaining)
}

/// Returns the expected half-width of the interval of [`prediction_powered_within`] for verdicts: `rate` is the share
/// of people's verdicts that are 1, `correlation` the correlation of people and judge, and `others` the number of cases
/// that only the judge decides. The result is the half-width for the effective number of labels, which the judge
/// increases.
pub fn prediction_powered_half_width(
    rate: f64,
    correlation: f64,
    labels: u64,
    others: u64,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    check_finite(correlation)?;
    let (n, rest) = (labels as f64, others as f64);
    let shrunk = correlation.clamp(0.0, 1.0) * n / (n + PSEUDO_LABELS);
    let explained = shrunk * shrunk * rest / (rest + n).max(1.0);

    rate_half_width(rate, (n / (1.0 - explained)).round() as u64, level)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let (centre, n) = (mean(values), values.len() as f64);
    values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / n / n
}

fn clustered_variance(values: &[f64], groups: &[Vec<usize>]) -> f64 {
    let (centre, n) = (mean(values), values.len() as f64);
    let sum = |members: &Vec<usize>| members.iter().map(|&index| values[index] - centre).sum::<f64>();
    groups.iter().map(|members| sum(members).powi(2)).sum::<f64>() / n / n
}

fn compute_estimates(
    human: &[f64],
    judge: &[f64],
    unlabelled: &[f64],
    level: ConfidenceLevel,
    labelled_variance: impl Fn(&[f64]) -> f64,
    unlabelled_variance: impl Fn(&[f64]) -> f64,
) -> Result<PredictionPowered, UndefinedReason> {
    check_lengths(human.len(), judge.len())?;

    for values in [human, judge, unlabelled] {
        check_all_finite(values)?;
    }

    if human.is_empty() || unlabelled.is_empty() {
        return Err(UndefinedReason::NoValues);
    }
    if human.len() < 2 || unlabelled.len() < 2 {
        return Err(UndefinedReason::OneValue);
    }

    let z = normal_critical_value(level)?;
    let with = |weight: f64, method: IntervalMethod| -> Result<CorrectedMean, UndefinedReason> {
        let rest: Vec<f64> = human.iter().zip(judge).map(|(human, judge)| human - weight * judge).collect();
        let mean = check_finite(weight * mean(unlabelled) + mean(&rest))?;
        let variance = weight * weight * unlabelled_variance(unlabelled) + labelled_variance(&rest);
        let se = check_finite(variance.sqrt())?;
        Ok(CorrectedMean { mean, se, interval: Interval::symmetric_around(mean, z * se, level, method)? })
    };

    let weight = best_weight(human, judge, unlabelled)?;
    let people = with(0.0, IntervalMethod::Normal)?;
    let tuned = with(weight, IntervalMethod::PredictionPowered)?;
    Ok(PredictionPowered {
        labelled: human.len(),
        unlabelled: unlabelled.len(),
        human: people,
        judge: mean(unlabelled),
        plain: with(1.0, IntervalMethod::PredictionPowered)?,
        weight,
        tuned,
        gain: if tuned.se > 0.0 {
            check_finite((people.se / tuned.se).powi(2))
        } else {
            Err(UndefinedReason::NoSpread)
        },
    })
}

fn best_weight(human: &[f64], judge: &[f64], unlabelled: &[f64]) -> Result<f64, UndefinedReason> {
    let n = human.len() as f64;
    let (of_human, of_judge) = (mean(human), mean(judge));
    let together = human.iter().zip(judge).map(|(h, j)| (h - of_human) * (j - of_judge)).sum::<f64>() / n;
    let everything: MeanAccumulator = judge.iter().chain(unlabelled).copied().collect();
    let spread = everything.mean(ConfidenceLevel::P95).sd?.powi(2);
    if spread == 0.0 {
        return Ok(0.0);
    }

    let weight = together / ((1.0 + n / unlabelled.len() as f64) * spread);
    Ok(check_finite(weight)?.clamp(0.0, 1.0))
}
