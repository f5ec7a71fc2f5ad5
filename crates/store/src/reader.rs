//! Reading a run back, row by row, in flat memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::PathBuf;

use assize_rubric::CaseDecision;
use serde::de::DeserializeOwned;

use crate::folder::{JUDGEMENTS_FILE, RESULTS_FILE};
use crate::{CaseKey, JudgementRow, ResultRow, RunFolder, StoreError};

impl JudgementRow {
    fn belongs_to(&self, key: &CaseKey) -> bool {
        self.case_id == key.case_id
            && self.repeat == key.repeat
            && self.suite == key.suite
            && self.target == key.target
    }
}

/// A case's result with its decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRecord {
    /// The result.
    pub result: ResultRow,
    /// Its decisions, grader by grader, in the order of the rubrics.
    pub decisions: Vec<CaseDecision>,
}

/// The rows of `results.jsonl`, in order. A torn last line is left out.
pub type ResultRows = JsonlRows<ResultRow>;

impl RunFolder {
    /// Reads the results.
    pub fn results(&self) -> Result<ResultRows, StoreError> {
        JsonlRows::open(self.file(RESULTS_FILE))
    }

    /// Reads the results together with their decisions.
    pub fn cases(&self) -> Result<CaseRecords, StoreError> {
        Ok(CaseRecords {
            results: self.results()?,
            judgements: JsonlRows::open(self.file(JUDGEMENTS_FILE))?,
            ahead: None,
        })
    }
}

/// The rows of a JSONL file.
#[derive(Debug)]
pub struct JsonlRows<T> {
    path: PathBuf,
    lines: BufReader<File>,
    /// The last line that was read; kept for the next one unless it was a very long one.
    text: Vec<u8>,
    line: usize,
    done: bool,
    row: PhantomData<T>,
}

impl<T: DeserializeOwned> JsonlRows<T> {
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = File::open(&path).map_err(StoreError::io("read", &path))?;
        let lines = BufReader::with_capacity(64 * 1024, file);
        Ok(Self { path, lines, text: Vec::new(), line: 0, done: false, row: PhantomData })
    }

    fn read(&mut self) -> Result<Option<T>, StoreError> {
        const LONG: usize = 1 << 20;
        loop {
            self.text.clear();
            self.text.shrink_to(LONG);
            self.lines.read_until(b'\n', &mut self.text).map_err(StoreError::io("read", &self.path))?;
            self.line += 1;

            // Every complete row ends in a newline: a tail without one was torn off by a crash.
            if self.text.last() != Some(&b'\n') {
                return Ok(None);
            }
            if self.text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }

            return match serde_json::from_slice(&self.text) {
                Ok(row) => Ok(Some(row)),
                Err(error) => Err(StoreError::Damaged {
                    path: self.path.clone(),
                    line: self.line,
                    message: error.to_string(),
                }),
            };
        }
    }
}

impl<T: DeserializeOwned> Iterator for JsonlRows<T> {
    type Item = Result<T, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }

        let row = self.read().transpose();
        self.done = !matches!(row, Some(Ok(_)));

        row
    }
}

/// Results with their decisions, in the order of `results.jsonl`.
///
/// Both files are in the order in which cases finished, so one pass over each is enough; judgements
/// of a case that never got its result row are passed over.
#[derive(Debug)]
pub struct CaseRecords {
    results: ResultRows,
    judgements: JsonlRows<JudgementRow>,
    ahead: Option<JudgementRow>,
}

impl CaseRecords {
    fn decisions_of(&mut self, key: &CaseKey) -> Result<Vec<CaseDecision>, StoreError> {
        let mut rows = Vec::new();
        loop {
            let row = match self.ahead.take() {
                Some(row) => row,
                None => match self.judgements.next() {
                    Some(row) => row?,
                    None => return Ok(rows),
                },
            };
            if row.belongs_to(key) {
                rows.push(row.into());
            } else if rows.is_empty() {
                // A leftover of a case that did not finish.
            } else {
                self.ahead = Some(row);
                return Ok(rows);
            }
        }
    }
}

impl Iterator for CaseRecords {
    type Item = Result<CaseRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let result = match self.results.next()? {
            Ok(result) => result,
            Err(error) => return Some(Err(error)),
        };

        // A case without graders (its target failed) has no judgements; looking for them would read
        // past those of the next case.
        if result.graders.is_empty() {
            return Some(Ok(CaseRecord { result, decisions: Vec::new() }));
        }

        let decisions = self.decisions_of(&result.key());
        Some(decisions.map(|mut decisions| {
            // A case that was judged, lost its result row in a crash and was judged again stands
            // there twice in a row; the last decisions are the ones the result rests on. Each time
            // begins with the same row, and no row occurs twice in one time.
            let again = decisions.first().and_then(|first| {
                decisions
                    .iter()
                    .rposition(|decided| decided.is_about_same(first) && decided.vote == first.vote)
            });
            decisions.drain(..again.unwrap_or(0));

            CaseRecord { result, decisions }
        }))
    }
}
