//! Metrics of cases: rates and means with their intervals and a sentence about them.

use assize_rubric::format_rate;
use assize_stats::{BoundedMean, ConfidenceLevel, Interval, UndefinedReason, proportion};
use assize_store::EstimatedMetric;

/// Values from 0 to 1 in clusters, for computing metrics of cases.
pub(crate) trait MetricSample {
    /// Number of values.
    fn len(&self) -> usize;

    /// Number of clusters, if any of them holds more than one value.
    fn clusters(&self) -> Option<usize>;

    /// Number of values that are nearer to 1 than to 0.
    fn successes(&self) -> u64;

    /// The mean of the values, with its interval.
    fn bounded_mean(&self, level: ConfidenceLevel) -> Result<BoundedMean, UndefinedReason>;
}

/// Formats a number for a sentence.
pub(crate) fn format_number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a level as a percentage.
pub(crate) fn format_level(level: ConfidenceLevel) -> String {
    format!("{}%", format_number(level.get() * 100.0))
}

/// Computes the share of values that are 1, with Blaker's interval, or with Wilson's on the effective number
/// of cases if cases share clusters. `what` completes the sentence "between ... and ... would".
pub(crate) fn case_rate_metric(
    sample: &impl MetricSample,
    level: ConfidenceLevel,
    what: &str,
) -> EstimatedMetric {
    let plain = proportion(sample.successes(), sample.len() as u64, level);
    let interval = match sample.clusters() {
        None => plain.interval,
        Some(_) => sample.bounded_mean(level).and_then(|mean| mean.interval),
    };
    build_metric(plain.rate, interval, sample, level, |low, high| rate_sentence(low, high, level, what))
}

/// Explains the interval of a rate: it is about the rate among all cases like these. The rate of another run with as
/// many cases may well be outside. `what` completes the sentence "between ... and ... would".
pub fn rate_sentence(low: f64, high: f64, level: ConfidenceLevel, what: &str) -> String {
    format!(
        "Over many more cases like these, between {} and {} would {what} ({} confidence).",
        format_rate(low),
        format_rate(high),
        format_level(level)
    )
}

/// Explains the interval of a mean score.
pub fn mean_sentence(low: f64, high: f64, level: ConfidenceLevel) -> String {
    format!(
        "Over many more cases like these, the mean score would lie between {low:.3} and {high:.3} ({} confidence).",
        format_level(level)
    )
}

/// Says why there is no interval.
fn undefined_sentence(reason: &str) -> String {
    format!("The confidence interval is undefined: {reason}.")
}

/// Removes an interval that holds only if the number of cases was fixed before the first of them.
pub fn withdraw_interval(metric: &mut EstimatedMetric) {
    (metric.low, metric.high, metric.method) = (None, None, None);
    let reason = "the run stopped because its result was clear, and the interval assumes that it could not";
    metric.says = undefined_sentence(reason);
    metric.undefined = Some(reason.to_owned());
}

/// Computes the mean of values from 0 to 1, with Wilson's interval on the effective number of cases.
pub(crate) fn case_mean_metric(sample: &impl MetricSample, level: ConfidenceLevel) -> EstimatedMetric {
    let found = sample.bounded_mean(level);
    let interval = found.and_then(|found| found.interval);
    build_metric(found.map(|found| found.mean), interval, sample, level, |low, high| {
        mean_sentence(low, high, level)
    })
}

/// Computes the mean of probabilities, with a sentence about the event.
pub(crate) fn case_chance_metric(
    sample: &impl MetricSample,
    level: ConfidenceLevel,
    what: &str,
) -> EstimatedMetric {
    let mut figure = case_mean_metric(sample, level);
    if let (Some(low), Some(high)) = (figure.low, figure.high) {
        figure.says = format!(
            "Over many more cases like these, the chance that {what} lies between {} and {} ({} confidence).",
            format_rate(low),
            format_rate(high),
            format_level(level)
        );
    }

    figure
}

fn build_metric(
    value: Result<f64, UndefinedReason>,
    interval: Result<Interval, UndefinedReason>,
    sample: &impl MetricSample,
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
            (Err(reason), _) => undefined_sentence(&reason.to_string()),
        },
        undefined,
    }
}

#[cfg(test)]
mod tests {
    use assize_stats::{PlannedMean, clustered_mean};

    use super::*;
    use crate::sample::ClusteredSample;
    use crate::stored_sample::StoredSample;

    fn sample(values: &[(f64, u64)]) -> ClusteredSample {
        let mut sample = ClusteredSample::default();
        for (value, cluster) in values {
            sample.push(*value, *cluster);
        }
        sample
    }

    #[test]
    fn a_stored_sample_has_the_metrics_of_one_in_memory() {
        // The last sample is so large that its values and clusters are in files.
        let clusters: [fn(u64) -> u64; 4] = [|at| at, |at| at / 7 * 31 % 101, |_| 3, |at| at / 2];
        for (count, cluster) in [900, 900, 900, 200_000].into_iter().zip(clusters) {
            let values: Vec<(f64, u64)> =
                (0..count).map(|at| ((at * 37 % 11) as f64 / 10.0, cluster(at))).collect();
            let held = sample(&values);
            let mut stored = StoredSample::new(&std::env::temp_dir());
            for (value, cluster) in values {
                stored.push(value, cluster);
            }
            let mut stored = stored.finish().unwrap();

            let level = ConfidenceLevel::P95;
            assert_eq!(case_mean_metric(&stored, level), case_mean_metric(&held, level));
            assert_eq!(case_rate_metric(&stored, level, "x"), case_rate_metric(&held, level, "x"));
            let clustered = held.clusters().map(|_| clustered_mean(&held.values, &held.clusters, level));
            assert_eq!(stored.clustered_mean(level).unwrap(), clustered.and_then(Result::ok));
            let planned = PlannedMean::new(&held.values, &held.clusters, level);
            assert_eq!(stored.planned_mean(level), planned);
            stored.check().unwrap();
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
