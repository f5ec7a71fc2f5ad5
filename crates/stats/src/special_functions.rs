//! The binomial density and the incomplete beta function, to nearly full precision at any size.
//!
//! Quotients of gamma functions lose digits as their arguments grow, because the logarithms are large and
//! nearly cancel. Here the large parts are cancelled analytically first.

use std::f64::consts::PI;

use statrs::function::gamma::ln_gamma;

/// Stirling's series with five terms is exact to the last digit for arguments of at least this.
const SERIES_FROM: f64 = 16.0;

/// `ln Gamma(x + 1) - ((x + 1/2) ln x - x + ln(2 pi) / 2)`, the error of Stirling's formula; x > 0.
/// Source: C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000), section 3;
/// the series is Abramowitz and Stegun 6.1.42.
fn stirling_error(x: f64) -> f64 {
    if x < SERIES_FROM {
        return ln_gamma(x + 1.0) - ((x + 0.5) * x.ln() - x + (2.0 * PI).ln() / 2.0);
    }

    let square = x * x;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square) / square)
            / square)
        / x
}

/// `x ln(x / m) + m - x` without cancellation if x is close to m. Source: Loader (2000), section 3.
fn deviance(x: f64, mean: f64) -> f64 {
    if (x - mean).abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() + mean - x;
    }

    let v = (x - mean) / (x + mean);
    let mut sum = (x - mean) * v;
    let mut term = 2.0 * x * v;
    for index in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * index + 1);
        if next == sum {
            break;
        }

        sum = next;
    }

    sum
}

/// `Gamma(a + b + 1) / (Gamma(a + 1) Gamma(b + 1)) x^a y^b` with y = 1 - x: the binomial density of a
/// successes and b failures, also for fractions. a, b > 0. Source: Loader (2000).
pub(crate) fn binomial_density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return 0.0;
    }

    let all = a + b;
    let exponent = stirling_error(all)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, all * x)
        - deviance(b, all * y);
    exponent.exp() * (all / (2.0 * PI * a * b)).sqrt()
}

/// Returns the lower and the upper tail of the beta distribution at x, with y = 1 - x passed separately so
/// that neither end loses digits; a, b > 0. Source: the continued fraction of NIST DLMF 8.17.22, evaluated by
/// the modified Lentz method (I. Thompson and A. Barnett, J. Comput. Phys. 64, 1986).
pub(crate) fn beta_tails(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if x <= 0.0 {
        (0.0, 1.0)
    } else if y <= 0.0 {
        (1.0, 0.0)
    } else if x < (a + 1.0) / (a + b + 2.0) {
        let lower = lower_tail_left_of_mean(a, b, x, y);
        (lower, 1.0 - lower)
    } else {
        let upper = lower_tail_left_of_mean(b, a, y, x);
        (1.0 - upper, upper)
    }
}

fn lower_tail_left_of_mean(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let front = binomial_density(a, b, x, y) * (b / (a + b));
    if front == 0.0 { 0.0 } else { (front * beta_continued_fraction(a, b, x)).min(1.0) }
}

fn beta_continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;

    let safe = |value: f64| if value.abs() < TINY { TINY } else { value };
    // The number of steps grows with the square root of the parameters.
    let most = 1_000 + (20.0 * a.max(b).sqrt()).min(4e7) as u64;

    // Ratios of successive numerators, and inverted ratios of successive denominators.
    let mut above = 1.0;
    let mut below = 1.0 / safe(1.0 - (a + b) * x / (a + 1.0));
    let mut product = below;
    for step in 1..most {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            below = 1.0 / safe(1.0 + term * below);
            above = safe(1.0 + term / above);
            product *= below * above;
        }

        if (below * above - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }

    product
}

/// Returns the point where the lower tail of the beta distribution is `probability`, by Newton's method
/// inside a shrinking bracket. Inaccurate only where the answer is closer to 1 than 1e-16; ask for the
/// mirrored quantile there.
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    if probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 {
        return 1.0;
    }

    let (mut low, mut high) = (0.0f64, 1.0f64);
    let mut x = a / (a + b);
    for _ in 0..400 {
        let y = 1.0 - x;
        let (lower, upper) = beta_tails(a, b, x, y);

        // The smaller of the two tails has the significant digits.
        let miss = if probability < 0.5 { lower - probability } else { (1.0 - probability) - upper };
        if miss == 0.0 {
            break;
        }

        if miss > 0.0 {
            high = x;
        } else {
            low = x;
        }

        let density = binomial_density(a, b, x, y) * a * b / ((a + b) * x * y);
        let newton = x - miss / density;
        let next = if newton.is_finite() && newton > low && newton < high {
            newton
        } else if low == 0.0 && high < 0.1 {
            // Near 0, halving the exponent is faster than halving the distance.
            (high * f64::MIN_POSITIVE.max(high * high * high)).sqrt()
        } else {
            f64::midpoint(low, high)
        };

        let step = (next - x).abs();
        x = next;

        if step <= f64::EPSILON * x || high - low <= f64::EPSILON * high {
            break;
        }
    }

    x
}

/// Computes the complementary error function: by its series of positive terms near 0, and by its continued
/// fraction beyond, so that the far tail keeps its digits. Source: NIST DLMF 7.6.2 and 7.9.1.
pub(crate) fn erfc(x: f64) -> f64 {
    /// Up to this argument, 1 minus the series loses few digits. Above it, the continued fraction needs few steps.
    const SERIES_LIMIT: f64 = 1.5;

    if x < 0.0 {
        return 2.0 - erfc(-x);
    }

    let square = x * x;
    if x < SERIES_LIMIT {
        let (mut term, mut sum) = (x, x);
        let mut odd = 1.0;
        while term > sum * f64::EPSILON / 4.0 {
            odd += 2.0;
            term *= 2.0 * square / odd;
            sum += term;
        }

        return 1.0 - 2.0 / PI.sqrt() * (-square).exp() * sum;
    }

    // From the inside out: x^2 + (1/2) / (1 + 1 / (x^2 + (3/2) / (1 + 2 / ...))).
    let mut rest = 0.0;
    for step in (1..=80).rev() {
        let step = f64::from(step);
        rest = (step - 0.5) / (1.0 + step / (square + rest));
    }

    x * (-square).exp() / (PI.sqrt() * (square + rest))
}

/// Returns the inverse of the complementary error function at `probability`, above 0 and below 2: an
/// approximation refined by one Newton step.
pub(crate) fn erfc_inverse(probability: f64) -> f64 {
    let x = statrs::function::erf::erfc_inv(probability);
    let slope = 2.0 / PI.sqrt() * (-x * x).exp();
    let better = x + (erfc(x) - probability) / slope;
    if better.is_finite() { better } else { x }
}

/// From this number of trials on, the normal distribution is used for a binomial tail. They differ by less than 1e-6 in
/// the logarithm of the tail.
const NORMAL_FROM: u64 = 1 << 42;

/// Returns `P(X <= k)` and `P(X = k)` for n tosses of a fair coin, k <= n / 2. The terms are summed from the
/// largest down, each computed from its neighbour, so that no digits cancel.
pub(crate) fn fair_coin_tail(successes: u64, trials: u64) -> (f64, f64) {
    let (k, n) = (successes as f64, trials as f64);
    if trials >= NORMAL_FROM {
        let z = (n - 2.0 * k - 1.0) / n.sqrt();
        let point = (2.0 / (PI * n)).sqrt() * (-((n - 2.0 * k).powi(2)) / (2.0 * n)).exp();
        return (erfc(z / std::f64::consts::SQRT_2) / 2.0, point);
    }

    let point = if successes == 0 { (-n * 2f64.ln()).exp() } else { binomial_density(k, n - k, 0.5, 0.5) };
    let (mut sum, mut term, mut below) = (1.0, 1.0, k);
    while below > 0.0 {
        term *= below / (n - below + 1.0);
        below -= 1.0;
        sum += term;

        if term < sum * 1e-18 {
            break;
        }
    }

    (point * sum, point)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{found} {expected}");
    }

    #[test]
    fn densities_are_those_of_small_coefficients() {
        near(binomial_density(3.0, 7.0, 0.25, 0.75), 120.0 * 0.25f64.powi(3) * 0.75f64.powi(7));
        near(binomial_density(20.0, 20.0, 0.5, 0.5), 137_846_528_820.0 / 2f64.powi(40));
    }

    #[test]
    fn tails_have_closed_forms_for_small_parameters() {
        // I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a, I_x(1/2, 1/2) = 2 asin(sqrt x) / pi.
        near(beta_tails(1.0, 7.0, 0.2, 0.8).0, 1.0 - 0.8f64.powi(7));
        near(beta_tails(5.0, 1.0, 0.9, 0.1).0, 0.9f64.powi(5));
        near(beta_tails(0.5, 0.5, 0.3, 0.7).0, 2.0 * 0.3f64.sqrt().asin() / PI);
        // A thousand steps of the fraction accumulate rounding errors.
        assert!((beta_tails(1e6, 1e6, 0.5, 0.5).0 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn error_functions_are_the_tabulated_ones() {
        for (x, value) in [
            (0.5, 0.479_500_122_186_953_5),
            (1.0, 0.157_299_207_050_285_13),
            (1.499_999, 0.033_894_972_455_156_87),
            (1.500_001, 0.033_894_734_594_578_45),
            (3.0, 2.209_049_699_858_544e-5),
            (6.0, 2.151_973_671_249_891e-17),
            (-1.0, 1.842_700_792_949_715),
        ] {
            near(erfc(x), value);
        }
        for probability in [1e-300, 1e-9, 0.05, 0.3, 1.0, 1.7] {
            near(erfc(erfc_inverse(probability)), probability);
        }
    }

    #[test]
    fn quantiles_undo_tails() {
        for (a, b) in [(0.5, 10.5), (1.0, 1.0), (3.0, 900.0), (4e5, 6e5), (1.0, 1e9), (0.5, 0.5)] {
            for probability in [1e-9, 0.005, 0.025, 0.4, 0.6, 0.975] {
                let x = beta_quantile(probability, a, b);
                let found = beta_tails(a, b, x, 1.0 - x).0;
                assert!((found / probability - 1.0).abs() < 1e-8, "{a} {b} {probability}: {x} {found}");
            }
        }
    }

    #[test]
    fn the_two_branches_of_the_coin_meet() {
        let n = NORMAL_FROM - 1;
        let k = n / 2 - 1_000_000;
        let (exact, point) = fair_coin_tail(k, n);
        let (normal, normal_point) = fair_coin_tail(k, n + 1);
        assert!((exact / normal - 1.0).abs() < 1e-5, "{exact} {normal}");
        assert!((point / normal_point - 1.0).abs() < 1e-5, "{point} {normal_point}");
    }
}
