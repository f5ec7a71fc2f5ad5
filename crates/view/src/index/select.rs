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

#[cfg(test)]
mod tests {
    use assize_engine::LabelledItem;
    use assize_rubric::OutcomeKind;

    use super::super::entry::{CaseStatus, CriterionEntry};
    use super::super::filter::{CaseSort, OutcomeChoice};
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
            latency_ms: None,
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
        let rows_with = |outcome| rows(CaseFilter { outcome: Some(outcome), ..CaseFilter::default() });

        assert_eq!(
            rows_with(OutcomeChoice::Against),
            [1, 2, 4],
            "unmet, a penalty incurred, and a negated criterion met"
        );
        assert_eq!(rows_with(OutcomeChoice::Met), [0, 2]);
        assert_eq!(rows_with(OutcomeChoice::Unmet), [1, 3, 4]);
        assert_eq!(rows_with(OutcomeChoice::Ungraded), [5]);
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
        for sort in [CaseSort::Cost, CaseSort::Verdict, CaseSort::Latency] {
            assert_eq!((ids(sort, false), ids(sort, true)), ("abcde".into(), "abcde".into()));
        }
    }
}
