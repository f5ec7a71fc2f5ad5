//! Writing a run folder.

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
/// Of each suite whose `afterAll` of `extensions` has ended, a number that stands for the results at that time.
const EXTENSIONS_FILE: &str = "extensions.json";

/// Bytes after which the disk is asked for them while the run goes on, so that little is left to wait for at its end.
const MUCH: usize = 4 << 20;

/// The place of a run on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Names a folder; nothing is touched.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the file with a row for each finished case.
    pub fn results_path(&self) -> PathBuf {
        self.path.join(RESULTS_FILE)
    }

    /// Makes the folder and writes the first `run.json`, so that a folder that can't be written is
    /// found out before anything is spent.
    pub fn create(&self, info: &RunInfo) -> Result<RunWriter, StoreError> {
        create_private_folder(&self.path).map_err(StoreError::io("create", &self.path))?;

        if [RUN_FILE, RESULTS_FILE, JUDGEMENTS_FILE].iter().any(|name| self.file(name).exists()) {
            return Err(StoreError::Occupied { path: self.path.clone() });
        }

        // First of all: a folder with `run.json` alone is a run that can be resumed.
        self.write_info(info)?;
        let rows = self.open_rows()?;

        // The names too must outlive a loss of power: those in the folder, and that of the folder.
        disk::sync_folder(&self.path).map_err(StoreError::io("write", &self.path))?;
        if let Some(parent) = self.path.parent() {
            disk::sync_folder(parent).map_err(StoreError::io("write", parent))?;
        }

        Ok(RunWriter::new(self.clone(), rows, RowTallies::default(), HashSet::new()))
    }

    /// Numbers of rows with which the run ended; `None` for a run that goes on, or whose writer did not count them.
    pub(crate) fn row_counts(&self) -> Result<Option<RowCounts>, StoreError> {
        let path = self.file(RUN_FILE);
        let file = match assize_files::open_file(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { action: "read", path, source }),
        };

        let header: Result<RowCountsHeader, _> =
            serde_json::from_reader(BufReader::with_capacity(64 * 1024, file));
        // What else is wrong with the file is told by whoever reads all of it.
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

        // A newer layout need not fit today's types at all, so its version is looked at before they complain.
        // The file is not held as a text: of a large scorecard it is far larger than what it says.
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

    /// Replaces `run.json` in one step: a reader sees the old or the new one, never a half.
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

    /// Suites whose `afterAll` of `extensions` has ended, each with a number that stands for the results then. What can't be read
    /// is as good as absent: the functions are run once more.
    pub fn ended_extensions(&self) -> BTreeMap<String, u64> {
        let file = assize_files::open_file(&self.file(EXTENSIONS_FILE)).ok();
        file.and_then(|file| serde_json::from_reader(BufReader::new(file)).ok()).unwrap_or_default()
    }

    /// Notes the suites whose `afterAll` of `extensions` has ended.
    pub fn write_ended_extensions(&self, suites: &BTreeMap<String, u64>) -> Result<(), StoreError> {
        let path = self.file(EXTENSIONS_FILE);
        let text = serde_json::to_vec(suites).map_err(|error| damaged(&path, &error))?;
        self.replace(EXTENSIONS_FILE, &text)
    }

    /// Replaces `review.jsonl` in one step. It repeats what the rows say, for whoever looks at it next.
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

    /// Opens the files of rows for appending, and keeps other writers out for as long as they are open.
    pub(crate) fn open_rows(&self) -> Result<RowFiles, StoreError> {
        let judgements = self.append_to(JUDGEMENTS_FILE)?;
        match judgements.file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: self.path.clone() }),
            // Where files can't be locked, two writers at once can't be noticed.
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
    /// Rows written so far, those of earlier writers of the run among them.
    written: RowTallies,
    /// Rows that were taken and are not written yet.
    waiting: RowTallies,
    /// True if rows could not be written, so that nobody knows how many there are.
    has_failed: bool,
    /// Hashes of the questions that are on record.
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

/// One of them, and what is to be appended to it.
#[derive(Debug)]
struct RowFile {
    name: &'static str,
    file: DiskFile,
    /// Bytes of the rows that were written whole.
    length: u64,
    waiting: Vec<u8>,
    /// Bytes that the disk was not asked for yet.
    unsynced: usize,
    /// Forces what was written before to the disk.
    syncing: Option<JoinHandle<io::Result<()>>>,
    /// Error of that attempt.
    failed: Option<io::Error>,
}

impl RowFile {
    fn settle(&mut self, folder: &RunFolder) -> Result<(), StoreError> {
        let written = self.file.write_all(&self.waiting);
        self.unsynced += self.waiting.len();

        match &written {
            Ok(()) => self.length += self.waiting.len() as u64,
            // What was written in part is a torn row, after which no other could be read. Where it can't be cut off either,
            // it stays the last one: a writer that has failed writes no more.
            Err(_) => drop(self.file.set_len(self.length)),
        }
        self.waiting.clear();

        if self.unsynced >= MUCH {
            self.begin_sync();
        }

        written.map_err(StoreError::io("write", folder.file(self.name)))
    }

    /// Begins to force what was written to the disk, unless that goes on already. Where it can't begin, all of it is left
    /// to [`Self::sync`].
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

    /// Waits for what was begun. The system tells of a failure only once, so it is kept.
    fn end_sync(&mut self) {
        let ended = self.syncing.take().map(JoinHandle::join);
        if let Some(Err(error)) = ended.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic))) {
            self.failed.get_or_insert(error);
        }
    }

    /// Forces all that was written to the disk.
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

    /// Records what was asked.
    pub fn record_question(&mut self, question: &QuestionRow) -> Result<(), StoreError> {
        self.append(&CaseRows::default().with_question(question)?);
        self.settle()
    }

    /// Takes the rows of a finished case. They are on record after the next [`Self::settle`].
    pub fn append(&mut self, rows: &CaseRows) {
        let is_new =
            rows.question.as_ref().is_some_and(|(hash, _)| self.asked.insert(QuestionKey::new(hash)));
        self.take(rows, is_new);
    }

    /// Takes rows of which no two have the same question, without a list of questions.
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

    /// Writes what was taken. What a result rests on is written before the result, so whenever this process is killed, no
    /// result row stands without it. The disk may take them in another order: after a loss of power, a result of a run that
    /// had not ended can stand alone, which readers notice.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        let RowFiles { judgements, inputs, questions, results } = &mut self.files;
        if self.has_failed {
            // A row after a torn one could not be read.
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

    /// Ends the run: rows are forced to the disk, then `run.json` gets its final form, with the numbers of rows. It does so even when
    /// rows can't be written: how the run ended is then the most useful thing to keep.
    pub fn finish(mut self, info: &mut RunInfo) -> Result<RunFolder, StoreError> {
        let rows = self.sync();
        // The counts promise that the rows are on the disk.
        info.rows = rows.is_ok().then_some(self.written.into());
        self.folder.write_info(info)?;
        rows.map(|()| self.folder)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.settle()?;
        let RowFiles { judgements, inputs, questions, results } = &mut self.files;
        let mut files = [judgements, inputs, questions, results];

        // Each waits for the disk, so they wait together.
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
