//! Drawing a sample whose members have different probabilities.

use rand_core::RngCore;

use crate::{UndefinedReason, undefined::check_all_finite, variates::uniform};

/// Returns probabilities of being drawn that are proportional to sizes and sum to the wanted number. A member
/// whose probability would exceed 1 is certain to be drawn, and the others share the rest. Sizes must be
/// above 0. Source: M. Hansen and W. Hurwitz, Annals of Mathematical Statistics 14 (1943), 333-362.
pub fn inclusion_probabilities(sizes: &[f64], wanted: usize) -> Result<Vec<f64>, UndefinedReason> {
    check_all_finite(sizes)?;
    if sizes.iter().any(|size| *size <= 0.0) {
        return Err(UndefinedReason::OutOfRange);
    }
    if wanted >= sizes.len() {
        return Ok(vec![1.0; sizes.len()]);
    }

    let mut certain = vec![false; sizes.len()];
    loop {
        let left = wanted as f64 - certain.iter().filter(|certain| **certain).count() as f64;
        let sum: f64 =
            sizes.iter().zip(&certain).filter(|(_, certain)| !**certain).map(|(size, _)| size).sum();
        let found: Vec<f64> = sizes
            .iter()
            .zip(&certain)
            .map(|(size, certain)| if *certain { 1.0 } else { left * size / sum })
            .collect();
        let mut is_new = false;
        for (certain, probability) in certain.iter_mut().zip(&found) {
            is_new |= !*certain && *probability >= 1.0;
            *certain |= *probability >= 1.0;
        }
        if !is_new {
            return Ok(found);
        }
    }
}

/// Draws members with exactly these probabilities, and exactly as many as their sum. The members are put in
/// random order on a line, each as long as its probability; points at distance 1 from a random start select
/// the members they fall on. Members are returned in random order. Source: W. Madow, Annals of Mathematical
/// Statistics 20 (1949), 333-354.
pub fn systematic_draw<R: RngCore + ?Sized>(probabilities: &[f64], random: &mut R) -> Vec<usize> {
    let mut keyed: Vec<(u64, usize)> = (0..probabilities.len()).map(|at| (random.next_u64(), at)).collect();
    keyed.sort_unstable();

    let start = uniform(random);
    let mut drawn = Vec::new();
    let (mut sum, mut points) = (0.0, 0.0);
    for (_, at) in keyed {
        sum += probabilities[at];
        if sum > start + points {
            drawn.push((random.next_u64(), at));
            points += 1.0;
        }
    }

    drawn.sort_unstable();
    drawn.into_iter().map(|(_, at)| at).collect()
}
