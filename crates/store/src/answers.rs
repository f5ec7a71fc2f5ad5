//! The answers stored in a run, read by case and never all held in memory.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use assize_files::open_file;
use parking_lot::Mutex;
use serde::Deserialize;

use crate::folder::RESULTS_FILE;
use crate::reader::check_sum;
use crate::{ResultRow, RunFolder, StoreError};

/// Key of a result row: suite, case id and trial.
pub type AnswerKey = (String, String, u32);

/// Byte positions of one target's answers in the results file.
#[derive(Debug)]
pub struct AnswerIndex {
    path: PathBuf,
    file: Mutex<File>,
    places: HashMap<AnswerKey, (u64, usize)>,
}

/// The fields that identify a row.
#[derive(Deserialize)]
struct ResultRowHead {
    suite: String,
    case_id: String,
    target: Option<String>,
    #[serde(rename = "repeat")]
    trial: u32,
}

impl RunFolder {
    /// The targets whose answers the run has, in order; `None` for answers given in the eval file.
    pub fn answering_targets(&self) -> Result<BTreeSet<Option<String>>, StoreError> {
        let mut found = BTreeSet::new();
        scan_rows(self.file(RESULTS_FILE), |head, _, _| {
            found.insert(head.target);
        })?;
        Ok(found)
    }

    /// Creates an index of the answers of one target, or of those given in the eval file (`None`).
    pub fn answers(&self, target: Option<&str>) -> Result<AnswerIndex, StoreError> {
        let path = self.file(RESULTS_FILE);
        let mut places = HashMap::new();
        let file = scan_rows(path.clone(), |head, at, length| {
            if head.target.as_deref() == target {
                places.insert((head.suite, head.case_id, head.trial), (at, length));
            }
        })?;
        Ok(AnswerIndex { path, file: Mutex::new(file), places })
    }
}

impl AnswerIndex {
    /// Keys of all indexed rows, in order.
    pub fn keys(&self) -> Vec<AnswerKey> {
        let mut keys: Vec<AnswerKey> = self.places.keys().cloned().collect();
        keys.sort();
        keys
    }

    /// Reads the row of a case; `None` if the index has no such row.
    pub fn row(&self, key: &AnswerKey) -> Result<Option<ResultRow>, StoreError> {
        let Some(&(at, length)) = self.places.get(key) else { return Ok(None) };
        let mut text = vec![0; length];
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut text))
            .map_err(StoreError::io("read", &self.path))?;

        let damaged =
            |error: serde_json::Error| StoreError::damaged(&self.path, error.line(), error.to_string());
        serde_json::from_slice(&text).map(Some).map_err(damaged)
    }
}

/// Calls `see` with each complete row, its offset and its length in bytes. An incomplete last line is
/// ignored.
fn scan_rows(path: PathBuf, mut see: impl FnMut(ResultRowHead, u64, usize)) -> Result<File, StoreError> {
    let file = open_file(&path).map_err(StoreError::io("read", &path))?;
    let mut lines = BufReader::new(file);
    let (mut text, mut at, mut line) = (Vec::new(), 0u64, 0);
    loop {
        text.clear();
        lines.read_until(b'\n', &mut text).map_err(StoreError::io("read", &path))?;
        line += 1;

        if text.last() != Some(&b'\n') {
            return Ok(lines.into_inner());
        }

        if !text.iter().all(u8::is_ascii_whitespace) {
            let damaged = |message| StoreError::damaged(&path, line, message);
            check_sum(&text, false).map_err(damaged)?;
            let head = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
            see(head, at, text.len());
        }

        at += text.len() as u64;
    }
}
