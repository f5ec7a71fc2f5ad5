//! The rows that pass a filter, sorted: a list of row numbers, and each page is a slice of it.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::entry::CaseTableEntry;
use super::filter::CaseSort;

/// Rows sorted by each column, computed when first needed. A filter walks through one of them.
#[derive(Debug, Default)]
pub(crate) struct ColumnOrders([OnceLock<ColumnOrder>; CaseSort::ALL.len()]);

/// Rows sorted by a column.
#[derive(Debug, Default)]
pub(crate) struct ColumnOrder {
    /// Rows with a value, sorted by it; ties are in the order of the files.
    known: Vec<u32>,
    /// For each distinct value, the position in `known` behind its last row.
    ends: Vec<u32>,
    /// Rows without a value, in the order of the files. They come last in both directions.
    unknown: Vec<u32>,
}

impl ColumnOrders {
    /// The rows sorted by a column. Every call must pass the same `entries`, because the result is cached.
    pub(crate) fn by(&self, sort: CaseSort, entries: &[CaseTableEntry]) -> &ColumnOrder {
        self.0[sort as usize].get_or_init(|| {
            let by_place = || self.by(CaseSort::Place, entries).rows(false);
            match sort {
                CaseSort::Place => {
                    let place = |entry: &CaseTableEntry| {
                        Some(entry.place).filter(|place| *place != CaseTableEntry::NO_PLACE)
                    };
                    ColumnOrder::new(entries, 0..entries.len() as u32, place, Ord::cmp)
                }
                CaseSort::Verdict => {
                    ColumnOrder::new(entries, by_place(), |entry| Some(entry.verdict), Ord::cmp)
                }
                CaseSort::Score => ColumnOrder::new(entries, by_place(), |entry| entry.score, f64::total_cmp),
                CaseSort::Id => ColumnOrder::new(entries, by_place(), |entry| Some(&*entry.id), Ord::cmp),
                CaseSort::Cost => ColumnOrder::new(entries, by_place(), |entry| entry.cost, Ord::cmp),
                CaseSort::Duration => {
                    ColumnOrder::new(entries, by_place(), |entry| Some(entry.duration_ms), Ord::cmp)
                }
            }
        })
    }
}

impl ColumnOrder {
    /// Sorts rows by `key`; ties keep the order of `rows`.
    fn new<'e, K>(
        entries: &'e [CaseTableEntry],
        rows: impl Iterator<Item = u32>,
        key: impl Fn(&'e CaseTableEntry) -> Option<K>,
        compare: impl Fn(&K, &K) -> Ordering,
    ) -> Self {
        let (mut keyed, mut unknown) = (Vec::new(), Vec::new());
        for row in rows {
            match key(&entries[row as usize]) {
                Some(key) => keyed.push((key, row)),
                None => unknown.push(row),
            }
        }

        // The sort is stable, which keeps ties in order.
        keyed.sort_by(|a, b| compare(&a.0, &b.0));
        let mut end = 0;
        let ends = keyed.chunk_by(|a, b| compare(&a.0, &b.0).is_eq()).map(|equal| {
            end += equal.len() as u32;
            end
        });
        let ends = ends.collect();

        Self { known: keyed.into_iter().map(|(_, row)| row).collect(), ends, unknown }
    }

    /// Rows in ascending or descending order; ties keep the order of the files in both.
    pub(super) fn rows(&self, is_descending: bool) -> Box<dyn Iterator<Item = u32> + '_> {
        let unknown = self.unknown.iter().copied();
        if !is_descending {
            return Box::new(self.known.iter().copied().chain(unknown));
        }

        let of_value = |at: usize| {
            let begin = if at == 0 { 0 } else { self.ends[at - 1] };
            self.known[begin as usize..self.ends[at] as usize].iter().copied()
        };
        Box::new((0..self.ends.len()).rev().flat_map(of_value).chain(unknown))
    }
}

#[cfg(test)]
mod tests {
    use assize_engine::LabelledItem;
    use assize_rubric::OutcomeKind;

    use super::super::entry::{CaseStatus, CriterionEntry};
    use super::super::filter::OutcomeChoice;
    use super::*;
    use crate::people::RunPeople;

    fn entry(id: &str, place: u64, score: Option<f64>) -> CaseTableEntry {
        CaseTableEntry {
            offset: 0,
            id: id.into(),
            test: None,
            suite: 0,
            prompt: None,
            target: None,
            tags: Box::default(),
            gates: Box::default(),
            trial: 1,
            place,
            verdict: CaseStatus::Pass,
            has_error: false,
            score,
            bounds: None,
            criteria: Box::default(),
            cost: None,
            duration_ms: 0,
        }
    }

    #[test]
    fn outcomes_are_those_that_are_shown_and_of_any_criterion_unless_one_is_named() {
        use OutcomeKind::{Met, Ungraded, Unmet};
        let decided = |outcome, is_penalty, is_negated| {
            let named = CriterionEntry {
                name: 0,
                outcome,
                points: None,
                is_penalty,
                is_negated,
                is_gate: false,
                is_disputed: is_negated,
            };
            CaseTableEntry { criteria: Box::new([named]), ..entry("", 0, None) }
        };
        let index = CaseTableIndex::from_entries([
            decided(Met, false, false),
            decided(Unmet, false, false),
            decided(Met, true, false),
            decided(Unmet, true, false),
            decided(Met, false, true),
            decided(Ungraded, true, false),
            entry("", 0, None),
        ]);
        let rows = |filter: CaseFilter| select_cases(&index, &filter, &[]);
        let of = |outcome| rows(CaseFilter { outcome: Some(outcome), ..CaseFilter::default() });

        assert_eq!(
            of(OutcomeChoice::Against),
            [1, 2, 4],
            "unmet, a penalty incurred, and a negated criterion met"
        );
        assert_eq!(of(OutcomeChoice::Met), [0, 2]);
        assert_eq!(of(OutcomeChoice::Unmet), [1, 3, 4]);
        assert_eq!(of(OutcomeChoice::Ungraded), [5]);
        assert_eq!(rows(CaseFilter::default()).len(), 7);
        let mut people = RunPeople::default();
        let disputed = LabelledItem { criterion: "c".to_owned(), people: Vec::new(), is_disputed: true };
        people.insert(5, vec![disputed]);
        let disputed = index.disputed(&people);
        assert_eq!(select_cases(&index, &CaseFilter::default(), &[&disputed]), [4, 5], "judges and people");
        let masks: [&[bool]; 2] = [&[true, true, false], &[true; 7]];
        assert_eq!(select_cases(&index, &CaseFilter::default(), &masks), [0, 1], "rows in all masks");
        let unknown = CaseFilter { criterion: Some("another".to_owned()), ..CaseFilter::default() };
        assert!(rows(unknown).is_empty());
    }

    #[test]
    fn a_case_changes_with_its_verdict_or_a_decision_and_by_being_new() {
        use CaseStatus::{Fail, Pass};
        use OutcomeKind::{Met, Unmet};
        let decided = |id: &str, verdict, outcome| CaseTableEntry {
            verdict,
            criteria: Box::new([CriterionEntry {
                name: 0,
                outcome,
                points: None,
                is_penalty: false,
                is_negated: false,
                is_gate: false,
                is_disputed: false,
            }]),
            ..entry(id, 0, None)
        };
        let base = [decided("same", Pass, Met), decided("verdict", Fail, Met), decided("inside", Pass, Met)];
        let next = [
            decided("new", Pass, Met),
            decided("same", Pass, Met),
            decided("verdict", Pass, Met),
            decided("inside", Pass, Unmet),
        ];
        let [base, next] = [base.to_vec(), next.to_vec()].map(CaseTableIndex::from_entries);
        assert_eq!(next.changed_since(&base), [true, false, true, true]);
    }

    #[test]
    fn ties_keep_the_order_of_the_files_and_the_unknown_comes_last_in_either_direction() {
        let rows = [
            ("d", 3, Some(0.5)),
            ("b", 1, None),
            ("a", 0, Some(0.5)),
            ("c", 2, Some(1.0)),
            ("e", CaseTableEntry::NO_PLACE, Some(0.0)),
        ];
        let index = CaseTableIndex::from_entries(rows.map(|(id, place, score)| entry(id, place, score)));
        let ids = |sort: CaseSort, descending: bool| {
            let filter = CaseFilter { sort, descending, ..CaseFilter::default() };
            let rows = select_cases(&index, &filter, &[]);
            rows.into_iter().filter_map(|row| Some(&*index.get(row)?.id)).collect::<String>()
        };

        assert_eq!(
            (ids(CaseSort::Place, false), ids(CaseSort::Place, true)),
            ("abcde".into(), "dcbae".into())
        );
        assert_eq!(
            (ids(CaseSort::Score, false), ids(CaseSort::Score, true)),
            ("eadcb".into(), "cadeb".into())
        );
        assert_eq!((ids(CaseSort::Id, false), ids(CaseSort::Id, true)), ("abcde".into(), "edcba".into()));
        // No case has a cost, and all have the same verdict.
        for sort in [CaseSort::Cost, CaseSort::Verdict, CaseSort::Duration] {
            assert_eq!((ids(sort, false), ids(sort, true)), ("abcde".into(), "abcde".into()));
        }
    }
}
