//! The rows that a filter takes, in its order: a list of row numbers of which pages are slices.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::case_index::CaseTableIndex;
use super::entry::CaseTableEntry;
use super::filter::{CaseFilter, CaseSort};

/// Rank of what is not known: it comes last in either direction.
const UNKNOWN: u32 = u32::MAX;

/// Ranks of all rows by each column, computed when first needed: a list is sorted by numbers, whatever the column holds.
#[derive(Debug, Default)]
pub(crate) struct ColumnRanks([OnceLock<Vec<u32>>; CaseSort::ALL.len()]);

impl ColumnRanks {
    /// Ranks of the rows by a column. `entries` are the same at each call.
    pub(crate) fn by(&self, sort: CaseSort, entries: &[CaseTableEntry]) -> &[u32] {
        self.0[sort as usize].get_or_init(|| match sort {
            CaseSort::Place => rank_rows(
                entries,
                |entry| Some(entry.place).filter(|place| *place != CaseTableEntry::NO_PLACE),
                Ord::cmp,
            ),
            CaseSort::Verdict => rank_rows(entries, |entry| Some(entry.verdict), Ord::cmp),
            CaseSort::Score => rank_rows(entries, |entry| entry.score, f64::total_cmp),
            CaseSort::Id => rank_rows(entries, |entry| Some(&*entry.id), Ord::cmp),
            CaseSort::Cost => rank_rows(entries, |entry| entry.cost, Ord::cmp),
            CaseSort::Duration => rank_rows(entries, |entry| Some(entry.duration_ms), Ord::cmp),
        })
    }
}

/// Numbers the rows in the order of their keys, equal keys alike.
fn rank_rows<'e, K>(
    entries: &'e [CaseTableEntry],
    key: impl Fn(&'e CaseTableEntry) -> Option<K>,
    compare: impl Fn(&K, &K) -> Ordering,
) -> Vec<u32> {
    let mut known: Vec<(K, usize)> =
        entries.iter().enumerate().filter_map(|(row, entry)| Some((key(entry)?, row))).collect();
    known.sort_unstable_by(|a, b| compare(&a.0, &b.0));

    let mut ranks = vec![UNKNOWN; entries.len()];
    for (rank, equal) in (0..).zip(known.chunk_by(|a, b| compare(&a.0, &b.0).is_eq())) {
        for (_, row) in equal {
            ranks[*row] = rank;
        }
    }

    ranks
}

/// Selects and sorts the cases of an index. `has_text` says of each row if the text that the filter looks for is in it;
/// `None` where it looks for none.
pub(crate) fn select_cases(
    index: &CaseTableIndex,
    filter: &CaseFilter,
    has_text: Option<&[bool]>,
) -> Vec<u32> {
    // The number of a name that is asked for; the inner `None` is a name that no row has.
    let number = |wanted: &Option<String>| wanted.as_deref().map(|name| index.number(name));
    let (suite, target) = (number(&filter.suite), number(&filter.target));
    let (tag, gate) = (number(&filter.tag), number(&filter.gate));
    let criterion = number(&filter.criterion);
    let has = |list: &[u32], wanted: Option<Option<u32>>| {
        wanted.is_none_or(|wanted| wanted.is_some_and(|wanted| list.contains(&wanted)))
    };
    let takes = |row: usize, entry: &CaseTableEntry| {
        let has_verdict =
            filter.verdicts.is_empty() || filter.verdicts.iter().any(|verdict| verdict.takes(entry));
        let has_criterion = (criterion.is_none() && filter.outcome.is_none())
            || entry.criteria.iter().any(|decided| {
                criterion.is_none_or(|wanted| wanted == Some(decided.name))
                    && filter.outcome.is_none_or(|outcome| outcome.takes(*decided))
            });

        has_verdict
            && has_criterion
            && has_text.is_none_or(|found| found.get(row).copied().unwrap_or(false))
            && has(&[entry.suite], suite)
            && has(entry.target.as_slice(), target)
            && has(&entry.tags, tag)
            && has(&entry.gates, gate)
    };

    let (ranks, places) = (index.ranks(filter.sort), index.ranks(CaseSort::Place));
    let turn = |rank: u32| if filter.descending && rank != UNKNOWN { UNKNOWN - 1 - rank } else { rank };
    let taken = index.entries().iter().enumerate().filter(|(row, entry)| takes(*row, entry));
    let mut rows: Vec<(u32, u32, u32)> =
        taken.map(|(row, _)| (turn(ranks[row]), places[row], row as u32)).collect();
    rows.sort_unstable();

    rows.into_iter().map(|(_, _, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use assize_rubric::OutcomeKind;

    use super::super::entry::{CaseStatus, CriterionEntry};
    use super::super::filter::OutcomeChoice;
    use super::*;

    fn entry(id: &str, place: u64, score: Option<f64>) -> CaseTableEntry {
        CaseTableEntry {
            offset: 0,
            id: id.into(),
            suite: 0,
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
            let named = CriterionEntry { name: 0, outcome, points: None, is_penalty, is_negated };
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
        let rows = |filter: CaseFilter| select_cases(&index, &filter, None);
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
        let unknown = CaseFilter { criterion: Some("another".to_owned()), ..CaseFilter::default() };
        assert!(rows(unknown).is_empty());
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
            let rows = select_cases(&index, &filter, None);
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
        // Nothing has a cost, and everything the same verdict.
        for sort in [CaseSort::Cost, CaseSort::Verdict, CaseSort::Duration] {
            assert_eq!((ids(sort, false), ids(sort, true)), ("abcde".into(), "abcde".into()));
        }
    }
}
