//! Metrics of cases: rates and means with their intervals and a sentence about them.

use assize_stats::{ConfidenceLevel, Interval, UndefinedReason, bounded_mean_clustered, proportion};
use assize_store::EstimatedMetric;

use crate::sample::ClusteredSample;

/// Formats a number for a sentence.
pub(crate) fn format_number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a rate as a percentage.
pub(crate) fn format_percent(rate: f64) -> String {
    format!("{}%", format_number((rate * 1000.0).round() / 10.0))
}

/// Formats a level as a percentage.
pub(crate) fn format_level(level: ConfidenceLevel) -> String {
    format!("{}%", format_number(level.get() * 100.0))
}

/// Computes the share of values that are 1, with Blaker's interval, or Wilson's on the effective number of cases if cases share
/// clusters.
pub(crate) fn case_rate_metric(
    sample: &ClusteredSample,
    level: ConfidenceLevel,
    what: &str,
) -> EstimatedMetric {
    let successes = sample.values.iter().filter(|value| **value > 0.5).count() as u64;
    let plain = proportion(successes, sample.len() as u64, level);
    let interval = match sample.clusters() {
        None => plain.interval,
        Some(_) => bounded_mean_clustered(&sample.values, &sample.clusters, (0.0, 1.0), level)
            .and_then(|mean| mean.interval),
    };
    build_metric(plain.rate, interval, sample, level, |low, high| {
        format!(
            "Of further cases like these, between {} and {} would {what} ({} confidence).",
            format_percent(low),
            format_percent(high),
            format_level(level)
        )
    })
}

/// Computes the mean of values from 0 to 1, with Wilson's interval on the effective number of cases.
pub(crate) fn case_mean_metric(sample: &ClusteredSample, level: ConfidenceLevel) -> EstimatedMetric {
    let found = bounded_mean_clustered(&sample.values, &sample.clusters, (0.0, 1.0), level);
    let interval = found.and_then(|found| found.interval);
    build_metric(found.map(|found| found.mean), interval, sample, level, |low, high| {
        format!(
            "Over many more cases like these, the mean score would lie between {low:.3} and {high:.3} ({} confidence).",
            format_level(level)
        )
    })
}

/// Computes the rate of a criterion from its values and their clusters: the share that meet it, or the mean of
/// its scores.
pub fn criterion_rate(values: &[(f64, u64)], is_scored: bool, level: ConfidenceLevel) -> EstimatedMetric {
    // Cases finish in another order each time, and sums of the same scores in another order differ in their last digits.
    let mut values = values.to_vec();
    values.sort_unstable_by_key(|(value, cluster)| (*cluster, value.to_bits()));
    let mut sample = ClusteredSample::with_capacity(values.len());
    for (value, cluster) in values {
        sample.push(value, cluster);
    }

    if is_scored {
        case_mean_metric(&sample, level)
    } else {
        case_rate_metric(&sample, level, "meet this criterion")
    }
}

/// Computes the mean of probabilities, with a sentence about the event.
pub(crate) fn case_chance_metric(
    sample: &ClusteredSample,
    level: ConfidenceLevel,
    what: &str,
) -> EstimatedMetric {
    let mut figure = case_mean_metric(sample, level);
    if let (Some(low), Some(high)) = (figure.low, figure.high) {
        figure.says = format!(
            "For further cases like these, the chance that {what} lies between {} and {} ({} confidence).",
            format_percent(low),
            format_percent(high),
            format_level(level)
        );
    }

    figure
}

fn build_metric(
    value: Result<f64, UndefinedReason>,
    interval: Result<Interval, UndefinedReason>,
    sample: &ClusteredSample,
    level: ConfidenceLevel,
    says: impl FnOnce(f64, f64) -> String,
) -> EstimatedMetric {
    let undefined = value.err().or(interval.err()).map(|reason| reason.to_string());
    EstimatedMetric {
        value: value.ok(),
        n: sample.len() as u64,
        clusters: sample.clusters().map(|clusters| clusters as u64),
        low: interval.ok().map(|interval| interval.low),
        high: interval.ok().map(|interval| interval.high),
        level: level.get(),
        method: interval.ok().map(|interval| interval.method.name().to_owned()),
        says: match (interval, &undefined) {
            (Ok(interval), _) => says(interval.low, interval.high),
            (Err(reason), _) => format!("The confidence interval is undefined: {reason}."),
        },
        undefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[(f64, u64)]) -> ClusteredSample {
        let mut sample = ClusteredSample::default();
        for (value, cluster) in values {
            sample.push(*value, *cluster);
        }
        sample
    }

    #[test]
    fn a_rate_does_not_depend_on_the_order_of_completion() {
        let values: Vec<(f64, u64)> =
            (0..30u32).map(|n| (f64::from(n % 7) / 10.0, u64::from(n / 2))).collect();
        let first = criterion_rate(&values, true, ConfidenceLevel::P95);
        let mut turned = values;
        for turn in 1..10 {
            turned.rotate_left(turn);
            turned.swap(0, turn);
            assert_eq!(criterion_rate(&turned, true, ConfidenceLevel::P95), first);
        }
    }

    #[test]
    fn eight_of_ten_have_the_interval_of_blaker() {
        let cases: Vec<(f64, u64)> = (0..10).map(|at| (f64::from(u8::from(at < 8)), at)).collect();
        let rate = case_rate_metric(&sample(&cases), ConfidenceLevel::P95, "pass");
        assert_eq!((rate.value, rate.n, rate.clusters), (Some(0.8), 10, None));
        assert!(
            (rate.low.unwrap() - 0.444_447).abs() < 1e-6 && (rate.high.unwrap() - 0.963_229).abs() < 1e-6
        );
        assert_eq!(rate.method.as_deref(), Some("Blaker"));
    }

    #[test]
    fn clusters_that_all_pass_count_once_each() {
        let rate = case_rate_metric(
            &sample(&[(1.0, 7), (1.0, 7), (1.0, 9), (1.0, 9)]),
            ConfidenceLevel::P95,
            "pass",
        );
        // Two clusters, and the quantile of t with one degree of freedom, 12.706205: 2 / (2 + t^2).
        assert_eq!((rate.high, rate.clusters), (Some(1.0), Some(2)));
        assert!((rate.low.unwrap() - 2.0 / (2.0 + 161.447_639)).abs() < 1e-6, "{rate:?}");
    }

    #[test]
    fn nothing_and_one_value_are_undefined_in_words() {
        let none = case_mean_metric(&sample(&[]), ConfidenceLevel::P95);
        assert_eq!((none.value, none.undefined.as_deref()), (None, Some("there are no values")));
        let one = case_mean_metric(&sample(&[(0.5, 1)]), ConfidenceLevel::P95);
        assert_eq!((one.value, one.low, one.method), (Some(0.5), None, None));
        assert!(one.says.contains("undefined: a single value"), "{}", one.says);
    }

    #[test]
    fn a_clustered_mean_has_the_clustered_error() {
        // Ten scores of six prompts, the worked example of the handbook's clustered mean.
        let clusters = [0, 0, 0, 1, 1, 2, 3, 3, 4, 5];
        let values = [0.9, 0.8, 1.0, 0.2, 0.3, 0.5, 0.7, 0.6, 0.1, 0.65];
        let cases: Vec<(f64, u64)> = values.into_iter().zip(clusters).collect();
        let mean = case_mean_metric(&sample(&cases), ConfidenceLevel::P95);
        assert!((mean.value.unwrap() - 0.575).abs() < 1e-12);
        assert_eq!((mean.clusters, mean.method.as_deref()), (Some(6), Some("Wilson, effective n")));
    }
}
