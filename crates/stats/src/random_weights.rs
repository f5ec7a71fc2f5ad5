//! Ends of the interval of a mean over units with random weights.
//!
//! A mean over nearly equal values has almost no spread, yet the sample may have missed rare values at an end
//! of the range. So the mean is also computed with random weights, including a small one for each end of the
//! range, and the interval must reach to the quantile of that weighted mean. The quantile is computed by a
//! saddlepoint approximation and not by simulation, so that it is fast and has the same value in every run.

use crate::{distribution::normal_upper_quantile, unit_list::UnitList};

/// Maximum number of steps of a search; fewer than ten are usual.
const MAX_STEPS: u32 = 100;

/// Relative precision of the tilt.
const TILT_PRECISION: f64 = 1e-9;
/// Precision of an end, as a share of the range.
const END_PRECISION: f64 = 1e-10;

/// Distance from the mean, in standard errors, below which the correction of the saddlepoint is omitted; it
/// would be 0 / 0.
const NEAR_MEAN: f64 = 1e-3;

/// Units of values from 0 to 1 with random weights. The weight of a unit has a gamma distribution of shape 1;
/// in addition, an average unit at either end of the range has a weight of shape `end_weight`. For
/// independent values of 0 and 1 and an `end_weight` of one half, the share of ones then has Jeffreys'
/// posterior.
#[derive(Debug)]
pub(crate) struct RandomWeights<'a, L> {
    units: &'a L,
    /// Size of an average unit.
    size: f64,
    end_weight: f64,
    /// Shape of a unit's weight: the number of similar units that each one represents.
    unit_weight: f64,
    /// True if values are mirrored, so that they count from 1 downwards.
    is_mirrored: bool,
}

/// One weight in the sum that is at most 0 exactly if the weighted mean is at most a given value: its shape, and its
/// factor in the sum.
struct WeightedTerm {
    shape: f64,
    distance: f64,
    /// Decrease of `distance` per unit of the given value.
    size: f64,
}

/// Probability that the weighted mean is at most a given value.
struct LowerTail {
    /// The normal quantile of the probability.
    quantile: f64,
    /// Approximate derivative of the quantile with respect to the value.
    slope: f64,
    /// The saddlepoint. The search for the saddlepoint of a nearby value starts here.
    tilt: f64,
}

impl<'a, L: UnitList> RandomWeights<'a, L> {
    /// Creates weights for these units, at least one; `end_weight` must be above 0.
    pub(crate) fn new(units: &'a L, end_weight: f64) -> Self {
        let mut size = 0.0;
        units.visit(|_, of_unit| size += of_unit);
        let size = size / units.count() as f64;
        Self { units, size, end_weight, unit_weight: 1.0, is_mirrored: false }
    }

    /// Lets each unit represent this many similar ones, not necessarily a whole number.
    pub(crate) fn with_unit_weight(self, unit_weight: f64) -> Self {
        Self { unit_weight, ..self }
    }

    /// Moves the ends of an interval within 0 to 1 outwards to the quantiles of the weighted mean with
    /// probability `tail` on each side, if these are further out.
    pub(crate) fn widen(self, (low, high): (f64, f64), tail: f64) -> (f64, f64) {
        let mirrored = Self { is_mirrored: true, ..self };
        (
            self.lower_end(tail, low).unwrap_or(low),
            mirrored.lower_end(tail, 1.0 - high).map_or(high, |end| 1.0 - end),
        )
    }

    /// Returns the value below which the weighted mean is with probability `tail`, if that is less than
    /// `end`.
    fn lower_end(&self, tail: f64, end: f64) -> Option<f64> {
        if end <= 0.0 || end >= 1.0 {
            return None;
        }

        let wanted = -normal_upper_quantile(tail);
        let mut found = self.lower_tail(end, 0.0);
        if found.quantile <= wanted {
            return None;
        }

        let (mut low, mut high, mut at) = (0.0, end, end);
        for _ in 0..MAX_STEPS {
            let next = within_or_middle(at - (found.quantile - wanted) / found.slope, low, high);
            let step = (next - at).abs();
            at = next;
            if step <= END_PRECISION {
                break;
            }

            found = self.lower_tail(at, found.tilt);
            if found.quantile > wanted { high = at } else { low = at }
        }
        Some(at)
    }

    fn visit_terms(&self, at: f64, mut see: impl FnMut(WeightedTerm)) {
        self.units.visit(|sum, size| {
            let sum = if self.is_mirrored { size - sum } else { sum };
            see(WeightedTerm { shape: self.unit_weight, distance: sum - at * size, size });
        });
        for end in [0.0, 1.0] {
            let distance = (end - at) * self.size;
            see(WeightedTerm { shape: self.end_weight, distance, size: self.size });
        }
    }

    /// The weighted mean is at most `at` where the sum of `weight * distance` is at most 0. Its cumulant
    /// generating function is `K(s) = -sum(shape ln(1 - s distance))`, and the quantile is `w + ln(u/w) / w`
    /// at the saddlepoint s, where K' is 0, with `w = -sqrt(-2 K)` and `u = s sqrt(K'')`. Sources: R.
    /// Lugannani and S. Rice, Advances in Applied Probability 12 (1980), 475-490, in the form of O.
    /// Barndorff-Nielsen, Biometrika 73 (1986), 307-322, which gives no probabilities outside 0 to 1.
    fn lower_tail(&self, at: f64, start: f64) -> LowerTail {
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        self.visit_terms(at, |term| {
            least = least.min(term.distance);
            most = most.max(term.distance);
        });

        // K is finite in between, because there is a term at either end, and K' rises from minus to plus
        // infinity.
        let (mut low, mut high) = (1.0 / least, 1.0 / most);
        let mut tilt = within_or_middle(start, low, high);
        for _ in 0..MAX_STEPS {
            let (mut first, mut second) = (0.0, 0.0);
            self.visit_terms(at, |term| {
                let tilted = term.distance / (1.0 - tilt * term.distance);
                first += term.shape * tilted;
                second += term.shape * tilted * tilted;
            });
            if first > 0.0 {
                high = tilt;
            } else {
                low = tilt;
            }

            let next = within_or_middle(tilt - first / second, low, high);
            let step = (next - tilt).abs();
            tilt = next;
            if step <= TILT_PRECISION * tilt.abs() {
                break;
            }
        }

        let (mut generating, mut second, mut by_value) = (0.0, 0.0, 0.0);
        self.visit_terms(at, |term| {
            let left = 1.0 - tilt * term.distance;
            generating -= term.shape * left.ln();
            second += term.shape * (term.distance / left).powi(2);
            by_value -= term.shape * tilt * term.size / left;
        });
        let root = (-2.0 * generating).max(0.0).sqrt().copysign(tilt);
        let corrected = root + (tilt * second.sqrt() / root).ln() / root;
        let quantile = if root.abs() < NEAR_MEAN { root } else { corrected };
        LowerTail { quantile, slope: -by_value / root, tilt }
    }
}

/// Returns the value, or the middle of the range if the value is outside it.
fn within_or_middle(value: f64, low: f64, high: f64) -> f64 {
    if value > low && value < high { value } else { f64::midpoint(low, high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        SeededRandom,
        special_functions::{beta_quantile, beta_tails},
        unit_list::UnitVec,
        variates::gamma,
    };

    const TAIL: f64 = 0.025;

    #[test]
    fn verdicts_have_jeffreys_interval() {
        for (ones, n) in [(1, 5), (2, 10), (5, 10), (9, 10), (28, 30), (295, 300)] {
            let units: UnitVec = (0..n).map(|at| (if at < ones { 1.0 } else { 0.0 }, 1.0)).collect();
            let weights = RandomWeights::new(&units, 0.5);
            let rate = f64::from(ones) / f64::from(n);
            let (low, high) = weights.widen((rate, rate), TAIL);
            let (a, b) = (f64::from(ones) + 0.5, f64::from(n - ones) + 0.5);
            // The error of the saddlepoint is less than a fiftieth of the tail.
            let found = beta_tails(a, b, low, 1.0 - low).0;
            assert!((found / TAIL - 1.0).abs() < 0.02, "{ones} of {n}: {found} below {low}");
            assert!((low - beta_quantile(TAIL, a, b)).abs() < 2e-3, "{ones} of {n}: {low}");
            assert!((1.0 - high - beta_quantile(TAIL, b, a)).abs() < 2e-3, "{ones} of {n}: {high}");
        }
    }

    #[test]
    fn ends_are_those_of_drawn_weights() {
        let sums = [2.4, 1.6, 2.35, 0.8, 4.0, 1.55];
        let sizes = [3.0, 2.0, 3.0, 1.0, 5.0, 2.0];
        let units: UnitVec = sums.into_iter().zip(sizes).collect();
        let (low, high) = RandomWeights::new(&units, 0.5).widen((0.79, 0.8), TAIL);
        // Two million draws of numpy's Generator.gamma. The ends by the saddlepoint are further out, by a
        // seventieth of the width.
        assert!((low - 0.534_397).abs() < 5e-3 && (high - 0.846_328).abs() < 5e-3, "{low} {high}");

        let random = &mut SeededRandom::new(5);
        let size = 16.0 / 6.0;
        let draws = 40_000;
        let (mut below, mut above) = (0, 0);
        for _ in 0..draws {
            let (bottom, top) = (gamma(0.5, random), gamma(0.5, random));
            let (mut sum, mut all) = (top * size, (bottom + top) * size);
            for (unit, n) in sums.iter().zip(sizes) {
                let weight = gamma(1.0, random);
                sum += weight * unit;
                all += weight * n;
            }
            below += u32::from(sum / all < low);
            above += u32::from(sum / all > high);
        }
        // Four standard errors plus the error of the saddlepoint.
        for count in [below, above] {
            assert!((f64::from(count) / f64::from(draws) - TAIL).abs() < 0.004, "{count} of {draws}");
        }
    }

    #[test]
    fn ends_that_lie_far_out_stay() {
        let units: UnitVec = [0.8, 0.75, 0.8].into_iter().map(|sum| (sum, 1.0)).collect();
        for ends in [(0.1, 0.99), (0.0, 1.0)] {
            assert_eq!(RandomWeights::new(&units, 0.5).widen(ends, TAIL), ends);
        }
    }
}
