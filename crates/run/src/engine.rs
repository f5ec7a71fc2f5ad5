//! The run loop: starts items, collects finished ones, writes them, and informs the scheduler.

use std::collections::HashMap;

use assize_rubric::TrialResult;
use assize_store::{CaseKey, StoreError};
use tokio_util::sync::CancellationToken;

use crate::scheduler::{Scheduler, SchedulerStops};
use crate::writer::{RecordWriter, Recorder};
use crate::{AnswerHistory, ItemError, RunError, RunEvent, RunLimits, RunTotals, WorkItem};

/// The start of a run, and the tokens that may end it.
#[derive(Debug, Default)]
pub struct RunStart {
    /// Totals of the cases that an earlier process has finished.
    pub totals: RunTotals,
    /// Fires when a limit is reached. No new item starts then. Items in flight may finish, but a case that is
    /// incomplete because of the limit counts as not run and is not recorded.
    pub limit: CancellationToken,
    /// Fires when the budget refused a call that other cases may not need. A case that lacks it is not
    /// recorded; the others still run.
    pub refused: CancellationToken,
    /// Fires when a model server is given up. The last cases that lack something because of the server are not
    /// recorded either.
    pub given_up: CancellationToken,
    /// Fires when the result is clear. No new item starts then; items in flight finish and are recorded.
    pub decided: Option<CancellationToken>,
    /// Items that an earlier process has finished, with their results. They are not run again.
    pub done: HashMap<CaseKey, TrialResult>,
    /// The answers to them that other items take over.
    pub history: AnswerHistory,
}

/// Works through `items` from a starting point and returns their totals, with the error that ended the run early if
/// there was one.
///
/// Items are taken from the iterator only as fast as they are processed, so memory does not grow with their number.
/// When `cancel` fires, no new item starts, items in flight are cancelled, and finished ones are recorded.
pub async fn run<I>(
    start: RunStart,
    items: I,
    settings: RunLimits,
    cancel: &CancellationToken,
    recorder: &mut dyn Recorder,
    observe: &mut dyn FnMut(RunEvent),
) -> (RunTotals, Result<(), RunError>)
where
    I: IntoIterator<Item = Result<WorkItem, ItemError>>,
{
    let RunStart { mut totals, limit, refused, given_up, decided, done, history } = start;
    let mut writer = RecordWriter::new(recorder, settings);
    if decided.is_some() {
        // Each result may be the last one that is needed.
        writer.stop_batching();
    }
    let stops = SchedulerStops { cancel: cancel.clone(), limit, refused, decided };
    let mut scheduler = Scheduler::new(items.into_iter(), done, history, settings, stops);

    let written = work_through(&mut scheduler, &mut writer, &mut totals, &given_up, observe).await;
    scheduler.in_flight.shutdown().await;

    let scheduled = scheduler.conclude(&mut totals);
    (totals, written.map_err(RunError::from).and(scheduled))
}

/// The main loop. It ends when there is nothing left to start, to wait for or to write, or when the run is cancelled.
async fn work_through<I>(
    scheduler: &mut Scheduler<I>,
    writer: &mut RecordWriter<'_>,
    totals: &mut RunTotals,
    given_up: &CancellationToken,
    observe: &mut dyn FnMut(RunEvent),
) -> Result<(), StoreError>
where
    I: Iterator<Item = Result<WorkItem, ItemError>>,
{
    let mut told_of_limit = false;
    loop {
        while let Some(started) = scheduler.start_next(writer.enqueue_ahead(), observe) {
            if started.is_awaited {
                writer.stop_batching();
            }
        }

        let is_idle = scheduler.in_flight.is_empty();
        if is_idle && writer.is_empty() {
            if scheduler.release_waiting() || scheduler.compare_rest(&mut writer.rivals) {
                continue;
            }
            return Ok(());
        }

        if !is_idle {
            writer.collect(&mut scheduler.in_flight, &scheduler.slots, &scheduler.cancel).await;
            scheduler.compare(std::mem::take(&mut writer.rivals.complete));
        }

        let (is_cancelled, is_limited) = (scheduler.is_cancelled(), scheduler.is_limited());
        if is_limited && !told_of_limit {
            told_of_limit = true;
            observe(RunEvent::LimitReached);
        }
        if !is_idle && !is_cancelled && writer.may_wait() {
            continue;
        }

        if is_cancelled || is_limited || scheduler.is_refused() {
            writer.discard_cut_short();
        }
        if given_up.is_cancelled() {
            writer.discard_unserved();
        }

        for (item, row) in writer.flush(totals, is_idle || is_cancelled)? {
            let halted = scheduler.note_recorded(&item, &row);
            observe(RunEvent::CaseFinished { row: row.into() });
            if let Some(reason) = halted {
                observe(RunEvent::Halted { reason });
            }
        }

        if is_cancelled {
            observe(RunEvent::Stopping);
            return Ok(());
        }
    }
}
