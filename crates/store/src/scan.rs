//! Reads rows of a run by byte offset: all rows of a file in parallel, or one case with its decisions.

use std::fs::TryLockError;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;

use crate::folder::{JUDGEMENTS_FILE, QUESTIONS_FILE, RESULTS_FILE};
use crate::reader::{CaseRecords, JsonlRows, check_sum, line_at};
use crate::{CaseRecord, QuestionRow, RecordPosition, ResultRow, RunFolder, StoreError};

/// A part of a file gets its own thread if it has at least this many bytes.
const MIN_THREAD_BYTES: u64 = 4 << 20;

/// A row file of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsFile {
    /// `results.jsonl`.
    Results,
    /// `judgements.jsonl`.
    Judgements,
    /// `questions.jsonl`, which older runs do not have.
    Questions,
}

impl RowsFile {
    const fn name(self) -> &'static str {
        match self {
            Self::Results => RESULTS_FILE,
            Self::Judgements => JUDGEMENTS_FILE,
            Self::Questions => QUESTIONS_FILE,
        }
    }
}

/// Rows of a file, as collected by several threads.
#[derive(Debug)]
pub struct ScannedRows<A> {
    /// Collections of the parts of the file, in order.
    pub parts: Vec<A>,
    /// End offset of the last complete row. A later scan can continue there.
    pub end: u64,
}

impl RunFolder {
    /// Length of a row file in bytes; 0 if it does not exist.
    pub fn rows_length(&self, file: RowsFile) -> u64 {
        std::fs::metadata(self.file(file.name())).map_or(0, |metadata| metadata.len())
    }

    /// Returns true while a process writes the run; false if files can't be locked or don't exist.
    pub fn is_being_written(&self) -> bool {
        let file = assize_files::open_file(&self.file(JUDGEMENTS_FILE));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Calls `see` with every complete row from the offset `from`, and the row's offset. Parts of a large
    /// file are read in parallel by up to `readers` threads, each with its own collection.
    ///
    /// # Errors
    /// If the file can't be read, or if `see` rejects a row.
    pub fn scan_rows<A: Default + Send>(
        &self,
        file: RowsFile,
        from: u64,
        readers: usize,
        see: impl Fn(&mut A, u64, &[u8]) -> Result<(), String> + Sync,
    ) -> Result<ScannedRows<A>, StoreError> {
        self.scan_rows_within(file, from..self.rows_length(file), readers, see)
    }

    /// Like [`scan_rows`](Self::scan_rows), for the rows that begin within a range of offsets. The range must
    /// begin at a row; the last row may extend beyond it.
    ///
    /// # Errors
    /// If the file can't be read, or if `see` rejects a row.
    pub fn scan_rows_within<A: Default + Send>(
        &self,
        file: RowsFile,
        range: Range<u64>,
        readers: usize,
        see: impl Fn(&mut A, u64, &[u8]) -> Result<(), String> + Sync,
    ) -> Result<ScannedRows<A>, StoreError> {
        let path = self.file(file.name());
        let from = range.start;
        let bytes = range.end.saturating_sub(from);
        let count = (bytes / MIN_THREAD_BYTES + 1).min(readers.max(1) as u64);

        let bounds: Vec<(u64, u64)> =
            (0..count).map(|at| (from + bytes * at / count, from + bytes * (at + 1) / count)).collect();
        let read = |part: usize| scan_part(&path, bounds[part], part > 0, &see);
        let found: Vec<Result<(A, u64), StoreError>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..bounds.len()).map(|part| scope.spawn(move || read(part))).collect();
            let first = if bytes == 0 { Ok((A::default(), from)) } else { read(0) };
            let others =
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));

            std::iter::once(first).chain(others).collect()
        });

        let (mut parts, mut end) = (Vec::with_capacity(found.len()), from);
        for part in found {
            let (part, reached) = part?;
            parts.push(part);
            end = end.max(reached);
        }

        Ok(ScannedRows { parts, end })
    }

    /// Reads one case with its decisions; `None` if no complete row begins at the position.
    ///
    /// # Errors
    /// If the rows can't be read, or were changed.
    pub fn case_at(&self, at: RecordPosition) -> Result<Option<CaseRecord>, StoreError> {
        self.cases_from(at)?.next().transpose()
    }

    /// Reads the result whose row begins at an offset of `results.jsonl`; `None` if there is no complete row.
    ///
    /// # Errors
    /// If the row can't be read, or was changed.
    pub fn result_at(&self, offset: u64) -> Result<Option<ResultRow>, StoreError> {
        let mut rows = JsonlRows::open(self.file(RESULTS_FILE))?;
        rows.seek(offset)?;
        rows.next().transpose()
    }

    /// Reads the question whose row begins at an offset of `questions.jsonl`; `None` if there is no complete
    /// row.
    ///
    /// # Errors
    /// If the row can't be read, or was changed.
    pub fn question_at(&self, offset: u64) -> Result<Option<QuestionRow>, StoreError> {
        let mut rows = JsonlRows::open(self.file(QUESTIONS_FILE))?;
        rows.seek(offset)?;
        rows.next().transpose()
    }

    /// Reads the cases from a position up to the last complete one.
    ///
    /// # Errors
    /// If the files can't be opened.
    pub fn cases_from(&self, at: RecordPosition) -> Result<CaseRecords, StoreError> {
        let mut results = JsonlRows::open(self.file(RESULTS_FILE))?;
        let mut judgements = JsonlRows::open(self.file(JUDGEMENTS_FILE))?;
        results.seek(at.result)?;
        judgements.seek(at.judgements)?;

        Ok(CaseRecords::new(results, judgements, true))
    }
}

/// Reads the rows that begin between two offsets. If `is_inside` is true, the first offset may be in the middle of a
/// row, which then belongs to the previous part.
fn scan_part<A: Default>(
    path: &Path,
    (from, to): (u64, u64),
    is_inside: bool,
    see: &impl Fn(&mut A, u64, &[u8]) -> Result<(), String>,
) -> Result<(A, u64), StoreError> {
    let failed = || StoreError::io("read", path);
    let file = assize_files::open_file(path).map_err(failed())?;
    let mut lines = BufReader::with_capacity(1 << 20, file);
    let mut text = Vec::new();

    // Starting one byte earlier, so that a row that begins exactly here is not skipped.
    let mut at = if is_inside { from - 1 } else { from };
    lines.seek(SeekFrom::Start(at)).map_err(failed())?;
    if is_inside {
        at += lines.read_until(b'\n', &mut text).map_err(failed())? as u64;
    }

    let mut collected = A::default();
    let mut end = from;
    while at < to {
        text.clear();
        let read = lines.read_until(b'\n', &mut text).map_err(failed())? as u64;
        // A tail without a line end is being written, or was torn off by a crash.
        if text.last() != Some(&b'\n') {
            break;
        }

        if !text.iter().all(u8::is_ascii_whitespace) {
            check_sum(&text, false).and_then(|()| see(&mut collected, at, &text)).map_err(|message| {
                StoreError::damaged(path, line_at(path, at).unwrap_or_default(), message)
            })?;
        }

        at += read;
        end = at;
    }

    Ok((collected, end))
}
