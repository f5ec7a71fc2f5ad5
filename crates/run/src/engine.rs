//! Keeping the right number of items in flight, and everything that finishes on record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_rubric::{Ungraded, UngradedKind};
use assize_store::{CaseRecord, InputsRow, RunWriter, StoreError};
use assize_workspace::Turn;
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::fingerprint::fingerprint;
use crate::work::{broken, work};
use crate::{Event, Settings, Totals, WorkItem};

/// Where finished cases go.
pub trait Recorder {
    /// Keeps a record. After an error the run ends: going on would spend money on results that are
    /// lost.
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError>;

    /// Keeps what the record that follows rests on, as [`fingerprint`](crate::fingerprint) gives it. Recorders that
    /// are never resumed need not.
    fn note_inputs(&mut self, record: &CaseRecord, inputs: String) -> Result<(), StoreError> {
        let _ = (record, inputs);
        Ok(())
    }
}

impl Recorder for RunWriter {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        Self::record(self, &record.judgements, &record.result)
    }

    fn note_inputs(&mut self, record: &CaseRecord, inputs: String) -> Result<(), StoreError> {
        let row = &record.result;
        self.record_inputs(&InputsRow {
            suite: row.suite.clone(),
            case_id: row.case_id.clone(),
            target: row.target.clone(),
            repeat: row.repeat,
            inputs,
        })
    }
}

/// Why a run ended before its items did.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A record could not be kept.
    #[error("the results can't be stored: {0}")]
    Store(#[from] StoreError),
    /// The items themselves could not be read on.
    #[error("{0}")]
    Items(String),
}

/// Works through `items` and returns what they add up to, with the error that ended the run early
/// if there was one.
///
/// Items are taken from the iterator only as fast as they are worked on, so memory does not grow
/// with their number. When `cancel` fires, nothing new is begun and what is in flight is given up;
/// what finished is on record.
pub async fn run<I>(
    items: I,
    settings: Settings,
    cancel: &CancellationToken,
    recorder: &mut dyn Recorder,
    observe: &mut dyn FnMut(Event),
) -> (Totals, Result<(), RunError>)
where
    I: IntoIterator<Item = Result<WorkItem, String>>,
{
    run_from(Start::default(), items, settings, cancel, recorder, observe).await
}

/// Where a run begins, and what may end it.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// What the cases add up to that an earlier process has finished.
    pub totals: Totals,
    /// Fires when a limit is reached. Nothing new is begun then; what is in flight may finish, but a case that lacks
    /// something because of the limit is not recorded: it was not run.
    pub limit: CancellationToken,
}

/// The same as [`run`], from another start than nothing.
pub async fn run_from<I>(
    start: Start,
    items: I,
    settings: Settings,
    cancel: &CancellationToken,
    recorder: &mut dyn Recorder,
    observe: &mut dyn FnMut(Event),
) -> (Totals, Result<(), RunError>)
where
    I: IntoIterator<Item = Result<WorkItem, String>>,
{
    let mut items = items.into_iter();
    let Start { mut totals, limit } = start;
    let mut flying: JoinSet<(CaseRecord, String)> = JoinSet::new();
    let mut ended = Ok(());
    let mut exhausted = false;
    loop {
        while !exhausted
            && ended.is_ok()
            && flying.len() < settings.workers.get()
            && !cancel.is_cancelled()
            && !limit.is_cancelled()
        {
            match items.next() {
                None => exhausted = true,
                Some(Err(message)) => ended = Err(RunError::Items(message)),
                Some(Ok(item)) => {
                    observe(Event::CaseStarted {
                        suite: Arc::clone(&item.suite),
                        case_id: item.case.id.as_str().into(),
                    });
                    let turn = item.workplace.as_ref().map(|place| place.queue());
                    flying.spawn(guarded(item, turn));
                }
            }
        }
        if flying.is_empty() {
            break;
        }
        let finished = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                observe(Event::Stopping);
                flying.shutdown().await;
                break;
            }
            finished = flying.join_next() => finished,
        };
        // Tasks catch their own panics and are never aborted while they are waited for.
        let Some(Ok((record, inputs))) = finished else { continue };
        if limit.is_cancelled() && was_cut_short(&record) {
            continue;
        }
        totals.add(&record);
        let recorded = recorder.note_inputs(&record, inputs).and_then(|()| recorder.record(&record));
        if let Err(error) = recorded {
            flying.shutdown().await;
            ended = Err(error.into());
            break;
        }
        observe(Event::CaseFinished { row: Arc::new(record.result) });
    }
    (totals, ended)
}

/// Whether the record lacks something that was given up rather than tried.
fn was_cut_short(record: &CaseRecord) -> bool {
    let given_up = |why: &Ungraded| why.kind == UngradedKind::Cancelled;
    record.result.error.as_ref().is_some_and(|error| error.kind == "cancelled")
        || record.judgements.iter().any(|row| row.ungraded.as_ref().is_some_and(given_up))
}

/// The record of an item, and what it rests on.
async fn guarded(item: WorkItem, turn: Option<Turn>) -> (CaseRecord, String) {
    let inputs = fingerprint(&item);
    (recorded(item, turn).await, inputs)
}

async fn recorded(item: WorkItem, turn: Option<Turn>) -> CaseRecord {
    let spare = item.clone();
    match AssertUnwindSafe(work(item, turn)).catch_unwind().await {
        Ok(record) => record,
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            broken(&spare, format!("a defect in assize: {text}"))
        }
    }
}
