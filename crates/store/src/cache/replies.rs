//! Finds and stores replies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::{CacheFailure, open};
use super::journal;
use super::record::CachedReply;
use super::writer::{ReplyLookup, RowWriter};
use crate::StoreError;

/// Maximum number of connections for reading.
const READERS: usize = 4;

/// The replies of a workspace. Any number of processes may use one file at the same time.
///
/// Reads use one of a few connections. Writes go through a single thread, which collects replies and writes them in one
/// transaction. Until then a reply is in a journal file beside the cache: if the process is killed, the next process
/// that opens the cache writes it. Dropping the cache writes all pending replies.
#[derive(Debug)]
pub struct ReplyCache {
    path: PathBuf,
    readers: [Mutex<Option<Connection>>; READERS],
    writer: RowWriter,
    damaged: AtomicU64,
}

impl ReplyCache {
    /// Opens the file, creating it if it is missing.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let writer = RowWriter::start(open(&path)?, &path);
        Ok(Self { path, readers: Default::default(), writer, damaged: AtomicU64::new(0) })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the row with this key. Blocks for at most one read from disk. Deletes a damaged row instead of returning
    /// it.
    pub fn find(&self, key: &[u8; 32]) -> Result<Option<CachedReply>, StoreError> {
        match self.writer.look_up(key) {
            ReplyLookup::Found(reply) => return Ok(Some(CachedReply::clone(&reply))),
            ReplyLookup::Absent => return Ok(None),
            ReplyLookup::InFile => {}
        }

        // Keys are hashes, so their first byte spreads them evenly.
        let mut reader = self.readers[usize::from(key[0]) % READERS].lock();
        let reader = match &mut *reader {
            Some(reader) => reader,
            none => none.insert(open(&self.path)?),
        };
        let row = reader
            .prepare_cached("SELECT model, created, reply, body, sum FROM replies WHERE key = ?1")
            .and_then(|mut query| {
                query.query_row(params![key.as_slice()], |row| Ok(read_row(*key, row))).optional()
            })
            .map_err(|error| {
                let failure = CacheFailure::from_sqlite(&error);
                self.writer.fail(failure.clone());
                failure.at(&self.path)
            })?;
        if row == Some(None) {
            self.discard(key, reader);
        }

        Ok(row.flatten())
    }

    /// Deletes the row with this key, because its reply turned out to be unreadable.
    pub fn forget(&self, key: &[u8; 32]) -> Result<(), StoreError> {
        self.discard(key, &open(&self.path)?);
        Ok(())
    }

    /// Deletes the rows with these keys.
    pub fn remove_all(&self, keys: impl IntoIterator<Item = [u8; 32]>) -> Result<(), StoreError> {
        let failed = |error| CacheFailure::from_sqlite(&error).at(&self.path);
        self.flush()?;
        let mut connection = open(&self.path)?;
        let transaction = connection.transaction().map_err(failed)?;
        for key in keys {
            transaction
                .execute("DELETE FROM replies WHERE key = ?1", params![key.as_slice()])
                .map_err(failed)?;
        }

        transaction.commit().map_err(failed)
    }

    /// Number of damaged rows found so far.
    pub fn damaged(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    fn discard(&self, key: &[u8; 32], connection: &Connection) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
        // A row that can't be deleted is found to be damaged again next time.
        let _ = connection.execute("DELETE FROM replies WHERE key = ?1", params![key.as_slice()]);
    }

    /// Adds a row. It is written later, so this returns at once unless thousands of rows are waiting already.
    /// A row whose key exists is ignored.
    pub fn keep(&self, reply: CachedReply) {
        self.writer.write(reply);
    }

    /// Waits until all rows added so far are written. Returns the first failure if a row could not be written
    /// or looked up.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush().map_or(Ok(()), |failure| Err(failure.at(&self.path)))
    }

    /// Deletes the file with its content, even if it is damaged.
    pub fn remove(path: &Path) -> Result<(), StoreError> {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);

            let file = PathBuf::from(name);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::Io { action: "delete", path: file, source: error });
                }
                _ => {}
            }
        }
        journal::discard(path).map_err(StoreError::io("delete what waits for", path))
    }
}

/// Reads a row; `None` if it is damaged. Rows of older versions have no checksum.
fn read_row(key: [u8; 32], row: &Row<'_>) -> Option<CachedReply> {
    let text = |at: usize| Some(std::str::from_utf8(row.get_ref(at).ok()?.as_bytes().ok()?).ok()?.to_owned());
    let body = match row.get_ref(3).ok()? {
        ValueRef::Null => None,
        _ => Some(text(3)?),
    };
    let kept = CachedReply { key, model: text(0)?, created: row.get(1).ok()?, reply: text(2)?, body };
    let sum: Option<u32> = row.get(4).ok()?;

    sum.is_none_or(|sum| sum == kept.sum()).then_some(kept)
}
