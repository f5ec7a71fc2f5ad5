//! The coordinator's side of the limits: the book, and the record from which another coordinator would go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assize_llm::BudgetAmount;
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

/// Key of the record of what a job has spent.
fn ledger_key(job: &str) -> String {
    format!("ledger.{job}")
}

impl LimitKeeper {
    /// Keeper that goes on where an earlier coordinator stopped.
    ///
    /// # Errors
    /// When the record can't be read.
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
            Some(record) => serde_json::from_slice(&record.bytes)
                .map_err(|error| ClusterError::storage(&format!("read the spending of job {job}"), error))?,
        };
        let book = LimitBook::new(limits, recorded);

        Ok(Self {
            records,
            key,
            limits,
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
        let bytes =
            serde_json::to_vec(&used).map_err(|error| ClusterError::storage("write a record", error))?;
        Ok(records.replace(&ledger_key(job), bytes, 0).await?.is_some())
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
        let whole = self.limits.budget();
        let ahead = BudgetAmount {
            calls: whole.calls.unwrap_or_default() / AHEAD,
            tokens: whole.tokens.unwrap_or_default() / AHEAD,
            usd: assize_engine::Usd::from_pico(whole.usd.unwrap_or_default().as_pico() / AHEAD),
        };
        let used = kept.book.used().plus(ahead);

        self.write(kept, used).await
    }

    async fn write(&self, kept: &mut KeptBook, used: BudgetAmount) -> Result<(), ClusterError> {
        let bytes =
            serde_json::to_vec(&used).map_err(|error| ClusterError::storage("write a record", error))?;
        let revision = self.records.replace(&self.key, bytes, kept.revision).await?;
        // Of another revision, it was written by somebody else, or by a request whose answer was lost.
        let Some(revision) = revision else {
            let found = self.records.get(&self.key).await?;
            kept.revision = found.map_or(0, |record| record.revision);
            return Err(ClusterError::Unreachable("the record of the spending has changed".to_owned()));
        };
        (kept.revision, kept.recorded) = (revision, used);

        Ok(())
    }
}
