//! Compensated summation, which does not lose small terms.

/// A running sum with Neumaier's compensation (A. Neumaier, ZAMM 54, 1974): the error does not grow with the
/// number of terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompensatedSum {
    total: f64,
    lost: f64,
}

impl CompensatedSum {
    pub(crate) fn add(&mut self, term: f64) {
        let total = self.total + term;
        self.lost += if self.total.abs() >= term.abs() {
            (self.total - total) + term
        } else {
            (term - total) + self.total
        };

        self.total = total;
    }

    pub(crate) fn get(self) -> f64 {
        self.total + self.lost
    }
}

/// Returns a divisor for weights that keeps their sums finite and above zero: 1 for ordinary weights, the
/// largest magnitude for extreme ones. Scaling all weights does not change scores.
pub(crate) fn weight_scale(weights: impl Iterator<Item = f64>) -> f64 {
    let largest = weights.map(f64::abs).fold(0.0, f64::max);
    if largest > 1e100 || (largest > 0.0 && largest < 1e-100) { largest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_large_ones() {
        let mut sum = CompensatedSum::default();
        for term in [1.0, 1e100, 1.0, -1e100] {
            sum.add(term);
        }
        assert_eq!(sum.get(), 2.0);
    }

    #[test]
    fn extreme_weights_get_a_unit() {
        assert_eq!(weight_scale([1.0, -3.0].into_iter()), 1.0);
        assert_eq!(weight_scale([1e300, 2.0].into_iter()), 1e300);
        assert_eq!(weight_scale([1e-200].into_iter()), 1e-200);
        assert_eq!(weight_scale(std::iter::empty()), 1.0);
    }
}
