//! The coordinator's side of the limits: the book, and the record from which another coordinator would go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_llm::BudgetAmount;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::book::{LimitBook, LimitReply, LimitRequest};
use crate::error::ClusterError;
use crate::job::JobLimits;
use crate::seam::Records;

/// Part of the budget that is written down ahead, so that not each grant waits for a record.
const AHEAD: u64 = 50;

/// Keeper of the book of a job.
pub(crate) struct LimitKeeper {
    records: Arc<dyn Records>,
    key: String,
    limits: JobLimits,
    /// Name that no other keeper has.
    id: String,
    since: Instant,
    stopped: AtomicBool,
    kept: Mutex<KeptBook>,
}

struct KeptBook {
    book: LimitBook,
    /// Use according to the record: at least as much as the real one.
    recorded: BudgetAmount,
    revision: u64,
}

/// Record of what a job has spent.
#[derive(Serialize, Deserialize)]
struct Ledger {
    #[serde(flatten)]
    used: BudgetAmount,
    /// Keeper that has written it.
    #[serde(default)]
    keeper: String,
}

/// Key of the record of what a job has spent.
fn ledger_key(job: &str) -> String {
    format!("ledger.{job}")
}

fn ledger_bytes(used: BudgetAmount, keeper: &str) -> Result<Vec<u8>, ClusterError> {
    let ledger = Ledger { used, keeper: keeper.to_owned() };
    serde_json::to_vec(&ledger).map_err(|error| ClusterError::storage("write a record", error))
}

impl LimitKeeper {
    /// Keeper that goes on where an earlier coordinator stopped. From now on, an earlier one that was only held up can't grant more
    /// than it has written down, which counts as used here.
    ///
    /// # Errors
    /// When the record can't be read or written.
    pub(crate) async fn open(
        records: Arc<dyn Records>,
        job: &str,
        limits: JobLimits,
    ) -> Result<Self, ClusterError> {
        let key = ledger_key(job);
        let found = records.get(&key).await?;
        let revision = found.as_ref().map_or(0, |record| record.revision);
        let recorded = match &found {
            None => BudgetAmount::default(),
            Some(record) => {
                let ledger: Result<Ledger, _> = serde_json::from_slice(&record.bytes);
                let failed = |error| ClusterError::storage(&format!("read the spending of job {job}"), error);
                ledger.map_err(failed)?.used
            }
        };
        let id = uuid::Uuid::new_v4().simple().to_string();
        let Some(revision) = records.replace(&key, ledger_bytes(recorded, &id)?, revision).await? else {
            return Err(ClusterError::Unreachable("the record of the spending has changed".to_owned()));
        };
        let book = LimitBook::new(limits, recorded);

        Ok(Self {
            records,
            key,
            limits,
            id,
            since: Instant::now(),
            stopped: AtomicBool::new(false),
            kept: Mutex::new(KeptBook { book, recorded, revision }),
        })
    }

    /// Begins the record of a new job with what an earlier one has spent. False if there is a record.
    ///
    /// # Errors
    /// When the record can't be written.
    pub(crate) async fn begin_with(
        records: Arc<dyn Records>,
        job: &str,
        used: BudgetAmount,
    ) -> Result<bool, ClusterError> {
        Ok(records.replace(&ledger_key(job), ledger_bytes(used, "")?, 0).await?.is_some())
    }

    /// Answers a worker; `None` while what was granted can't be written down.
    pub(crate) async fn answer(&self, request: &LimitRequest) -> Option<LimitReply> {
        let now: Duration = self.since.elapsed();
        let mut kept = self.kept.lock().await;
        if self.stopped.load(Ordering::Acquire) {
            kept.book.answer(&LimitRequest { need: None, rates: Vec::new(), ..request.clone() }, now);
            return Some(LimitReply { stopped: true, granted: request.received, ..LimitReply::default() });
        }
        let reply = kept.book.answer(request, now);
        if !kept.recorded.covers(kept.book.used()) && self.record(&mut kept).await.is_err() {
            // The worker asks again, and is told then.
            return None;
        }

        Some(reply)
    }

    /// Grants nothing from now on, and tells every worker that asks that the job is stopped. What they give back still counts.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Amount that a worker needed when it was told that the budget allows nothing more.
    pub(crate) async fn refused(&self) -> Option<BudgetAmount> {
        self.kept.lock().await.book.refused()
    }

    /// Part of the budget that was granted and not given back.
    pub(crate) async fn used(&self) -> BudgetAmount {
        self.kept.lock().await.book.used()
    }

    /// Writes down what is used now, for a coordinator that goes on later.
    pub(crate) async fn close(&self) -> Result<(), ClusterError> {
        let mut kept = self.kept.lock().await;
        let used = kept.book.used();
        self.write(&mut kept, used).await
    }

    async fn record(&self, kept: &mut KeptBook) -> Result<(), ClusterError> {
        // No more than is left: a coordinator that goes on counts all of it as used.
        let (whole, left) = (self.limits.budget(), kept.book.left());
        let usd = whole.usd.unwrap_or_default().as_pico() / AHEAD;
        let ahead = BudgetAmount {
            calls: (whole.calls.unwrap_or_default() / AHEAD).min(left.calls),
            tokens: (whole.tokens.unwrap_or_default() / AHEAD).min(left.tokens),
            usd: assize_engine::Usd::from_pico(usd.min(left.usd.as_pico())),
        };
        let used = kept.book.used().plus(ahead);

        self.write(kept, used).await
    }

    async fn write(&self, kept: &mut KeptBook, used: BudgetAmount) -> Result<(), ClusterError> {
        let bytes = ledger_bytes(used, &self.id)?;
        let Some(revision) = self.records.replace(&self.key, bytes, kept.revision).await? else {
            let found = self.records.get(&self.key).await?;
            let ledger =
                found.as_ref().and_then(|record| serde_json::from_slice::<Ledger>(&record.bytes).ok());
            if found.is_some() && ledger.is_none_or(|ledger| ledger.keeper != self.id) {
                return Err(ClusterError::taken_over());
            }
            // It was written by a request whose answer was lost.
            kept.revision = found.map_or(0, |record| record.revision);
            return Err(ClusterError::Unreachable("the record of the spending has changed".to_owned()));
        };
        (kept.revision, kept.recorded) = (revision, used);

        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryCluster;
    use crate::seam::Cluster;

    /// Calls that a worker gets of a keeper that it asks so many times.
    async fn borrow(keeper: &LimitKeeper, worker: &str, times: u64) -> u64 {
        let mut received = BudgetAmount::default();
        for _ in 0..times {
            let need = Some(BudgetAmount { calls: 1, ..BudgetAmount::default() });
            let request =
                LimitRequest { worker: worker.to_owned(), received, need, ..LimitRequest::default() };
            received = keeper.answer(&request).await.map_or(received, |reply| reply.granted);
        }
        received.calls
    }

    #[tokio::test]
    async fn a_coordinator_that_goes_on_counts_no_more_than_the_budget_as_used() {
        let records = MemoryCluster::default().records();
        let limits = JobLimits { calls: Some(200), ..JobLimits::default() };
        let first = LimitKeeper::open(Arc::clone(&records), "job", limits).await.unwrap();
        borrow(&first, "a", 1_000).await;
        let second = LimitKeeper::open(records, "job", limits).await.unwrap();
        assert_eq!(second.used().await.calls, 200);
    }

    #[tokio::test]
    async fn a_coordinator_that_was_held_up_grants_nothing_that_its_successor_does_not_count() {
        let records = MemoryCluster::default().records();
        let limits = JobLimits { calls: Some(200), ..JobLimits::default() };
        let first = LimitKeeper::open(Arc::clone(&records), "job", limits).await.unwrap();
        let mut granted = borrow(&first, "a", 1).await;
        assert!(granted > 0);

        let second = LimitKeeper::open(Arc::clone(&records), "job", limits).await.unwrap();
        granted += borrow(&second, "b", 1_000).await;
        granted += borrow(&first, "c", 1_000).await;
        assert!((190..=200).contains(&granted), "{granted} of 200 calls");
        let error = first.close().await.unwrap_err().to_string();
        assert!(error.contains("another coordinator has taken over"), "{error}");

        second.close().await.unwrap();
        let third = LimitKeeper::open(records, "job", limits).await.unwrap();
        assert_eq!(third.used().await, second.used().await);
    }
}
