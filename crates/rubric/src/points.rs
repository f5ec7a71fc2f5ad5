//! Signed points, as used by HealthBench-style rubrics.

use crate::sum::CompensatedSum;

/// Points earned divided by points that can be earned, for criteria given as (points, met).
///
/// `sum(points of met) / sum(positive points)`: met penalties are subtracted, so the ratio of one example may
/// be negative; such benchmarks clip only the mean over examples. `None` if no criterion has positive points,
/// or if the sums are not finite. Source: R. Arora et al., "HealthBench", arXiv 2505.08775, section 2.
pub fn points_ratio(criteria: impl IntoIterator<Item = (f64, bool)>) -> Option<f64> {
    let (mut earned, mut possible) = (CompensatedSum::default(), CompensatedSum::default());
    for (points, met) in criteria {
        if met {
            earned.add(points);
        }
        if points > 0.0 {
            possible.add(points);
        }
    }

    (possible.get() > 0.0).then(|| earned.get() / possible.get()).filter(|ratio| ratio.is_finite())
}

/// The mean of [`points_ratio`] over examples, before and after clipping to 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointsMean {
    /// The plain mean; may be negative.
    pub unclipped: f64,
    /// The published metric, 0 to 1.
    pub clipped: f64,
}

/// Averages the ratios of several examples. Only the mean is clipped, not its terms. `None` if there is no
/// example or the sum is not finite. Source as for [`points_ratio`].
pub fn points_mean(ratios: impl IntoIterator<Item = f64>) -> Option<PointsMean> {
    let mut sum = CompensatedSum::default();
    let mut count = 0u64;
    for ratio in ratios {
        sum.add(ratio);
        count += 1;
    }

    let unclipped = sum.get() / count as f64;
    unclipped.is_finite().then(|| PointsMean { unclipped, clipped: unclipped.clamp(0.0, 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_can_make_an_example_negative() {
        assert_eq!(points_ratio([(7.0, true), (5.0, false), (-8.0, true), (3.0, true)]), Some(2.0 / 15.0));
        assert_eq!(points_ratio([(2.0, false), (-10.0, true)]), Some(-5.0));
        assert_eq!(points_ratio([(-1.0, false)]), None);
    }

    #[test]
    fn what_is_not_a_number_is_not_a_ratio() {
        assert_eq!(points_ratio([(f64::NAN, true), (1.0, true)]), None);
        assert_eq!(points_ratio([(f64::MAX, true), (f64::MAX, true)]), None);
    }

    #[test]
    fn only_the_mean_is_clipped() {
        assert_eq!(points_mean([0.5, -1.5]), Some(PointsMean { unclipped: -0.5, clipped: 0.0 }));
        assert_eq!(points_mean([1.0, -0.5]), Some(PointsMean { unclipped: 0.25, clipped: 0.25 }));
        assert_eq!(points_mean([]), None);
    }
}
