//! The cases of a run, read from `results.jsonl` in parallel and extended as rows are appended.

use std::collections::HashMap;
use std::ops::Range;

use assize_analysis::NameTable;
use assize_store::{AnswerPart, CaseKey, CriterionRate, RowsFile, RunFolder, ScannedRows, StoreError};

use super::entry::{CaseStatus, CaseTableEntry, CriterionEntry};
use super::filter::{CaseSort, VerdictChoice};
use super::order::{ColumnOrder, ColumnOrders};
use super::row_head::ResultHead;
use crate::people::RunPeople;

/// Cases of a run in the order of their rows, with the offsets of the rows.
#[derive(Debug, Default)]
pub(crate) struct CaseTableIndex {
    names: NameTable,
    pub(crate) entries: Vec<CaseTableEntry>,
    /// Numbers of the names of prompts, each with the first place of its cases.
    prompts: Vec<(u64, u32)>,
    /// Reset when rows are appended.
    orders: ColumnOrders,
    /// Offset behind the last row of `results.jsonl` in this index.
    pub(crate) end: u64,
}

/// Part of an index that one thread reads, with its own name numbers.
#[derive(Default)]
pub(crate) struct IndexPart {
    names: NameTable,
    count: u32,
    entries: Vec<CaseTableEntry>,
}

impl IndexPart {
    /// Reads the rows that begin within a range of `results.jsonl`.
    pub(crate) fn read(
        folder: &RunFolder,
        range: Range<u64>,
        readers: usize,
    ) -> Result<ScannedRows<Self>, StoreError> {
        folder.scan_rows_within(RowsFile::Results, range, readers, Self::add)
    }

    fn name(&mut self, text: &str) -> u32 {
        let number = self.names.intern(text);
        self.count = self.count.max(number + 1);
        number
    }

    fn add(&mut self, offset: u64, line: &[u8]) -> Result<(), String> {
        let row: ResultHead<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let criteria = row
            .graders
            .iter()
            .flat_map(|grader| grader.criteria.iter().map(move |criterion| (grader, criterion)));

        let mut entries = Vec::new();
        for (grader, criterion) in criteria {
            entries.push(CriterionEntry {
                name: self.name(&format!("{}/{}", grader.name.0, criterion.id.0)),
                outcome: criterion.outcome,
                points: criterion.raw_score.map(f32::from).or(criterion.points.map(|points| points as f32)),
                is_penalty: criterion.weight < 0.0,
                is_negated: grader.negate,
                is_gate: criterion.gate.is_some(),
                is_disputed: criterion.panel.as_ref().is_some_and(super::row_head::PanelHead::is_disputed),
            });
        }

        let gates = row.gates_failed.iter().map(|gate| match &gate.criterion {
            Some(criterion) => format!("{}/{}", gate.grader.0, criterion.0),
            None => gate.grader.0.to_string(),
        });
        let gates = gates.map(|gate| self.name(&gate)).collect();
        let is_skipped = row.error.as_ref().is_some_and(super::row_head::ErrorHead::is_skip);
        let entry = CaseTableEntry {
            offset,
            id: row.case_id.0.into(),
            test: row.test.map(|test| test.0.into()),
            suite: self.name(&row.suite.0),
            prompt: row.prompt.map(|prompt| self.name(&prompt.0)),
            target: row.target.map(|target| self.name(&target.0)),
            tags: row.tags.iter().map(|tag| self.name(&tag.0)).collect(),
            gates,
            trial: row.trial,
            place: row.place.unwrap_or(CaseTableEntry::NO_PLACE),
            verdict: CaseStatus::new(row.verdict, is_skipped),
            has_error: row.error.is_some() && !is_skipped,
            score: row.score,
            bounds: row.score_low.zip(row.score_high).filter(|_| row.score.is_none()),
            criteria: entries.into(),
            cost: row.cost_usd,
            latency_ms: row.latency_ms.map(|time| u32::try_from(time).unwrap_or(u32::MAX)),
        };
        self.entries.push(entry);

        Ok(())
    }
}

impl CaseTableIndex {
    /// Appends rows that were read from [`end`](Self::end) on.
    pub(crate) fn append(&mut self, found: ScannedRows<IndexPart>) {
        self.end = found.end;
        self.orders = ColumnOrders::default();
        for part in found.parts {
            self.merge(part);
        }
    }

    fn merge(&mut self, part: IndexPart) {
        let numbers: Vec<u32> = (0..part.count).map(|at| self.names.intern(part.names.text(at))).collect();
        let renumber = |number: &mut u32| *number = numbers[*number as usize];

        self.entries.reserve_exact(part.entries.len());
        for mut entry in part.entries {
            renumber(&mut entry.suite);
            entry.target.iter_mut().chain(&mut entry.prompt).for_each(renumber);
            if let Some(prompt) = entry.prompt {
                match self.prompts.iter_mut().find(|(_, known)| *known == prompt) {
                    Some((place, _)) => *place = entry.place.min(*place),
                    None => self.prompts.push((entry.place, prompt)),
                }
            }
            entry.tags.iter_mut().chain(&mut entry.gates).for_each(renumber);
            entry.criteria.iter_mut().map(|criterion| &mut criterion.name).for_each(renumber);
            self.entries.push(entry);
        }
    }

    /// Number of cases.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The case in a row, counted from 0.
    pub(crate) fn get(&self, row: u32) -> Option<&CaseTableEntry> {
        self.entries.get(row as usize)
    }

    /// The rows sorted by a column.
    pub(crate) fn order(&self, sort: CaseSort) -> &ColumnOrder {
        self.orders.by(sort, &self.entries)
    }

    /// The name with this number.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.text(number)
    }

    /// The number of a name, if any row has the name.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.names.number(name)
    }

    /// Name of the criterion or check that a rate is about, as rows have it: the only check of a grader is numbered.
    pub(crate) fn name_of_rate(&self, rate: &CriterionRate) -> String {
        let name = format!("{}/{}", rate.grader, rate.criterion);
        let check = |number: u32| format!("{}/check-{number}", rate.grader);
        let is_known = |name: &str| self.number(name).is_some();
        if !is_known(&name) && is_known(&check(1)) && !is_known(&check(2)) { check(1) } else { name }
    }

    /// Names of the prompts of the cases, in the order of the eval file.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let mut prompts = self.prompts.clone();
        prompts.sort_unstable();
        prompts.iter().map(|(_, prompt)| self.name(*prompt).to_owned()).collect()
    }

    /// Returns true if a case belongs to a part of the answers.
    pub(crate) fn is_in(&self, entry: &CaseTableEntry, part: &AnswerPart) -> bool {
        let name = |number: Option<u32>| number.map(|at| self.name(at));
        part.takes_names(name(entry.target), name(entry.prompt))
    }

    /// Row of the case with this identity: its id, or the id of its test and the prompt of `part`.
    pub(crate) fn find(&self, suite: &str, id: &str, part: &AnswerPart, trial: u32) -> Option<u32> {
        let found = self.entries.iter().position(|entry| {
            (*entry.id == *id || entry.test_id() == id)
                && entry.trial == trial
                && self.name(entry.suite) == suite
                && self.is_in(entry, part)
        });
        found.and_then(|row| u32::try_from(row).ok())
    }

    /// Row that begins at this offset of `results.jsonl`.
    pub(crate) fn row_at(&self, offset: u64) -> Option<u32> {
        let row = self.entries.binary_search_by_key(&offset, |entry| entry.offset).ok()?;
        u32::try_from(row).ok()
    }

    /// Key of the case in a row.
    pub(crate) fn key(&self, entry: &CaseTableEntry) -> CaseKey {
        CaseKey {
            suite: self.name(entry.suite).into(),
            case_id: (&*entry.id).into(),
            target: entry.target.map(|target| self.name(target).into()),
            trial: entry.trial,
        }
    }

    /// The names that rows have, sorted, for filters.
    pub(crate) fn choices(&self) -> FilterChoices {
        let mut seen: [Vec<bool>; 6] = std::array::from_fn(|_| vec![false; self.names.count()]);
        let [suites, prompts, targets, tags, gates, criteria] = &mut seen;
        for entry in &self.entries {
            suites[entry.suite as usize] = true;
            entry.prompt.iter().for_each(|prompt| prompts[*prompt as usize] = true);
            entry.target.iter().for_each(|target| targets[*target as usize] = true);
            entry.tags.iter().for_each(|tag| tags[*tag as usize] = true);
            entry.gates.iter().for_each(|gate| gates[*gate as usize] = true);
            entry.criteria.iter().for_each(|criterion| criteria[criterion.name as usize] = true);
        }

        let [suites, prompts, targets, tags, gates, criteria] = seen.map(|seen| {
            let numbers = (0..).zip(seen).filter(|(_, is_seen)| *is_seen);
            let mut names: Vec<String> = numbers.map(|(number, _)| self.name(number).to_owned()).collect();
            names.sort();
            names
        });
        FilterChoices { suites, prompts, targets, tags, gates, criteria, counts: self.counts() }
    }

    /// Numbers of cases for the chips above the table.
    fn counts(&self) -> CaseCounts {
        let mut counts = CaseCounts::default();
        let mut by_name: [Vec<usize>; 2] = std::array::from_fn(|_| vec![0; self.names.count()]);
        let [against, tags] = &mut by_name;
        for entry in &self.entries {
            for (choice, count) in VerdictChoice::ALL.iter().zip(&mut counts.verdicts) {
                *count += usize::from(choice.takes(entry));
            }
            entry.tags.iter().for_each(|tag| tags[*tag as usize] += 1);
            let missed = entry.criteria.iter().filter(|criterion| criterion.is_missed());
            missed.for_each(|criterion| against[criterion.name as usize] += 1);
        }

        [counts.against, counts.tags] = by_name.map(|counted| {
            let counted = (0..).zip(counted).filter(|(_, count)| *count > 0);
            let mut named: Vec<_> =
                counted.map(|(name, count)| (self.name(name).to_owned(), count)).collect();
            named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            named
        });
        counts
    }

    /// For each row, whether judges or people disagree on its case.
    pub(crate) fn disputed(&self, people: &RunPeople) -> Vec<bool> {
        let rows = (0..).zip(&self.entries);
        rows.map(|(row, entry)| entry.is_disputed() || people.is_disputed(row)).collect()
    }

    /// For each row, whether its case differs from the same case of another run: in the verdict or in a criterion. A case
    /// that the other run does not have differs.
    pub(crate) fn changed_since(&self, base: &Self) -> Vec<bool> {
        let key = |index: &'_ Self, entry: &CaseTableEntry| {
            let target = entry.target.map(|target| index.name(target).to_owned());
            (entry.id.clone(), index.name(entry.suite).to_owned(), target, entry.trial)
        };
        let before: HashMap<_, _> = base.entries.iter().map(|entry| (key(base, entry), entry)).collect();
        let is_same = |entry: &CaseTableEntry, other: &CaseTableEntry| {
            let decisions = entry.criteria.iter().zip(&other.criteria);
            entry.verdict == other.verdict
                && entry.criteria.len() == other.criteria.len()
                && decisions.into_iter().all(|(now, then)| {
                    (now.outcome, now.points) == (then.outcome, then.points)
                        && self.name(now.name) == base.name(then.name)
                })
        };
        let changed = self
            .entries
            .iter()
            .map(|entry| before.get(&key(self, entry)).is_none_or(|other| !is_same(entry, other)));
        changed.collect()
    }

    #[cfg(test)]
    pub(crate) fn from_entries(entries: impl Into<Vec<CaseTableEntry>>) -> Self {
        let mut names = NameTable::default();
        names.intern("the only name");
        Self { names, entries: entries.into(), ..Self::default() }
    }

    /// Number of cases with a verdict.
    pub(crate) fn count(&self, verdict: CaseStatus) -> usize {
        self.entries.iter().filter(|entry| entry.verdict == verdict).count()
    }
}

/// Names that cases can be filtered by.
#[derive(Debug, Default)]
pub(crate) struct FilterChoices {
    pub(crate) suites: Vec<String>,
    pub(crate) prompts: Vec<String>,
    pub(crate) targets: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) gates: Vec<String>,
    pub(crate) criteria: Vec<String>,
    pub(crate) counts: CaseCounts,
}

/// Numbers of cases for each value of a filter.
#[derive(Debug, Default)]
pub(crate) struct CaseCounts {
    /// By verdict, in the order of [`VerdictChoice::ALL`].
    pub(crate) verdicts: [usize; VerdictChoice::ALL.len()],
    /// Criteria that count against cases, the most frequent first.
    pub(crate) against: Vec<(String, usize)>,
    /// Tags, the most frequent first.
    pub(crate) tags: Vec<(String, usize)>,
    /// Cases on which judges or people disagree.
    pub(crate) disputed: usize,
}
