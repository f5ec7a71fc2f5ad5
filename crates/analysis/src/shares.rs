//! Shares and means over decisions that are clustered by case.

use assize_stats::{
    ConfidenceLevel, DifferenceReach, Interval, UndefinedReason, bounded_difference, bounded_mean_clustered,
    clustered_mean, proportion,
};

use crate::MetricEstimate;

/// Computes a share; each hit comes with its case. The interval is Wilson's, or the clustered one if that is
/// wider: with few cases, or without differences, the clustered one is too narrow. Several hits within a
/// single case have no interval, because they are no evidence about other cases.
pub fn share_metric<K: Ord>(
    (id, name, of): (&'static str, &'static str, &'static str),
    says: &'static str,
    hits: &[(K, bool)],
) -> MetricEstimate {
    let n = hits.len() as u64;
    let count = hits.iter().filter(|(_, hit)| *hit).count() as u64;
    let found = proportion(count, n, ConfidenceLevel::P95);
    MetricEstimate {
        id,
        name,
        value: found.rate,
        interval: wider_interval(found.interval, hits),
        n,
        of,
        says,
    }
}

fn wider_interval<K: Ord>(
    wilson: Result<Interval, UndefinedReason>,
    hits: &[(K, bool)],
) -> Result<Interval, UndefinedReason> {
    let values: Vec<f64> = hits.iter().map(|(_, hit)| f64::from(u8::from(*hit))).collect();
    let cases: Vec<&K> = hits.iter().map(|(case, _)| case).collect();
    let by_case = bounded_mean_clustered(&values, &cases, (0.0, 1.0), ConfidenceLevel::P95)
        .and_then(|found| found.interval);
    match (wilson, by_case) {
        (Ok(wilson), Ok(by_case)) if by_case.width() > wilson.width() => Ok(by_case),
        (Ok(_), Err(UndefinedReason::OneCluster)) => Err(UndefinedReason::OneCluster),
        (wilson, _) => wilson,
    }
}

/// Computes the mean of values from 0 to 1, each with its case. The interval is the clustered one of a
/// bounded mean, so that it stays within 0 to 1.
pub fn size_metric<K: Ord>(
    names: (&'static str, &'static str, &'static str),
    says: &'static str,
    sizes: &[(K, f64)],
) -> MetricEstimate {
    let (cases, values): (Vec<&K>, Vec<f64>) = sizes.iter().map(|(case, size)| (case, *size)).unzip();
    bounded_metric(names, says, (&values, &cases), (0.0, 1.0), ConfidenceLevel::P95)
}

/// Computes the mean of values within a range, each with its cluster, with the clustered interval of a bounded mean.
pub(crate) fn bounded_metric<K: Ord>(
    (id, name, of): (&'static str, &'static str, &'static str),
    says: &'static str,
    (values, clusters): (&[f64], &[K]),
    range: (f64, f64),
    level: ConfidenceLevel,
) -> MetricEstimate {
    let found = bounded_mean_clustered(values, clusters, range, level);
    MetricEstimate {
        id,
        name,
        value: found.map(|found| found.mean),
        interval: found.and_then(|found| found.interval),
        n: values.len() as u64,
        of,
        says,
    }
}

/// Computes the mean of differences, each with its case. Differences within -1 to 1 get an interval from how
/// much rose and how much fell; others get one from the clustered error. Equal differences have no interval,
/// because no variation in the sample does not mean that there is none.
pub fn mean_metric<K: Ord>(
    (id, name, of): (&'static str, &'static str, &'static str),
    says: &'static str,
    differences: &[(K, f64)],
) -> MetricEstimate {
    let values: Vec<f64> = differences.iter().map(|(_, value)| *value).collect();
    let cases: Vec<&K> = differences.iter().map(|(case, _)| case).collect();
    let found = clustered_mean(&values, &cases, ConfidenceLevel::P95);
    let varies = values.iter().any(|value| (value - values[0]).abs() > assize_rubric::TOLERANCE);
    let is_bounded = values.iter().all(|value| value.abs() <= 1.0 + assize_rubric::TOLERANCE);
    let interval = found.and_then(|found| match found.interval {
        Ok(_) if !varies => Err(UndefinedReason::NoSpread),
        Ok(_) if is_bounded => bounded_difference(&values, &cases, DifferenceReach::symmetric(1.0))?
            .interval(ConfidenceLevel::P95),
        other => other,
    });

    MetricEstimate {
        id,
        name,
        value: found.map(|found| found.mean),
        interval,
        n: values.len() as u64,
        of,
        says,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_case_that_change_together_widen_the_interval() {
        let names = ("x", "x", "decisions");
        let apart: Vec<(usize, bool)> = (0..40).map(|at| (at, at < 20)).collect();
        let together: Vec<(usize, bool)> = (0..40).map(|at| (at / 10, at < 20)).collect();
        let (apart, together) = (share_metric(names, "", &apart), share_metric(names, "", &together));
        assert_eq!((apart.value, together.value), (Ok(0.5), Ok(0.5)));
        let width = |figure: &MetricEstimate| figure.interval.expect("defined").width();
        assert!(width(&together) > width(&apart) * 2.0);
        // Blaker's upper end for 0 of 10, although no item differs.
        let none: Vec<(usize, bool)> = (0..10).map(|at| (at, false)).collect();
        let high = share_metric(names, "", &none).interval.expect("defined").high;
        assert!((high - 0.282_935).abs() < 1e-6, "{high}");
        assert_eq!(share_metric::<usize>(names, "", &[]).value, Err(UndefinedReason::NoValues));
    }

    #[test]
    fn hits_of_one_case_say_nothing_about_others() {
        let names = ("x", "x", "decisions");
        let shown: Vec<(u8, bool)> = (0..26).map(|_| (1, false)).collect();
        let found = share_metric(names, "", &shown);
        assert_eq!((found.value, found.interval), (Ok(0.0), Err(UndefinedReason::OneCluster)));
        // A single hit is one independent case.
        assert!(share_metric(names, "", &shown[..1]).interval.is_ok());
    }

    #[test]
    fn the_interval_of_sizes_stays_within_their_range() {
        let names = ("x", "x", "answers");
        let sizes: Vec<(usize, f64)> = (0..8).map(|at| (at, if at == 0 { 0.5 } else { 0.0 })).collect();
        let found = size_metric(names, "", &sizes);
        let interval = found.interval.expect("defined");
        assert!(interval.low >= 0.0 && interval.high <= 1.0 && interval.width() > 0.1, "{interval:?}");
        let none: Vec<(usize, f64)> = (0..8).map(|at| (at, 0.0)).collect();
        let interval = size_metric(names, "", &none).interval.expect("equal sizes have a width too");
        assert!(interval.low >= 0.0 && interval.width() > 0.1, "{interval:?}");
    }

    #[test]
    fn equal_differences_have_a_mean_and_no_interval() {
        let names = ("x", "x", "cases");
        let found = mean_metric(names, "", &[(1, 0.25), (2, 0.25)]);
        assert_eq!((found.value, found.interval), (Ok(0.25), Err(UndefinedReason::NoSpread)));
        assert_eq!(mean_metric::<u8>(names, "", &[]).value, Err(UndefinedReason::NoValues));
        assert!(mean_metric(names, "", &[(1, 0.25), (2, 0.0)]).interval.is_ok());
    }
}
