//! A worker's share of the limits: granted, and not used yet.
//!
//! A call that the share covers is sent at once, without a round trip to the coordinator. Any other call registers its
//! need and waits. A single background task talks to the coordinator, so a worker has at most one request in flight,
//! and the need of all waiting calls goes out together.
//!
//! If the coordinator does not answer, calls wait and don't fail: a new coordinator may take over the job at any time.
//!
//! Budget is sent as running totals (`book.rs`), so a lost message needs no repair. Rate grants expire instead, because
//! an unused request of the past must not be sent on top of the present rate. The term of a grant starts when this
//! worker *asks* for it, which is before the coordinator grants it. So the worker never uses a grant after the
//! coordinator considers it expired, and clocks of two machines are not compared.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assize_engine::CancellationToken;
use assize_llm::{BoxFuture, BudgetAmount, BudgetSource, ReportedAllowance, SharedRate};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::book::{BudgetReply, LimitReply, LimitRequest, RATE_TERM, RateAsk, RateGrant};
use crate::job::JobLimits;
use crate::seam::LimitDesk;

/// Time between requests of a worker that does not wait for a grant.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Time between requests of a worker that waits for a grant.
const WAITING_INTERVAL: Duration = Duration::from_millis(200);

/// A worker's share of the limits. A background task talks to the coordinator until this is dropped.
pub(crate) struct LimitShare {
    state: Arc<ShareState>,
    talk: JoinHandle<()>,
}

struct ShareState {
    worker: String,
    limits: JobLimits,
    held: Mutex<Held>,
    /// Wakes the background task when a call needs a grant.
    wanted: Notify,
    /// A reply has arrived.
    answered: Notify,
    /// Cancelled once the coordinator has stopped the job.
    stopped: CancellationToken,
}

#[derive(Default)]
struct Held {
    received: BudgetAmount,
    returned: BudgetAmount,
    /// Part of `received` that was handed to the run.
    handed_on: BudgetAmount,
    need: Option<BudgetAmount>,
    /// True if the run may return part of the budget that it was handed.
    may_return: bool,
    never: bool,
    accounts: BTreeMap<String, AccountShare>,
}

/// Requests that may be sent on an account.
#[derive(Default)]
struct AccountShare {
    requests: u64,
    tokens_each: u64,
    expires: Option<Instant>,
    waiting: u64,
    largest: u64,
    used: u64,
    correction: i64,
    reports: Vec<ReportedAllowance>,
    reported: Option<f64>,
}

impl LimitShare {
    /// The share of the worker of this id; empty at first.
    pub(crate) fn start(worker: String, limits: JobLimits, desk: Arc<dyn LimitDesk>) -> Arc<Self> {
        let state = Arc::new(ShareState {
            worker,
            limits,
            held: Mutex::default(),
            wanted: Notify::new(),
            answered: Notify::new(),
            stopped: CancellationToken::new(),
        });
        let talk = tokio::spawn(talk(Arc::clone(&state), desk));

        Arc::new(Self { state, talk })
    }

    /// Cancelled once the coordinator says that the job is stopped.
    pub(crate) fn stopped(&self) -> &CancellationToken {
        &self.state.stopped
    }
}

impl Drop for LimitShare {
    fn drop(&mut self) {
        self.talk.abort();
    }
}

async fn talk(state: Arc<ShareState>, desk: Arc<dyn LimitDesk>) {
    loop {
        let wait = if state.is_waiting() { WAITING_INTERVAL } else { HEARTBEAT };
        let _ = tokio::time::timeout(wait, state.wanted.notified()).await;

        let asked_at = Instant::now();
        let request = state.request();
        if let Ok(reply) = desk.ask(&request).await {
            state.take(&request, reply, asked_at);
        } else {
            // The coordinator does not answer: calls can still use the remaining share, and other calls wait.
            state.put_back(request);
            tokio::time::sleep(WAITING_INTERVAL).await;
        }
        if state.is_waiting() {
            tokio::time::sleep(WAITING_INTERVAL.saturating_sub(asked_at.elapsed())).await;
        }
    }
}

impl ShareState {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock()
    }

    fn counts_tokens(&self) -> bool {
        self.limits.tokens_per_minute.is_some()
    }

    fn is_waiting(&self) -> bool {
        let held = self.held();
        held.need.is_some() || held.accounts.values().any(|pot| pot.waiting > 0)
    }

    fn request(&self) -> LimitRequest {
        let mut held = self.held();
        let rates = held.accounts.iter_mut().map(|(account, pot)| pot.ask(account)).collect();

        LimitRequest {
            worker: self.worker.clone(),
            received: held.received,
            returned: held.returned,
            need: held.need,
            may_return: held.may_return,
            rates,
        }
    }

    /// Restores the corrections of a request that did not arrive.
    fn put_back(&self, request: LimitRequest) {
        let mut held = self.held();
        for ask in request.rates {
            let pot = held.accounts.entry(ask.account).or_default();
            pot.correction += ask.correction;
        }
    }

    fn take(&self, request: &LimitRequest, reply: LimitReply, asked_at: Instant) {
        if reply.stopped {
            self.stopped.cancel();
        }
        let mut held = self.held();
        held.received = reply.granted;
        // Budget that was returned in the meantime is reported with the next request.
        let is_answered = held.need.is_some() && held.need == request.need;
        held.never = is_answered && reply.budget == BudgetReply::Never;
        for grant in reply.rates {
            let RateGrant { account, requests, tokens_each, reported } = grant;
            let pot = held.accounts.entry(account).or_default();
            pot.drop_expired();
            pot.reported = reported;
            if requests > 0 {
                // The rest of the last grant is dropped if its requests were granted another number of tokens;
                // otherwise it expires with the older grant.
                let kept =
                    if pot.tokens_each == tokens_each || !self.counts_tokens() { pot.requests } else { 0 };
                pot.correction -= pot.unused(pot.requests - kept);
                pot.expires = match pot.expires.filter(|_| kept > 0) {
                    Some(earlier) => Some(earlier.min(asked_at + RATE_TERM)),
                    None => Some(asked_at + RATE_TERM),
                };
                pot.requests = kept + requests;
                pot.tokens_each = tokens_each;
            }
        }
        drop(held);

        self.answered.notify_waiters();
    }
}

impl AccountShare {
    fn ask(&mut self, account: &str) -> RateAsk {
        self.drop_expired();
        let wanted = self.waiting + std::mem::take(&mut self.used);
        let largest = if self.waiting > 0 { self.largest } else { self.tokens_each.max(self.largest) };

        RateAsk {
            account: account.to_owned(),
            requests: wanted.saturating_sub(self.requests),
            tokens_each: std::mem::replace(&mut self.largest, largest).max(largest),
            correction: std::mem::take(&mut self.correction),
            reports: std::mem::take(&mut self.reports),
        }
    }

    fn drop_expired(&mut self) {
        if self.expires.is_some_and(|expires| Instant::now() >= expires) {
            self.correction -= self.unused(self.requests);
            self.requests = 0;
            self.expires = None;
        }
    }

    fn unused(&self, requests: u64) -> i64 {
        i64::try_from(requests.saturating_mul(self.tokens_each)).unwrap_or(i64::MAX)
    }

    fn try_take(&mut self, tokens: u64, counts_tokens: bool) -> bool {
        self.drop_expired();
        if self.requests == 0 || (counts_tokens && tokens > self.tokens_each) {
            return false;
        }

        self.requests -= 1;
        self.used += 1;
        // The request usually needs fewer tokens than were granted for it.
        self.correction += i64::try_from(tokens).unwrap_or(i64::MAX) - self.unused(1);
        true
    }
}

impl BudgetSource for LimitShare {
    fn lease(&self, need: BudgetAmount, may_return: bool) -> BoxFuture<'_, Option<BudgetAmount>> {
        Box::pin(async move {
            let state = &self.state;
            let _asking = Asking(state);
            loop {
                let answered = state.answered.notified();
                tokio::pin!(answered);
                answered.as_mut().enable();
                {
                    let mut held = state.held();
                    let free = held.received.minus(held.handed_on);
                    if free.covers(need) {
                        held.handed_on = held.received;
                        held.need = None;
                        held.may_return = true;
                        return Some(free);
                    }
                    if std::mem::take(&mut held.never) {
                        held.need = None;
                        return None;
                    }
                    // The free part is handed out with the next grant, so only the difference is requested.
                    held.need = Some(need.minus(free));
                    held.may_return = may_return;
                }
                state.wanted.notify_one();
                answered.await;
            }
        })
    }

    fn give_back(&self, amount: BudgetAmount) {
        let mut held = self.state.held();
        held.returned = held.returned.plus(amount);
        // The budget comes from a run that has nothing in flight, or has ended.
        held.may_return = false;
        drop(held);
        self.state.wanted.notify_one();
    }
}

/// A caller that waits for budget. When it is dropped, the need is withdrawn.
struct Asking<'a>(&'a ShareState);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.held().need = None;
    }
}

/// A request that waits for its turn; it stops waiting when this is dropped.
struct Waiting<'a> {
    state: &'a ShareState,
    account: &'a str,
}

impl<'a> Waiting<'a> {
    fn new(state: &'a ShareState, account: &'a str, tokens: u64) -> Self {
        let mut held = state.held();
        let pot = held.accounts.entry(account.to_owned()).or_default();
        pot.waiting += 1;
        pot.largest = pot.largest.max(tokens);
        drop(held);
        state.wanted.notify_one();

        Self { state, account }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(pot) = self.state.held().accounts.get_mut(self.account) {
            pot.waiting = pot.waiting.saturating_sub(1);
            if pot.waiting == 0 {
                pot.largest = 0;
            }
        }
    }
}

impl SharedRate for LimitShare {
    fn admit<'a>(&'a self, account: &'a str, tokens: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let state = &*self.state;
            if !state.limits.limits_rate() {
                return;
            }
            let try_take = || {
                let mut held = state.held();
                held.accounts.entry(account.to_owned()).or_default().try_take(tokens, state.counts_tokens())
            };
            if try_take() {
                return;
            }

            let _waiting = Waiting::new(state, account, tokens);
            loop {
                let answered = state.answered.notified();
                tokio::pin!(answered);
                answered.as_mut().enable();
                if try_take() {
                    return;
                }
                answered.await;
            }
        })
    }

    fn settle(&self, account: &str, expected: u64, real: u64) {
        let mut held = self.state.held();
        let more = i64::try_from(real).unwrap_or(i64::MAX) - i64::try_from(expected).unwrap_or(i64::MAX);
        held.accounts.entry(account.to_owned()).or_default().correction += more;
    }

    fn report(&self, account: &str, allowance: ReportedAllowance) {
        let mut held = self.state.held();
        let reports = &mut held.accounts.entry(account.to_owned()).or_default().reports;
        // The newest report of each kind is enough.
        reports.retain(|known| known.tokens != allowance.tokens);
        reports.push(allowance);
    }

    fn reported_rate(&self, account: &str) -> Option<f64> {
        self.state.held().accounts.get(account)?.reported
    }
}
