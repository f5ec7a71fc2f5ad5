//! Random numbers from continuous distributions, with any generator of bits.

use rand_core::RngCore;

/// Draws a uniform number above 0 and below 1.
pub(crate) fn uniform<R: RngCore + ?Sized>(random: &mut R) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Draws from the exponential distribution with mean 1, by inversion.
pub(crate) fn exponential<R: RngCore + ?Sized>(random: &mut R) -> f64 {
    -uniform(random).ln()
}

/// Draws from the standard normal distribution. Source: G. Marsaglia and T. Bray, SIAM Review 6 (1964), 260-264.
fn normal<R: RngCore + ?Sized>(random: &mut R) -> f64 {
    loop {
        let (x, y) = (2.0 * uniform(random) - 1.0, 2.0 * uniform(random) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// Draws from the gamma distribution with a shape above 0 and scale 1. Source: G. Marsaglia and W. Tsang, ACM
/// Transactions on Mathematical Software 26 (2000), 363-372.
pub(crate) fn gamma<R: RngCore + ?Sized>(shape: f64, random: &mut R) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, random) * uniform(random).powf(1.0 / shape);
    }

    let shift = shape - 1.0 / 3.0;
    let scale = 1.0 / (9.0 * shift).sqrt();
    loop {
        let x = normal(random);
        let root = 1.0 + scale * x;
        if root <= 0.0 {
            continue;
        }

        let cube = root * root * root;
        if uniform(random).ln() < 0.5 * x * x + shift - shift * cube + shift * cube.ln() {
            return shift * cube;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    #[test]
    fn gamma_variates_have_their_mean_and_variance() {
        let mut random = SeededRandom::new(5);
        for shape in [0.25, 1.0, 7.5] {
            let drawn: Vec<f64> = (0..40_000).map(|_| gamma(shape, &mut random)).collect();
            let mean = drawn.iter().sum::<f64>() / 40_000.0;
            let variance = drawn.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 40_000.0;
            // Both equal the shape. Five standard errors are allowed for each.
            assert!((mean - shape).abs() < 5.0 * (shape / 40_000.0).sqrt(), "{shape}: {mean}");
            let error = ((2.0 * shape * shape + 6.0 * shape) / 40_000.0).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape}: {variance}");
        }
    }
}
