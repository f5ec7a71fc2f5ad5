//! Writes finished cases in batches, because one write for many cases costs as much as one for a single case.
//!
//! Batching delays the record of a case, and a run that ends at a failure must know each result before it starts the
//! next case. So runs with few workers, and runs with `bail`, write each case at once.
//!
//! Some cases are not written at once. A case that is incomplete because of a model server is held until it is clear
//! whether the server is given up: then it counts as not run, and a resumed run repeats it. A case whose answer is
//! compared waits for the other answers of its test.

use std::collections::VecDeque;
use std::time::Duration;

use assize_store::{CaseRecord, CaseRows, ResultRow, RunWriter, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::finished_case::FinishedCase;
use crate::rivals::RivalTracker;
use crate::slots::WorkerSlots;
use crate::task::TaskResult;
use crate::{RunLimits, RunTotals, WorkItem};

/// The longest time that a finished case waits for others to be written with it.
const FLUSH_INTERVAL: Duration = Duration::from_millis(2);

/// The most cases in a batch.
const MAX_BATCH: usize = 64;

/// Batching is worthwhile from this number on. With at least this many workers, finished cases wait for others. Once
/// this many finish within one [`FLUSH_INTERVAL`], the writer is not woken for each of them, and cases are enqueued
/// ahead of their slots: waking the single writing thread may cost as much as a case.
const BATCH_THRESHOLD: usize = 8;

/// Maximum number of cases that wait for the end of the run. A server is given up after far fewer failures in a row,
/// and most requests in flight at that time count as cancelled.
const MAX_HELD: usize = 256;

/// The destination of finished cases.
pub trait Recorder {
    /// Stores a record. After an error the run ends, because it would otherwise spend money on results that are lost.
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError>;

    /// Takes the rows of a record, which need not be stored before [`Self::settle`]. They include the
    /// [`fingerprint`](crate::fingerprint) of everything that the result depends on.
    fn take(&mut self, record: &CaseRecord, rows: &CaseRows) -> Result<(), StoreError> {
        let _ = rows;
        self.record(record)
    }

    /// Stores everything that was taken.
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

/// Writes finished cases. Between [`Self::collect`] and [`Self::flush`] it holds at most [`MAX_BATCH`] of them.
pub(crate) struct RecordWriter<'r> {
    recorder: &'r mut dyn Recorder,
    pending: Vec<FinishedCase>,
    /// When the first pending case finished.
    pending_since: Instant,
    /// False if each case is written before the next one starts.
    batches: bool,
    /// True if the last batch was large.
    is_busy: bool,
    /// The last cases that lack something because of a model server. If the server is given up, they count as
    /// not run; otherwise they are written at the end.
    held: VecDeque<FinishedCase>,
    /// Cases whose answers will be compared.
    pub(crate) rivals: RivalTracker,
    /// False if the run may end at the next failure.
    holds: bool,
}

impl<'r> RecordWriter<'r> {
    pub(crate) fn new(recorder: &'r mut dyn Recorder, settings: RunLimits) -> Self {
        Self {
            recorder,
            pending: Vec::new(),
            pending_since: Instant::now(),
            // A run that ends after a number of failures must know each result before the next case starts.
            batches: settings.bail.is_none() && settings.workers.get() >= BATCH_THRESHOLD,
            is_busy: false,
            held: VecDeque::new(),
            rivals: RivalTracker::default(),
            holds: settings.bail.is_none(),
        }
    }

    /// Ends batching: from now on, each result is needed at once.
    pub(crate) fn stop_batching(&mut self) {
        self.batches = false;
        self.is_busy = false;
    }

    /// How many cases to enqueue beyond the worker slots, so that no slot is empty while finished cases are
    /// pending.
    pub(crate) fn enqueue_ahead(&self) -> usize {
        if self.is_busy { MAX_BATCH } else { 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.held.is_empty()
    }

    /// Whether the pending cases may wait for others.
    pub(crate) fn may_wait(&self) -> bool {
        self.batches && self.pending.len() < MAX_BATCH && self.pending_since.elapsed() < FLUSH_INTERVAL
    }

    /// Waits for a case to finish, then takes all finished ones. The wait ends early when the run is cancelled or the
    /// first pending case has waited long enough. A busy writer waits only for that time, or until few cases are
    /// queued.
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
            // Tasks catch their own panics and are never aborted while they are awaited.
            Some(Ok(result)) = in_flight.join_next(), if is_first || !self.is_busy => {
                if is_first {
                    self.pending_since = Instant::now();
                }
                self.accept(result);
            }
            () = tokio::time::sleep_until(self.pending_since + FLUSH_INTERVAL), if !is_first => {}
            () = slots.wait_for_low_queue(), if !is_first && self.is_busy => {}
            else => {}
        }

        while self.pending.len() < MAX_BATCH
            && let Some(Ok(result)) = in_flight.try_join_next()
        {
            self.accept(result);
        }
    }

    /// Takes the result of a task. A case whose answer is compared waits for the others.
    fn accept(&mut self, TaskResult { case, compared }: TaskResult) {
        self.pending.extend(case.and_then(|case| self.rivals.hold(case)));
        self.pending.extend(compared);
    }

    /// Drops the pending cases that lack something which was cancelled.
    pub(crate) fn discard_cut_short(&mut self) {
        self.pending.retain(|case| !case.was_cut_short());
    }

    /// Drops the cases that lack something because of a model server.
    pub(crate) fn discard_unserved(&mut self) {
        self.held.clear();
        self.pending.retain(|case| !case.lacks_server());
    }

    /// Takes the cases that must be written now.
    fn take_ready(&mut self, is_last: bool) -> Vec<FinishedCase> {
        let mut ready = Vec::with_capacity(self.pending.len());
        for case in self.pending.drain(..) {
            if self.holds && case.lacks_server() && !case.is_awaited() {
                self.held.push_back(case);
            } else {
                ready.push(case);
            }
        }

        let kept = if is_last { 0 } else { MAX_HELD };
        let surplus = self.held.len().saturating_sub(kept);
        ready.extend(self.held.drain(..surplus));
        ready
    }

    /// Writes the pending cases, adds them to the totals, and returns them. `is_last` is true if no other case
    /// is in flight.
    pub(crate) fn flush(
        &mut self,
        totals: &mut RunTotals,
        is_last: bool,
    ) -> Result<Vec<(WorkItem, ResultRow)>, StoreError> {
        self.is_busy = self.batches && self.pending.len() >= BATCH_THRESHOLD;
        let ready = self.take_ready(is_last);
        let mut written = Vec::with_capacity(ready.len());

        for FinishedCase { item, record, rows, .. } in ready {
            totals.add(&record);
            self.recorder.take(&record, &rows?)?;
            written.push((item, record.result));
        }

        self.recorder.settle()?;
        Ok(written)
    }
}
