//! Replies on their way into the database, appended to a file at once: a process that is killed loses none of them.
//!
//! A transaction takes milliseconds, and replies that come meanwhile wait for the next one. Until they are in, they stand
//! in a file of the process, in a folder beside the database. The file's lock tells whether the process is still
//! there. Where it is not, whoever opens the cache next writes what is in the file.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::record::{CachedReply, read};
use crate::disk::DiskFile;
use crate::private_file::{create_private_folder, private_options};

/// The name of the file that is locked while files come and go.
const LOCK: &str = "lock";
/// Extension of the other files.
const ENDING: &str = "journal";
/// Replies recovered at a time.
const BATCH: usize = 1000;

/// The two files of a process: one takes what comes, the other holds what is being written.
#[derive(Debug)]
pub(super) struct ReplyJournal {
    takes: Arc<JournalFile>,
    other: Arc<JournalFile>,
}

/// One file.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: DiskFile,
    path: PathBuf,
    /// Its last record is not whole, so that nothing can follow.
    torn: AtomicBool,
    /// It holds what could not be written, for whoever opens the cache next.
    stays: AtomicBool,
}

impl ReplyJournal {
    /// Two new files beside this database.
    pub(super) fn begin(database: &Path) -> io::Result<Self> {
        let folder = folder(database);
        create_private_folder(&folder)?;
        let _locked = lock(&folder)?;
        Ok(Self { takes: Arc::new(JournalFile::new(&folder)?), other: Arc::new(JournalFile::new(&folder)?) })
    }

    /// The file that takes what comes.
    pub(super) fn current(&self) -> Arc<JournalFile> {
        Arc::clone(&self.takes)
    }

    /// Lets the other file take what comes, and gives the one that took it so far.
    pub(super) fn swap(&mut self) -> Arc<JournalFile> {
        std::mem::swap(&mut self.takes, &mut self.other);
        Arc::clone(&self.other)
    }
}

impl JournalFile {
    fn new(folder: &Path) -> io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("{number}.{ENDING}"));
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

    /// Appends a record. That it can't be appended is no failure: the reply is on its way all the same.
    pub(super) fn append(&self, record: &[u8]) {
        if !self.torn.load(Ordering::Relaxed) && (&self.file).write_all(record).is_err() {
            self.torn.store(true, Ordering::Relaxed);
        }
    }

    /// Everything in it has been written to the database, or could not be.
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
            // One that can't be removed is empty, and found by whoever comes next.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes what dead processes have left beside this database, and removes their files. A file that can't be read or
/// locked stays as it is.
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
            if batch.len() == BATCH {
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

/// Removes what dead processes have left beside this database, unread.
pub(super) fn discard(database: &Path) -> io::Result<()> {
    for_each_left(database, |path, _| fs::remove_file(path))
}

/// Goes through the files of processes that are no more, while nobody else makes or removes files.
fn for_each_left<E>(database: &Path, mut take: impl FnMut(&Path, &File) -> Result<(), E>) -> Result<(), E> {
    let folder = folder(database);
    let Ok(entries) = fs::read_dir(&folder) else { return Ok(()) };
    let Ok(_locked) = lock(&folder) else { return Ok(()) };

    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.extension().is_none_or(|ending| ending != ENDING) {
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

/// Nobody else makes or removes files for as long as this is held.
fn lock(folder: &Path) -> io::Result<File> {
    let file = private_options().create(true).append(true).open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}
