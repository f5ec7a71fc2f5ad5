//! Predicted probabilities compared with the actual outcomes.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    cluster::group_by_cluster,
    distribution::normal_critical_value,
    rank::{mid_ranks, sort_order},
    undefined::{check_all_finite, check_finite, check_lengths, check_not_empty},
};

/// Distance from 0 and 1 to which probabilities are clipped before their logarithm is taken, so that one
/// confident mistake does not make the loss infinite.
pub const LOG_LOSS_CLIP: f64 = f64::EPSILON;

fn check_probabilities(probabilities: &[f64], outcomes: &[bool]) -> Result<(), UndefinedReason> {
    check_lengths(probabilities.len(), outcomes.len())?;
    check_not_empty(probabilities.len())?;

    if probabilities.iter().all(|probability| (0.0..=1.0).contains(probability)) {
        Ok(())
    } else {
        Err(UndefinedReason::OutOfRange)
    }
}

/// Mean squared distance of probability and outcome, 0 to 1; lower is better. Source: G. Brier, Monthly
/// Weather Review 78 (1950), 1-3.
pub fn brier(probabilities: &[f64], outcomes: &[bool]) -> Result<f64, UndefinedReason> {
    check_probabilities(probabilities, outcomes)?;
    let squares =
        probabilities.iter().zip(outcomes).map(|(p, &came)| (p - f64::from(u8::from(came))).powi(2));
    Ok(squares.sum::<f64>() / probabilities.len() as f64)
}

/// Mean of `-ln p` of the actual outcomes, with p clipped to [`LOG_LOSS_CLIP`] from 0 and 1. Source:
/// I. J. Good, Journal of the Royal Statistical Society B 14 (1952), 107-114.
pub fn log_loss(probabilities: &[f64], outcomes: &[bool]) -> Result<f64, UndefinedReason> {
    check_probabilities(probabilities, outcomes)?;
    let losses = probabilities.iter().zip(outcomes).map(|(p, &came)| {
        let p = p.clamp(LOG_LOSS_CLIP, 1.0 - LOG_LOSS_CLIP);
        if came { -p.ln() } else { -(-p).ln_1p() }
    });
    Ok(losses.sum::<f64>() / probabilities.len() as f64)
}

/// Area under the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocArea {
    /// Number of positive outcomes.
    pub positive: usize,
    /// Number of negative outcomes.
    pub negative: usize,
    /// Probability that a positive case has a higher score than a negative one; ties count half. 0.5 if all
    /// are tied.
    pub area: f64,
    /// DeLong's standard error; needs two cases of each class.
    pub se: Result<f64, UndefinedReason>,
    /// `area +- z se` within 0 to 1. Has no width if the classes are perfectly separated.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Computes the area under the ROC curve of any scores, by mid-ranks. Sources: J. Hanley and B. McNeil,
/// Radiology 143 (1982), 29-36; error: E. DeLong, D. DeLong and D. Clarke-Pearson, Biometrics 44 (1988),
/// 837-845.
pub fn area_under_curve(
    scores: &[f64],
    outcomes: &[bool],
    level: ConfidenceLevel,
) -> Result<RocArea, UndefinedReason> {
    check_lengths(scores.len(), outcomes.len())?;

    check_all_finite(scores)?;

    check_not_empty(scores.len())?;

    let (above, below) = placements(scores, outcomes);
    if above.is_empty() || below.is_empty() {
        return Err(UndefinedReason::OneClass);
    }

    let m = above.len() as f64;
    let area = above.iter().sum::<f64>() / m;
    let variance = |placements: &[f64]| {
        let count = placements.len() as f64;
        let mean = placements.iter().sum::<f64>() / count;
        placements.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0) / count
    };
    let se = if above.len() < 2 || below.len() < 2 {
        Err(UndefinedReason::TooFew)
    } else {
        check_finite((variance(&above) + variance(&below)).sqrt())
    };
    let interval = se.and_then(|se| {
        Ok(Interval::symmetric_around(
            area,
            normal_critical_value(level)? * se,
            level,
            IntervalMethod::DeLong,
        )?
        .clip(0.0, 1.0))
    });

    Ok(RocArea { positive: above.len(), negative: below.len(), area, se, interval })
}

/// Returns the share of negatives below each positive, and of positives below each negative, ties counting half.
fn placements(scores: &[f64], outcomes: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let pooled = mid_ranks(scores).0;
    let placed = |class: bool| -> Vec<f64> {
        let of_class = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(outcomes).filter(|&(_, &came)| came == class).map(|(&value, _)| value).collect()
        };
        let (ranks, own) = (of_class(&pooled), mid_ranks(&of_class(scores)).0);
        let others = (scores.len() - own.len()) as f64;
        // The rank among all cases minus the rank within the own class counts the members of the other class
        // below it.
        ranks.iter().zip(own).map(|(rank, own)| (rank - own) / others).collect()
    };

    (placed(true), placed(false))
}

/// Returns an interval of the area under the curve that has a width even if the classes are perfectly
/// separated: all areas within z standard errors of the observed one, each with its own error. `clusters`
/// names the cluster of each score. If clusters hold several scores, the counts of both classes are divided
/// by the design effect of the area, which is at least 1. Sources: R. Newcombe, Statistics in Medicine 25
/// (2006), 559-573, method 5; clusters: N. Obuchowski, Biometrics 53 (1997), 567-578.
pub fn area_interval<K: Ord>(
    scores: &[f64],
    outcomes: &[bool],
    clusters: &[K],
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let area = area_under_curve(scores, outcomes, level)?.area;
    let groups = group_by_cluster(scores, clusters)?;
    if groups.len() < 2 {
        return Err(UndefinedReason::OneCluster);
    }

    let (above, below) = placements(scores, outcomes);
    let (m, n) = (above.len() as f64, below.len() as f64);
    let effect = if groups.len() == scores.len() {
        1.0
    } else {
        area_design_effect(area, outcomes, &groups, (&above, &below))
    };
    let (m, n) = ((m / effect).max(1.0), (n / effect).max(1.0));

    let z = normal_critical_value(level)?;
    let typical = f64::midpoint(m, n) - 1.0;
    let holds = |theta: f64| {
        let tail = (1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta);
        let variance = theta * (1.0 - theta) * (1.0 + typical * tail) / (m * n);
        (theta - area).abs() <= z * variance.sqrt()
    };
    let end = |mut outside: f64| {
        if holds(outside) {
            return outside;
        }

        let mut inside = area;
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if holds(middle) { inside = middle } else { outside = middle }
        }

        inside
    };

    Ok(Interval { low: end(0.0), high: end(1.0), level, method: IntervalMethod::NewcombeArea })
}

/// Returns the design effect: the increase of the area's variance through clusters, as a factor. It is the mean size of
/// a cluster if there is no variance.
fn area_design_effect(
    area: f64,
    outcomes: &[bool],
    groups: &[Vec<usize>],
    (above, below): (&[f64], &[f64]),
) -> f64 {
    // The contribution of each score to the error of the area, in the order of the scores.
    let (mut positives, mut negatives) = (above.iter(), below.iter());
    let (m, n) = (above.len() as f64, below.len() as f64);
    let shares: Vec<f64> = outcomes
        .iter()
        .map(|&came| {
            // For a negative case, the share of positives above it.
            let (next, count) = if came {
                (positives.next().copied(), m)
            } else {
                (negatives.next().map(|below| 1.0 - below), n)
            };
            next.map_or(0.0, |placed| (placed - area) / count)
        })
        .collect();

    let independent: f64 = shares.iter().map(|share| share * share).sum();
    let count = groups.len() as f64;
    let clustered: f64 =
        groups.iter().map(|members| members.iter().map(|&index| shares[index]).sum::<f64>().powi(2)).sum();
    if independent > 0.0 {
        (clustered * count / (count - 1.0) / independent).max(1.0)
    } else {
        outcomes.len() as f64 / count
    }
}

/// Precision averaged over the recall gained at each distinct score, from the highest down, without
/// interpolation. Source: M. Zhu, "Recall, Precision and Average Precision", University of Waterloo (2004).
pub fn average_precision(scores: &[f64], outcomes: &[bool]) -> Result<f64, UndefinedReason> {
    check_lengths(scores.len(), outcomes.len())?;

    check_all_finite(scores)?;

    check_not_empty(scores.len())?;

    let positives = outcomes.iter().filter(|&&came| came).count() as f64;
    if positives == 0.0 {
        return Err(UndefinedReason::OneClass);
    }

    let mut descending = sort_order(scores);
    descending.reverse();

    let (mut seen, mut hits, mut sum) = (0.0, 0.0, 0.0);
    for run in descending.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let gained = run.iter().filter(|&&index| outcomes[index]).count() as f64;
        seen += run.len() as f64;
        hits += gained;
        sum += gained / positives * (hits / seen);
    }

    Ok(sum)
}

/// One bin of a reliability table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityBin {
    /// Start of the bin; it ends at the start of the next one.
    pub start: f64,
    /// Number of probabilities in the bin.
    pub n: u64,
    /// Mean of these probabilities.
    pub predicted: Result<f64, UndefinedReason>,
    /// Share of these whose outcome was positive.
    pub observed: Result<f64, UndefinedReason>,
}

/// Predicted probabilities compared with observed frequencies, bin by bin.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilityTable {
    /// The bins, ascending; bin i holds probabilities with `min(floor(bins p), bins - 1) = i`.
    pub bins: Vec<ReliabilityBin>,
    /// Expected calibration error: mean distance of prediction and outcome over bins, weighted by their
    /// counts. Depends on the number of bins.
    pub expected_error: f64,
    /// Largest distance in any bin.
    pub largest_error: f64,
}

/// Returns the bin of a probability among `bins` equally wide ones; 1 is in the last.
pub fn reliability_bin(probability: f64, bins: usize) -> usize {
    ((bins as f64 * probability).floor() as usize).min(bins.saturating_sub(1))
}

/// Computes a reliability table of equally wide bins and its calibration errors. Source: M. P. Naeini,
/// G. Cooper and M. Hauskrecht, AAAI 2015, 2901-2907.
pub fn reliability_table(
    probabilities: &[f64],
    outcomes: &[bool],
    bins: usize,
) -> Result<ReliabilityTable, UndefinedReason> {
    check_probabilities(probabilities, outcomes)?;
    if bins == 0 {
        return Err(UndefinedReason::OutOfRange);
    }
    let mut sums = vec![(0u64, 0.0, 0u64); bins];
    for (&probability, &came) in probabilities.iter().zip(outcomes) {
        let bin = &mut sums[reliability_bin(probability, bins)];
        bin.0 += 1;
        bin.1 += probability;
        bin.2 += u64::from(came);
    }

    let all = probabilities.len() as f64;
    let (mut expected_error, mut largest_error) = (0.0, 0.0f64);
    let bins = sums
        .iter()
        .enumerate()
        .map(|(index, &(n, sum, came))| {
            let of = |total: f64| if n == 0 { Err(UndefinedReason::NoValues) } else { Ok(total / n as f64) };
            let (predicted, observed) = (of(sum), of(came as f64));
            if let (Ok(predicted), Ok(observed)) = (predicted, observed) {
                let apart = (predicted - observed).abs();
                expected_error += n as f64 / all * apart;
                largest_error = largest_error.max(apart);
            }

            ReliabilityBin { start: index as f64 / bins as f64, n, predicted, observed }
        })
        .collect();
    Ok(ReliabilityTable { bins, expected_error, largest_error })
}
