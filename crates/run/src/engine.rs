//! Keeping the right number of items in flight, and everything that finishes on record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_rubric::{Ungraded, UngradedKind};
use assize_store::{CaseRecord, CaseRows, RunWriter, StoreError};
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
        Self::record(self, &record.judgements, &record.result)
    }

    fn take(&mut self, _record: &CaseRecord, rows: &CaseRows) -> Result<(), StoreError> {
        self.append(rows);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        Self::settle(self)
    }
}

/// Finished cases that are recorded in one go at most: new ones begin only afterwards.
const TOGETHER: usize = 16;

/// A finished case with its rows.
type Done = (CaseRecord, Result<CaseRows, StoreError>);

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
    let mut flying: JoinSet<Done> = JoinSet::new();
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
                    flying.spawn(guarded(item));
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
        let mut finished: Vec<Done> = finished.into_iter().flatten().collect();
        while finished.len() < TOGETHER
            && let Some(Ok(more)) = flying.try_join_next()
        {
            finished.push(more);
        }
        if limit.is_cancelled() {
            finished.retain(|(record, _)| !was_cut_short(record));
        }
        let recorded = finished.iter_mut().try_for_each(|(record, rows)| {
            totals.add(record);
            let rows = std::mem::replace(rows, Ok(CaseRows::default()))?;
            recorder.take(record, &rows)
        });
        if let Err(error) = recorded.and_then(|()| recorder.settle()) {
            flying.shutdown().await;
            ended = Err(error.into());
            break;
        }
        for (record, _) in finished {
            observe(Event::CaseFinished { row: Arc::new(record.result) });
        }
    }
    (totals, ended)
}

/// Whether the record lacks something that was given up rather than tried.
fn was_cut_short(record: &CaseRecord) -> bool {
    let given_up = |why: &Ungraded| why.kind == UngradedKind::Cancelled;
    record.result.error.as_ref().is_some_and(|error| error.kind == "cancelled")
        || record.judgements.iter().any(|row| row.ungraded.as_ref().is_some_and(given_up))
}

/// The record of an item, and its rows.
async fn guarded(item: WorkItem) -> Done {
    let inputs = fingerprint(&item);
    let record = recorded(item).await;
    let rows = CaseRows::new(&record.judgements, &record.result, Some(inputs));
    (record, rows)
}

async fn recorded(item: WorkItem) -> CaseRecord {
    let spare = item.clone();
    match AssertUnwindSafe(work(item)).catch_unwind().await {
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
