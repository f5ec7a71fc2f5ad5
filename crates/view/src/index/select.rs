//! Selects the rows that pass a filter, sorted.

use super::case_index::CaseTableIndex;
use super::entry::CaseTableEntry;
use super::filter::CaseFilter;

/// Selects and sorts the cases of an index. Each mask has one value for each row: whether the row contains the search text,
/// differs from another run, or is disputed.
pub(crate) fn select_cases(index: &CaseTableIndex, filter: &CaseFilter, masks: &[&[bool]]) -> Vec<u32> {
    // The number of a wanted name; the inner `None` is a name that no row has.
    let number = |wanted: &Option<String>| wanted.as_deref().map(|name| index.number(name));
    let (suite, target, prompt) = (number(&filter.suite), number(&filter.target), number(&filter.prompt));
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
            && masks.iter().all(|mask| mask.get(row).copied().unwrap_or(false))
            && has(&[entry.suite], suite)
            && has(entry.target.as_slice(), target)
            && has(entry.prompt.as_slice(), prompt)
            && has(&entry.tags, tag)
            && has(&entry.gates, gate)
    };

    let rows = index.order(filter.sort).rows(filter.descending);
    rows.filter(|row| index.get(*row).is_some_and(|entry| takes(*row as usize, entry))).collect()
}
