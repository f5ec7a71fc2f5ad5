//! Random order of cases.

use std::collections::HashMap;

use assize_run::WorkItem;
use assize_stats::SeededRandom;
use rand_core::RngCore;

/// Shuffles a list; the same seed gives the same order on every machine.
pub(crate) fn shuffle<T>(all: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = SeededRandom::new(seed);
    // Sorts by random keys. Equal 64-bit keys, which would keep the original order, are too rare to matter.
    let mut keyed: Vec<(u64, T)> = all.into_iter().map(|one| (random.next_u64(), one)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, one)| one).collect()
}

/// Puts the items of cases that belong together next to each other, so that a random order moves them together.
pub(crate) fn join_clusters<E>(cases: Vec<Vec<Result<WorkItem, E>>>) -> Vec<Vec<Result<WorkItem, E>>> {
    let mut joined: Vec<Vec<Result<WorkItem, E>>> = Vec::new();
    let mut places = HashMap::new();
    for items in cases {
        let key = items.iter().find_map(|item| Some(item.as_ref().ok()?.cluster_key()));
        match key {
            None => joined.push(items),
            Some(key) => {
                let place = *places.entry(key).or_insert(joined.len());
                match joined.get_mut(place) {
                    Some(cluster) => cluster.extend(items),
                    None => joined.push(items),
                }
            }
        }
    }

    joined
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
