//! Writing of finished cases in batches: one write for many cases costs what it costs for one.

use std::time::Duration;

use assize_store::{CaseRecord, CaseRows, ResultRow, RunWriter, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::slots::WorkerSlots;
use crate::task::{FinishedCase, TaskResult};
use crate::{RunLimits, RunTotals, WorkItem};

/// Longest wait of a finished case for others to be written with it.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);

/// Most cases of a batch.
const MAX_BATCH: usize = 64;

/// Cases from which batching pays. With so many workers, finished cases wait for others. Once so many finish within one
/// [`FLUSH_INTERVAL`], the writer is not woken for each of them, and cases are enqueued ahead of their slots: waking the
/// one thread that writes may cost as much as a case.
const BATCH_THRESHOLD: usize = 8;

/// Destination of finished cases.
pub trait Recorder {
    /// Keeps a record. After an error the run ends: going on would spend money on results that are
    /// lost.
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError>;

    /// Takes the rows of a record, which need not be kept before [`Self::settle`]. With them goes what the result rests
    /// on, as [`fingerprint`](crate::fingerprint) gives it.
    fn take(&mut self, record: &CaseRecord, rows: &CaseRows) -> Result<(), StoreError> {
        let _ = rows;
        self.record(record)
    }

    /// Keeps what was taken.
    fn settle(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Recorder for RunWriter {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        Self::record(self, &record.decisions, &record.result)
    }

    fn take(&mut self, _record: &CaseRecord, rows: &CaseRows) -> Result<(), StoreError> {
        self.append(rows);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        Self::settle(self)
    }
}

/// Writer of finished cases. Between [`Self::collect`] and [`Self::flush`] it holds at most [`MAX_BATCH`] of them.
pub(crate) struct RecordWriter<'r> {
    recorder: &'r mut dyn Recorder,
    pending: Vec<FinishedCase>,
    /// The time at which the first pending case finished.
    pending_since: Instant,
    /// False if each case is written before the next one starts.
    batches: bool,
    /// True if the last batch was large.
    is_busy: bool,
}

impl<'r> RecordWriter<'r> {
    pub(crate) fn new(recorder: &'r mut dyn Recorder, settings: RunLimits) -> Self {
        Self {
            recorder,
            pending: Vec::new(),
            pending_since: Instant::now(),
            // A run that ends at a number of failures has to know each result before the next case starts.
            batches: settings.bail.is_none() && settings.workers.get() >= BATCH_THRESHOLD,
            is_busy: false,
        }
    }

    /// Ends batching: from now on, something waits for the result of a case.
    pub(crate) fn stop_batching(&mut self) {
        self.batches = false;
        self.is_busy = false;
    }

    /// Cases to be enqueued beyond the worker slots, so that no slot is empty while finished cases are pending.
    pub(crate) fn enqueue_ahead(&self) -> usize {
        if self.is_busy { MAX_BATCH } else { 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns true if the pending cases may wait for others.
    pub(crate) fn may_wait(&self) -> bool {
        self.batches && self.pending.len() < MAX_BATCH && self.pending_since.elapsed() < FLUSH_INTERVAL
    }

    /// Waits for a case to finish, then takes all that have. The wait ends early when the run is cancelled or the first
    /// pending case has waited for long enough. A busy writer waits for that time alone, or until few cases are queued.
    pub(crate) async fn collect(
        &mut self,
        in_flight: &mut JoinSet<TaskResult>,
        slots: &WorkerSlots,
        cancel: &CancellationToken,
    ) {
        let is_first = self.pending.is_empty();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            // Tasks catch their own panics and are never aborted while they are waited for.
            Some(Ok(result)) = in_flight.join_next(), if is_first || !self.is_busy => {
                if is_first {
                    self.pending_since = Instant::now();
                }
                self.pending.extend(result);
            }
            () = tokio::time::sleep_until(self.pending_since + FLUSH_INTERVAL), if !is_first => {}
            () = slots.wait_for_low_queue(), if !is_first && self.is_busy => {}
            else => {}
        }

        while self.pending.len() < MAX_BATCH
            && let Some(Ok(result)) = in_flight.try_join_next()
        {
            self.pending.extend(result);
        }
    }

    /// Forgets the pending cases that lack something because they were given up.
    pub(crate) fn discard_cut_short(&mut self) {
        self.pending.retain(|case| !case.was_cut_short());
    }

    /// Writes the pending cases and adds them to the totals. Returns them once they are kept.
    pub(crate) fn flush(&mut self, totals: &mut RunTotals) -> Result<Vec<(WorkItem, ResultRow)>, StoreError> {
        self.is_busy = self.batches && self.pending.len() >= BATCH_THRESHOLD;
        let mut written = Vec::with_capacity(self.pending.len());

        for FinishedCase { item, record, rows } in std::mem::take(&mut self.pending) {
            totals.add(&record);
            self.recorder.take(&record, &rows?)?;
            written.push((item, record.result));
        }

        self.recorder.settle()?;
        Ok(written)
    }
}
