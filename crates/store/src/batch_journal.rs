//! Journal of the batches that providers are processing: one file per batch, in a folder of the workspace and not of a
//! run.
//!
//! A batch costs money from the moment the provider accepts it, and its replies may be ready hours later, when this
//! process and its run have ended. So a batch must never be forgotten, and never be sent twice:
//!
//! 1. The file of a batch is written and synced before the request that creates the batch is sent.
//! 2. The batch's id is appended as soon as the provider returns it.
//! 3. The file is removed only after all replies of the batch are in the reply cache.
//!
//! A process that dies between the first two steps leaves a file without an id. The next process then knows
//! that the batch may exist. The journal belongs to the workspace, because any later run can use the replies.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{DiskFile, replace, sync_folder};
use crate::error::StoreError;
use crate::private_file::{create_private_folder, private_options};

/// Format version of the files.
const VERSION: u32 = 1;
/// Extension of the files.
const EXTENSION: &str = "batch";
/// Name of the lock file. A process holds its lock while it sends batches or collects replies.
const LOCK_FILE: &str = "lock";
/// Size limit of a file, in bytes. A batch of 100,000 requests has about 7 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A batch whose replies are pending. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// Format version.
    pub version: u32,
    /// Name under which the batch was sent: letters, digits and `-`.
    pub token: String,
    /// The provider's name, for people.
    pub provider: String,
    /// Wire format of its requests.
    pub wire: String,
    /// Address of the server, without credentials.
    pub server: String,
    /// The model.
    pub model: String,
    /// When the file was written, in seconds since 1970, which is before the batch was created.
    pub created: i64,
    /// Maximum number of tokens that the batch may use.
    pub most_tokens: u64,
    /// Upper bound of its cost in picodollars; calls without a known price are not included.
    pub most_pico_usd: u64,
    /// Names of its requests, which are their cache keys.
    pub keys: Vec<String>,
    /// The provider's id of the batch; `None` if it is unknown whether the batch was created.
    #[serde(skip)]
    pub id: Option<String>,
}

/// Second line of a file.
#[derive(Serialize, Deserialize)]
struct CreatedLine {
    id: String,
}

impl BatchRecord {
    /// The format version that is written.
    pub const VERSION: u32 = VERSION;

    fn is_sound(&self) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        self.version == VERSION && !self.token.is_empty() && self.token.chars().all(plain)
    }
}

/// Folder with the batches of a workspace.
#[derive(Debug)]
pub struct BatchJournal {
    folder: PathBuf,
}

/// Permission to send batches and to collect replies. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct BatchLock {
    _file: File,
}

impl BatchJournal {
    /// Opens the journal in this folder, creating the folder if it is missing.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = folder.into();
        create_private_folder(&folder).map_err(StoreError::io("create", &folder))?;

        Ok(Self { folder })
    }

    /// Locks the journal; `None` if another process holds the lock.
    pub fn try_lock(&self) -> Result<Option<BatchLock>, StoreError> {
        let path = self.folder.join(LOCK_FILE);
        let opened = private_options().create(true).append(true).open(&path);
        let file = opened.map_err(StoreError::io("open", &path))?;

        match file.try_lock() {
            Ok(()) => Ok(Some(BatchLock { _file: file })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error)),
        }
    }

    /// Path of the file of a batch.
    pub fn path(&self, token: &str) -> PathBuf {
        self.folder.join(format!("{token}.{EXTENSION}"))
    }

    /// Returns all batches, the oldest first.
    pub fn batches(&self) -> Result<Vec<BatchRecord>, StoreError> {
        let entries = fs::read_dir(&self.folder).map_err(StoreError::io("read", &self.folder))?;
        let mut found = Vec::new();

        for entry in entries {
            let path = entry.map_err(StoreError::io("read", &self.folder))?.path();
            if path.extension().is_some_and(|ending| ending == EXTENSION) {
                found.push(read(&path)?);
            }
        }
        found.sort_by(|a: &BatchRecord, b| (a.created, &a.token).cmp(&(b.created, &b.token)));

        Ok(found)
    }

    /// Records that a batch is about to be created. The record is synced to disk when this returns.
    pub fn begin(&self, record: &BatchRecord) -> Result<(), StoreError> {
        let path = self.path(&record.token);
        let draft = path.with_extension("draft");
        let write = || {
            let mut line = serde_json::to_vec(record)?;
            line.push(b'\n');
            let mut file = DiskFile::create(&draft)?;
            file.write_all(&line)?;
            file.sync()?;
            replace(&draft, &path)
        };

        write().map_err(|error: io::Error| {
            let _ = fs::remove_file(&draft);
            StoreError::io("write", &path)(error)
        })
    }

    /// Records the id of a batch that was created. The record is synced to disk when this returns. If the
    /// batch was closed in the meantime, nothing is written: a file with nothing but an id would look
    /// damaged.
    pub fn note_id(&self, token: &str, id: &str) -> Result<(), StoreError> {
        let path = self.path(token);
        if !path.exists() {
            return Ok(());
        }
        let write = || {
            let mut line = serde_json::to_vec(&CreatedLine { id: id.to_owned() })?;
            // An earlier attempt may have left an incomplete line.
            line.insert(0, b'\n');
            line.push(b'\n');
            let mut file = DiskFile::append(&path)?;
            file.write_all(&line)?;
            file.sync()
        };

        write().map_err(|error: io::Error| StoreError::io("write", &path)(error))
    }

    /// Removes a batch that was not created, or whose replies are all collected.
    pub fn close(&self, token: &str) -> Result<(), StoreError> {
        let path = self.path(token);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("delete", &path)(error))
            }
            _ => sync_folder(&self.folder).map_err(StoreError::io("write", &self.folder)),
        }
    }
}

fn read(path: &Path) -> Result<BatchRecord, StoreError> {
    let text = assize_files::read_text_up_to(path, MAX_FILE_BYTES).map_err(StoreError::io("read", path))?;
    let mut lines = text.lines();
    let record = lines.next().and_then(|line| serde_json::from_str::<BatchRecord>(line).ok());
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let Some(record) = record.filter(|record| record.is_sound() && stem == Some(record.token.as_str()))
    else {
        let what = io::Error::new(
            io::ErrorKind::InvalidData,
            "it was written by another version; its batch may still be in progress",
        );
        return Err(StoreError::io("read", path)(what));
    };

    // An incomplete line was never finished, so the id is unknown.
    let id = lines.find_map(|line| serde_json::from_str::<CreatedLine>(line).ok()).map(|line| line.id);
    Ok(BatchRecord { id, ..record })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::faults::{DiskFault, FaultPlan};

    fn record(token: &str) -> BatchRecord {
        BatchRecord {
            version: VERSION,
            token: token.to_owned(),
            provider: "openai".into(),
            wire: "openai-chat".into(),
            server: "https://h/v1".into(),
            model: "m".into(),
            created: 7,
            most_tokens: 10,
            most_pico_usd: 20,
            keys: vec!["a".repeat(64), "b".repeat(64)],
            id: None,
        }
    }

    #[test]
    fn an_intent_gets_its_id_and_is_gone_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = BatchJournal::open(folder.path().join("batches")).unwrap();
        assert_eq!(journal.batches().unwrap(), []);

        journal.begin(&record("t2")).unwrap();
        journal.begin(&BatchRecord { created: 3, ..record("t1") }).unwrap();
        journal.note_id("t2", "batch_1").unwrap();
        let found: Vec<_> = journal.batches().unwrap().into_iter().map(|one| (one.token, one.id)).collect();
        assert_eq!(found, [("t1".to_owned(), None), ("t2".to_owned(), Some("batch_1".to_owned()))]);
        assert_eq!(journal.batches().unwrap()[0].keys, record("t1").keys);

        journal.close("t2").unwrap();
        journal.close("t2").unwrap();
        assert_eq!(journal.batches().unwrap().len(), 1);

        // Another process closed it first.
        journal.note_id("t2", "batch_1").unwrap();
        assert_eq!(journal.batches().unwrap().len(), 1);
    }

    #[test]
    fn a_torn_id_is_no_id_and_can_be_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = BatchJournal::open(folder.path()).unwrap();
        journal.begin(&record("t")).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(journal.path("t")).unwrap();
        file.write_all(b"\n{\"id\":\"bat").unwrap();

        assert_eq!(journal.batches().unwrap()[0].id, None);
        journal.note_id("t", "batch_1").unwrap();
        assert_eq!(journal.batches().unwrap()[0].id.as_deref(), Some("batch_1"));
    }

    #[test]
    fn only_one_process_at_a_time_has_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let journal = BatchJournal::open(folder.path()).unwrap();
        let first = journal.try_lock().unwrap();
        assert!(first.is_some() && journal.try_lock().unwrap().is_none());
        drop(first);
        assert!(journal.try_lock().unwrap().is_some());
    }

    #[test]
    fn files_that_are_no_batch_are_errors_and_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let journal = BatchJournal::open(folder.path()).unwrap();
        for text in ["", "{}", "nonsense"] {
            fs::write(journal.path("t"), text).unwrap();
            assert!(journal.batches().unwrap_err().to_string().contains("may still be in progress"));
        }
        let other = serde_json::to_string(&BatchRecord { version: 2, ..record("t") }).unwrap();
        fs::write(journal.path("t"), other).unwrap();
        assert!(journal.batches().is_err());
    }

    #[test]
    fn an_intent_that_could_not_be_written_in_full_is_none() {
        for fault in [
            DiskFault::Error(io::ErrorKind::StorageFull),
            DiskFault::ShortWrite(io::ErrorKind::StorageFull),
            DiskFault::Gone(io::ErrorKind::NotConnected),
        ] {
            for nth in 0..20 {
                let folder = tempfile::tempdir().unwrap();
                let journal = BatchJournal::open(folder.path()).unwrap();
                let plan = FaultPlan::begin(nth, fault);
                let begun = journal.begin(&record("t"));
                let noted = if begun.is_ok() { Some(journal.note_id("t", "batch_1")) } else { None };
                FaultPlan::end();

                let found = journal.batches().unwrap();
                if begun.is_ok() {
                    assert_eq!(found.len(), 1, "{fault:?} of operation {nth}");
                }
                if matches!(noted, Some(Ok(()))) {
                    assert_eq!(found[0].id.as_deref(), Some("batch_1"));
                }
                if plan.failed().is_none() {
                    assert!(nth > 4);
                    break;
                }
            }
        }
    }
}
