//! Keeping the right number of items in flight, and everything that finishes on record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_store::{CaseRecord, RunWriter, StoreError};
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::work::{broken, work};
use crate::{Event, Settings, Totals, WorkItem};

/// Where finished cases go.
pub trait Recorder {
    /// Keeps a record. After an error the run ends: going on would spend money on results that are
    /// lost.
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError>;
}

impl Recorder for RunWriter {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        Self::record(self, &record.judgements, &record.result)
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
    let mut items = items.into_iter();
    let mut totals = Totals::default();
    let mut flying: JoinSet<CaseRecord> = JoinSet::new();
    let mut ended = Ok(());
    let mut exhausted = false;
    loop {
        while !exhausted && ended.is_ok() && flying.len() < settings.workers.get() && !cancel.is_cancelled() {
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
        // Tasks catch their own panics and are never aborted while they are waited for.
        let Some(Ok(record)) = finished else { continue };
        totals.add(&record);
        if let Err(error) = recorder.record(&record) {
            flying.shutdown().await;
            ended = Err(error.into());
            break;
        }
        observe(Event::CaseFinished { row: Arc::new(record.result) });
    }
    (totals, ended)
}

async fn guarded(item: WorkItem) -> CaseRecord {
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
