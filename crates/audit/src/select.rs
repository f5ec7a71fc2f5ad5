//! Selection of cases for an audit.

use assize_stats::SeededRandom;
use rand_core::RngCore;

/// Selects at most `most` of `n` indices uniformly at random, in ascending order. Deterministic for a seed.
pub fn choose_cases(n: usize, most: usize, seed: u64) -> Vec<usize> {
    if most >= n {
        return (0..n).collect();
    }

    let mut random = SeededRandom::new(seed);
    let mut drawn: Vec<(u64, usize)> = (0..n).map(|place| (random.next_u64(), place)).collect();
    drawn.sort_unstable();

    let mut places: Vec<usize> = drawn.into_iter().take(most).map(|(_, place)| place).collect();
    places.sort_unstable();

    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_has_the_same_chance_and_a_seed_is_one_choice() {
        assert_eq!(choose_cases(3, 5, 1), [0, 1, 2]);
        assert_eq!(choose_cases(100, 7, 4), choose_cases(100, 7, 4));
        assert_ne!(choose_cases(100, 7, 4), choose_cases(100, 7, 5));
        assert_eq!(choose_cases(100, 7, 4).len(), 7);
        let mut times = [0u32; 10];
        for seed in 0..2000 {
            for place in choose_cases(10, 3, seed) {
                times[place] += 1;
            }
        }
        assert!(times.iter().all(|&times| (520..680).contains(&times)), "{times:?}");
    }
}
