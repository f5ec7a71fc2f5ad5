//! Unique ids for records and cases.

use std::collections::{HashMap, HashSet};

/// The set of used ids. An id that is requested again gets a number: `name-2`, `name-3`.
#[derive(Debug, Clone, Default)]
pub struct UniqueIds {
    taken: HashSet<String>,
    /// Next number to try for each id that was requested more than once. Without it, a file whose cases all
    /// have the same name would take quadratic time.
    numbers: HashMap<String, u32>,
}

impl UniqueIds {
    /// Takes and returns the id `wanted`, or else the first free one of `wanted-2`, `wanted-3`, ...
    pub fn take(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }

        let number = self.numbers.entry(wanted.to_owned()).or_insert(2);
        loop {
            let id = format!("{wanted}-{number}");
            *number += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Returns true if an id is taken.
    pub fn is_taken(&self, id: &str) -> bool {
        self.taken.contains(id)
    }
}

impl FromIterator<String> for UniqueIds {
    fn from_iter<I: IntoIterator<Item = String>>(ids: I) -> Self {
        Self { taken: ids.into_iter().collect(), numbers: HashMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_ids_get_the_next_free_number() {
        let mut ids: UniqueIds = ["b-2".to_owned()].into_iter().collect();
        let wishes = ["a", "a", "a-2", "a", "b", "b"];
        assert_eq!(wishes.map(|wish| ids.take(wish)), ["a", "a-2", "a-2-2", "a-3", "b", "b-3"]);
        assert!(ids.is_taken("b-2") && !ids.is_taken("c"));
    }

    /// If the search always began at the first number, this would take hours.
    #[test]
    fn many_cases_may_have_one_name() {
        let mut ids = UniqueIds::default();
        let last = (0..200_000).map(|_| ids.take("a")).last();
        assert_eq!(last.as_deref(), Some("a-200000"));
    }
}
