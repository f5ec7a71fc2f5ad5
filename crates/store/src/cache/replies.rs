//! Finding and keeping replies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::{cache_error, open};
use super::writer::{Look, Writer};
use crate::StoreError;

/// A reply to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedReply {
    /// What identifies the call.
    pub key: [u8; 32],
    /// The model that was asked, for people.
    pub model: String,
    /// When it was bought, in seconds since 1970.
    pub created: i64,
    /// The reply, in the words of whoever keeps it.
    pub reply: String,
    /// What was received, word for word, where that is not in `reply`.
    pub body: Option<String>,
}

/// A reply that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundReply {
    /// The reply, in the words of whoever kept it.
    pub reply: String,
    /// What was received, word for word, where that is not in `reply`.
    pub body: Option<String>,
}

impl CachedReply {
    pub(super) fn found(&self) -> FoundReply {
        FoundReply { reply: self.reply.clone(), body: self.body.clone() }
    }
}

/// Connections for reading at most.
const READERS: usize = 4;

/// The replies of a workspace. Any number of processes may use one file at a time.
///
/// Reading takes one of a few connections; writing goes through one thread, which puts whatever has
/// come together into one transaction. Dropping it writes what is left.
#[derive(Debug)]
pub struct ReplyCache {
    path: PathBuf,
    readers: [Mutex<Option<Connection>>; READERS],
    writer: Writer,
}

impl ReplyCache {
    /// Opens the file, making it where it is missing.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let writer = Writer::start(open(&path)?);
        Ok(Self { path, readers: Default::default(), writer })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reply kept under this key. Blocks for a disk read at most.
    pub fn find(&self, key: &[u8; 32]) -> Result<Option<FoundReply>, StoreError> {
        match self.writer.look(key) {
            Look::Found(reply) => return Ok(Some(reply)),
            Look::Absent => return Ok(None),
            Look::InFile => {}
        }
        // Keys are hashes, so their first byte spreads them evenly.
        let mut reader =
            self.readers[usize::from(key[0]) % READERS].lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &mut *reader {
            Some(reader) => reader,
            none => none.insert(open(&self.path)?),
        };
        reader
            .prepare_cached("SELECT reply, body FROM replies WHERE key = ?1")
            .and_then(|mut query| {
                let found = |row: &Row<'_>| Ok(FoundReply { reply: row.get(0)?, body: row.get(1)? });
                query.query_row(params![key.as_slice()], found).optional()
            })
            .map_err(cache_error(&self.path))
    }

    /// Hands a reply over to be written. Returns at once, unless thousands wait for the disk already. A reply that is
    /// already kept stays as it is.
    pub fn keep(&self, reply: CachedReply) {
        self.writer.write(reply);
    }

    /// Waits until everything handed over so far is written. Says what went wrong, if something could not be.
    pub fn flush(&self) -> Result<(), StoreError> {
        match self.writer.flush() {
            None => Ok(()),
            Some(message) => Err(StoreError::Cache { path: self.path.clone(), message }),
        }
    }

    /// Deletes the file with everything in it, sound or not.
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
        Ok(())
    }
}
