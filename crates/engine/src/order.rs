//! Random order of cases.

use assize_stats::SeededRandom;
use rand_core::RngCore;

/// Generates a random seed, short enough to be typed.
pub(crate) fn new_seed() -> u64 {
    u64::from(uuid::Uuid::new_v4().as_fields().0)
}

/// Shuffles a list; the same seed gives the same order on every machine.
pub(crate) fn shuffle<T>(all: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = SeededRandom::new(seed);
    // Sorts by random keys. Equal 64-bit keys, which would keep the original order, are too rare to matter.
    let mut keyed: Vec<(u64, T)> = all.into_iter().map(|one| (random.next_u64(), one)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_order_and_loses_nothing() {
        let all: Vec<u32> = (0..50).collect();
        let first = shuffle(all.clone(), 7);
        assert_eq!(first, shuffle(all.clone(), 7));
        assert_ne!(first, shuffle(all.clone(), 8));
        assert_ne!(first, all);
        let mut back = first;
        back.sort_unstable();
        assert_eq!(back, all);
    }
}
