//! Offsets of the judgements and the questions of cases. The table needs the questions, and a case page needs both,
//! besides the row of the case.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use assize_store::{CaseKey, RecordPosition, RowsFile, RunFolder, StoreError};

/// Bytes of questions that are read first: enough for the first screen of a table.
const FIRST_STEP_BYTES: u64 = 1 << 20;
/// Bytes of rows that are read in one step.
const STEP_BYTES: u64 = 32 << 20;

/// Offset of the first judgement of each case, by the hash of the case key; extended as rows are appended.
#[derive(Debug, Default)]
pub(crate) struct JudgementOffsets {
    offsets: HashMap<u64, u64>,
    end: u64,
    /// Case of the last row that was read.
    last: Option<u64>,
}

/// Offsets of questions, by the hash of their `case_hash`; extended as rows are appended.
#[derive(Debug, Default)]
pub(crate) struct QuestionOffsets {
    offsets: HashMap<u64, u64>,
    end: u64,
}

/// The key of a row of `questions.jsonl`.
#[derive(serde::Deserialize)]
struct QuestionHead {
    case_hash: String,
}

impl JudgementOffsets {
    /// Position of the rows of a case whose result begins at `result`; `None` if the offset of its judgements
    /// is not known yet.
    pub(crate) fn position(&self, key: &CaseKey, result: u64) -> Option<RecordPosition> {
        let judgements = self.offsets.get(&hash_of(key)).copied()?;
        Some(RecordPosition { result, judgements })
    }

    /// Position of the row of a case without judgements.
    pub(crate) const fn position_without_judgements(&self, result: u64) -> RecordPosition {
        RecordPosition { result, judgements: self.end }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
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
    /// Reads some of the rows that are not indexed yet. Returns false if there are none.
    pub(crate) fn read_step(&mut self, folder: &RunFolder, readers: usize) -> Result<bool, StoreError> {
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
    /// Offset of the question with this hash in `questions.jsonl`; reads on until it is found.
    pub(crate) fn find(
        &mut self,
        folder: &RunFolder,
        case_hash: &str,
        readers: usize,
    ) -> Result<Option<u64>, StoreError> {
        let wanted = hash_of(&case_hash);
        loop {
            if let Some(offset) = self.offsets.get(&wanted) {
                return Ok(Some(*offset));
            }
            if !self.read_step(folder, readers)? {
                return Ok(None);
            }
        }
    }

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
        let step = if self.end == 0 { FIRST_STEP_BYTES } else { STEP_BYTES };
        let (from, until) = (self.end, length.min(self.end + step));
        let found = folder.scan_rows_within(RowsFile::Questions, from..until, readers, see)?;
        self.offsets.extend(found.parts.into_iter().flatten());
        self.end = found.end;

        Ok(found.end > from)
    }
}
