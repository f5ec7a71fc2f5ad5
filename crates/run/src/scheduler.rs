//! Decides which item starts next, and when no further item starts.
//!
//! A run may have a million cases, and each may depend on others, have several trials, share a workspace, or end the
//! run. The obvious design, to sort a graph of all items and then run them in order, would hold every item in memory
//! and would need all of them before the first one starts. So items are taken from their iterator only as fast as they
//! are processed ([`RunLimits::workers`], plus a small number that is enqueued ahead), and only cases that others wait
//! for are remembered ([`DependencyTracker`]).
//!
//! An item that can't start yet is put aside and takes no worker slot. When a case that it waited for is recorded, it
//! is checked again, before new items. So a dependent case that comes earlier in the file than its dependency does not
//! block the run.
//!
//! What must hold:
//!
//! - A result counts for others only when it is recorded (`note_recorded`), not when its task ends. So if the process
//!   is killed, no item has started because of a result that was lost.
//! - When nothing is in flight and the source is exhausted, the dependencies of waiting items will never be recorded:
//!   they are not part of the run, or were dropped. `release_waiting` and `compare_rest` then let the items continue,
//!   so a run always ends.
//! - Nothing starts after an error, a halt or a stop token (`is_open`). The four tokens treat items in flight
//!   differently, see [`SchedulerStops`].

use std::collections::HashMap;
use std::sync::Arc;

use assize_rubric::{TrialResult, Verdict};
use assize_store::{CaseKey, ResultRow};
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::dependencies::{Admission, BlockedItem, DependencyTracker};
use crate::finished_case::FinishedCase;
use crate::rivals::RivalTracker;
use crate::selections::compare_in_slot;
use crate::slots::WorkerSlots;
use crate::task::{TaskResult, run_in_slot};
use crate::{AnswerHistory, HaltReason, ItemError, RunError, RunEvent, RunLimits, RunTotals, WorkItem};

/// Takes items from their source as fast as they are processed, and starts a task for each.
pub(crate) struct Scheduler<I> {
    items: I,
    /// The number of items taken so far.
    taken: u64,
    is_exhausted: bool,
    /// Results of an earlier process. Their items are not run again.
    done: HashMap<CaseKey, TrialResult>,
    tracker: DependencyTracker,
    settings: RunLimits,
    pub(crate) cancel: CancellationToken,
    limit: CancellationToken,
    refused: CancellationToken,
    decided: Option<CancellationToken>,
    halted: Option<HaltReason>,
    redundant: usize,
    error: Option<ItemError>,
    pub(crate) in_flight: JoinSet<TaskResult>,
    pub(crate) slots: Arc<WorkerSlots>,
}

impl<I> Scheduler<I>
where
    I: Iterator<Item = Result<WorkItem, ItemError>>,
{
    pub(crate) fn new(
        items: I,
        done: HashMap<CaseKey, TrialResult>,
        history: AnswerHistory,
        settings: RunLimits,
        SchedulerStops { cancel, limit, refused, decided }: SchedulerStops,
    ) -> Self {
        Self {
            items,
            taken: 0,
            is_exhausted: false,
            done,
            tracker: DependencyTracker::new(history),
            settings,
            cancel,
            limit,
            refused,
            decided,
            halted: None,
            redundant: 0,
            error: None,
            in_flight: JoinSet::new(),
            slots: Arc::new(WorkerSlots::new(settings.workers.get())),
        }
    }

    /// Starts the next item: first items that have waited for others, then in the order of the source. Returns `None`
    /// if none may start now. `enqueue_ahead` is how many items beyond the number of workers may be started, to wait
    /// for a slot.
    pub(crate) fn start_next(
        &mut self,
        enqueue_ahead: usize,
        observe: &mut dyn FnMut(RunEvent),
    ) -> Option<StartedItem> {
        let capacity = self.settings.workers.get() + enqueue_ahead;
        while self.is_open() && self.in_flight.len() < capacity {
            let item = self.next_item()?;
            if let Some(trial) = self.done.get(&item.key()) {
                self.tracker.note_trial(&item, *trial);
                continue;
            }

            match self.tracker.admit(item) {
                Admission::Waiting => {}
                Admission::Redundant(item) => {
                    self.redundant += 1;
                    let (suite, case_id) = names(&item);
                    observe(RunEvent::CaseRedundant { suite, case_id, trial: item.trial });
                }
                Admission::Start(item, answers) => return Some(self.start(*item, Ok(answers), observe)),
                Admission::Blocked(item, blocked) => return Some(self.start(*item, Err(blocked), observe)),
            }
        }

        None
    }

    fn next_item(&mut self) -> Option<WorkItem> {
        if let Some(item) = self.tracker.released.pop_front() {
            return Some(item);
        }
        if self.is_exhausted {
            return None;
        }

        match self.items.next() {
            Some(Ok(item)) => {
                self.taken += 1;
                // An item of a shard already has its position in the whole plan.
                let place = if item.place == 0 { self.taken } else { item.place };
                Some(WorkItem { place, ..item })
            }
            Some(Err(error)) => {
                self.error = Some(error);
                None
            }
            None => {
                self.is_exhausted = true;
                None
            }
        }
    }

    fn start(
        &mut self,
        item: WorkItem,
        answers: Result<Map<String, Value>, BlockedItem>,
        observe: &mut dyn FnMut(RunEvent),
    ) -> StartedItem {
        let (suite, case_id) = names(&item);
        observe(RunEvent::CaseStarted { suite: Arc::clone(&suite), case_id: Arc::clone(&case_id) });

        if let Err(BlockedItem { reason, .. }) = &answers {
            observe(RunEvent::CaseSkipped { suite, case_id, reason: reason.clone() });
        }

        // A blocked item is only recorded, so it doesn't queue for a workspace.
        let workplace = item.workplace.as_ref().filter(|_| answers.is_ok());
        let turn = workplace.map(|workplace| workplace.next_position());

        // The next item is not started yet if that depends on the result of this one. The same applies if items take
        // turns in a workspace: an item that waits for its turn must not take the slot of the item whose turn it is.
        let started = StartedItem { is_awaited: item.relations.stops_at_errors || turn.is_some() };

        self.slots.enqueue();
        let slots = Arc::clone(&self.slots);
        self.in_flight.spawn(run_in_slot(item, answers, turn, slots, self.limit.clone()));

        started
    }

    /// Starts a task for each group of cases whose answers are compared.
    pub(crate) fn compare(&mut self, groups: Vec<Vec<FinishedCase>>) {
        for cases in groups {
            self.slots.enqueue();
            let slots = Arc::clone(&self.slots);
            self.in_flight.spawn(compare_in_slot(cases, slots, self.limit.clone()));
        }
    }

    /// Compares the answers that still wait for others although nothing is in flight: those will not come.
    /// Returns false if none waits, or if the run ends early, because the waiting cases then count as not run.
    pub(crate) fn compare_rest(&mut self, rivals: &mut RivalTracker) -> bool {
        if !self.is_open() || !self.is_exhausted {
            return false;
        }
        let rest = rivals.take_rest();
        let any = !rest.is_empty();
        self.compare(rest);

        any
    }

    /// Takes note of a recorded result, so that waiting items may continue. Returns the reason if the result ends the
    /// run.
    pub(crate) fn note_recorded(&mut self, item: &WorkItem, row: &ResultRow) -> Option<HaltReason> {
        self.tracker.note_result(item, row);

        if self.halted.is_some() {
            return None;
        }

        self.halted = self.halt_reason(item, row);
        self.halted
    }

    /// Why nothing more starts after this result, if it ends the run.
    fn halt_reason(&self, item: &WorkItem, row: &ResultRow) -> Option<HaltReason> {
        let is_undecided = row.verdict == Verdict::Incomplete && !row.is_skipped();
        let is_error = is_undecided || row.error.is_some() && !row.depends_on_failed_case();
        if item.relations.stops_at_errors && is_error {
            return Some(HaltReason::Error);
        }

        self.settings.bail.filter(|bail| self.tracker.not_passed >= bail.get()).map(|_| HaltReason::NotPassed)
    }

    /// Releases the waiting items when nothing is in flight: their dependencies will never be recorded. Returns false
    /// if there are none.
    pub(crate) fn release_waiting(&mut self) -> bool {
        self.is_open() && self.is_exhausted && self.tracker.release_all()
    }

    fn is_open(&self) -> bool {
        self.error.is_none()
            && self.halted.is_none()
            && !self.is_cancelled()
            && !self.is_limited()
            && !self.is_decided()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Whether nothing new may start. After a refusal, this is so once all items have started; those that wait
    /// for others may wait for one whose call was refused.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_cancelled() || self.is_refused() && self.is_exhausted
    }

    /// Whether some case may lack a call that was refused.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.is_cancelled()
    }

    fn is_decided(&self) -> bool {
        self.decided.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Adds how scheduling ended to the totals.
    ///
    /// # Errors
    /// If an item could not be made.
    pub(crate) fn conclude(self, totals: &mut RunTotals) -> Result<(), RunError> {
        let decided = self.is_decided().then_some(HaltReason::Decided);
        totals.halted = totals.halted.or(self.halted).or(decided);
        totals.needless += self.redundant;
        self.error.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Tokens that stop new items from starting. They treat items in flight differently.
pub(crate) struct SchedulerStops {
    /// Items in flight are cancelled.
    pub(crate) cancel: CancellationToken,
    /// Items in flight may finish, but are not recorded if they lack something.
    pub(crate) limit: CancellationToken,
    /// All items may still start, but are not recorded if they lack something.
    pub(crate) refused: CancellationToken,
    /// Items in flight may finish, and are recorded.
    pub(crate) decided: Option<CancellationToken>,
}

/// An item that was started.
pub(crate) struct StartedItem {
    /// True if other items wait for its result, or for the workspace it uses.
    pub(crate) is_awaited: bool,
}

fn names(item: &WorkItem) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&item.suite), item.case.id.clone().into())
}
