//! The rows that a filter takes, in its order: a list of row numbers of which pages are slices.

use std::cmp::Ordering;

use super::case_index::CaseTableIndex;
use super::entry::CaseTableEntry;
use super::filter::{CaseFilter, CaseSort};

/// Selects and sorts the cases of an index. `has_text` says of each row if the text that the filter looks for is in it;
/// `None` where it looks for none.
pub(crate) fn select_cases(
    index: &CaseTableIndex,
    filter: &CaseFilter,
    has_text: Option<&[bool]>,
) -> Vec<u32> {
    let number = |wanted: &Option<String>, list: &[u32]| {
        wanted.as_deref().is_none_or(|wanted| list.iter().any(|at| index.name(*at) == wanted))
    };
    let takes = |row: usize, entry: &CaseTableEntry| {
        let has_verdict =
            filter.verdicts.is_empty() || filter.verdicts.iter().any(|verdict| verdict.takes(entry));
        let has_criterion = filter.criterion.as_deref().is_none_or(|wanted| {
            let of_name = entry.criteria.iter().filter(|criterion| index.name(criterion.name) == wanted);
            of_name.into_iter().any(|criterion| criterion.is_outcome(filter.outcome))
        });

        has_verdict
            && has_criterion
            && has_text.is_none_or(|found| found.get(row).copied().unwrap_or(false))
            && number(&filter.suite, &[entry.suite])
            && number(&filter.target, entry.target.as_slice())
            && number(&filter.tag, &entry.tags)
            && number(&filter.gate, &entry.gates)
    };

    let entries = index.entries();
    let mut rows: Vec<u32> = entries
        .iter()
        .enumerate()
        .filter(|(row, entry)| takes(*row, entry))
        .map(|(row, _)| row as u32)
        .collect();

    let by = |a: &CaseTableEntry, b: &CaseTableEntry| {
        let order = compare(filter.sort, filter.descending, a, b);
        order.then_with(|| a.place.cmp(&b.place))
    };
    rows.sort_by(|a, b| by(&entries[*a as usize], &entries[*b as usize]));

    rows
}

/// Compares by a column. What is not known comes last in either direction.
fn compare(sort: CaseSort, descending: bool, a: &CaseTableEntry, b: &CaseTableEntry) -> Ordering {
    let turn = |order: Ordering| if descending { order.reverse() } else { order };
    let known = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => turn(a.total_cmp(&b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    let dollars = |entry: &CaseTableEntry| entry.cost.map(assize_rubric::Usd::as_dollars);

    match sort {
        CaseSort::Place => turn(a.place.cmp(&b.place)),
        CaseSort::Verdict => turn(a.verdict.cmp(&b.verdict)),
        CaseSort::Score => known(a.score, b.score),
        CaseSort::Id => turn(a.id.cmp(&b.id)),
        CaseSort::Cost => known(dollars(a), dollars(b)),
        CaseSort::Duration => turn(a.duration_ms.cmp(&b.duration_ms)),
    }
}
