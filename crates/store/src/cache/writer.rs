//! The writing thread, which collects waiting rows into transactions.
//!
//! Most of the cost of a transaction does not depend on its number of rows. So rows are collected, and the thread
//! pauses between transactions in proportion to the time that the last one took: with few replies the pause is
//! negligible, and under load the batches grow. A row is visible to lookups of this process as soon as it is added, and
//! safe in the journal (see `journal.rs`) until it is written. The keys are hashes, so each new row is on another page
//! of the index; a batch is sorted by key so that neighbours are written together.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior, params};

use super::database::CacheFailure;
use super::database::PAGE_BYTES;
use super::journal::{JournalFile, ReplyJournal, recover};
use super::record::CachedReply;
#[cfg(test)]
use crate::disk::faults::FaultPlan;

/// Number of waiting replies at which the thread stops pausing.
const BATCH: usize = 4000;

/// Maximum number of waiting replies. Callers then wait for the disk, because memory must not grow if replies
/// come faster than the disk takes them.
const MAX_QUEUE: usize = 2 * BATCH;

/// The thread pauses this many times as long as the last transaction took. A transaction costs about the same for few
/// replies as for many, so it is worthwhile to collect them. If replies are rare, the pause is very short.
const PAUSE_FACTOR: u32 = 4;

/// Maximum pause. Replies that wait meanwhile are in memory and in the journal.
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// How often an idle thread checks whether another process has written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Number of pages in the log (64 MiB) at which a transaction moves them into the file, which waits for the
/// disk.
const CHECKPOINT_PAGES: i64 = 64 * 1024 * 1024 / PAGE_BYTES;

/// An idle thread moves the log into the file if it has at least this many bytes.
const MIN_LOG_TO_MOVE: u64 = 1024 * 1024;

/// A log larger than this is not moved into the file when the process ends, because the end of a run would have to wait
/// for the disk. The next process that opens the cache reads the log.
const MAX_LOG_AT_EXIT: u64 = 8 * 1024 * 1024;

/// Page cache in KiB. Keys are hashes, so that every write touches another page of the index.
const INDEX_KIB: i64 = 8192;

/// Maximum number of keys that are remembered, so that most lookups of a missing key don't read the file.
const MAX_KNOWN_KEYS: usize = 100_000;

/// Passes replies to the writing thread.
#[derive(Debug)]
pub(super) struct RowWriter {
    database: PathBuf,
    shared: Arc<SharedWriter>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedWriter {
    state: Mutex<WriterState>,
    /// Signalled when there is something to do, or when the pause should end early.
    work: Condvar,
    /// Signalled when a transaction has ended.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct WriterState {
    /// Rows that were added and are not in a transaction yet.
    queue: Vec<Arc<CachedReply>>,
    /// Journal of the rows that are not in the file yet. `None` before the first row, or if it can't be created.
    journal: Option<ReplyJournal>,
    /// All rows that are not in the file yet, by key.
    pending: HashMap<[u8; 32], Arc<CachedReply>>,
    /// First bytes of all keys in the file. `None` if there are too many, or if another process has written
    /// keys that are not known here.
    known: Option<HashSet<u64>>,
    /// Number of replies ever added, and number of those that were written or refused.
    handed: u64,
    done: u64,
    /// True while the thread waits for a row.
    idle: bool,
    /// True while a caller waits for the queue to become empty.
    urgent: bool,
    closed: bool,
    failure: Option<CacheFailure>,
}

impl RowWriter {
    /// Writes the rows that dead processes left in their journals, and starts the thread.
    pub(super) fn start(mut connection: Connection, database: &Path) -> Self {
        // These settings only affect speed, so a failure is ignored.
        let _ = connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES);
        let _ = connection.pragma_update(None, "cache_size", -INDEX_KIB);
        let shared = Arc::new(SharedWriter::default());
        if let Err(error) = recover(database, |left| insert(&mut connection, left)) {
            shared.state.lock().failure = Some(CacheFailure::from_sqlite(&error));
        }

        let others = data_version(&connection);
        shared.state.lock().known = known_keys(&connection);

        let log = log_bytes(database);
        let work =
            WriterThread { connection, shared: Arc::clone(&shared), last: Duration::ZERO, others, log };
        #[cfg(test)]
        let faults = FaultPlan::current();
        let thread = std::thread::spawn(move || {
            #[cfg(test)]
            faults.adopt();
            work.run();
        });
        Self { database: database.to_path_buf(), shared, thread: Some(thread) }
    }

    pub(super) fn write(&self, reply: CachedReply) {
        let record = reply.record();
        let reply = Arc::new(reply);
        let mut state = self.shared.state.lock();
        while state.queue.len() >= MAX_QUEUE {
            self.shared.ended.wait(&mut state);
        }

        if let Some(known) = &mut state.known {
            known.insert(start_of(&reply.key));
            if known.len() > MAX_KNOWN_KEYS {
                state.known = None;
            }
        }

        if state.handed == 0 {
            state.journal = ReplyJournal::begin(&self.database).ok();
        }

        let part = state.journal.as_ref().map(ReplyJournal::current);
        state.pending.entry(reply.key).or_insert_with(|| Arc::clone(&reply));
        state.queue.push(reply);
        state.handed += 1;

        // Waking the thread costs more than everything else here, so it is only woken if it can do something.
        if state.idle || state.queue.len() == BATCH {
            state.idle = false;
            self.shared.work.notify_one();
        }

        drop(state);

        // If the transaction has ended in the meantime, the record is also in the journal, which does no harm.
        if let Some(part) = part {
            part.append(&record);
        }
    }

    /// Looks up a key without reading the file.
    pub(super) fn look_up(&self, key: &[u8; 32]) -> ReplyLookup {
        let state = self.shared.state.lock();
        match state.pending.get(key) {
            Some(reply) => ReplyLookup::Found(Arc::clone(reply)),
            None if state.known.as_ref().is_some_and(|known| !known.contains(&start_of(key))) => {
                ReplyLookup::Absent
            }
            None => ReplyLookup::InFile,
        }
    }

    /// Records that the file could not be read.
    pub(super) fn fail(&self, failure: CacheFailure) {
        self.shared.state.lock().failure.get_or_insert(failure);
    }

    /// Waits until everything added so far is written, and returns the first failure since the start.
    pub(super) fn flush(&self) -> Option<CacheFailure> {
        let mut state = self.shared.state.lock();
        let handed = state.handed;
        while state.done < handed {
            state.urgent = true;
            self.shared.work.notify_one();
            self.shared.ended.wait(&mut state);
        }

        state.failure.clone()
    }
}

impl Drop for RowWriter {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where a row is.
pub(super) enum ReplyLookup {
    /// Waiting to be written.
    Found(Arc<CachedReply>),
    /// Neither waiting nor in the file.
    Absent,
    /// In the file, or nowhere.
    InFile,
}

/// Returns the first bytes of a key. Keys are hashes, so these distinguish nearly all of them.
fn start_of(key: &[u8; 32]) -> u64 {
    key.first_chunk().map_or(0, |start| u64::from_le_bytes(*start))
}

/// Returns the first bytes of all keys in the file; `None` if there are too many.
fn known_keys(connection: &Connection) -> Option<HashSet<u64>> {
    let mut query = connection.prepare("SELECT key FROM replies LIMIT ?1").ok()?;
    let keys = query.query_map(params![MAX_KNOWN_KEYS as u64 + 1], |row| row.get::<_, [u8; 32]>(0)).ok()?;
    let known: HashSet<u64> = keys.map(|key| key.map(|key| start_of(&key))).collect::<Result<_, _>>().ok()?;
    (known.len() <= MAX_KNOWN_KEYS).then_some(known)
}

/// Size of this database's log in bytes.
fn log_bytes(database: &Path) -> u64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

/// A number that changes when another connection writes. `None` if it can't be read.
fn data_version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

/// Rows of one transaction.
struct RowBatch {
    replies: Vec<Arc<CachedReply>>,
    /// Journal file that has these rows until they are written.
    journal: Option<Arc<JournalFile>>,
}

struct WriterThread {
    connection: Connection,
    shared: Arc<SharedWriter>,
    /// Duration of the last transaction.
    last: Duration,
    /// Value of [`data_version`] when the cache was opened.
    others: Option<i64>,
    /// Approximate number of bytes in the log that are not in the file.
    log: u64,
}

impl WriterThread {
    fn run(mut self) {
        self.write_all();
        if self.log > MAX_LOG_AT_EXIT {
            // If this fails, closing the database waits for the disk.
            let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }

    fn write_all(&mut self) {
        while let Some(RowBatch { replies: mut batch, journal }) = self.next_batch() {
            let begun = Instant::now();
            // Sorted, so that neighbours in the index are written together. The sort is stable, so the first
            // reply with a key stays the first.
            batch.sort_by_key(|reply| reply.key);

            let result = insert(&mut self.connection, batch.iter().map(|reply| &**reply));
            if let Some(part) = journal {
                part.end(result.is_ok());
            }

            self.last = begun.elapsed();
            self.log += batch.iter().map(|reply| reply.bytes()).sum::<u64>();

            let alone = self.is_alone();
            let mut state = self.shared.state.lock();
            if !alone || result.is_err() {
                state.known = None;
            }
            if let Err(error) = result {
                state.failure.get_or_insert_with(|| CacheFailure::from_sqlite(&error));
            }

            // Replies that could not be written are forgotten too: memory must not grow if the disk is full.
            for reply in &batch {
                state.pending.remove(&reply.key);
            }

            state.done += batch.len() as u64;
            drop(state);

            self.shared.ended.notify_all();
        }
    }

    /// Returns true if no other process has written since the cache was opened.
    fn is_alone(&self) -> bool {
        self.others.is_some() && self.others == data_version(&self.connection)
    }

    /// Moves the log into the file, except pages that another process is reading.
    fn move_log(&mut self) {
        let left = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (pages, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(pages - moved)
        });
        // Pages that can't be moved now are moved by a later transaction.
        if left.unwrap_or_default() == 0 {
            self.log = 0;
        }
    }

    /// Waits for the next batch; `None` when the cache is closed and everything is written.
    fn next_batch(&mut self) -> Option<RowBatch> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state.lock();
        while state.queue.is_empty() && !state.closed {
            state.idle = true;
            let wait = shared.work.wait_for(&mut state, POLL_INTERVAL);

            // This check does not wait for other processes.
            if wait.timed_out() && state.known.is_some() && !self.is_alone() {
                state.known = None;
            }

            if wait.timed_out() && state.queue.is_empty() && self.log >= MIN_LOG_TO_MOVE {
                drop(state);
                self.move_log();
                state = shared.state.lock();
            }
        }

        state.idle = false;
        let until = Instant::now() + (self.last * PAUSE_FACTOR).min(MAX_PAUSE);
        while !state.urgent && !state.closed && state.queue.len() < BATCH {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }

            shared.work.wait_for(&mut state, left);
        }

        state.urgent = false;
        let replies = std::mem::take(&mut state.queue);
        if replies.is_empty() {
            return None;
        }

        Some(RowBatch { replies, journal: state.journal.as_mut().map(ReplyJournal::swap) })
    }
}

/// Writes replies in one transaction. The first reply with a key stays, because earlier runs are based on it.
fn insert<'a>(
    connection: &mut Connection,
    replies: impl IntoIterator<Item = &'a CachedReply>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO replies (key, model, created, reply, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (key) DO NOTHING",
        )?;
        for reply in replies {
            #[cfg(test)]
            FaultPlan::current().transaction()?;

            let CachedReply { key, model, created, reply: text, body } = reply;
            insert.execute(params![key.as_slice(), model, created, text, body, reply.sum()])?;
        }
    }

    #[cfg(test)]
    FaultPlan::current().transaction()?;

    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::super::database::open;
    use super::super::replies::ReplyCache;
    use super::*;

    fn reply(n: u64) -> CachedReply {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&n.to_be_bytes());
        CachedReply { key, model: "m".into(), created: 1, reply: "r".repeat(1024), body: None }
    }

    /// Adds replies to a writer whose database refuses to grow or to be written, and returns how many the
    /// next process finds.
    fn found_after(refusal: &str, replies: u64) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let connection = open(&path).unwrap();
        connection.execute_batch(refusal).unwrap();

        let writer = RowWriter::start(connection, &path);
        (0..replies).for_each(|n| writer.write(reply(n)));
        assert!(writer.flush().is_some(), "the refusal is told");
        drop(writer);

        let cache = ReplyCache::open(&path).unwrap();
        (0..replies).filter(|n| cache.find(&reply(*n).key).unwrap() == Some(reply(*n))).count() as u64
    }

    #[test]
    fn what_the_database_refuses_is_in_it_the_next_time() {
        // Refusals by SQLite itself; the first is like a full disk in the middle of a transaction.
        assert_eq!(found_after("PRAGMA max_page_count = 8", 400), 400);
        assert_eq!(found_after("PRAGMA query_only = 1", 400), 400);
    }

    #[test]
    fn a_long_log_is_left_at_the_end_and_moved_by_a_later_process_without_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let many = MAX_LOG_AT_EXIT / 1024 + 10;
        let cache = ReplyCache::open(&path).unwrap();
        (0..many).for_each(|n| cache.keep(reply(n)));
        drop(cache);
        assert!(log_bytes(&path) > MAX_LOG_AT_EXIT);

        let connection = open(&path).unwrap();
        let log = log_bytes(&path);
        let mut work =
            WriterThread { connection, shared: Arc::default(), last: Duration::ZERO, others: None, log };
        work.move_log();
        assert_eq!(work.log, 0);
        work.shared.state.lock().closed = true;
        work.run();
        assert_eq!(log_bytes(&path), 0);
        let cache = ReplyCache::open(&path).unwrap();
        assert_eq!(cache.stats().unwrap().replies, many);
    }

    #[test]
    fn a_short_log_is_moved_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let cache = ReplyCache::open(&path).unwrap();
        (0..100).for_each(|n| cache.keep(reply(n)));
        drop(cache);
        assert_eq!(log_bytes(&path), 0);
        assert_eq!(ReplyCache::open(&path).unwrap().stats().unwrap().replies, 100);
    }
}
