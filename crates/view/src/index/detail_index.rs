//! Offsets of the judgements and the questions of cases. A case page needs them besides the row of the case.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use assize_store::{CaseKey, RecordPosition, RowsFile, RunFolder, StoreError};

/// Bytes of rows that are read in one step.
const STEP_BYTES: u64 = 32 << 20;

/// Offsets of judgements and questions, extended as rows are appended.
#[derive(Debug, Default)]
pub(crate) struct DetailIndex {
    judgements: JudgementOffsets,
    questions: QuestionOffsets,
}

/// Offset of the first judgement of each case, by the hash of the case key.
#[derive(Debug, Default)]
struct JudgementOffsets {
    offsets: HashMap<u64, u64>,
    end: u64,
    /// Case of the last row that was read.
    last: Option<u64>,
}

/// Offsets of questions, by the hash of their `case_hash`.
#[derive(Debug, Default)]
struct QuestionOffsets {
    offsets: HashMap<u64, u64>,
    end: u64,
}

/// The key of a row of `questions.jsonl`.
#[derive(serde::Deserialize)]
struct QuestionHead {
    case_hash: String,
}

impl DetailIndex {
    /// Reads some of the rows that are not indexed yet. Returns false if there are none.
    pub(crate) fn read_step(&mut self, folder: &RunFolder, readers: usize) -> Result<bool, StoreError> {
        Ok(self.questions.read_step(folder, readers)? || self.judgements.read_step(folder, readers)?)
    }

    /// Offset of the question with this hash in `questions.jsonl`.
    pub(crate) fn question(&self, case_hash: &str) -> Option<u64> {
        self.questions.offsets.get(&hash_of(&case_hash)).copied()
    }

    /// Position of the rows of a case whose result begins at `result`; `None` if the offset of its judgements
    /// is not known yet.
    pub(crate) fn position(&self, key: &CaseKey, result: u64) -> Option<RecordPosition> {
        let judgements = self.judgements.offsets.get(&hash_of(key)).copied()?;
        Some(RecordPosition { result, judgements })
    }

    /// Position of the row of a case without judgements.
    pub(crate) const fn position_without_judgements(&self, result: u64) -> RecordPosition {
        RecordPosition { result, judgements: self.judgements.end }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// First judgement rows of cases in order: the hash of the case key, and the offset.
#[derive(Default)]
struct JudgementPart {
    /// The key of the previous row, as written in the file.
    key: Vec<u8>,
    found: Vec<(u64, u64)>,
}

impl JudgementPart {
    fn add(&mut self, offset: u64, line: &[u8]) -> Result<(), String> {
        // The key comes first in a row, followed by the thresholds; rows of one case follow each other.
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
        self.found.push((hash_of(&parsed.map_err(|error| error.to_string())?), offset));
        self.key.clear();
        self.key.extend_from_slice(key);

        Ok(())
    }
}

impl JudgementOffsets {
    fn read_step(&mut self, folder: &RunFolder, readers: usize) -> Result<bool, StoreError> {
        let length = folder.rows_length(RowsFile::Judgements);
        if length < self.end {
            *self = Self::default();
        }

        let (from, until) = (self.end, length.min(self.end + STEP_BYTES));
        let found =
            folder.scan_rows_within(RowsFile::Judgements, from..until, readers, JudgementPart::add)?;
        for (key, offset) in found.parts.into_iter().flat_map(|part| part.found) {
            // A part of the file may begin in the middle of a case.
            if self.last.replace(key) != Some(key) {
                self.offsets.insert(key, offset);
            }
        }

        self.end = found.end;
        Ok(found.end > from)
    }
}

impl QuestionOffsets {
    fn read_step(&mut self, folder: &RunFolder, readers: usize) -> Result<bool, StoreError> {
        // Runs of older versions have no such file.
        let length = folder.rows_length(RowsFile::Questions);
        if length == 0 || length < self.end {
            *self = Self::default();
        }
        if length == 0 {
            return Ok(false);
        }

        let see = |found: &mut Vec<(u64, u64)>, offset: u64, line: &[u8]| {
            let head: QuestionHead = serde_json::from_slice(line).map_err(|error| error.to_string())?;
            found.push((hash_of(&head.case_hash.as_str()), offset));
            Ok(())
        };
        let (from, until) = (self.end, length.min(self.end + STEP_BYTES));
        let found = folder.scan_rows_within(RowsFile::Questions, from..until, readers, see)?;
        self.offsets.extend(found.parts.into_iter().flatten());
        self.end = found.end;

        Ok(found.end > from)
    }
}
