//! Reading a run back, row by row, in flat memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::PathBuf;

use assize_rubric::CaseDecision;
use serde::de::DeserializeOwned;

use crate::checksum::{RowCheck, check_row};
use crate::folder::{JUDGEMENTS_FILE, QUESTIONS_FILE, RESULTS_FILE};
use crate::{CaseKey, CaseOffset, JudgementRow, QuestionRow, ResultRow, RunFolder, StoreError};

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
        let counts = self.row_counts()?;
        Ok(JsonlRows::open(self.file(RESULTS_FILE))?.expecting(counts.map(|counts| counts.results)))
    }

    /// Reads the results together with their decisions.
    pub fn cases(&self) -> Result<CaseRecords, StoreError> {
        let counts = self.row_counts()?;
        let results =
            JsonlRows::open(self.file(RESULTS_FILE))?.expecting(counts.map(|counts| counts.results));
        let judgements =
            JsonlRows::open(self.file(JUDGEMENTS_FILE))?.expecting(counts.map(|counts| counts.judgements));

        Ok(CaseRecords::from_rows(results, judgements))
    }

    /// Reads the results with their decisions as far as they are there: for whoever mends the run.
    pub(crate) fn remaining_cases(&self) -> Result<CaseRecords, StoreError> {
        let results = JsonlRows::open(self.file(RESULTS_FILE))?;
        let judgements = JsonlRows::open(self.file(JUDGEMENTS_FILE))?;

        Ok(CaseRecords { needs_decisions: false, ..CaseRecords::from_rows(results, judgements) })
    }

    /// Reads what was asked; nothing in runs of versions that did not keep it.
    pub fn questions(&self) -> Result<impl Iterator<Item = Result<QuestionRow, StoreError>>, StoreError> {
        let path = self.file(QUESTIONS_FILE);
        let rows = if path.exists() { Some(JsonlRows::open(path)?) } else { None };
        Ok(rows.into_iter().flatten())
    }
}

/// Keeps the first `most` of the records that are `wanted`, in the order of the run's files and beginning
/// behind the place `after`. Returns them with their places, and how many are wanted behind that place.
pub fn first_in_order<E>(
    records: impl Iterator<Item = Result<CaseRecord, E>>,
    wanted: impl Fn(&CaseRecord) -> bool,
    after: Option<RecordPlace>,
    most: usize,
) -> Result<(BTreeMap<RecordPlace, CaseRecord>, usize), E> {
    let mut kept = BTreeMap::new();
    let mut total = 0;
    for (index, record) in records.enumerate() {
        let record = record?;
        let place = (record.result.place.unwrap_or(u64::MAX), index);
        if after.is_some_and(|after| place <= after) || !wanted(&record) {
            continue;
        }

        total += 1;
        kept.insert(place, record);
        if kept.len() > most {
            kept.pop_last();
        }
    }

    Ok((kept, total))
}

/// Place of a record in the order of the run's files; where that is not known, in the order of the rows.
pub type RecordPlace = (u64, usize);

/// The rows of a JSONL file.
#[derive(Debug)]
pub struct JsonlRows<T> {
    path: PathBuf,
    lines: BufReader<File>,
    /// Offset behind the last complete row that was read.
    offset: u64,
    /// The last line that was read; kept for the next one unless it was a very long one.
    text: Vec<u8>,
    line: usize,
    /// Rows read so far.
    count: u64,
    /// Rows that a run had when it ended. Each of them then has a checksum.
    expected: Option<u64>,
    done: bool,
    row: PhantomData<T>,
}

impl<T: DeserializeOwned> JsonlRows<T> {
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        Self::open_at(path, 0)
    }

    /// Opens the rows from an offset on, at which one begins.
    pub(crate) fn open_at(path: PathBuf, offset: u64) -> Result<Self, StoreError> {
        let file = assize_files::open_file(&path).map_err(StoreError::io("read", &path))?;
        let mut lines = BufReader::with_capacity(64 * 1024, file);
        if offset > 0 {
            lines.seek(SeekFrom::Start(offset)).map_err(StoreError::io("read", &path))?;
        }

        Ok(Self {
            path,
            lines,
            offset,
            text: Vec::new(),
            line: 0,
            count: 0,
            expected: None,
            done: false,
            row: PhantomData,
        })
    }

    /// Ends with an error unless there are `expected` rows.
    fn expecting(self, expected: Option<u64>) -> Self {
        Self { expected, ..self }
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
                return self.check_count().map(|()| None);
            }
            self.offset += self.text.len() as u64;
            if self.text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }

            self.check_sum()?;
            self.count += 1;

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

impl<T> JsonlRows<T> {
    fn check_sum(&self) -> Result<(), StoreError> {
        check_sum(&self.text, self.expected.is_some()).map_err(|message| StoreError::Damaged {
            path: self.path.clone(),
            line: self.line,
            message,
        })
    }

    fn check_count(&self) -> Result<(), StoreError> {
        match self.expected {
            Some(expected) if expected != self.count => {
                Err(StoreError::RowsLost { path: self.path.clone(), found: self.count, expected })
            }
            _ => Ok(()),
        }
    }
}

/// Returns an error if a row is not as it was written. Rows of versions that wrote no checksum pass unless it is needed.
pub(crate) fn check_sum(line: &[u8], is_needed: bool) -> Result<(), String> {
    match check_row(line) {
        RowCheck::Missing if is_needed => Err(
            "the row has no checksum: it was added or changed after the run ended; remove the line, and `--resume` the \
             run"
            .to_owned(),
        ),
        RowCheck::Changed => Err(
            "the row is not as it was written, its checksum says; remove the line, and `--resume` the run".to_owned(),
        ),
        RowCheck::Intact | RowCheck::Missing => Ok(()),
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
    /// Offset at which the row `ahead` begins, or the next one to be read.
    next_judgement: u64,
    /// True if a result without its decisions is an error.
    needs_decisions: bool,
}

impl CaseRecords {
    pub(crate) fn from_rows(results: ResultRows, judgements: JsonlRows<JudgementRow>) -> Self {
        let next_judgement = judgements.offset;
        Self { results, judgements, ahead: None, next_judgement, needs_decisions: true }
    }

    /// Place at which the next case begins: where to go on when more have been written.
    pub fn offset(&self) -> CaseOffset {
        CaseOffset { result: self.results.offset, judgements: self.next_judgement }
    }

    fn decisions_of(&mut self, key: &CaseKey) -> Result<Vec<CaseDecision>, StoreError> {
        let mut rows = Vec::new();
        loop {
            let row = match self.ahead.take() {
                Some(row) => row,
                None => {
                    self.next_judgement = self.judgements.offset;
                    match self.judgements.next() {
                        Some(row) => row?,
                        None => return Ok(rows),
                    }
                }
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
        let result = match self.results.next() {
            Some(Ok(result)) => result,
            Some(Err(error)) => return Some(Err(error)),
            // The rest is leftovers, or rows that nobody wrote.
            None => return self.judgements.by_ref().find_map(Result::err).map(Err),
        };

        // A case without graders (its target failed) has no judgements; looking for them would read
        // past those of the next case.
        if result.graders.is_empty() {
            return Some(Ok(CaseRecord { result, decisions: Vec::new() }));
        }

        let decisions = self.decisions_of(&result.key());
        let is_bare = decisions.as_ref().is_ok_and(Vec::is_empty)
            && result.graders.iter().any(|grader| !grader.criteria.is_empty());
        if self.needs_decisions && is_bare {
            return Some(Err(StoreError::Damaged {
                path: self.judgements.path.clone(),
                line: self.judgements.line,
                message: format!(
                    "the judgements of the case `{}` are missing; `--resume` judges it again",
                    result.case_id
                ),
            }));
        }

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
