//! Index of the cases of a run, read from `results.jsonl` in parallel and extended as rows are appended.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use assize_analysis::NameTable;
use assize_rubric::OutcomeKind;
use assize_store::{CaseKey, RecordPosition, RowsFile, RunFolder, StoreError};

use super::entry::{CaseStatus, CaseTableEntry, CriterionEntry};
use super::row_head::ResultHead;

/// Cases of a run in the order of their rows, and where the rows begin.
#[derive(Debug, Default)]
pub(crate) struct CaseTableIndex {
    names: NameTable,
    entries: Vec<CaseTableEntry>,
    /// Offset behind the last row of `results.jsonl` that is in here.
    end: u64,
    judgements: JudgementOffsets,
    questions: QuestionOffsets,
}

/// Offsets of questions, by the hash of what was asked.
#[derive(Debug, Default)]
struct QuestionOffsets {
    offsets: HashMap<String, u64>,
    end: u64,
}

/// The key of a row of `questions.jsonl`.
#[derive(serde::Deserialize)]
struct QuestionHead {
    case_hash: String,
}

/// Offsets of the judgements of each case, by the hash of its key.
#[derive(Debug, Default)]
struct JudgementOffsets {
    offsets: HashMap<u64, u64>,
    end: u64,
    /// Case of the last row.
    last: Option<u64>,
}

/// Part of an index, with names of its own.
#[derive(Default)]
struct IndexPart {
    names: NameTable,
    count: u32,
    entries: Vec<CaseTableEntry>,
}

impl IndexPart {
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
            suite: self.name(&row.suite.0),
            target: row.target.map(|target| self.name(&target.0)),
            tags: row.tags.iter().map(|tag| self.name(&tag.0)).collect(),
            gates,
            repeat: row.repeat,
            place: row.place.unwrap_or(u64::MAX),
            verdict: CaseStatus::new(row.verdict, is_skipped),
            has_error: row.error.is_some() && !is_skipped,
            score: row.score,
            bounds: row.score_low.zip(row.score_high).filter(|_| row.score.is_none()),
            criteria: entries.into(),
            cost: row.cost_usd,
            duration_ms: row.duration_ms,
        };
        self.entries.push(entry);

        Ok(())
    }
}

impl CaseTableIndex {
    /// Adds the rows that were written since. Returns true if there were any.
    pub(crate) fn extend(&mut self, folder: &RunFolder, readers: usize) -> Result<bool, StoreError> {
        // A run that is resumed may have lost rows: its file was replaced by a shorter one.
        if folder.rows_length(RowsFile::Results) < self.end {
            *self = Self::default();
        }

        let found = folder.scan_rows(RowsFile::Results, self.end, readers, IndexPart::add)?;
        self.end = found.end;
        let before = self.entries.len();
        for part in found.parts {
            self.merge(part);
        }

        Ok(self.entries.len() > before)
    }

    fn merge(&mut self, part: IndexPart) {
        let numbers: Vec<u32> = (0..part.count).map(|at| self.names.intern(part.names.text(at))).collect();
        let renumber = |number: &mut u32| *number = numbers[*number as usize];

        self.entries.reserve_exact(part.entries.len());
        for mut entry in part.entries {
            renumber(&mut entry.suite);
            entry.target.iter_mut().for_each(renumber);
            entry.tags.iter_mut().chain(&mut entry.gates).for_each(renumber);
            entry.criteria.iter_mut().map(|criterion| &mut criterion.name).for_each(renumber);
            self.entries.push(entry);
        }
    }

    /// Number of cases.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The case in a row, from 0.
    pub(crate) fn get(&self, row: u32) -> Option<&CaseTableEntry> {
        self.entries.get(row as usize)
    }

    pub(crate) fn entries(&self) -> &[CaseTableEntry] {
        &self.entries
    }

    /// Offset behind the last row of `results.jsonl` that is in here.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// A name by its number.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.text(number)
    }

    /// Row of the case with this identity; `target` is compared only if it is given.
    pub(crate) fn find(&self, suite: &str, id: &str, target: Option<&str>, repeat: u32) -> Option<u32> {
        let found = self.entries.iter().position(|entry| {
            *entry.id == *id
                && entry.repeat == repeat
                && self.name(entry.suite) == suite
                && target.is_none_or(|target| entry.target.is_some_and(|at| self.name(at) == target))
        });
        found.and_then(|row| u32::try_from(row).ok())
    }

    /// Row whose text begins at an offset of `results.jsonl`.
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
            repeat: entry.repeat,
        }
    }

    /// Names that rows have, sorted: what can be filtered by.
    pub(crate) fn choices(&self) -> FilterChoices {
        let mut seen = FilterNumbers::default();
        for entry in &self.entries {
            seen.suites.insert(entry.suite);
            seen.targets.extend(entry.target);
            seen.tags.extend(&entry.tags);
            seen.gates.extend(&entry.gates);
            seen.criteria.extend(entry.criteria.iter().map(|criterion| criterion.name));
        }

        let names = |numbers: BTreeSet<u32>| {
            let mut names: Vec<String> = numbers.into_iter().map(|at| self.name(at).to_owned()).collect();
            names.sort();
            names
        };
        FilterChoices {
            suites: names(seen.suites),
            targets: names(seen.targets),
            tags: names(seen.tags),
            gates: names(seen.gates),
            criteria: names(seen.criteria),
        }
    }

    /// Number of cases with a verdict.
    pub(crate) fn count(&self, verdict: CaseStatus) -> usize {
        self.entries.iter().filter(|entry| entry.verdict == verdict).count()
    }

    /// Reads where judgements and questions begin, as far as that is not known.
    pub(crate) fn index_details(&mut self, folder: &RunFolder, readers: usize) -> Result<(), StoreError> {
        self.questions.extend(folder, readers)?;
        self.judgements.extend(folder, readers)
    }

    /// Offset of a question in `questions.jsonl`.
    pub(crate) fn question(&self, hash: &str) -> Option<u64> {
        self.questions.offsets.get(hash).copied()
    }

    /// Place of the rows of a case; `None` if it is not known where its judgements begin.
    pub(crate) fn offset(&self, entry: &CaseTableEntry) -> Option<RecordPosition> {
        let judgements = self.judgements.offsets.get(&hash_key(&self.key(entry))).copied()?;
        Some(RecordPosition { result: entry.offset, judgements })
    }

    /// Place of the row of a case that was not judged.
    pub(crate) const fn offset_without_judgements(&self, entry: &CaseTableEntry) -> RecordPosition {
        RecordPosition { result: entry.offset, judgements: self.judgements.end }
    }
}

#[derive(Default)]
struct FilterNumbers {
    suites: BTreeSet<u32>,
    targets: BTreeSet<u32>,
    tags: BTreeSet<u32>,
    gates: BTreeSet<u32>,
    criteria: BTreeSet<u32>,
}

/// Names that cases can be filtered by.
#[derive(Debug, Default)]
pub(crate) struct FilterChoices {
    pub(crate) suites: Vec<String>,
    pub(crate) targets: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) gates: Vec<String>,
    pub(crate) criteria: Vec<String>,
}

fn hash_key(key: &CaseKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// First judgement rows of cases, in order: the hash of the key with the offset.
#[derive(Default)]
struct JudgementPart {
    /// The key of the row before, as it is written.
    key: Vec<u8>,
    found: Vec<(u64, u64)>,
}

impl JudgementPart {
    fn add(&mut self, offset: u64, line: &[u8]) -> Result<(), String> {
        // The key comes first in a row, and the thresholds behind it; rows of one case stand together.
        const BEHIND_KEY: &[u8] = b",\"lines\":";
        let end = line.windows(BEHIND_KEY.len()).position(|window| window == BEHIND_KEY);
        let key = end.map_or(line, |end| &line[..end]);
        if key == self.key {
            return Ok(());
        }

        let parsed: Result<CaseKey, _> = match end {
            Some(_) => serde_json::from_slice(&[key, b"}"].concat()),
            None => serde_json::from_slice(line),
        };
        self.found.push((hash_key(&parsed.map_err(|error| error.to_string())?), offset));
        self.key.clear();
        self.key.extend_from_slice(key);

        Ok(())
    }
}

impl JudgementOffsets {
    fn extend(&mut self, folder: &RunFolder, readers: usize) -> Result<(), StoreError> {
        if folder.rows_length(RowsFile::Judgements) < self.end {
            *self = Self::default();
        }

        let found = folder.scan_rows(RowsFile::Judgements, self.end, readers, JudgementPart::add)?;
        for (key, offset) in found.parts.into_iter().flat_map(|part| part.found) {
            // A part of the file may begin in the middle of a case.
            if self.last.replace(key) != Some(key) {
                self.offsets.insert(key, offset);
            }
        }

        self.end = found.end;
        Ok(())
    }
}

impl QuestionOffsets {
    fn extend(&mut self, folder: &RunFolder, readers: usize) -> Result<(), StoreError> {
        // Older runs have no such file.
        let length = folder.rows_length(RowsFile::Questions);
        if length == 0 || length < self.end {
            *self = Self::default();
        }
        if length == 0 {
            return Ok(());
        }

        let see = |found: &mut Vec<(String, u64)>, offset: u64, line: &[u8]| {
            let head: QuestionHead = serde_json::from_slice(line).map_err(|error| error.to_string())?;
            found.push((head.case_hash, offset));
            Ok(())
        };
        let found = folder.scan_rows(RowsFile::Questions, self.end, readers, see)?;
        self.offsets.extend(found.parts.into_iter().flatten());
        self.end = found.end;

        Ok(())
    }
}

impl CriterionEntry {
    /// Returns true if the outcome is the one that a filter names; without one, if it counts against the case.
    pub(crate) fn is_outcome(self, wanted: Option<OutcomeKind>) -> bool {
        wanted.map_or_else(|| self.is_missed(), |wanted| self.outcome == wanted)
    }
}
