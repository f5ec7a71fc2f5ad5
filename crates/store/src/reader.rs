//! Reads a run row by row, with constant memory.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assize_rubric::CaseDecision;
use serde::de::DeserializeOwned;

use crate::checksum::{RowCheck, check_row};
use crate::folder::{JUDGEMENTS_FILE, QUESTIONS_FILE, RESULTS_FILE};
use crate::row_counts::{ExpectedRows, RowTally};
use crate::{CaseKey, JudgementRow, QuestionRow, ResultRow, RunFolder, StoreError};

impl JudgementRow {
    fn belongs_to(&self, key: &CaseKey) -> bool {
        self.case_id == key.case_id
            && self.trial == key.trial
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

/// The rows of `results.jsonl`, in order. A torn last line is ignored.
pub type ResultRows = JsonlRows<ResultRow>;

impl RunFolder {
    /// Reads the results.
    pub fn results(&self) -> Result<ResultRows, StoreError> {
        let counts = self.row_counts()?;
        Ok(JsonlRows::open(self.file(RESULTS_FILE))?
            .expecting(counts.map(|counts| counts.expected_results())))
    }

    /// Reads the results together with their decisions.
    pub fn cases(&self) -> Result<CaseRecords, StoreError> {
        let counts = self.row_counts()?;
        let results = JsonlRows::open(self.file(RESULTS_FILE))?
            .expecting(counts.map(|counts| counts.expected_results()));
        let judgements = JsonlRows::open(self.file(JUDGEMENTS_FILE))?
            .expecting(counts.map(|counts| counts.expected_judgements()));

        Ok(CaseRecords::new(results, judgements, true))
    }

    /// Reads the results with the decisions that exist, to resume a damaged run.
    pub(crate) fn remaining_cases(&self) -> Result<CaseRecords, StoreError> {
        let results = JsonlRows::open(self.file(RESULTS_FILE))?.with_needed_sums();
        let judgements = JsonlRows::open(self.file(JUDGEMENTS_FILE))?.with_needed_sums();

        Ok(CaseRecords::new(results, judgements, false))
    }

    /// Locates each question, so that it can be read when it is needed. Fails if rows were lost.
    pub fn question_index(&self) -> Result<QuestionIndex, StoreError> {
        let mut places = HashMap::new();
        let Some(mut rows) = self.question_rows()? else { return Ok(QuestionIndex { rows: None, places }) };
        while let Some(row) = rows.next() {
            places.insert(row?.case_hash, rows.row_start);
        }

        Ok(QuestionIndex { rows: Some(rows), places })
    }

    /// Reads the questions; none in runs of older versions, which did not store them. Ends with an error if
    /// rows were lost.
    pub fn questions(&self) -> Result<impl Iterator<Item = Result<QuestionRow, StoreError>>, StoreError> {
        Ok(self.question_rows()?.into_iter().flatten())
    }

    fn question_rows(&self) -> Result<Option<JsonlRows<QuestionRow>>, StoreError> {
        let path = self.file(QUESTIONS_FILE);
        let expected = self.row_counts()?.and_then(|counts| counts.expected_questions());
        if path.exists() {
            return Ok(Some(JsonlRows::open(path)?.expecting(expected)));
        }

        match expected {
            Some(ExpectedRows { count, .. }) if count > 0 => {
                Err(StoreError::RowsLost { path, found: 0, expected: count })
            }
            _ => Ok(None),
        }
    }
}

/// Returns the first `most` of the `wanted` records after the place `after`, in the order of the run's files.
/// Also returns how many records are wanted after that place.
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

/// Place of a record in the order of the run's files; records of unknown place come last, in the order of
/// their rows.
pub type RecordPlace = (u64, usize);

/// Questions of a run, read one at a time by the hash of their case.
#[derive(Debug)]
pub struct QuestionIndex {
    rows: Option<JsonlRows<QuestionRow>>,
    places: HashMap<String, u64>,
}

impl QuestionIndex {
    /// Reads a question; `None` if the run does not have it.
    pub fn read(&mut self, case_hash: &str) -> Result<Option<QuestionRow>, StoreError> {
        let Some((rows, &at)) = self.rows.as_mut().zip(self.places.get(case_hash)) else { return Ok(None) };

        rows.seek(at)?;
        rows.next().transpose()
    }
}

/// Position of a case's rows in the files of its run, for reading it again by [`CaseRecords::read_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordPosition {
    /// Offset of its row in `results.jsonl`, in bytes.
    pub result: u64,
    /// Offset of its first row in `judgements.jsonl`, in bytes, or of a row before it.
    pub judgements: u64,
}

/// The rows of a JSONL file.
#[derive(Debug)]
pub struct JsonlRows<T> {
    path: PathBuf,
    lines: BufReader<File>,
    /// The last line read. Its buffer is reused for the next line unless it is very long.
    text: Vec<u8>,
    line: usize,
    /// End of the last line read, in bytes.
    position: u64,
    /// Start of the last row, in bytes.
    row_start: u64,
    /// Tally of the rows read so far; `None` after a seek, because skipped rows are not counted.
    tally: Option<RowTally>,
    /// Tally of the rows when the run ended.
    expected: Option<ExpectedRows>,
    /// True if a row without a checksum is an error, because it was added by hand.
    needs_sums: bool,
    done: bool,
    row: PhantomData<T>,
}

impl<T: DeserializeOwned> JsonlRows<T> {
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = assize_files::open_file(&path).map_err(StoreError::io("read", &path))?;
        let lines = BufReader::with_capacity(64 * 1024, file);
        Ok(Self {
            path,
            lines,
            text: Vec::new(),
            line: 0,
            position: 0,
            row_start: 0,
            tally: Some(RowTally::default()),
            expected: None,
            needs_sums: false,
            done: false,
            row: PhantomData,
        })
    }

    /// Checks that the rows are exactly the `expected` ones, each with its checksum; otherwise reading ends
    /// with an error.
    pub(crate) fn expecting(self, expected: Option<ExpectedRows>) -> Self {
        Self { expected, needs_sums: expected.is_some(), ..self }
    }

    /// Makes a row without a checksum an error.
    fn with_needed_sums(self) -> Self {
        Self { needs_sums: true, ..self }
    }

    fn read(&mut self) -> Result<Option<T>, StoreError> {
        const MAX_KEPT_LINE: usize = 1 << 20;
        loop {
            self.text.clear();
            self.text.shrink_to(MAX_KEPT_LINE);
            let length =
                self.lines.read_until(b'\n', &mut self.text).map_err(StoreError::io("read", &self.path))?;
            self.line += 1;
            self.row_start = self.position;

            // Every complete row ends in a newline. A tail without one was torn off by a crash, or is being
            // written.
            if self.text.last() != Some(&b'\n') {
                let back = -length.cast_signed() as i64;
                self.lines.seek_relative(back).map_err(StoreError::io("read", &self.path))?;
                return self.check_tally().map(|()| None);
            }
            self.position += length as u64;
            if self.text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }

            self.check_sum()?;
            if let Some(tally) = &mut self.tally {
                tally.add(&self.text);
            }
            self.check_surplus()?;

            return match serde_json::from_slice(&self.text) {
                Ok(row) => Ok(Some(row)),
                Err(error) => Err(StoreError::damaged(&self.path, self.true_line(), error.to_string())),
            };
        }
    }
}

impl<T> JsonlRows<T> {
    /// Number of the last line read, from 1.
    pub(crate) const fn line(&self) -> usize {
        self.line
    }

    /// Number of the last line read, from 1. After a seek, the lines before it are counted by reading the
    /// file.
    fn true_line(&self) -> usize {
        if self.tally.is_some() {
            self.line
        } else {
            line_at(&self.path, self.row_start).unwrap_or(self.line)
        }
    }

    /// Offset of the last row read.
    pub(crate) const fn row_start(&self) -> u64 {
        self.row_start
    }

    /// End offset of the last row read.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    fn check_sum(&self) -> Result<(), StoreError> {
        check_sum(&self.text, self.needs_sums)
            .map_err(|message| StoreError::damaged(&self.path, self.true_line(), message))
    }

    /// Returns an error at the first row beyond those with which the run ended. Otherwise such a row would be
    /// parsed, and its defects would be reported instead.
    fn check_surplus(&mut self) -> Result<(), StoreError> {
        let Some((expected, tally)) = self.expected.zip(self.tally) else { return Ok(()) };
        if tally.count <= expected.count {
            return Ok(());
        }

        let mut found = tally.count;
        self.text.clear();
        while self.lines.read_until(b'\n', &mut self.text).map_err(StoreError::io("read", &self.path))? > 0 {
            found += 1;
            self.text.clear();
        }

        Err(StoreError::RowsLost { path: self.path.clone(), found, expected: expected.count })
    }

    fn check_tally(&self) -> Result<(), StoreError> {
        let Some((expected, found)) = self.expected.zip(self.tally) else { return Ok(()) };
        if expected.count != found.count {
            let (found, expected) = (found.count, expected.count);
            return Err(StoreError::RowsLost { path: self.path.clone(), found, expected });
        }

        match expected.sum {
            Some(sum) if sum != found.sum => Err(StoreError::RowsReplaced { path: self.path.clone() }),
            _ => Ok(()),
        }
    }

    /// Continues with the row at a position.
    pub(crate) fn seek(&mut self, position: u64) -> Result<(), StoreError> {
        // Within the buffer this does not read from the disk.
        let distance = position.cast_signed().wrapping_sub(self.position.cast_signed());
        self.lines.seek_relative(distance).map_err(StoreError::io("read", &self.path))?;

        self.position = position;
        self.tally = None;
        self.done = false;
        Ok(())
    }
}

/// Number, from 1, of the line at an offset; `None` if the file can't be read. Reads everything before the
/// offset.
pub(crate) fn line_at(path: &Path, offset: u64) -> Option<usize> {
    let before = BufReader::with_capacity(1 << 20, assize_files::open_file(path).ok()?).take(offset);
    let mut line = 1;
    for part in before.split(b'\n') {
        part.ok()?;
        line += 1;
    }

    Some(line)
}

/// Returns an error if a row was changed. Rows without a checksum, which older versions wrote, pass unless
/// `is_needed`.
pub(crate) fn check_sum(line: &[u8], is_needed: bool) -> Result<(), String> {
    match check_row(line) {
        RowCheck::Missing if is_needed => Err(
            "the row has no checksum, so it was added or changed after the run; remove the line and use `--resume`"
            .to_owned(),
        ),
        RowCheck::Changed => Err(
            "the row does not match its checksum; remove the line and use `--resume`".to_owned(),
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
/// Both files are in the order in which cases finished, so one pass over each is enough. Judgements of a case
/// that never got its result row are skipped.
#[derive(Debug)]
pub struct CaseRecords {
    results: ResultRows,
    judgements: JsonlRows<JudgementRow>,
    ahead: Option<JudgementRow>,
    /// True if a result without its decisions is an error.
    needs_decisions: bool,
    /// Byte ranges of the rows of the last case read.
    pub(crate) extent: RecordExtent,
}

/// Byte ranges of a case's rows in the files of its run.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordExtent {
    /// Its row of `results.jsonl`.
    pub(crate) result: Range<u64>,
    /// The rows of `judgements.jsonl` that the result depends on.
    pub(crate) judgements: Range<u64>,
}

impl CaseRecords {
    pub(crate) fn new(
        results: ResultRows,
        judgements: JsonlRows<JudgementRow>,
        needs_decisions: bool,
    ) -> Self {
        Self { results, judgements, ahead: None, needs_decisions, extent: RecordExtent::default() }
    }

    /// Position of the next case.
    pub fn position(&self) -> RecordPosition {
        let judgements = match self.ahead {
            Some(_) => self.judgements.row_start,
            None => self.judgements.position,
        };
        RecordPosition { result: self.results.position, judgements }
    }

    /// Reads the case at a position that [`Self::position`] returned; `None` at the end.
    pub fn read_at(&mut self, position: RecordPosition) -> Result<Option<CaseRecord>, StoreError> {
        self.results.seek(position.result)?;
        self.judgements.seek(position.judgements)?;
        self.ahead = None;

        self.next().transpose()
    }

    /// Reads the decisions on a case, each with its offset.
    fn decisions_of(&mut self, key: &CaseKey) -> Result<(Vec<CaseDecision>, Vec<u64>), StoreError> {
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        loop {
            let next = self.ahead.take().map(Ok).or_else(|| self.judgements.next());
            let Some(row) = next.transpose()? else {
                self.extent.judgements.end = self.judgements.position;
                return Ok((rows, starts));
            };

            // The row that was read ahead is the last one read.
            let start = self.judgements.row_start;
            if row.belongs_to(key) {
                rows.push(row.into());
                starts.push(start);
            } else if rows.is_empty() {
                // A row of a case that did not finish.
            } else {
                self.ahead = Some(row);
                self.extent.judgements.end = start;
                return Ok((rows, starts));
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
            // Only leftovers may follow; damaged rows among them are reported.
            None => return self.judgements.by_ref().find_map(Result::err).map(Err),
        };

        self.extent =
            RecordExtent { result: self.results.row_start..self.results.position, judgements: 0..0 };

        // A case without graders (its target failed) has no judgements; a search would read past the judgements of the
        // next case.
        if result.graders.is_empty() {
            return Some(Ok(CaseRecord { result, decisions: Vec::new() }));
        }

        let decisions = self.decisions_of(&result.key());
        let is_bare = decisions.as_ref().is_ok_and(|(decisions, _)| decisions.is_empty())
            && result.graders.iter().any(|grader| !grader.criteria.is_empty());
        if self.needs_decisions && is_bare {
            let id = &result.case_id;
            let message =
                format!("the judgements of the case `{id}` are missing; `--resume` judges it again");
            return Some(Err(StoreError::damaged(&self.judgements.path, self.judgements.line, message)));
        }

        Some(decisions.map(|(mut decisions, starts)| {
            // A case that was judged, lost its result row in a crash and was judged again has two series of
            // judgements in a row, and the result depends on the second one. Each series begins with the same
            // row, and no row occurs twice in a series.
            let again = decisions.first().and_then(|first| {
                decisions
                    .iter()
                    .rposition(|decided| decided.is_about_same(first) && decided.vote == first.vote)
            });
            let first = again.unwrap_or(0);
            decisions.drain(..first);

            let end = self.extent.judgements.end;
            self.extent.judgements.start = starts.get(first).copied().unwrap_or(end);

            CaseRecord { result, decisions }
        }))
    }
}
