//! The one writing thread: rows that have come together go into one transaction.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior, params};

use super::database::CacheFailure;
use super::database::PAGE_BYTES;
use super::journal::{JournalFile, ReplyJournal, recover};
use super::record::CachedReply;
#[cfg(test)]
use crate::disk::faults::FaultPlan;

/// Waiting replies from which the writing thread does not pause for more.
const BATCH: usize = 4000;

/// Replies on their way to the file at most. Whoever brings one more waits for the disk: memory must not grow because
/// replies come faster than it takes them.
const QUEUE: usize = 2 * BATCH;

/// A transaction costs the same pages of the index whether it holds few replies or many, so as much time is left
/// between two of them as this many times the last one took. Where replies come seldom, that is next to nothing.
const PAUSE: u32 = 4;

/// The longest pause. What waits meanwhile is in memory, and safe in the journal.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Interval at which an idle thread looks for writes of other processes.
const CHECK: Duration = Duration::from_millis(100);

/// Pages in the log before a transaction moves them into the file, which waits for the disk: 64 MiB.
const CHECKPOINT_PAGES: i64 = 64 * 1024 * 1024 / PAGE_BYTES;

/// Bytes in the log that are worth moving into the file while there is nothing to write.
const WORTH_MOVING: u64 = 1024 * 1024;

/// Bytes in the log at the end that are left there: moving them would make the end of a run wait for the disk, and
/// whoever opens the cache next finds them where they are.
const LEFT_AT_END: u64 = 8 * 1024 * 1024;

/// Memory for pages, in KiB. Keys are hashes, so that every write touches another page of their index.
const INDEX_KIB: i64 = 8192;

/// Keys that are remembered at most, so that a look at a file without a key need not be taken.
const REMEMBERED: usize = 100_000;

/// Hands replies to the writing thread.
#[derive(Debug)]
pub(super) struct RowWriter {
    database: PathBuf,
    shared: Arc<SharedWriter>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedWriter {
    state: Mutex<WriterState>,
    /// There is something to do, or no time left for a pause.
    work: Condvar,
    /// A transaction has ended.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct WriterState {
    /// Rows handed over and not being written yet.
    queue: Vec<Arc<CachedReply>>,
    /// Journal of the rows that are not in the file yet. `None` before the first, and where it can't be made.
    journal: Option<ReplyJournal>,
    /// Everything that is not in the file yet, by key.
    pending: HashMap<[u8; 32], Arc<CachedReply>>,
    /// The beginnings of all keys in the file. `None` when there are too many, or when another process has put some
    /// there that are not known here.
    known: Option<HashSet<u64>>,
    /// Replies ever handed over, and how many of them are done with.
    handed: u64,
    done: u64,
    /// True while the thread waits for a row.
    idle: bool,
    /// True while somebody waits for the queue to become empty.
    urgent: bool,
    closed: bool,
    failure: Option<CacheFailure>,
}

impl SharedWriter {
    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RowWriter {
    /// Writes what dead processes have left, and starts the thread.
    pub(super) fn start(mut connection: Connection, database: &Path) -> Self {
        // Only speed hangs on either, so a refusal is no failure.
        let _ = connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES);
        let _ = connection.pragma_update(None, "cache_size", -INDEX_KIB);
        let shared = Arc::new(SharedWriter::default());
        if let Err(error) = recover(database, |left| insert(&mut connection, left)) {
            shared.state().failure = Some(CacheFailure::from_sqlite(&error));
        }

        let others = data_version(&connection);
        shared.state().known = known_keys(&connection);

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
        let mut state = self.shared.state();
        while state.queue.len() >= QUEUE {
            state = self.shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }

        if let Some(known) = &mut state.known {
            known.insert(start_of(&reply.key));
            if known.len() > REMEMBERED {
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

        // Waking a thread costs more than all the rest, so only one that can do something is woken.
        if state.idle || state.queue.len() == BATCH {
            state.idle = false;
            self.shared.work.notify_one();
        }

        drop(state);

        // Should its transaction have ended by now, the record stands there once more and says nothing new.
        if let Some(part) = part {
            part.append(&record);
        }
    }

    /// Looks a key up without reading the file.
    pub(super) fn look_up(&self, key: &[u8; 32]) -> ReplyLookup {
        let state = self.shared.state();
        match state.pending.get(key) {
            Some(reply) => ReplyLookup::Found(Arc::clone(reply)),
            None if state.known.as_ref().is_some_and(|known| !known.contains(&start_of(key))) => {
                ReplyLookup::Absent
            }
            None => ReplyLookup::InFile,
        }
    }

    /// Notes that the file could not be read.
    pub(super) fn fail(&self, failure: CacheFailure) {
        self.shared.state().failure.get_or_insert(failure);
    }

    /// Waits for everything handed over, and returns the first failure there ever was.
    pub(super) fn flush(&self) -> Option<CacheFailure> {
        let mut state = self.shared.state();
        let handed = state.handed;
        while state.done < handed {
            state.urgent = true;
            self.shared.work.notify_one();
            state = self.shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }

        state.failure.clone()
    }
}

impl Drop for RowWriter {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Place of a row.
pub(super) enum ReplyLookup {
    /// On its way to the file.
    Found(Arc<CachedReply>),
    /// Nowhere.
    Absent,
    /// In the file, if anywhere.
    InFile,
}

/// Keys are hashes, so their beginnings tell nearly all of them apart.
fn start_of(key: &[u8; 32]) -> u64 {
    key.first_chunk().map_or(0, |start| u64::from_le_bytes(*start))
}

/// The beginnings of all keys in the file, unless there are too many.
fn known_keys(connection: &Connection) -> Option<HashSet<u64>> {
    let mut query = connection.prepare("SELECT key FROM replies LIMIT ?1").ok()?;
    let keys = query.query_map(params![REMEMBERED as u64 + 1], |row| row.get::<_, [u8; 32]>(0)).ok()?;
    let known: HashSet<u64> = keys.map(|key| key.map(|key| start_of(&key))).collect::<Result<_, _>>().ok()?;
    (known.len() <= REMEMBERED).then_some(known)
}

/// Bytes in the log beside this database.
fn log_bytes(database: &Path) -> u64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

/// A number that changes when another connection has written. `None` if that can't be told.
fn data_version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

/// Rows of one transaction.
struct RowBatch {
    replies: Vec<Arc<CachedReply>>,
    /// Journal that holds them until then.
    journal: Option<Arc<JournalFile>>,
}

struct WriterThread {
    connection: Connection,
    shared: Arc<SharedWriter>,
    /// Duration of the last transaction.
    last: Duration,
    /// Changes when another process has written.
    others: Option<i64>,
    /// About how many bytes stand in the log and not in the file.
    log: u64,
}

impl WriterThread {
    fn run(mut self) {
        self.write_all();
        if self.log > LEFT_AT_END {
            // Where that can't be set, the end waits for the disk.
            let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }

    fn write_all(&mut self) {
        while let Some(RowBatch { replies: mut batch, journal }) = self.next_batch() {
            let begun = Instant::now();
            // Neighbours in the index are written one after the other. Of several replies of one key, the first stays
            // the first.
            batch.sort_by_key(|reply| reply.key);

            let result = insert(&mut self.connection, batch.iter().map(|reply| &**reply));
            if let Some(part) = journal {
                part.end(result.is_ok());
            }

            self.last = begun.elapsed();
            self.log += batch.iter().map(|reply| reply.bytes()).sum::<u64>();

            let alone = self.is_alone();
            let mut state = self.shared.state();
            if !alone || result.is_err() {
                state.known = None;
            }
            if let Err(error) = result {
                state.failure.get_or_insert_with(|| CacheFailure::from_sqlite(&error));
            }

            // What could not be written is forgotten too: memory must not grow with a full disk.
            for reply in &batch {
                state.pending.remove(&reply.key);
            }

            state.done += batch.len() as u64;
            drop(state);

            self.shared.ended.notify_all();
        }
    }

    /// True if nobody else has written since the cache was opened.
    fn is_alone(&self) -> bool {
        self.others.is_some() && self.others == data_version(&self.connection)
    }

    /// Moves the log into the file, as far as nobody reads it there.
    fn move_log(&mut self) {
        let left = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            let (pages, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(pages - moved)
        });
        // What can't be moved now is moved by a later transaction.
        if left.unwrap_or_default() == 0 {
            self.log = 0;
        }
    }

    /// Waits for the next batch; `None` at the end.
    fn next_batch(&mut self) -> Option<RowBatch> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        while state.queue.is_empty() && !state.closed {
            state.idle = true;
            let waited = shared.work.wait_timeout(state, CHECK);
            let (after, wait) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;

            // A look at the file waits for no other process.
            if wait.timed_out() && state.known.is_some() && !self.is_alone() {
                state.known = None;
            }

            if wait.timed_out() && state.queue.is_empty() && self.log >= WORTH_MOVING {
                drop(state);
                self.move_log();
                state = shared.state();
            }
        }

        state.idle = false;
        let until = Instant::now() + (self.last * PAUSE).min(LONGEST_PAUSE);
        while !state.urgent && !state.closed && state.queue.len() < BATCH {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }

            let waited = shared.work.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }

        state.urgent = false;
        let replies = std::mem::take(&mut state.queue);
        if replies.is_empty() {
            return None;
        }

        Some(RowBatch { replies, journal: state.journal.as_mut().map(ReplyJournal::swap) })
    }
}

/// Writes replies in one transaction. The first reply of a key stays: a later one must not change what earlier runs rest
/// on.
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

    /// Hands replies to a writer whose database refuses to grow or to be written, and returns how many were found afterwards.
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
        // Refusals of SQLite itself: the first as on a full disk, in the middle of a transaction.
        assert_eq!(found_after("PRAGMA max_page_count = 8", 400), 400);
        assert_eq!(found_after("PRAGMA query_only = 1", 400), 400);
    }

    #[test]
    fn a_long_log_is_left_at_the_end_and_moved_by_a_later_process_without_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let many = LEFT_AT_END / 1024 + 10;
        let cache = ReplyCache::open(&path).unwrap();
        (0..many).for_each(|n| cache.keep(reply(n)));
        drop(cache);
        assert!(log_bytes(&path) > LEFT_AT_END);

        let connection = open(&path).unwrap();
        let log = log_bytes(&path);
        let mut work =
            WriterThread { connection, shared: Arc::default(), last: Duration::ZERO, others: None, log };
        work.move_log();
        assert_eq!(work.log, 0);
        work.shared.state().closed = true;
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
