//! Rounds of batches: collect requests, send them, wait, collect replies, until no request is left for a batch.
//!
//! A judge call often depends on earlier ones: an escalation needs the votes of a panel, a repair needs the reply that
//! failed. So one batch is not enough, and the follow-up calls can't be known in advance. Instead of modelling them,
//! each round runs all cases with a recorder that stores nothing. A call that the cache and earlier batches can't
//! answer is collected and reported as cancelled. After the batch has ended, the next pass finds its replies and gets
//! one step further. When a pass collects nothing, the real run starts; it finds every reply that batches could bring,
//! and sends the rest live.
//!
//! A round may take a day, so follow-up rounds need at least [`MIN_FOLLOW_UP_REQUESTS`] requests, and after
//! [`MAX_VAIN_ROUNDS`] rounds without a single reply the rest is sent live.
//!
//! Invariants, because requests cost money:
//!
//! - No request is in two batches. The lock of the journal ([`BatchLock`]) is held from reading the journal
//!   until the new batches are recorded, so two processes with one folder take turns.
//! - The intent of a batch is on disk before it is sent (`send_one`). A batch whose fate is unknown is looked
//!   for at its provider before anything is sent again; if that can't be decided, the run stops and a person
//!   decides.
//! - What a batch may cost is reserved from the budget until its replies are counted. Requests of a batch that another
//!   process has collected count as spent.
//! - At the time limit batches are cancelled first, and the rest is sent live only after they have ended.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assize_llm::{AskError, BatchClient, BatchDraft, BatchState, CallBound, CallKey, ErrorKind};
use assize_store::{BatchJournal, BatchLock, BatchRecord};
use tokio_util::sync::CancellationToken;

use super::calls::{BatchedCalls, CollectingPass};
use super::collected::{CollectedRequest, CollectedRequests};
use super::exchange::{
    Existence, HarvestCounts, HarvestError, Patience, create, gone, harvest, resolve, unasked, unknown,
};
use super::open_batch::OpenBatch;
use super::stopped;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::options::BatchOptions;

/// Fewest requests of a batch after the first round. Fewer are sent live, since each round may take a day.
const MIN_FOLLOW_UP_REQUESTS: usize = 100;
/// After this many rounds without a single reply, missing replies are requested live.
const MAX_VAIN_ROUNDS: u32 = 2;

/// Wait between two status requests: the first, the longest, and its growth in percent.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
const WAIT_GROWTH_PERCENT: u32 = 150;

/// Shortest time between two progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(30);
/// A batch counts as not found after this many "not found" answers in a row.
const MAX_MISSES: u32 = 3;
/// After this many status requests in a row without an answer the user is warned.
const WARN_AFTER_FAILURES: u32 = 5;

/// Rounds of batches of a run.
pub(crate) struct BatchRounds<'a> {
    calls: Arc<BatchedCalls>,
    engine: &'a Engine,
    /// When the time limit for batches ends.
    deadline: Option<Instant>,
    /// Fires when the run should end.
    cancel: &'a CancellationToken,
    open: Vec<OpenBatch>,
    /// Replies that have been stored so far.
    replies: u64,
}

/// How waiting for batches ended.
enum WaitEnd {
    /// All have ended.
    Ended,
    /// The run is being stopped.
    Cancelled,
}

impl<'a> BatchRounds<'a> {
    /// Starts the rounds of a run; the time limit begins now.
    pub(crate) fn new(
        calls: Arc<BatchedCalls>,
        options: &BatchOptions,
        cancel: &'a CancellationToken,
        engine: &'a Engine,
    ) -> Self {
        let deadline = options.wait.map(|wait| Instant::now() + wait);
        Self { calls, engine, deadline, cancel, open: Vec::new(), replies: 0 }
    }

    /// Gets all replies that batches can bring. `pass` runs the cases once while requests are collected; it
    /// ends early when its token fires. If this returns without an error, the run can start.
    ///
    /// # Errors
    /// If a provider can't be reached or refuses a batch, or the journal can't be used. No batch that was sent
    /// is lost.
    pub(crate) async fn perform(mut self, pass: impl AsyncFn(&CancellationToken)) -> Result<(), EngineError> {
        if self.calls.clients().is_empty() {
            return Ok(());
        }

        let journal = self.calls.open()?;
        let mut vain_rounds = 0;
        for round in 0_u32.. {
            let Some(locked) = self.lock(&journal).await? else { return Ok(()) };
            self.read_journal(&journal).await?;
            let Some(found) = self.collect(&pass).await? else { return Ok(()) };

            let needed = self.commit(&found.needed);
            let fewest = if round == 0 { 1 } else { MIN_FOLLOW_UP_REQUESTS };
            let may_send = found.requests.len() >= fewest && !self.is_late() && vain_rounds < MAX_VAIN_ROUNDS;
            let requests = found.requests.len();
            let sent = if may_send { self.send(&journal, found.requests, fewest, &locked).await? } else { 0 };
            drop(locked);

            if sent == 0 && needed.is_empty() {
                let alone = requests + self.calls.given_up();
                if alone > 0 && !self.cancel.is_cancelled() {
                    let far = if self.calls.budget.is_some() { ", as far as the budget allows" } else { "" };
                    self.say(format!("{} sent live{far}", count(alone, "request is", "requests are")));
                }
                return Ok(());
            }

            let before = self.replies;
            let awaited: BTreeSet<String> = needed.into_iter().chain(self.sent_tokens(sent)).collect();
            match self.wait(&journal, awaited).await? {
                WaitEnd::Ended => {}
                WaitEnd::Cancelled => return Ok(()),
            }
            vain_rounds = if self.replies > before { 0 } else { vain_rounds + 1 };
        }

        Ok(())
    }

    /// Reports progress.
    fn say(&self, message: impl Into<String>) {
        self.engine.emit(EngineEvent::BatchProgress(message.into()));
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits until no other process sends batches or collects their replies. `None` if the run is being
    /// stopped.
    async fn lock(&self, journal: &BatchJournal) -> Result<Option<BatchLock>, EngineError> {
        let mut reported = false;
        loop {
            if let Some(lock) = journal.try_lock()? {
                return Ok(Some(lock));
            }
            if !std::mem::replace(&mut reported, true) {
                self.say("another process works on the batches of this folder; waiting for it");
            }
            tokio::select! {
                () = self.cancel.cancelled() => return Ok(None),
                () = tokio::time::sleep(FIRST_WAIT) => {}
            }
        }
    }

    /// Reads which batches are in progress at the servers of this run, resolves those without a known id, and
    /// collects the replies of those that have ended.
    async fn read_journal(&mut self, journal: &BatchJournal) -> Result<(), EngineError> {
        let records = journal.batches()?;
        self.open.retain(|open| records.iter().any(|record| record.token == open.record.token));

        for record in records {
            let known = self.open.iter().any(|open| open.record.token == record.token);
            if let (false, Some(client)) = (known, self.client_for(&record)) {
                self.open.push(OpenBatch::new(record, client));
            }
        }

        for at in (0..self.open.len()).rev() {
            if self.open[at].record.id.is_none() && !self.resolve(journal, at).await? {
                self.open.remove(at);
                continue;
            }
            if self.open[at].record.id.is_some() {
                self.poll(journal, at, None).await?;
            }
        }

        Ok(())
    }

    /// A client for a batch's model, or else for any model at its server.
    fn client_for(&self, record: &BatchRecord) -> Option<BatchClient> {
        let clients = self.calls.clients();
        let at_server: Vec<&BatchClient> = clients
            .iter()
            .filter(|client| {
                let model = client.model();
                model.wire_name() == record.wire && model.server() == record.server
            })
            .collect();
        let same_model = at_server.iter().find(|client| client.model().model_name() == record.model);

        same_model.or(at_server.first()).map(|client| (*client).clone())
    }

    /// Waits that end when the run is stopped.
    fn patience(&self) -> Patience<'a> {
        Patience { engine: self.engine, cancel: self.cancel }
    }

    async fn resolve(&mut self, journal: &BatchJournal, at: usize) -> Result<bool, EngineError> {
        let (others, patience) = (self.ids(), self.patience());
        let open = &mut self.open[at];
        let requests = open.requests();
        let existence = resolve(journal, open, &others, patience).await?;
        let words = match (existence, &open.record.id) {
            (Existence::Unsettled, _) => return Ok(true),
            (Existence::Absent, _) => {
                format!("a batch of {requests} requests was not created before an earlier process ended")
            }
            (Existence::Created, Some(id)) => {
                format!("found batch {id}, created by a process that was stopped")
            }
            (Existence::Created, None) => {
                format!(
                    "a batch of {requests} requests may have been created before an earlier process ended"
                )
            }
        };
        self.say(words);

        Ok(existence == Existence::Created)
    }

    /// The known ids of all open batches.
    fn ids(&self) -> Vec<String> {
        self.open.iter().filter_map(|open| open.record.id.clone()).collect()
    }

    /// Goes through the cases once. `None` if the run is being stopped.
    async fn collect(
        &self,
        pass: &impl AsyncFn(&CancellationToken),
    ) -> Result<Option<CollectingPass>, EngineError> {
        let pending: HashMap<CallKey, usize> = self
            .open
            .iter()
            .enumerate()
            .flat_map(|(at, open)| open.keys().into_iter().map(move |key| (key, at)))
            .collect();

        // Reservations for batches are freed when the batches end, so a live probe could wait for them.
        let probes = self.calls.budget.is_none() || self.open.iter().all(|open| open.reservation.is_none());
        let stop = self.cancel.child_token();
        self.calls.begin_pass(pending, probes, stop.clone())?;
        pass(&stop).await;
        let found = self.calls.end_pass()?;

        Ok(found.filter(|_| !self.cancel.is_cancelled()))
    }

    /// Reserves the upper bound of these batches' cost, and returns their tokens.
    fn commit(&mut self, needed: &BTreeSet<usize>) -> Vec<String> {
        let mut tokens = Vec::new();
        for at in needed {
            let Some(open) = self.open.get_mut(*at) else { continue };
            if let (None, Some(budget)) = (&open.reservation, &self.calls.budget) {
                open.reservation = Some(budget.commit_batch(open.requests(), open.most()));
            }
            tokens.push(open.record.token.clone());
        }

        tokens
    }

    /// The tokens of the last `count` batches that were sent.
    fn sent_tokens(&self, count: usize) -> Vec<String> {
        let from = self.open.len().saturating_sub(count);
        self.open[from..].iter().map(|open| open.record.token.clone()).collect()
    }

    /// Sends requests as batches, as many as the budget allows, and returns the number of batches.
    async fn send(
        &mut self,
        journal: &BatchJournal,
        mut requests: CollectedRequests,
        fewest: usize,
        _locked: &BatchLock,
    ) -> Result<usize, EngineError> {
        let mut ordered = requests.in_order();
        if let Some(budget) = &self.calls.budget {
            let allowed = budget.affordable_calls(ordered.iter().map(|request| request.most));
            if allowed < ordered.len() {
                let advice = if budget.counts_only_calls() {
                    "raise `--budget-calls` to send more at once"
                } else {
                    "each reserves its longest possible reply until it is answered: lower `--max-output-tokens`, or raise the \
                     budget, to send more at once"
                };
                let all = ordered.len();
                if allowed < fewest {
                    self.say(format!(
                        "the budget allows {allowed} of {all} requests in another batch, too few to wait for; {advice}"
                    ));
                    return Ok(0);
                }
                self.say(format!(
                    "the budget allows {allowed} of {all} requests in batches for now; {advice}"
                ));
            }
            ordered.truncate(allowed);
        }

        let clients = self.calls.clients();
        let mut batches = 0;
        let mut rest = ordered.as_slice();
        while let Some(first) = rest.first() {
            if self.cancel.is_cancelled() {
                break;
            }

            let client = &clients[first.client];
            let token = uuid::Uuid::new_v4().to_string();
            let mut draft = BatchDraft::new(client.format(), &token, client.model().model_name());
            let mut taken = 0;
            for request in rest {
                if request.client != first.client || !draft.has_room(request.length()) {
                    break;
                }
                let unsound = |error: std::io::Error| EngineError::unreadable(error.to_string());
                draft.add(request.key, requests.body(request)?).map_err(unsound)?;
                taken += 1;
            }

            let (these, others) = rest.split_at(taken);
            rest = others;
            let fewest = client.format().limits().fewest;
            if taken < fewest {
                self.say(format!(
                    "{} too few for a batch at {}, which takes {fewest} or more",
                    count(taken, "request is", "requests are"),
                    client.model().host()
                ));
                continue;
            }
            batches += usize::from(self.send_one(journal, client, &draft, &token, these).await?);
        }

        Ok(batches)
    }

    /// Sends one batch. Its intent is written to disk before, and its id right after.
    async fn send_one(
        &mut self,
        journal: &BatchJournal,
        client: &BatchClient,
        draft: &BatchDraft,
        token: &str,
        requests: &[CollectedRequest],
    ) -> Result<bool, EngineError> {
        let model = client.model();
        let mut most = CallBound::default();
        for request in requests {
            most += request.most;
        }

        let record = BatchRecord {
            version: BatchRecord::VERSION,
            token: token.to_owned(),
            provider: model.provider().to_owned(),
            wire: model.wire_name().to_owned(),
            server: model.server().to_owned(),
            model: model.model_name().to_owned(),
            created: self.calls.now(),
            most_tokens: most.tokens(),
            most_pico_usd: most.usd().as_pico(),
            keys: requests.iter().map(|request| request.key.to_string()).collect(),
            id: None,
        };
        journal.begin(&record)?;

        let others = self.ids();
        let mut open = OpenBatch::new(record, client.clone());
        open.reservation =
            self.calls.budget.as_ref().map(|budget| budget.commit_batch(open.requests(), most));
        let created = create(journal, &mut open, draft, &others, self.patience()).await;
        if !matches!(created, Ok(Existence::Created)) {
            if let Some(reservation) = open.reservation.take() {
                reservation.settle(0, CallBound::default());
            }
            return created.map(|_| false);
        }

        self.say(format!("sent {} as {}", count(requests.len(), "request", "requests"), open.describe()));
        self.open.push(open);
        Ok(true)
    }

    /// Waits for batches and collects their replies. At the time limit, they are cancelled.
    async fn wait(
        &mut self,
        journal: &BatchJournal,
        awaited: BTreeSet<String>,
    ) -> Result<WaitEnd, EngineError> {
        let mut wait = FIRST_WAIT;
        let mut was_late = false;
        let mut reported = (Instant::now(), u64::MAX);
        loop {
            let left: Vec<usize> =
                (0..self.open.len()).filter(|at| awaited.contains(&self.open[*at].record.token)).collect();
            if left.is_empty() {
                return Ok(WaitEnd::Ended);
            }
            if !was_late && self.is_late() {
                was_late = true;
                wait = FIRST_WAIT;
                self.cancel_batches(&left).await?;
            }
            self.report_progress(&left, &mut reported);

            let pause = match self.deadline {
                Some(deadline) if !was_late => wait.min(deadline.saturating_duration_since(Instant::now())),
                _ => wait,
            };
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    self.leave_running(&left);
                    return Ok(WaitEnd::Cancelled);
                }
                () = tokio::time::sleep(pause) => {}
            }
            wait = (wait * WAIT_GROWTH_PERCENT / 100).min(LONGEST_WAIT);

            // In reverse order, so that a removal leaves the other indices valid.
            for at in left.into_iter().rev() {
                self.poll(journal, at, Some(&awaited)).await?;
            }
        }
    }

    /// Requests the status of a batch, and collects its replies if it has ended. `awaited` is `None` if the
    /// journal is already locked.
    async fn poll(
        &mut self,
        journal: &BatchJournal,
        at: usize,
        awaited: Option<&BTreeSet<String>>,
    ) -> Result<(), EngineError> {
        let Some(id) = self.open[at].record.id.clone() else {
            let Some(_locked) = self.lock_unless(journal, awaited.is_none()).await? else { return Ok(()) };
            return if self.is_recorded(journal, at) {
                self.look_again(journal, at).await
            } else {
                self.forget(at);
                Ok(())
            };
        };

        let status = match self.open[at].client.status(&id).await {
            Ok(status) => status,
            Err(error) if error.kind == ErrorKind::NotFound => return self.note_miss(journal, at),
            Err(error) if error.kind.is_retryable() => {
                self.note_failure(at, &error);
                return Ok(());
            }
            Err(error) => return Err(unasked(&self.open[at], &error)),
        };
        let open = &mut self.open[at];
        open.missed = 0;
        open.done = status.done.unwrap_or(open.done);
        if status.state == BatchState::Running {
            open.failures = 0;
            return Ok(());
        }

        let Some(_locked) = self.lock_unless(journal, awaited.is_none()).await? else { return Ok(()) };
        if !self.is_recorded(journal, at) {
            self.forget(at);
            return Ok(());
        }

        if let BatchState::Refused(words) = status.state {
            return self.note_refusal(journal, at, &words);
        }
        let open = &mut self.open[at];
        match harvest(&self.calls, journal, open, &status).await {
            Ok(counts) => self.note_harvest(at, counts),
            Err(HarvestError::Provider(error)) if error.kind.is_retryable() => self.note_failure(at, &error),
            Err(HarvestError::Provider(error)) if error.kind == ErrorKind::NotFound => {
                // A provider may name results before they can be read.
                if !open.try_again() {
                    return Err(gone(journal, open));
                }
            }
            Err(HarvestError::Provider(error)) => return Err(unasked(open, &error)),
            Err(HarvestError::Store(error)) => return Err(error),
        }

        Ok(())
    }

    /// Locks the journal, unless it is locked already. `None` if the run is being stopped.
    async fn lock_unless(
        &self,
        journal: &BatchJournal,
        is_locked: bool,
    ) -> Result<Option<Option<BatchLock>>, EngineError> {
        if is_locked {
            return Ok(Some(None));
        }
        self.lock(journal).await.map(|lock| lock.map(Some))
    }

    /// Whether the batch is still in the journal. If not, another process has collected its replies, or found
    /// out that it does not exist.
    fn is_recorded(&self, journal: &BatchJournal, at: usize) -> bool {
        journal.path(&self.open[at].record.token).exists()
    }

    /// Forgets a batch that another process has collected. Its requests may have been paid for, so its
    /// reservation counts as spent.
    fn forget(&mut self, at: usize) {
        drop(self.open.remove(at));
    }

    fn note_harvest(&mut self, at: usize, counts: HarvestCounts) {
        let open = self.open.remove(at);
        self.replies += counts.answered;
        self.say(format!("{} has ended: {}", open.describe(), counts.describe()));
        if let Some(damage) = counts.damage() {
            self.engine.warn(format!("results of {}: {damage}", open.describe()));
        }
    }

    /// Notes a status request without an answer. It will be repeated; the user gets a warning after several failures.
    fn note_failure(&mut self, at: usize, error: &AskError) {
        let open = &mut self.open[at];
        open.failures += 1;
        if open.failures == WARN_AFTER_FAILURES {
            let words = error.to_string();
            self.engine.warn(format!(
                "no answer about {}, {WARN_AFTER_FAILURES} times in a row: {}. Asking again until there is one; you can interrupt the run and \
                 continue it later with `--resume`",
                open.describe(),
                words.trim_end_matches('.')
            ));
        }
    }

    /// Looks again for a batch whose id only its results can reveal.
    async fn look_again(&mut self, journal: &BatchJournal, at: usize) -> Result<(), EngineError> {
        let (others, patience) = (self.ids(), self.patience());
        if resolve(journal, &mut self.open[at], &others, patience).await? == Existence::Absent {
            let open = self.open.remove(at);
            if let Some(reservation) = open.reservation {
                reservation.settle(0, CallBound::default());
            }
        }

        Ok(())
    }

    /// Notes that the provider did not find a batch.
    fn note_miss(&mut self, journal: &BatchJournal, at: usize) -> Result<(), EngineError> {
        let open = &mut self.open[at];
        open.missed += 1;
        if open.missed < MAX_MISSES {
            return Ok(());
        }

        Err(unknown(
            journal,
            open,
            "the provider does not find it. The key may be that of another project or account",
        ))
    }

    /// Handles a batch that the provider refused after validating it.
    fn note_refusal(&mut self, journal: &BatchJournal, at: usize, words: &str) -> Result<(), EngineError> {
        journal.close(&self.open[at].record.token)?;
        let open = self.open.remove(at);
        let host = open.client.model().host();
        if let Some(reservation) = open.reservation {
            reservation.settle(0, CallBound::default());
        }

        // The account may have too many tokens in its queue. The requests are sent again when other batches are
        // done.
        let others = self.open.iter().any(|other| other.client.model().host() == host);
        if words.contains("token_limit") && others {
            self.say(format!("{host} can't take another batch yet ({words}); it is sent again later"));
            return Ok(());
        }

        Err(stopped(format!(
            "{host} did not accept a batch of {} requests: {words}. Nothing was charged; continue with \
             `--resume`, or without `--judge-batch`",
            open.record.keys.len()
        )))
    }

    /// Asks the providers to cancel batches. Requests that are not processed by then are sent live.
    async fn cancel_batches(&self, left: &[usize]) -> Result<(), EngineError> {
        self.say(format!(
            "`--batch-wait` is over: cancelling {}; finished replies are collected, and the rest is \
             asked live",
            count(left.len(), "batch", "batches")
        ));
        for open in left.iter().filter_map(|at| self.open.get(*at)) {
            let Some(id) = &open.record.id else { continue };
            match open.client.cancel(id).await {
                // The batch may have ended just now. A batch that can't be cancelled is awaited.
                Ok(()) => {}
                Err(error)
                    if matches!(error.kind, ErrorKind::Authentication | ErrorKind::PermissionDenied) =>
                {
                    return Err(unasked(open, &error));
                }
                Err(_) => self.say(format!("{} could not be cancelled; waiting for it", open.describe())),
            }
        }

        Ok(())
    }

    /// Reports progress if it has changed, but not too often.
    fn report_progress(&self, left: &[usize], reported: &mut (Instant, u64)) {
        let batches = left.iter().filter_map(|at| self.open.get(*at));
        let (done, all) = batches.fold((0, 0), |(done, all), open| (done + open.done, all + open.requests()));
        let is_first = reported.1 == u64::MAX;
        if done == reported.1 || !is_first && reported.0.elapsed() < PROGRESS_INTERVAL {
            return;
        }

        *reported = (Instant::now(), done);
        let batches = count(left.len(), "batch", "batches");
        self.say(format!("waiting for {batches}: {done} of {all} requests done"));
    }

    /// Warns that the providers continue to process batches after this process ends.
    fn leave_running(&self, left: &[usize]) {
        let open = left.iter().filter_map(|at| self.open.get(*at));
        let requests: usize = open.map(|open| open.record.keys.len()).sum();
        self.engine.warn(format!(
            "still in progress at the provider: {} with {}; the same command with `--resume` waits and continues",
            count(left.len(), "batch", "batches"),
            count(requests, "request", "requests")
        ));
    }
}

fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
