//! Signed points, as HealthBench-style rubrics use them.

use crate::sum::Sum;

/// Points earned over points that can be earned, for criteria of (points, met).
///
/// `sum(points of met) / sum(positive points)`: met penalties count against, so one example's ratio
/// may be negative; such benchmarks clip only the mean over examples. `None` if there is no
/// positive point to earn. Source: R. Arora et al., "HealthBench", arXiv 2505.08775, section 2.
pub fn points_ratio(criteria: impl IntoIterator<Item = (f64, bool)>) -> Option<f64> {
    let (mut earned, mut possible) = (Sum::default(), Sum::default());
    for (points, met) in criteria {
        if met {
            earned.add(points);
        }
        if points > 0.0 {
            possible.add(points);
        }
    }
    (possible.get() > 0.0).then(|| earned.get() / possible.get())
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
}
