//! The one thread that writes: what has come together goes into one transaction.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior, params};

use super::replies::CachedReply;

/// Replies in one transaction at most.
const BATCH: usize = 500;

/// Replies on their way to the file at most. Whoever brings one more waits for the disk: memory must not grow because
/// replies come faster than it takes them.
const QUEUE: usize = 2000;

/// Replies on their way to the file, by key.
type Pending = Arc<Mutex<HashMap<[u8; 32], String>>>;

/// Pages in the log before they are moved into the file, which waits for the disk: 16 MiB.
const CHECKPOINT_PAGES: i64 = 4096;

/// Memory for pages, in KiB. Keys are hashes, so that every write touches another page of their index.
const INDEX_KIB: i64 = 8192;

enum Job {
    Write(CachedReply),
    /// Answered once everything before it is written.
    Flush(Sender<()>),
}

/// Hands replies to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    pending: Pending,
    failure: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Self {
        // Only speed hangs on either, so a refusal is no failure.
        let _ = connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES);
        let _ = connection.pragma_update(None, "cache_size", -INDEX_KIB);
        let (jobs, receiver) = sync_channel(QUEUE);
        let pending = Pending::default();
        let failure = Arc::new(Mutex::new(None));
        let work = Work { connection, pending: Arc::clone(&pending), failure: Arc::clone(&failure) };
        let thread = std::thread::spawn(move || work.run(&receiver));
        Self { jobs: Some(jobs), pending, failure, thread: Some(thread) }
    }

    pub(super) fn write(&self, reply: CachedReply) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.entry(reply.key).or_insert_with(|| reply.reply.clone());
        drop(pending);
        self.send(Job::Write(reply));
    }

    /// A reply that is not in the file yet.
    pub(super) fn pending(&self, key: &[u8; 32]) -> Option<String> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Waits for everything handed over, and returns the first failure there ever was.
    pub(super) fn flush(&self) -> Option<String> {
        let (done, finished) = channel();
        self.send(Job::Flush(done));
        // An error means that the thread has ended, and then nothing is left to wait for.
        let _ = finished.recv();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only after the sender is gone.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    connection: Connection,
    pending: Pending,
    failure: Arc<Mutex<Option<String>>>,
}

impl Work {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut batch = Vec::new();
            let mut flushes = Vec::new();
            let mut take = |job| match job {
                Job::Write(reply) => batch.push(reply),
                Job::Flush(done) => flushes.push(done),
            };
            take(first);
            jobs.try_iter().take(BATCH).for_each(take);
            if let Err(error) = self.commit(&batch) {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert_with(|| error.to_string());
            }
            // What could not be written is forgotten too: memory must not grow with a full disk.
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            for reply in &batch {
                pending.remove(&reply.key);
            }
            drop(pending);
            for done in flushes {
                let _ = done.send(());
            }
        }
    }

    fn commit(&mut self, batch: &[CachedReply]) -> rusqlite::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            // The first reply stays: a later one must not change what earlier runs rest on.
            let mut insert = transaction.prepare_cached(
                "INSERT INTO replies (key, model, created, reply) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO NOTHING",
            )?;
            for CachedReply { key, model, created, reply } in batch {
                insert.execute(params![key.as_slice(), model, created, reply])?;
            }
        }
        transaction.commit()
    }
}
