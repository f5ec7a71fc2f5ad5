//! Keeping the right number of items in flight, and everything that finishes on record.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use assize_rubric::{Repeat, Ungraded, UngradedKind, Verdict};
use assize_store::{CaseErrorKind, CaseKey, CaseRecord, CaseRows, ResultRow, RunWriter, StoreError};
use assize_workspace::Turn;
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::board::{Admission, Board, Held};
use crate::fingerprint::fingerprint;
use crate::seats::Seats;
use crate::work::{broken, held_back, work};
use crate::{Event, Halt, Settings, Totals, WorkItem};

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

/// Finished cases that are recorded in one go at most.
const TOGETHER: usize = 64;

/// How long a finished case waits for others to be recorded with it, where so many are worked on that others will
/// follow: each time costs the same writes for one case as for many.
const LINGER: Duration = Duration::from_millis(2);

/// How many cases are many. Where so many are worked on at once, finished ones wait for others. Where so many finish
/// while the first of them waits, the others are not looked at one by one, and the next cases are handed out before there
/// is a seat for them: to wake the one thread that records for each case may cost as much as the case.
const MANY: usize = 8;

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
    /// The items that an earlier process has finished, and what they came to: they are not run again.
    pub done: HashMap<CaseKey, Repeat>,
}

/// A finished item: its record with its rows, and the item.
struct Finished {
    record: CaseRecord,
    rows: Result<CaseRows, StoreError>,
    item: WorkItem,
}

/// Cases that finished and are not recorded yet.
struct Batch {
    cases: Vec<Finished>,
    /// When the first of them finished.
    since: Instant,
    /// Whether many finished together before.
    crowded: bool,
}

/// What became of an item that was handed out: nothing, if the limit was reached before there was a seat for it.
type Flown = Option<Finished>;

impl Batch {
    /// Waits for the next one to finish, unless none does before the first of them has waited for long enough or the run
    /// is cancelled; where many finish, for that time alone, or until further cases are to be handed out. Takes what has
    /// finished by then.
    async fn gather(&mut self, flying: &mut JoinSet<Flown>, seats: &Seats, cancel: &CancellationToken) {
        let first = self.cases.is_empty();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            // Tasks catch their own panics and are never aborted while they are waited for.
            Some(Ok(next)) = flying.join_next(), if first || !self.crowded => {
                if first {
                    self.since = Instant::now();
                }
                self.cases.extend(next);
            }
            () = tokio::time::sleep_until(self.since + LINGER), if !first => {}
            () = seats.running_out(), if !first && self.crowded => {}
            else => {}
        }
        while self.cases.len() < TOGETHER
            && let Some(Ok(next)) = flying.try_join_next()
        {
            self.cases.extend(next);
        }
    }

    /// Whether the cases may be recorded later.
    fn may_wait(&self) -> bool {
        self.cases.len() < TOGETHER && self.since.elapsed() < LINGER
    }
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
    let Start { mut totals, limit, done } = start;
    let mut flying: JoinSet<Flown> = JoinSet::new();
    let seats = Arc::new(Seats::new(settings.workers.get()));
    let mut board = Board::default();
    let mut ended = Ok(());
    let mut exhausted = false;
    let mut finished = Batch { cases: Vec::new(), since: Instant::now(), crowded: false };
    // A run that ends at what a case comes to has to know it before the next one begins.
    let mut lingers = settings.bail.is_none() && settings.workers.get() >= MANY;
    loop {
        while ended.is_ok()
            && totals.halted.is_none()
            && flying.len() < settings.workers.get() + if finished.crowded { TOGETHER } else { 0 }
            && !cancel.is_cancelled()
            && !limit.is_cancelled()
        {
            let item = match board.released() {
                Some(item) => item,
                None if exhausted => break,
                None => match items.next() {
                    None => {
                        exhausted = true;
                        continue;
                    }
                    Some(Err(message)) => {
                        ended = Err(RunError::Items(message));
                        continue;
                    }
                    Some(Ok(item)) => item,
                },
            };
            if let Some(repeat) = done.get(&item.key()) {
                board.remember(&item, *repeat);
                continue;
            }
            let (item, held) = match board.admit(item) {
                Admission::Waits => continue,
                Admission::Needless => {
                    totals.needless += 1;
                    continue;
                }
                Admission::Begin(item) => (item, None),
                Admission::Held(item, held) => (item, Some(held)),
            };
            observe(Event::CaseStarted {
                suite: Arc::clone(&item.suite),
                case_id: item.case.id.clone().into(),
            });
            // What is held back goes nowhere, so it doesn't queue for a workspace.
            let place = item.workplace.as_ref().filter(|_| held.is_none());
            let turn = place.map(|place| place.queue());
            // What follows has to know whether this one failed; and what waits for its turn in a workspace must not
            // take the seat of the one whose turn it is.
            if item.relations.stops_at_errors || turn.is_some() {
                lingers = false;
                finished.crowded = false;
            }
            seats.hand_out();
            flying.spawn(seated(*item, held, turn, Arc::clone(&seats), limit.clone()));
        }
        if flying.is_empty() && finished.cases.is_empty() {
            let goes_on = ended.is_ok() && totals.halted.is_none();
            // What still waits, waits for something that will not come.
            if goes_on && exhausted && !cancel.is_cancelled() && !limit.is_cancelled() && board.give_up() {
                continue;
            }
            break;
        }
        let more_fly = !flying.is_empty();
        if more_fly {
            finished.gather(&mut flying, &seats, cancel).await;
        }
        let stops = cancel.is_cancelled();
        if more_fly && lingers && !stops && finished.may_wait() {
            continue;
        }
        finished.crowded = lingers && finished.cases.len() >= MANY;
        let mut finished = std::mem::take(&mut finished.cases);
        if stops || limit.is_cancelled() {
            finished.retain(|done| !was_cut_short(&done.record));
        }
        let mut shown = Vec::with_capacity(finished.len());
        let recorded = finished.into_iter().try_for_each(|Finished { record, rows, item }| {
            totals.add(&record);
            recorder.take(&record, &rows?)?;
            shown.push((item, record.result));
            Ok(())
        });
        if let Err(error) = recorded.and_then(|()| recorder.settle()) {
            flying.shutdown().await;
            ended = Err(error.into());
            break;
        }
        for (item, row) in shown {
            board.finished(&item, &row);
            totals.halted = totals.halted.or_else(|| halt(&item, &row, &board, settings));
            observe(Event::CaseFinished { row: Arc::new(row) });
        }
        if stops {
            observe(Event::Stopping);
            flying.shutdown().await;
            break;
        }
    }
    (totals, ended)
}

/// Why nothing more is begun after this row, if so.
fn halt(item: &WorkItem, row: &ResultRow, board: &Board, settings: Settings) -> Option<Halt> {
    let broke = row.verdict == Verdict::Incomplete && !row.is_skipped();
    if item.relations.stops_at_errors && (broke || row.error.is_some() && !row.hangs_on_another()) {
        return Some(Halt::Error);
    }
    settings.bail.filter(|bail| board.not_passed() >= bail.get()).map(|_| Halt::NotPassed)
}

/// Whether the record lacks something that was given up rather than tried.
fn was_cut_short(record: &CaseRecord) -> bool {
    let given_up = |why: &Ungraded| why.kind == UngradedKind::Cancelled;
    record.result.error.as_ref().is_some_and(|error| error.kind == CaseErrorKind::Cancelled)
        || record.decisions.iter().any(|row| row.decision.ungraded.as_ref().is_some_and(given_up))
}

/// The same as [`guarded`], once there is a seat among the cases that are worked on.
async fn seated(
    item: WorkItem,
    held: Option<Held>,
    turn: Option<Turn>,
    seats: Arc<Seats>,
    limit: CancellationToken,
) -> Flown {
    let _seat = seats.take().await;
    if limit.is_cancelled() {
        return None;
    }
    Some(guarded(item, held, turn).await)
}

/// The record of an item, and its rows. An item that is held back is not run.
async fn guarded(item: WorkItem, held: Option<Held>, turn: Option<Turn>) -> Finished {
    let inputs = fingerprint(&item);
    let record = match held {
        Some(held) => held_back(&item, held),
        None => recorded(&item, turn).await,
    };
    let rows = CaseRows::new(&record.decisions, &record.result, Some(inputs));
    Finished { record, rows, item }
}

async fn recorded(item: &WorkItem, turn: Option<Turn>) -> CaseRecord {
    match AssertUnwindSafe(work(item, turn)).catch_unwind().await {
        Ok(record) => record,
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            broken(item, format!("a defect in assize: {text}"))
        }
    }
}
