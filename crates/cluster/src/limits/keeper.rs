//! The coordinator's side of the limits: the book, and the record that another coordinator would continue from.
//!
//! The coordinator may die after any reply, and another one must not grant the same budget again. So before a reply
//! goes out, a record (the ledger) says that at least as much is used; the next coordinator starts with that number.
//! The budget then holds even if any of them dies. The price is that the amount written ahead by a dead coordinator,
//! and the amounts leased by dead workers, are never spent.
//!
//! Writing the record for each grant would make each grant wait for the servers. The keeper therefore writes
//! [`AHEAD_DIVISOR`] (a fiftieth of the budget) more than is used, and writes again only when that is exhausted.
//!
//! Two keepers can overlap when a suspended coordinator wakes up. Opening the record replaces its revision, so the next
//! write of the older keeper fails. Until then it can grant only the amount that it had written ahead, and the new
//! keeper counts that as used.

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

/// The ledger runs ahead of the use by the whole budget divided by this, so that most grants need no write.
const AHEAD_DIVISOR: u64 = 50;

/// Keeper of the book of one job.
pub(crate) struct LimitKeeper {
    records: Arc<dyn Records>,
    key: String,
    limits: JobLimits,
    /// Id that no other keeper has.
    id: String,
    since: Instant,
    stopped: AtomicBool,
    kept: Mutex<KeptBook>,
}

struct KeptBook {
    book: LimitBook,
    /// Use according to the ledger: at least as much as the real use.
    recorded: BudgetAmount,
    revision: u64,
}

/// The record of what a job has spent.
#[derive(Serialize, Deserialize)]
struct Ledger {
    #[serde(flatten)]
    used: BudgetAmount,
    /// Id of the keeper that wrote it.
    #[serde(default)]
    keeper: String,
}

/// Key of the ledger of a job.
fn ledger_key(job: &str) -> String {
    format!("ledger.{job}")
}

fn ledger_bytes(used: BudgetAmount, keeper: &str) -> Result<Vec<u8>, ClusterError> {
    let ledger = Ledger { used, keeper: keeper.to_owned() };
    serde_json::to_vec(&ledger).map_err(|error| ClusterError::storage("write a record", error))
}

impl LimitKeeper {
    /// A keeper that continues where an earlier coordinator stopped. From now on, a suspended earlier one can
    /// grant only the amount that it had written ahead, and this keeper counts that as used.
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

    /// Starts the ledger of a new job with the amount that an earlier one has spent. Returns false if there
    /// is a ledger already.
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

    /// Answers a worker; `None` if the ledger can't be written now.
    pub(crate) async fn answer(&self, request: &LimitRequest) -> Option<LimitReply> {
        let now: Duration = self.since.elapsed();
        let mut kept = self.kept.lock().await;
        if self.stopped.load(Ordering::Acquire) {
            kept.book.answer(&LimitRequest { need: None, rates: Vec::new(), ..request.clone() }, now);
            return Some(LimitReply { stopped: true, granted: request.received, ..LimitReply::default() });
        }
        let reply = kept.book.answer(request, now);
        if !kept.recorded.covers(kept.book.used()) && self.record(&mut kept).await.is_err() {
            // The worker asks again, and gets the grant then.
            return None;
        }

        Some(reply)
    }

    /// Makes no further grants, and replies to every worker that the job is stopped. Still books returned
    /// budget.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// The need of the first worker that was refused for good.
    pub(crate) async fn refused(&self) -> Option<BudgetAmount> {
        self.kept.lock().await.book.refused()
    }

    /// The budget granted and not returned.
    pub(crate) async fn used(&self) -> BudgetAmount {
        self.kept.lock().await.book.used()
    }

    /// Writes the current use, for a coordinator that continues later.
    pub(crate) async fn close(&self) -> Result<(), ClusterError> {
        let mut kept = self.kept.lock().await;
        let used = kept.book.used();
        self.write(&mut kept, used).await
    }

    async fn record(&self, kept: &mut KeptBook) -> Result<(), ClusterError> {
        // No more than is left, because a coordinator that continues counts all of it as used.
        let (whole, left) = (self.limits.budget(), kept.book.left());
        let usd = whole.usd.unwrap_or_default().as_pico() / AHEAD_DIVISOR;
        let ahead = BudgetAmount {
            calls: (whole.calls.unwrap_or_default() / AHEAD_DIVISOR).min(left.calls),
            tokens: (whole.tokens.unwrap_or_default() / AHEAD_DIVISOR).min(left.tokens),
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
            // An earlier write of this keeper succeeded, but its reply was lost.
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

    /// Total number of calls granted to a worker that asks `times` times for one more call.
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
