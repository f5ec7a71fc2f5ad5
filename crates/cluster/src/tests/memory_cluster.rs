//! Machines that meet in the memory of one process.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::limits::{LimitReply, LimitRequest};
use crate::{
    Cluster, ClusterError, JobLinks, JobManifest, Later, LimitDesk, LimitHandler, Record, Records,
    ResultStore, UnitLease, UnitName, WorkQueue, WorkUnit,
};
use assize_run::SharedReplies;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Machines that meet in the memory of one process.
#[derive(Clone, Default)]
pub(crate) struct MemoryCluster {
    shared: Arc<MemoryState>,
}

/// Queue and results of a job.
type MemoryJob = (Arc<MemoryQueue>, Arc<MemoryResults>);

#[derive(Default)]
struct MemoryState {
    records: Arc<MemoryRecords>,
    replies: Arc<MemoryReplies>,
    jobs: Mutex<BTreeMap<String, MemoryJob>>,
    handlers: Arc<Mutex<BTreeMap<String, LimitHandler>>>,
}

fn now<'a, T: Send + 'a>(value: T) -> Later<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Cluster for MemoryCluster {
    fn records(&self) -> Arc<dyn Records> {
        Arc::clone(&self.shared.records) as _
    }

    fn open<'a>(&'a self, job: &'a JobManifest) -> Later<'a, JobLinks> {
        let mut jobs = self.shared.jobs.lock();
        let (queue, results) = jobs.entry(job.job.clone()).or_insert_with(|| {
            (Arc::new(MemoryQueue { term: job.lease_term(), ..MemoryQueue::default() }), Arc::default())
        });
        let desk = MemoryDesk { job: job.job.clone(), handlers: Arc::clone(&self.shared.handlers) };

        now(JobLinks {
            queue: Arc::clone(queue) as _,
            results: Arc::clone(results) as _,
            replies: Arc::clone(&self.shared.replies) as _,
            limits: Arc::new(desk),
        })
    }

    fn remove<'a>(&'a self, job: &'a JobManifest) -> Later<'a, ()> {
        self.shared.jobs.lock().remove(&job.job);
        now(())
    }

    fn serve_limits<'a>(&'a self, job: &'a str, handler: LimitHandler) -> Later<'a, Box<dyn Send>> {
        self.shared.handlers.lock().insert(job.to_owned(), handler);
        let served = Served { job: job.to_owned(), handlers: Arc::clone(&self.shared.handlers) };
        now(Box::new(served))
    }
}

struct Served {
    job: String,
    handlers: Arc<Mutex<BTreeMap<String, LimitHandler>>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.handlers.lock().remove(&self.job);
    }
}

struct MemoryDesk {
    job: String,
    handlers: Arc<Mutex<BTreeMap<String, LimitHandler>>>,
}

impl LimitDesk for MemoryDesk {
    fn ask<'a>(&'a self, request: &'a LimitRequest) -> Later<'a, LimitReply> {
        let handler = self.handlers.lock().get(&self.job).cloned();
        Box::pin(async move {
            let nobody = || ClusterError::Unreachable("nobody coordinates the job now".to_owned());
            let handler = handler.ok_or_else(nobody)?;
            handler(request.clone()).await.ok_or_else(nobody)
        })
    }
}

#[derive(Default)]
struct MemoryRecords {
    records: Mutex<BTreeMap<String, Record>>,
}

impl Records for MemoryRecords {
    fn get<'a>(&'a self, key: &'a str) -> Later<'a, Option<Record>> {
        now(self.records.lock().get(key).cloned())
    }

    fn replace<'a>(&'a self, key: &'a str, bytes: Vec<u8>, revision: u64) -> Later<'a, Option<u64>> {
        let mut records = self.records.lock();
        let found = records.get(key).map_or(0, |record| record.revision);
        let replaced = (found == revision).then(|| {
            records.insert(key.to_owned(), Record { bytes, revision: revision + 1 });
            revision + 1
        });
        now(replaced)
    }
}

#[derive(Default)]
struct MemoryReplies {
    replies: Mutex<BTreeMap<[u8; 32], Vec<u8>>>,
}

impl SharedReplies for MemoryReplies {
    fn get(&self, key: [u8; 32]) -> BoxFuture<'_, Option<Vec<u8>>> {
        let found = self.replies.lock().get(&key).cloned();
        Box::pin(std::future::ready(found))
    }

    fn put(&self, key: [u8; 32], reply: Vec<u8>) {
        self.replies.lock().entry(key).or_insert(reply);
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[derive(Default)]
struct MemoryResults {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl ResultStore for MemoryResults {
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool> {
        let mut files = self.files.lock();
        let is_new = !files.contains_key(name);
        files.entry(name.to_owned()).or_insert(bytes);
        now(is_new)
    }

    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool> {
        now(self.files.lock().contains_key(name))
    }

    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>> {
        let found = self.files.lock().get(name).cloned();
        Box::pin(std::future::ready(
            found.ok_or_else(|| ClusterError::Damaged(format!("there is no result of unit {name}"))),
        ))
    }

    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()> {
        self.files.lock().remove(name);
        now(())
    }

    fn names(&self) -> Later<'_, Vec<String>> {
        now(self.files.lock().keys().cloned().collect())
    }
}

#[derive(Default)]
struct MemoryQueue {
    term: Duration,
    state: Arc<Mutex<QueueState>>,
    added: Notify,
}

#[derive(Default)]
struct QueueState {
    next: u64,
    tags: HashSet<String>,
    waiting: VecDeque<Entry>,
    leased: BTreeMap<u64, (Entry, Instant)>,
}

#[derive(Clone)]
struct Entry {
    id: u64,
    unit: WorkUnit,
    deliveries: u64,
}

impl QueueState {
    /// All units, including leased ones.
    fn units(&self) -> impl Iterator<Item = &WorkUnit> {
        let leased = self.leased.values().map(|(entry, _)| &entry.unit);
        self.waiting.iter().map(|entry| &entry.unit).chain(leased)
    }

    fn holds(&self, name: &UnitName) -> bool {
        self.units().any(|unit| unit.name == *name)
    }

    /// Takes a unit: a waiting one, or one whose lease has expired.
    fn take(&mut self, term: Duration) -> Option<Entry> {
        let now = Instant::now();
        let late: Vec<u64> =
            self.leased.iter().filter(|(_, (_, until))| *until <= now).map(|(id, _)| *id).collect();
        for id in late {
            if let Some((entry, _)) = self.leased.remove(&id) {
                self.waiting.push_back(entry);
            }
        }

        let mut entry = self.waiting.pop_front()?;
        entry.deliveries += 1;
        self.leased.insert(entry.id, (entry.clone(), now + term));
        Some(entry)
    }
}

impl WorkQueue for MemoryQueue {
    fn publish<'a>(&'a self, units: &'a [WorkUnit], tag: &'a str) -> Later<'a, ()> {
        let mut state = self.state.lock();
        for unit in units {
            if !state.holds(&unit.name) && state.tags.insert(format!("{}-{tag}", unit.name)) {
                let id = state.next;
                state.next += 1;
                state.waiting.push_back(Entry { id, unit: unit.clone(), deliveries: 0 });
            }
        }
        drop(state);
        self.added.notify_waiters();
        now(())
    }

    fn lease(&self, wait: Duration) -> Later<'_, Option<Box<dyn UnitLease>>> {
        Box::pin(async move {
            let until = Instant::now() + wait;
            loop {
                let taken = self.state.lock().take(self.term);
                if let Some(entry) = taken {
                    let lease = MemoryLease { entry, term: self.term, state: Arc::clone(&self.state) };
                    return Ok(Some(Box::new(lease) as Box<dyn UnitLease>));
                }
                if Instant::now() >= until {
                    return Ok(None);
                }
                let pause = tokio::time::sleep(Duration::from_millis(20));
                tokio::select! {
                    () = self.added.notified() => {}
                    () = pause => {}
                }
            }
        })
    }

    fn depth(&self) -> Later<'_, u64> {
        let state = self.state.lock();
        now((state.waiting.len() + state.leased.len()) as u64)
    }

    fn names(&self) -> Later<'_, Vec<UnitName>> {
        now(self.state.lock().units().map(|unit| unit.name.clone()).collect())
    }

    fn lease_term(&self) -> Duration {
        self.term
    }
}

struct MemoryLease {
    entry: Entry,
    term: Duration,
    state: Arc<Mutex<QueueState>>,
}

impl UnitLease for MemoryLease {
    fn unit(&self) -> &WorkUnit {
        &self.entry.unit
    }

    fn deliveries(&self) -> u64 {
        self.entry.deliveries
    }

    fn extend(&self) -> Later<'_, ()> {
        if let Some((_, until)) = self.state.lock().leased.get_mut(&self.entry.id) {
            *until = Instant::now() + self.term;
        }
        now(())
    }

    fn complete(&self) -> Later<'_, ()> {
        let mut state = self.state.lock();
        state.leased.remove(&self.entry.id);
        state.waiting.retain(|entry| entry.id != self.entry.id);
        now(())
    }
}
