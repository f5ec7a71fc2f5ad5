//! Shares and means over decisions that are clustered by case.

use assize_stats::{Interval, Level, Undefined, clustered_mean, proportion};

use crate::Figure;

/// Computes a share; each hit comes with its case. The interval is Wilson's, or the clustered one if that is
/// wider: with few cases, or without differences, the clustered one is too narrow.
pub fn share<K: Ord>(
    (id, name, of): (&'static str, &'static str, &'static str),
    says: &'static str,
    hits: &[(K, bool)],
) -> Figure {
    let n = hits.len() as u64;
    let count = hits.iter().filter(|(_, hit)| *hit).count() as u64;
    let found = proportion(count, n, Level::P95);
    Figure { id, name, value: found.rate, interval: wider(found.interval, hits), n, of, says }
}

fn wider<K: Ord>(wilson: Result<Interval, Undefined>, hits: &[(K, bool)]) -> Result<Interval, Undefined> {
    let values: Vec<f64> = hits.iter().map(|(_, hit)| f64::from(u8::from(*hit))).collect();
    let cases: Vec<&K> = hits.iter().map(|(case, _)| case).collect();
    let by_case = clustered_mean(&values, &cases, Level::P95)
        .and_then(|found| found.interval)
        .map(|interval| interval.clipped(0.0, 1.0));
    match (wilson, by_case) {
        (Ok(wilson), Ok(by_case)) if by_case.width() > wilson.width() => Ok(by_case),
        (wilson, _) => wilson,
    }
}

/// Computes the mean of differences, each with its case, with the clustered interval. Equal differences have
/// no interval: no variation in the sample does not mean that there is none.
pub fn mean<K: Ord>(
    (id, name, of): (&'static str, &'static str, &'static str),
    says: &'static str,
    differences: &[(K, f64)],
) -> Figure {
    let values: Vec<f64> = differences.iter().map(|(_, value)| *value).collect();
    let cases: Vec<&K> = differences.iter().map(|(case, _)| case).collect();
    let found = clustered_mean(&values, &cases, Level::P95);
    let varies = values.iter().any(|value| (value - values[0]).abs() > assize_rubric::TOLERANCE);
    let interval = found.and_then(|found| match found.interval {
        Ok(_) if !varies => Err(Undefined::NoSpread),
        other => other,
    });
    Figure { id, name, value: found.map(|found| found.mean), interval, n: values.len() as u64, of, says }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_case_that_change_together_widen_the_interval() {
        let names = ("x", "x", "decisions");
        let apart: Vec<(usize, bool)> = (0..40).map(|at| (at, at < 20)).collect();
        let together: Vec<(usize, bool)> = (0..40).map(|at| (at / 10, at < 20)).collect();
        let (apart, together) = (share(names, "", &apart), share(names, "", &together));
        assert_eq!((apart.value, together.value), (Ok(0.5), Ok(0.5)));
        let width = |figure: &Figure| figure.interval.expect("defined").width();
        assert!(width(&together) > width(&apart) * 2.0);
        // Nothing that differs still leaves Wilson's upper end: z^2 / (n + z^2).
        let none: Vec<(usize, bool)> = (0..10).map(|at| (at, false)).collect();
        let high = share(names, "", &none).interval.expect("defined").high;
        assert!((high - 3.841_459 / 13.841_459).abs() < 1e-6, "{high}");
        assert_eq!(share::<usize>(names, "", &[]).value, Err(Undefined::NoValues));
    }

    #[test]
    fn equal_differences_have_a_mean_and_no_interval() {
        let names = ("x", "x", "cases");
        let found = mean(names, "", &[(1, 0.25), (2, 0.25)]);
        assert_eq!((found.value, found.interval), (Ok(0.25), Err(Undefined::NoSpread)));
        assert_eq!(mean::<u8>(names, "", &[]).value, Err(Undefined::NoValues));
        assert!(mean(names, "", &[(1, 0.25), (2, 0.0)]).interval.is_ok());
    }
}
