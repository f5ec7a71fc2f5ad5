//! Journal of replies that are not in the database yet, so that a killed process does not lose them.
//!
//! A transaction takes milliseconds, so replies are collected and written together. Until then they would be in memory
//! only, and a kill would lose replies that were paid for: usually a few, hundreds if another process holds the
//! database. So each reply is also appended to a file of the process at once, with a single `write` that does not wait
//! for other processes. The file is not synced: a kill does not lose data that the system has accepted, and in a power
//! cut the database may lose recent replies as well.
//!
//! Invariants:
//!
//! - As soon as `append` returns, a reply is in the database or in a journal file, unless appending failed. That
//!   failure is ignored, because the reply will be written to the database anyway.
//! - A process has two files. New records go to one of them while a transaction writes the content of the other, which
//!   is then emptied. So a file never grows beyond one batch, and no record is copied.
//! - A process holds a lock on its files until it ends. The next process that opens the cache treats a file without a
//!   lock as the file of a dead process: it writes the records to the database and removes the file. Files are only
//!   created, searched and removed under the lock of another file, so that no process takes over a file that was just
//!   created and is not locked yet.
//! - If the database refuses the records of a file, the file stays for the next process.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::record::{CachedReply, read};
use crate::disk::DiskFile;
use crate::private_file::{create_private_folder, private_options};

/// Name of the file that is locked while journal files are created, searched or removed.
const LOCK_FILE: &str = "lock";
/// Extension of the other files.
const EXTENSION: &str = "journal";
/// Number of replies that are recovered in one transaction.
const RECOVERY_BATCH: usize = 1000;

/// The two files of a process: one for new records, and one with the records that are being written.
#[derive(Debug)]
pub(super) struct ReplyJournal {
    takes: Arc<JournalFile>,
    other: Arc<JournalFile>,
}

/// One file of a journal.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: DiskFile,
    path: PathBuf,
    /// True if its last record is incomplete, so that nothing can be appended.
    torn: AtomicBool,
    /// True if it has records that the database refused. It is kept for the next process that opens the
    /// cache.
    stays: AtomicBool,
}

impl ReplyJournal {
    /// Creates two files beside this database.
    pub(super) fn begin(database: &Path) -> io::Result<Self> {
        let folder = folder(database);
        create_private_folder(&folder)?;
        let _locked = lock(&folder)?;
        Ok(Self { takes: Arc::new(JournalFile::new(&folder)?), other: Arc::new(JournalFile::new(&folder)?) })
    }

    /// Returns the file that takes new records.
    pub(super) fn current(&self) -> Arc<JournalFile> {
        Arc::clone(&self.takes)
    }

    /// Swaps the files, and returns the one that received records so far.
    pub(super) fn swap(&mut self) -> Arc<JournalFile> {
        std::mem::swap(&mut self.takes, &mut self.other);
        Arc::clone(&self.other)
    }
}

impl JournalFile {
    fn new(folder: &Path) -> io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("{number}.{EXTENSION}"));
            match DiskFile::append_new(&path) {
                Ok(file) => {
                    file.try_lock()?;
                    return Ok(Self {
                        file,
                        path,
                        torn: AtomicBool::default(),
                        stays: AtomicBool::default(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Appends a record. A failure is ignored, because the reply is on its way to the database anyway.
    pub(super) fn append(&self, record: &[u8]) {
        if !self.torn.load(Ordering::Relaxed) && (&self.file).write_all(record).is_err() {
            self.torn.store(true, Ordering::Relaxed);
        }
    }

    /// Called when the database has written all its records, or has refused them.
    pub(super) fn end(&self, written: bool) {
        if !written {
            self.stays.store(true, Ordering::Relaxed);
        }
        if !self.stays.load(Ordering::Relaxed) && self.file.set_len(0).is_ok() {
            self.torn.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        if !self.stays.load(Ordering::Relaxed) {
            // If it can't be removed, the next process finds it empty.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes the records that dead processes left beside this database, and removes their files. A file that can't be read
/// or locked is left unchanged.
pub(super) fn recover<E>(
    database: &Path,
    mut write: impl FnMut(&[CachedReply]) -> Result<(), E>,
) -> Result<(), E> {
    for_each_left(database, |path, file| {
        let Ok(mut left) = file.metadata().map(|metadata| metadata.len()) else { return Ok(()) };
        let mut from = BufReader::new(file);
        let mut batch = Vec::new();
        let all_read = loop {
            match read(&mut from, &mut left) {
                Ok(Some(reply)) => batch.push(reply),
                Ok(None) => break true,
                Err(_) => break false,
            }
            if batch.len() == RECOVERY_BATCH {
                write(&batch)?;
                batch.clear();
            }
        };

        if !batch.is_empty() {
            write(&batch)?;
        }
        if all_read {
            let _ = fs::remove_file(path);
        }

        Ok(())
    })
}

/// Removes the files that dead processes left beside this database, without reading them.
pub(super) fn discard(database: &Path) -> io::Result<()> {
    for_each_left(database, |path, _| fs::remove_file(path))
}

/// Calls `take` with each file of a dead process. Meanwhile no other process creates or removes files.
fn for_each_left<E>(database: &Path, mut take: impl FnMut(&Path, &File) -> Result<(), E>) -> Result<(), E> {
    let folder = folder(database);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(()) };
    let Ok(_locked) = lock(&folder) else { return Ok(()) };

    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.extension().is_none_or(|ending| ending != EXTENSION) {
            continue;
        }
        if let Ok(file) = File::options().read(true).append(true).open(&path)
            && file.try_lock().is_ok()
        {
            take(&path, &file)?;
        }
    }

    Ok(())
}

fn folder(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-journals");
    name.into()
}

/// Keeps other processes from creating or removing files until the result is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    let file = private_options().create(true).append(true).open(folder.join(LOCK_FILE))?;
    file.lock()?;
    Ok(file)
}
