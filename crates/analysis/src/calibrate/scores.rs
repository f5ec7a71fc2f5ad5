//! Agreement of scores.

use assize_stats::{
    ConfidenceLevel, Interval, UndefinedReason,
    agreement::{
        AgreementWeights, ChanceAgreement, RatingScale, UnitRatings, chance_of_same, coefficient,
        perfect_agreement, quadratic_kappa,
    },
    bounded_mean_clustered,
    judge_quality::{
        bonett_wright, fisher_z, kendall_tau_b, mean_absolute_error, pearson, root_mean_square_error,
        spearman,
    },
};

use super::pairing::{JudgePeoplePair, PairStatistic, group_positions, resampled_statistic, split_columns};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Minimum number of pairs for a correlation: two pairs always correlate perfectly.
const MIN_CORRELATION_PAIRS: usize = 5;

/// Computes every metric of pairs of scores. `scale` has the possible scores, `range` the lowest and highest.
pub(crate) fn score_metrics(
    pairs: &[JudgePeoplePair],
    scale: &RatingScale,
    range: (f64, f64),
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let (judge, people) = split_columns(pairs);
    let groups = group_positions(pairs.iter().map(|pair| pair.cluster));
    let independent = groups.len() == pairs.len();
    let n = pairs.len() as u64;
    let level = resampling.level;
    let again = |figure: &PairStatistic<'_>| {
        resampling.bootstrap_interval(groups.len(), resampled_statistic((&judge, &people), &groups, figure))
    };
    let enough = |value: Result<f64, UndefinedReason>| {
        if pairs.len() < MIN_CORRELATION_PAIRS { value.and(Err(UndefinedReason::TooFew)) } else { value }
    };
    // If all pairs agree, there is no spread to resample.
    let by_chance = chance_of_same(&people);
    let perfect = |id: &str, value: f64| perfect_interval(id, value, groups.len(), by_chance, level);
    let plain = |id, name, figure: &PairStatistic<'_>, says| {
        let value = figure(&judge, &people);
        let interval = value.and_then(|value| perfect(id, value).unwrap_or_else(|| again(figure)));
        MetricEstimate { id, name, value, interval, n, of: "pairs", says }
    };

    let clusters: Vec<usize> = pairs.iter().map(|pair| pair.cluster).collect();
    let distance = |id, name, power: i32, figure: &PairStatistic<'_>, says| {
        let interval = distance_interval((&judge, &people), &clusters, power, range, level);
        MetricEstimate { id, name, value: figure(&judge, &people), interval, n, of: "pairs", says }
    };

    let correlated = |id, name, figure: &PairStatistic<'_>, says| {
        let value = enough(figure(&judge, &people));
        let formula = match id {
            _ if value.is_ok_and(is_perfect) => value.ok().and_then(|value| perfect(id, value)),
            // The same if all pairs disagree completely, for which no bound is known.
            _ if value.is_ok_and(|value| is_perfect(-value)) => Some(Err(UndefinedReason::NoSpread)),
            "spearman" if independent => Some(value.and_then(|r| bonett_wright(r, n, level))),
            "pearson" if independent => Some(value.and_then(|r| fisher_z(r, n, level))),
            _ => None,
        };
        let interval = formula.unwrap_or_else(|| value.and_then(|_| again(figure)));
        MetricEstimate { id, name, value, interval, n, of: "pairs", says }
    };

    let weighted = |judge: &[f64], people: &[f64]| quadratic_kappa(judge, people, scale);
    let ac2 = |judge: &[f64], people: &[f64]| gwet_quadratic(judge, people, scale, level);
    vec![
        correlated(
            "spearman",
            "Spearman's correlation",
            &spearman,
            "Agreement with people on the order of answers; ties are not penalised.",
        ),
        correlated(
            "kendall_tau_b",
            "Kendall's tau-b",
            &kendall_tau_b,
            "Share of answer pairs in the same order minus the rest; frequent equal scores lower it.",
        ),
        correlated(
            "pearson",
            "Pearson's correlation",
            &pearson,
            "Linear agreement with the scores of people, on any scale.",
        ),
        distance(
            "rmse",
            "root mean squared error",
            2,
            &root_mean_square_error,
            "Typical distance from the score of people, in points; large errors weigh more.",
        ),
        distance(
            "mae",
            "mean absolute error",
            1,
            &mean_absolute_error,
            "Mean distance from the score of people, in points.",
        ),
        plain(
            "kappa_quadratic",
            "quadratic kappa",
            &weighted,
            "Agreement beyond chance on the scale, with partial credit for near misses.",
        ),
        plain(
            "ac2",
            "Gwet's AC2, quadratic",
            &ac2,
            "As quadratic kappa, but stable where most scores are equal.",
        ),
    ]
}

/// Interval of the root of a mean distance to a power. Distances are bounded, so that their mean has an
/// interval even if all of them are equal.
fn distance_interval(
    (judge, people): (&[f64], &[f64]),
    clusters: &[usize],
    power: i32,
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let values: Vec<f64> =
        judge.iter().zip(people).map(|(judge, people)| (judge - people).abs().powi(power)).collect();
    let farthest = (range.1 - range.0).powi(power);
    let root = |value: f64| value.powf(1.0 / f64::from(power));
    bounded_mean_clustered(&values, clusters, (0.0, farthest), level)
        .and_then(|found| found.interval)
        .map(|interval| Interval { low: root(interval.low), high: root(interval.high), ..interval })
}

/// Returns true for full agreement; rounding may leave the coefficient just below 1.
pub(super) fn is_perfect(value: f64) -> bool {
    value > 1.0 - 1e-9
}

/// Interval of a coefficient of full agreement; `None` for other values.
fn perfect_interval(
    id: &str,
    value: f64,
    units: usize,
    by_chance: f64,
    level: ConfidenceLevel,
) -> Option<Result<Interval, UndefinedReason>> {
    let found = is_perfect(value).then(|| perfect_agreement(units, by_chance, level))?;
    // A pair of answers is in order if neither of the two was guessed.
    let power = if id == "kendall_tau_b" { 2 } else { 1 };
    Some(found.map(|interval| Interval { low: interval.low.powi(power), ..interval }))
}

fn gwet_quadratic(
    judge: &[f64],
    people: &[f64],
    scale: &RatingScale,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    let mut ratings = UnitRatings::new();
    for (judge, people) in judge.iter().zip(people) {
        ratings.push([*judge, *people]);
    }

    let found = coefficient(&ratings, scale, AgreementWeights::Quadratic, ChanceAgreement::Gwet, level).value;
    // Its chance agreement needs the frequencies of the scale's points, and numbers between points have none.
    match (found, scale.points()) {
        (Err(UndefinedReason::NotOnScale), [least, .., most])
            if judge.iter().chain(people).all(|rating| (least..=most).contains(&rating)) =>
        {
            Err(UndefinedReason::BetweenPoints)
        }
        _ => found,
    }
}
