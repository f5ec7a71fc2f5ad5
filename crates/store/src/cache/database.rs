//! Opens the cache's database: settings of the connection, and the tables of this version.
//!
//! Any number of processes use the file at the same time, so it has a write-ahead log: readers and the writer do not
//! block each other, and writers wait for each other up to [`BUSY_TIMEOUT`]. Only the change to the write-ahead log
//! fails at once if another process holds the file, so opening is retried. Migrations run in a transaction that takes
//! the write lock first and checks the version again, because another process may have migrated in the meantime.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::StoreError;
use crate::disk::{self, DiskFile};
use crate::private_file::{create_private_folder, private_options};

/// How long a connection waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of attempts to open a file that other processes are opening at the same time.
const OPEN_ATTEMPTS: u32 = 50;
/// Pause between these attempts.
const OPEN_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Page size of a new file. A reply takes about a kilobyte, so small pages would leave much space unused.
pub(super) const PAGE_BYTES: i64 = 16 * 1024;

/// The migration from each version of the tables to the next. The file's `user_version` counts those already
/// applied.
const MIGRATIONS: &[&str] =
    &[include_str!("0001_replies.sql"), include_str!("0002_body.sql"), include_str!("0003_sum.sql")];

/// Opens the file; creates it and its folder if they are missing.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder).map_err(StoreError::io("create", folder))?;
        ignore_in_git(folder)?;
    }

    // SQLite creates the files beside it with the same permissions.
    private_options().create(true).append(true).open(path).map_err(StoreError::io("open", path))?;

    let mut left = OPEN_ATTEMPTS;
    loop {
        match try_open(path, MIGRATIONS) {
            // Unlike other statements, changing to the write-ahead log ignores the busy timeout.
            Err(OpenRefusal::Sqlite(error))
                if left > 0 && CacheFailure::from_sqlite(&error).kind == FailureKind::Busy =>
            {
                left -= 1;
                std::thread::sleep(OPEN_RETRY_DELAY);
            }
            Ok(connection) => return Ok(connection),
            Err(OpenRefusal::Sqlite(error)) => return Err(cache_error(path)(error)),
            Err(OpenRefusal::Version(found)) => {
                let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
                return Err(StoreError::Version { path: path.to_path_buf(), found, known });
            }
        }
    }
}

/// Keeps the folder out of Git; a missing cache is simply rebuilt.
fn ignore_in_git(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(".gitignore");
    if path.exists() {
        return Ok(());
    }

    // Created by a rename, because an empty `.gitignore` left by a crash would look as if the user had
    // written it.
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = DiskFile::create(&draft).map_err(StoreError::io("write", &draft))?;
    let written = file.write_all(b"*\n").and_then(|()| disk::replace(&draft, &path));
    match written {
        Err(error) if !path.exists() => {
            // An incomplete file is useless.
            let _ = fs::remove_file(&draft);
            Err(StoreError::Io { action: "write", path, source: error })
        }
        // Or another process created it first.
        _ => Ok(()),
    }
}

enum OpenRefusal {
    Sqlite(rusqlite::Error),
    Version(u32),
}

impl From<rusqlite::Error> for OpenRefusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn try_open(path: &Path, steps: &[&str]) -> Result<Connection, OpenRefusal> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;

    // An existing file keeps its page size.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;

    // NORMAL instead of FULL: a power cut may lose recent replies, which only have to be paid for again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if version(&connection)? != known {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated between the check and the lock.
        let found = version(&transaction)?;
        if found > known {
            return Err(OpenRefusal::Version(found));
        }

        for step in &steps[found as usize..] {
            transaction.execute_batch(step)?;
        }

        transaction.pragma_update(None, "user_version", known)?;
        transaction.commit()?;
    }

    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Failure of the cache, in a form that can be reported several times.
#[derive(Debug, Clone)]
pub(super) struct CacheFailure {
    kind: FailureKind,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    /// Another process held the lock for too long.
    Busy,
    /// The file is not a database, or is damaged.
    Damaged,
    Other,
}

impl CacheFailure {
    pub(super) fn from_sqlite(error: &rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FailureKind::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FailureKind::Damaged,
            _ => FailureKind::Other,
        };
        Self { kind, message: error.to_string() }
    }

    pub(super) fn at(self, path: &Path) -> StoreError {
        let Self { kind, message } = self;
        let path = path.to_path_buf();
        match kind {
            FailureKind::Busy => StoreError::Busy { path },
            FailureKind::Damaged => StoreError::DamagedCache { path, message },
            FailureKind::Other => StoreError::Cache { path, message },
        }
    }
}

pub(super) fn cache_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| CacheFailure::from_sqlite(&error).at(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_older_version_takes_the_missing_steps_and_keeps_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let old = try_open(&path, &MIGRATIONS[..1]).ok().unwrap();
        old.execute(
            "INSERT INTO replies (key, model, created, reply) VALUES (zeroblob(32), 'm', 1, 'r')",
            [],
        )
        .unwrap();
        drop(old);
        let next = [
            MIGRATIONS[0],
            MIGRATIONS[1],
            MIGRATIONS[2],
            "ALTER TABLE replies ADD COLUMN used INTEGER NOT NULL DEFAULT 0;",
        ];
        let new = try_open(&path, &next).ok().unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found: (String, Option<String>, i64) =
            new.query_row("SELECT reply, body, used FROM replies", [], row).unwrap();
        assert_eq!((found, version(&new).unwrap()), (("r".to_owned(), None, 0), 4));
        drop(new);
        assert!(matches!(open(&path), Err(StoreError::Version { found: 4, known: 3, .. })));
    }

    #[test]
    fn the_settings_are_those_that_let_processes_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/replies.db");
        let connection = open(&path).unwrap();
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        let timeout: i64 = connection.pragma_query_value(None, "busy_timeout", |row| row.get(0)).unwrap();
        assert_eq!((mode.as_str(), timeout), ("wal", 10_000));
        assert_eq!(fs::read_to_string(folder.path().join("deep/er/.gitignore")).unwrap(), "*\n");
    }
}
