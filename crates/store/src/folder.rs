//! Writing a run folder.
//!
//! A process may be killed at any byte, and the machine may lose power. These invariants keep a run readable:
//!
//! - A row is complete only with its line end, so a torn last line is recognised and ignored. A file never
//!   gets a row after a torn one: a writer whose write failed truncates the file, and writes no more rows.
//! - The rows that a result depends on are written before the result, so a result row never stands alone
//!   after a kill. Judgements without a result are leftovers, which readers skip. After a loss of power the
//!   disk may have kept them in another order; readers notice that.
//! - `run.json` is replaced by a rename, so readers see the old or the new one. Its row counts are written
//!   last, after all rows are synced: if there are counts, every row is on disk.
//! - While a run is being written, its judgements file is locked.

use std::collections::{BTreeMap, HashSet};
use std::fs::TryLockError;
use std::io::{self, BufReader, Seek, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use assize_rubric::CaseDecision;
use serde::{Deserialize, Serialize};

use crate::checksum::{RowCheck, check_document, end_document};
use crate::disk::{self, DiskFile};
use crate::private_file::create_private_folder;
use crate::question_key::QuestionKey;
use crate::row_counts::{RowCountsHeader, RowTallies};
use crate::run_info::SUMMED_VERSION;
use crate::{CaseRows, QuestionRow, ResultRow, ReviewRow, RowCounts, RunInfo, StoreError};

pub(crate) const RUN_FILE: &str = "run.json";
pub(crate) const RESULTS_FILE: &str = "results.jsonl";
pub(crate) const JUDGEMENTS_FILE: &str = "judgements.jsonl";
pub(crate) const INPUTS_FILE: &str = "inputs.jsonl";
pub(crate) const QUESTIONS_FILE: &str = "questions.jsonl";
pub(crate) const REVIEW_FILE: &str = "review.jsonl";
/// For each suite whose `afterAll` extensions have run, a number that identifies the results they ran on.
const EXTENSIONS_FILE: &str = "extensions.json";

/// Number of unsynced bytes at which a sync is started during the run, so that little is left to sync at its
/// end.
const SYNC_BYTES: usize = 4 << 20;

/// A run folder on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the value for a path, without reading or creating anything.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the file with a row for each finished case.
    pub fn results_path(&self) -> PathBuf {
        self.path.join(RESULTS_FILE)
    }

    /// Creates the folder and writes the first `run.json`, so that a folder that can't be written is found
    /// before any money is spent.
    pub fn create(&self, info: &RunInfo) -> Result<RunWriter, StoreError> {
        create_private_folder(&self.path).map_err(StoreError::io("create", &self.path))?;

        if [RUN_FILE, RESULTS_FILE, JUDGEMENTS_FILE].iter().any(|name| self.file(name).exists()) {
            return Err(StoreError::Occupied { path: self.path.clone() });
        }

        // Written first, because a folder with nothing but `run.json` can be resumed.
        self.write_info(info)?;
        let rows = self.open_rows()?;

        // The names must survive a loss of power too: those in the folder, and the name of the folder itself.
        disk::sync_folder(&self.path).map_err(StoreError::io("write", &self.path))?;
        if let Some(parent) = self.path.parent() {
            disk::sync_folder(parent).map_err(StoreError::io("write", parent))?;
        }

        Ok(RunWriter::new(self.clone(), rows, RowTallies::default(), HashSet::new()))
    }

    /// Returns the row counts of a finished run; `None` for a run in progress, or if its writer did not count
    /// rows.
    pub(crate) fn row_counts(&self) -> Result<Option<RowCounts>, StoreError> {
        let path = self.file(RUN_FILE);
        let file = match assize_files::open_file(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { action: "read", path, source }),
        };

        let header: Result<RowCountsHeader, _> =
            serde_json::from_reader(BufReader::with_capacity(64 * 1024, file));
        // Other errors in the file are reported by the code that reads all of it.
        Ok(header.ok().and_then(|header| header.rows))
    }

    /// Reads `run.json`.
    pub fn info(&self) -> Result<RunInfo, StoreError> {
        let path = self.file(RUN_FILE);
        let mut file = match assize_files::open_file(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotARun { path: self.path.clone() });
            }
            Err(source) => return Err(StoreError::Io { action: "read", path, source }),
        };
        let state = check_document(&mut file).map_err(StoreError::io("read", &path))?;
        let mut file = BufReader::with_capacity(64 * 1024, file);

        // A newer layout may not match the current types, so the version is read before their error is reported. The
        // file is not read into a string, because the file of a large scorecard is much larger than its content in
        // memory.
        let read: Result<RunInfo, serde_json::Error> = serde_json::from_reader(&mut file);
        match read {
            Ok(info) if info.format_version < SUMMED_VERSION => return Ok(info),
            Ok(info) if info.format_version <= crate::FORMAT_VERSION && state == RowCheck::Intact => {
                return Ok(info);
            }
            Ok(info) if info.format_version <= crate::FORMAT_VERSION => {
                return Err(StoreError::InfoChanged { path });
            }
            _ => {}
        }

        file.rewind().map_err(StoreError::io("read", &path))?;
        let version: Result<VersionHeader, serde_json::Error> = serde_json::from_reader(file);
        let found = version.ok().and_then(|found| found.format_version.as_u64()).unwrap_or(0);
        if found > u64::from(crate::FORMAT_VERSION) {
            let found = u32::try_from(found).unwrap_or(u32::MAX);
            return Err(StoreError::Version { path, found, known: crate::FORMAT_VERSION });
        }

        read.map_err(|error| damaged(&path, &error))
    }

    /// Replaces `run.json` in one step, so that a reader sees either the old or the new one.
    pub(crate) fn write_info(&self, info: &RunInfo) -> Result<(), StoreError> {
        let mut text =
            serde_json::to_vec_pretty(info).map_err(|error| damaged(&self.file(RUN_FILE), &error))?;
        end_document(&mut text);
        self.replace(RUN_FILE, &text)
    }

    /// Replaces a file in one step.
    fn replace(&self, name: &str, text: &[u8]) -> Result<(), StoreError> {
        let (path, draft) = (self.file(name), self.file(&format!("{name}.new")));
        let mut file = DiskFile::create(&draft).map_err(StoreError::io("write", &draft))?;
        file.write_all(text).and_then(|()| file.sync()).map_err(StoreError::io("write", &draft))?;

        disk::replace(&draft, &path).map_err(StoreError::io("write", &path))
    }

    /// Returns the suites whose `afterAll` extensions have run, each with a number that identifies the
    /// results they ran on. An unreadable file counts as missing: the extensions are then run again.
    pub fn ended_extensions(&self) -> BTreeMap<String, u64> {
        let file = assize_files::open_file(&self.file(EXTENSIONS_FILE)).ok();
        file.and_then(|file| serde_json::from_reader(BufReader::new(file)).ok()).unwrap_or_default()
    }

    /// Stores the suites whose `afterAll` extensions have run.
    pub fn write_ended_extensions(&self, suites: &BTreeMap<String, u64>) -> Result<(), StoreError> {
        let path = self.file(EXTENSIONS_FILE);
        let text = serde_json::to_vec(suites).map_err(|error| damaged(&path, &error))?;
        self.replace(EXTENSIONS_FILE, &text)
    }

    /// Replaces `review.jsonl` in one step. Its content repeats other rows, for the next reviewer.
    pub fn write_review(&self, rows: &[ReviewRow]) -> Result<(), StoreError> {
        let mut text = Vec::new();
        for row in rows {
            append(&mut text, row).map_err(StoreError::io("write", &self.file(REVIEW_FILE)))?;
        }
        self.replace(REVIEW_FILE, &text)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the row files for appending, and locks them against other writers while they are open.
    pub(crate) fn open_rows(&self) -> Result<RowFiles, StoreError> {
        let judgements = self.append_to(JUDGEMENTS_FILE)?;
        match judgements.file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: self.path.clone() }),
            // On file systems without locks, a second writer can't be detected.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }

        Ok(RowFiles {
            judgements,
            inputs: self.append_to(INPUTS_FILE)?,
            questions: self.append_to(QUESTIONS_FILE)?,
            results: self.append_to(RESULTS_FILE)?,
        })
    }

    fn append_to(&self, name: &'static str) -> Result<RowFile, StoreError> {
        let path = self.file(name);
        let file = DiskFile::append(&path).map_err(StoreError::io("write", &path))?;
        let length = file.len().map_err(StoreError::io("read", &path))?;
        Ok(RowFile { name, file, length, waiting: Vec::new(), unsynced: 0, syncing: None, failed: None })
    }
}

/// The only key that all layouts have.
#[derive(Deserialize)]
struct VersionHeader {
    #[serde(default)]
    format_version: serde_json::Value,
}

fn damaged(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Damaged { path: path.to_path_buf(), line: error.line(), message: error.to_string() }
}

/// Appends to a run.
#[derive(Debug)]
pub struct RunWriter {
    folder: RunFolder,
    files: RowFiles,
    /// Rows written so far, including rows of earlier writers of the run.
    written: RowTallies,
    /// Rows that were appended and are not written yet.
    waiting: RowTallies,
    /// True if a write failed, so that the number of rows is unknown.
    has_failed: bool,
    /// Hashes of the questions that are already stored.
    asked: HashSet<QuestionKey>,
}

/// The files that rows are appended to.
#[derive(Debug)]
pub(crate) struct RowFiles {
    judgements: RowFile,
    inputs: RowFile,
    questions: RowFile,
    results: RowFile,
}

/// A row file, and the rows that are waiting to be written to it.
#[derive(Debug)]
struct RowFile {
    name: &'static str,
    file: DiskFile,
    /// Length of the complete rows in bytes.
    length: u64,
    waiting: Vec<u8>,
    /// Number of bytes for which no sync was started yet.
    unsynced: usize,
    /// Thread that syncs the rows written before it was started.
    syncing: Option<JoinHandle<io::Result<()>>>,
    /// Error of such a thread.
    failed: Option<io::Error>,
}

impl RowFile {
    fn settle(&mut self, folder: &RunFolder) -> Result<(), StoreError> {
        let written = self.file.write_all(&self.waiting);
        self.unsynced += self.waiting.len();

        match &written {
            Ok(()) => self.length += self.waiting.len() as u64,
            // An incomplete write leaves a torn row, and rows after it could not be read. If it can't be removed, it
            // stays the last one, because a writer that has failed writes nothing more.
            Err(_) => drop(self.file.set_len(self.length)),
        }
        self.waiting.clear();

        if self.unsynced >= SYNC_BYTES {
            self.begin_sync();
        }

        written.map_err(StoreError::io("write", folder.file(self.name)))
    }

    /// Starts to sync everything written so far, unless a sync is running. If it can't be started, [`Self::sync`] syncs
    /// everything at the end.
    fn begin_sync(&mut self) {
        if !self.syncing.as_ref().is_none_or(JoinHandle::is_finished) {
            return;
        }

        self.end_sync();

        if let Ok(file) = self.file.try_clone() {
            self.unsynced = 0;
            self.syncing = thread::Builder::new().spawn(move || file.sync()).ok();
        }
    }

    /// Waits for a running sync. The system reports a failure only once, so it is kept.
    fn end_sync(&mut self) {
        let ended = self.syncing.take().map(JoinHandle::join);
        if let Some(Err(error)) = ended.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic))) {
            self.failed.get_or_insert(error);
        }
    }

    /// Syncs everything written so far.
    fn sync(&mut self, folder: &RunFolder) -> Result<(), StoreError> {
        self.end_sync();
        let rest = self.file.sync();
        self.failed.take().map_or(rest, Err).map_err(StoreError::io("write", folder.file(self.name)))
    }
}

impl RunWriter {
    pub(crate) fn new(
        folder: RunFolder,
        files: RowFiles,
        written: RowTallies,
        asked: HashSet<QuestionKey>,
    ) -> Self {
        Self { folder, files, written, waiting: RowTallies::default(), has_failed: false, asked }
    }

    /// The folder being written.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Records a finished case.
    pub fn record(&mut self, decisions: &[CaseDecision], result: &ResultRow) -> Result<(), StoreError> {
        self.append(&CaseRows::new(decisions, result, None)?);
        self.settle()
    }

    /// Records a question.
    pub fn record_question(&mut self, question: &QuestionRow) -> Result<(), StoreError> {
        self.append(&CaseRows::default().with_question(question)?);
        self.settle()
    }

    /// Adds the rows of a finished case. They are written by the next [`Self::settle`].
    pub fn append(&mut self, rows: &CaseRows) {
        let is_new =
            rows.question.as_ref().is_some_and(|(hash, _)| self.asked.insert(QuestionKey::new(hash)));
        self.take(rows, is_new);
    }

    /// Adds rows whose questions are known to be distinct, without keeping a set of their hashes.
    pub(crate) fn append_distinct(&mut self, rows: &CaseRows) {
        self.take(rows, true);
    }

    fn take(&mut self, rows: &CaseRows, is_new: bool) {
        let RowFiles { judgements, inputs, questions, results } = &mut self.files;
        if let Some((_, row)) = rows.question.as_ref().filter(|_| is_new) {
            questions.waiting.extend_from_slice(row);
            self.waiting.questions.add_lines(row);
        }

        inputs.waiting.extend_from_slice(&rows.inputs);
        judgements.waiting.extend_from_slice(&rows.judgements);
        results.waiting.extend_from_slice(&rows.result);

        self.waiting.results.add_lines(&rows.result);
        self.waiting.judgements.add_lines(&rows.judgements);
    }

    /// Writes the added rows. A result is written after the rows that it depends on, so that no result row
    /// stands alone if the process is killed. The disk may reorder writes: after a loss of power, a result of
    /// an unfinished run can stand alone, which readers notice.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        let RowFiles { judgements, inputs, questions, results } = &mut self.files;
        if self.has_failed {
            // No row after a torn one could be read.
            for file in [questions, inputs, judgements, results] {
                file.waiting.clear();
            }

            return Err(StoreError::Io {
                action: "write",
                path: self.folder.path.clone(),
                source: io::Error::other("an earlier row could not be written"),
            });
        }

        let written = [questions, inputs, judgements, results]
            .into_iter()
            .try_for_each(|file| file.settle(&self.folder));
        let waiting = std::mem::take(&mut self.waiting);
        self.written.results.join(waiting.results);
        self.written.judgements.join(waiting.judgements);
        self.written.questions.join(waiting.questions);
        self.has_failed = written.is_err();

        written
    }

    /// Ends the run: syncs the rows, then writes the final `run.json` with the row counts. `run.json` is written even
    /// if writing rows failed, because it contains how the run ended.
    pub fn finish(mut self, info: &mut RunInfo) -> Result<RunFolder, StoreError> {
        let rows = self.sync();
        // The counts guarantee that the rows are on disk.
        info.rows = rows.is_ok().then_some(self.written.into());
        self.folder.write_info(info)?;
        rows.map(|()| self.folder)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.settle()?;
        let RowFiles { judgements, inputs, questions, results } = &mut self.files;
        let mut files = [judgements, inputs, questions, results];

        // Started on all files first, so that they wait for the disk at the same time.
        for file in &mut files {
            file.begin_sync();
        }

        files.into_iter().try_for_each(|file| file.sync(&self.folder))
    }
}

fn append(file: &mut impl Write, row: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, row)?;
    file.write_all(b"\n")
}
