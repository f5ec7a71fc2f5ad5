//! Cases of a benchmark, by id.

use std::sync::Arc;

use super::benchmark_case::BenchmarkCase;

/// Results of a benchmark on its cases, sorted by id. A sorted list instead of a map, because most benchmarks
/// of a large tree have few cases; the ids are shared by all benchmarks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BenchmarkCaseList {
    entries: Vec<(Arc<str>, BenchmarkCase)>,
}

impl BenchmarkCaseList {
    /// Adds a case, in any order; call [`BenchmarkCaseList::sort_and_dedup`] afterwards.
    pub(super) fn push(&mut self, id: Arc<str>, case: BenchmarkCase) {
        if self.entries.is_empty() {
            self.entries.reserve_exact(1);
        }
        self.entries.push((id, case));
    }

    /// Returns the case added last, if it has this id.
    pub(super) fn last_with_id(&mut self, id: &str) -> Option<&mut BenchmarkCase> {
        self.entries.last_mut().filter(|(last, _)| **last == *id).map(|(_, case)| case)
    }

    /// Sorts the cases by id and keeps the last entry of each.
    pub(super) fn sort_and_dedup(&mut self) {
        self.entries.reverse();
        self.entries.sort_by(|a, b| a.0.cmp(&b.0));
        // The sort is stable and the list was reversed, so the entry added last comes first.
        self.entries.dedup_by(|later, first| later.0 == first.0);
    }

    /// Returns the cases that `takes` accepts.
    pub(super) fn filter_ids(&self, takes: impl Fn(&str) -> bool) -> Self {
        Self { entries: self.entries.iter().filter(|(id, _)| takes(id)).cloned().collect() }
    }

    /// Returns a case by its id.
    pub fn get(&self, id: &str) -> Option<&BenchmarkCase> {
        let at = self.entries.binary_search_by(|(known, _)| (**known).cmp(id)).ok()?;
        self.entries.get(at).map(|(_, case)| case)
    }

    /// Iterates over all cases with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BenchmarkCase)> {
        self.entries.iter().map(|(id, case)| (&**id, case))
    }

    /// Iterates over all cases.
    pub fn values(&self) -> impl Iterator<Item = &BenchmarkCase> {
        self.entries.iter().map(|(_, case)| case)
    }

    /// Returns the number of cases.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no cases.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use assize_rubric::{BenchmarkFinding, BenchmarkState};

    use super::*;
    use crate::scorecard::BenchmarkMeasurement;

    fn case(reason: &str) -> BenchmarkCase {
        BenchmarkCase {
            finding: BenchmarkFinding::undecided(BenchmarkState::Missing, false),
            score: None,
            reason: reason.to_owned(),
            calls: 0,
            cached_calls: 0,
            labels: None,
            votes: Vec::new(),
            measurement: BenchmarkMeasurement::default(),
        }
    }

    #[test]
    fn cases_are_in_order_and_the_last_word_counts() {
        let mut list = BenchmarkCaseList::default();
        for (id, reason) in [("b", "first"), ("a", "only"), ("b", "second"), ("c", "x"), ("b", "third")] {
            list.push(Arc::from(id), case(reason));
        }
        assert!(list.last_with_id("b").is_some() && list.last_with_id("c").is_none());
        list.sort_and_dedup();
        let all: Vec<(&str, &str)> = list.iter().map(|(id, case)| (id, case.reason.as_str())).collect();
        assert_eq!(all, [("a", "only"), ("b", "third"), ("c", "x")]);
        assert_eq!(list.get("b").map(|case| case.reason.as_str()), Some("third"));
        assert_eq!(list.get("d"), None);
        assert_eq!(list.filter_ids(|id| id != "a").len(), 2);
    }
}
