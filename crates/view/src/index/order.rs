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
                CaseSort::Latency => {
                    ColumnOrder::new(entries, by_place(), |entry| entry.latency_ms, Ord::cmp)
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
