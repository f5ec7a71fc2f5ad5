//! Accounts hand out permits for requests, within their limits. An account is one key at one server.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::allowance::allowances;
use super::climb::AnswerTime;
use super::limiter::{AccountStatus, RateLimiter, RequestFailure, SendChance};
use super::outage::{FailureConsequence, ServerOutage};
use super::recent::RecentAnswers;
use super::turns::TurnQueue;
use super::window::ConcurrencyWindow;
use crate::call_order;
use crate::call_source::CallSource;
use crate::clock::Clock;
use crate::endpoint::ModelEndpoint;
use crate::error::ErrorKind;
use crate::server_memory::{ServerMemory, ServerPace};
use crate::single_flight::SingleFlight;
use crate::token_counts::TokenCounts;

/// Requests in flight once the server has answered, unless the number of workers is known.
const DEFAULT_START: u32 = 32;
/// Requests in flight at most by default: below the 1,024 open files that many systems allow.
const DEFAULT_CEILING: u32 = 256;

/// Limits of each account. `None` means that only the server's own limits count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateLimits {
    /// Requests in flight at most. The default is 256, or the number of workers if that is higher.
    pub max_concurrency: Option<NonZeroUsize>,
    /// The number of cases that the user wants to run at once. As many requests may be in flight once the server has
    /// answered, unless it would take longer than a request's time limit to answer them.
    pub workers: Option<NonZeroUsize>,
    /// Requests sent a minute at most; more than 0.
    pub requests_per_minute: Option<f64>,
    /// Maximum of tokens read and written a minute, as estimated before each request; more than 0.
    pub tokens_per_minute: Option<f64>,
    /// The longest time until an account or a model that was given up is tried again; the first tries come
    /// sooner. `None` means never, as long as the process lives: right for a run, wrong for a service.
    pub recovery: Option<Duration>,
}

impl RateLimits {
    /// The most requests that may be in flight to one account.
    pub fn ceiling(&self) -> usize {
        let workers = self.workers.map_or(0, NonZeroUsize::get);
        self.max_concurrency.map_or(workers.max(DEFAULT_CEILING as usize), NonZeroUsize::get)
    }
}

/// A server's host and port, and the hash of the key that is sent there.
type AccountKey = (String, [u8; 32]);

/// The accounts of a process. Clients with the same server and key share an account.
#[derive(Debug, Default)]
pub struct ProviderAccounts {
    limits: RateLimits,
    known: Mutex<BTreeMap<AccountKey, Arc<ProviderAccount>>>,
    single_flight: SingleFlight,
    memory: ServerMemory,
}

impl ProviderAccounts {
    /// No accounts yet; each one will get these limits.
    pub fn new(limits: RateLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The same accounts, beginning with the settings that earlier processes found for servers and models.
    #[must_use]
    pub fn with_memory(self, memory: ServerMemory) -> Self {
        Self { memory, ..self }
    }

    /// The settings for servers and models that earlier processes and this one have found so far.
    pub fn memory(&self) -> &ServerMemory {
        for account in self.known.lock().values() {
            if let Some(pace) = account.state().limiter.window.pace() {
                self.memory.note_pace(&account.name, pace);
            }
        }
        &self.memory
    }

    /// Parameters that a model has refused, by provider, address and model.
    pub(crate) fn model_memory(&self) -> &ServerMemory {
        &self.memory
    }

    /// The limits of each account.
    pub fn limits(&self) -> RateLimits {
        self.limits
    }

    /// The calls in flight, of all clients.
    pub(crate) fn single_flight(&self) -> &SingleFlight {
        &self.single_flight
    }

    /// The state of all accounts at this moment.
    pub fn statuses(&self, clock: &dyn Clock) -> Vec<AccountStatus> {
        let known = self.known.lock();
        known.iter().map(|((host, _), account)| account.status(host, clock)).collect()
    }

    /// The account of a key at a server. All paths of one server belong to the same account.
    pub(crate) fn account_for(&self, endpoint: &ModelEndpoint) -> Arc<ProviderAccount> {
        let key = endpoint.key.as_ref().map_or("", |key| key.secret.expose_secret());
        // A hash distinguishes keys without a second copy of the secret.
        let identity = (endpoint.host(), *blake3::hash(key.as_bytes()).as_bytes());
        let mut known = self.known.lock();
        let name = account_name(&identity);
        let account = known.entry(identity).or_insert_with(|| {
            let pace = self.memory.pace(&name);
            // A local program that needs a key is most likely a gateway to servers elsewhere.
            let is_local_model = endpoint.is_loopback() && endpoint.key.is_none();
            Arc::new(ProviderAccount::new(name, self.limits, pace, is_local_model))
        });

        Arc::clone(account)
    }
}

/// The name of an account for other processes. It is half a hash of a hash, so it can't be used to confirm a
/// guessed key.
fn account_name((host, key): &AccountKey) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("assize account of a provider, version 1");
    hasher.update(host.as_bytes());
    hasher.update(key);
    hasher.finalize().to_hex()[..16].to_owned()
}

/// One account.
pub(crate) struct ProviderAccount {
    /// A name that reveals neither server nor key.
    name: String,
    /// The turn of the request that is sent next. The others queue here, requests of earlier cases first, so that whole
    /// cases end, and only one request at a time computes when it may be sent.
    turns: Arc<TurnQueue>,
    /// Wakes the request at the head of the queue when something has changed.
    changed: Notify,
    /// Wakes the requests that wait beside the queue when a request in flight has ended.
    ended: Notify,
    state: Mutex<AccountLimits>,
}

struct AccountLimits {
    limiter: RateLimiter,
    recent: RecentAnswers,
    /// The origin of all times of this account.
    born: Instant,
}

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AcquireError {
    /// The account rests for longer than the caller is willing to wait.
    Pause(Duration),
    /// The account or the model was given up.
    GivenUp(ServerOutage),
}

/// A request that waits to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedRequest<'a> {
    pub(crate) model: &'a Arc<str>,
    /// Expected input tokens, and the output limit.
    pub(crate) input: u64,
    pub(crate) max_output: Option<u32>,
    /// The longest pause of the account that the caller waits for.
    pub(crate) max_pause: Duration,
    /// The client that the call belongs to, if known.
    pub(crate) source: Option<CallSource>,
}

impl ProviderAccount {
    fn new(name: String, limits: RateLimits, pace: Option<ServerPace>, is_local_model: bool) -> Self {
        let ceiling = u32::try_from(limits.ceiling()).unwrap_or(u32::MAX >> 3);
        let start =
            limits.workers.map_or(DEFAULT_START, |workers| u32::try_from(workers.get()).unwrap_or(ceiling));
        let mut window = ConcurrencyWindow::new(start, ceiling);
        if is_local_model && limits.workers.is_none() {
            window = window.climbing();
        }
        if let Some(pace) = pace {
            window.recall(pace);
        }

        Self {
            name,
            turns: Arc::default(),
            changed: Notify::new(),
            ended: Notify::new(),
            state: Mutex::new(AccountLimits {
                limiter: RateLimiter::new(window, limits.requests_per_minute, limits.tokens_per_minute)
                    .with_recovery(limits.recovery),
                recent: RecentAnswers::default(),
                born: Instant::now(),
            }),
        }
    }

    /// The name for other processes.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn state(&self) -> MutexGuard<'_, AccountLimits> {
        self.state.lock()
    }

    /// Waits until a request may be sent.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        clock: &dyn Clock,
        request: QueuedRequest<'_>,
    ) -> Result<Permit, AcquireError> {
        let client = request.source.map(|source| source.client);
        let _queued = QueuePlace::new(self);
        let waiting = self.turns.wait(client, call_order::place());
        if client.is_some() {
            // The request whose turn it is may have to let this one go first.
            self.changed.notify_one();
        }
        let mut turn = Some(waiting.await);

        // After a wait its end has passed, even by a clock that stands still, as clocks of tests may.
        let mut now_at_least = Duration::ZERO;
        loop {
            if turn.is_none() {
                turn = Some(self.turns.wait(client, call_order::place()).await);
            }
            let ended = self.ended.notified();
            let changed = self.changed.notified();
            let (chance, now) = {
                let mut state = self.state();
                let now = state.now(clock).max(now_at_least);
                let tokens = state.limiter.expected(request.input, request.max_output);
                let chance = state.limiter.chance(now, request.model, request.source, tokens);
                if chance == SendChance::Now {
                    let number = state.limiter.send_to(request.model, now, request.source, tokens);
                    return Ok(Permit {
                        account: Arc::clone(self),
                        model: Arc::clone(request.model),
                        source: request.source,
                        number,
                        sent_at: state.limiter.busy_time(now),
                        tokens,
                        load: state.limiter.window.in_flight(),
                    });
                }

                let awaits_answer =
                    matches!(chance, SendChance::AfterAnswer | SendChance::AfterAnswerOrAt(_));
                let has_more = |other| state.limiter.has_more_in_flight(client, other);
                if awaits_answer && self.turns.is_any_waiting(has_more) {
                    turn = None;
                    continue;
                }

                (chance, now)
            };

            match chance {
                SendChance::Now => {}
                SendChance::AfterAnswer => changed.await,
                SendChance::AfterAnswerOrAt(at) => tokio::select! {
                    biased;
                    () = changed => {}
                    () = clock.sleep(at.saturating_sub(now)) => now_at_least = at,
                },
                SendChance::Not(outage) => return Err(AcquireError::GivenUp(outage)),
                SendChance::Aside(None) => {
                    turn = None;
                    ended.await;
                }
                SendChance::Aside(Some(at)) | SendChance::At(at) => {
                    let wait = at.saturating_sub(now);
                    if wait > request.max_pause {
                        return Err(AcquireError::Pause(wait));
                    }

                    let is_aside = matches!(chance, SendChance::Aside(_));
                    if is_aside {
                        turn = None;
                    }
                    tokio::select! {
                        biased;
                        () = clock.sleep(wait) => now_at_least = at,
                        () = ended, if is_aside => {}
                        () = changed, if !is_aside => {}
                    }
                }
            }
        }
    }

    fn status(&self, host: &str, clock: &dyn Clock) -> AccountStatus {
        let state = self.state();
        state.limiter.status(host, &self.name, state.now(clock))
    }

    /// The number of good answers so far, to any request.
    pub(crate) fn good_answers(&self) -> u64 {
        self.state().limiter.good_answers()
    }
}

impl fmt::Debug for ProviderAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Account").field("window", &state.limiter.window).finish_non_exhaustive()
    }
}

impl AccountLimits {
    fn now(&self, clock: &dyn Clock) -> Duration {
        clock.instant().saturating_duration_since(self.born)
    }
}

/// Counts a request as waiting, until it is dropped.
struct QueuePlace<'a>(&'a ProviderAccount);

impl<'a> QueuePlace<'a> {
    fn new(account: &'a ProviderAccount) -> Self {
        account.state().limiter.window.queue();
        Self(account)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.0.state().limiter.window.unqueue();
    }
}

/// A permit for one request in flight to an account. Dropping it frees the slot for the next request.
#[derive(Debug)]
pub(crate) struct Permit {
    account: Arc<ProviderAccount>,
    model: Arc<str>,
    source: Option<CallSource>,
    number: u64,
    /// In busy time of the account, see [`RateLimiter::busy_time`].
    sent_at: Duration,
    tokens: f64,
    /// Requests in flight when it was sent, itself included.
    load: u32,
}

impl Permit {
    /// Tokens that the request is expected to take.
    pub(crate) fn expected_tokens(&self) -> u64 {
        self.tokens.ceil() as u64
    }

    /// The time of its answer, for [`Permit::answered`] and [`Permit::failed`].
    pub(crate) fn time(&self, latency: Duration, limit: Duration) -> AnswerTime {
        AnswerTime { latency, limit, load: self.load }
    }

    /// When a request that was sent before this one was last answered.
    pub(crate) fn last_answer_before(&self) -> Option<Instant> {
        self.account.state().recent.last_before(self.number)
    }

    /// Records a good answer. Returns true if it ends an outage.
    pub(crate) fn answered(
        &self,
        clock: &dyn Clock,
        headers: &HeaderMap,
        time: AnswerTime,
        usage: TokenCounts,
    ) -> bool {
        let mut state = self.account.state();
        let now = state.now(clock);
        state.limiter.note_end(now);
        let is_back = state.limiter.answered(self.number, &self.model, time, usage);
        state.limiter.cost(self.tokens, usage);
        state.recent.note(self.number, Instant::now());

        for allowance in allowances(headers, || clock.now()) {
            state.limiter.update_allowance(allowance);
        }

        is_back
    }

    /// Records that the server limited this request. `asked_pause` is the pause that it asked for, `known` a rate in
    /// requests a second that other processes have found. Returns how long the account rests, if it does.
    pub(crate) fn limited(
        &self,
        clock: &dyn Clock,
        headers: &HeaderMap,
        asked_pause: Option<Duration>,
        known: Option<f64>,
    ) -> Option<Duration> {
        let mut state = self.account.state();
        let now = state.now(clock);

        for allowance in allowances(headers, || clock.now()) {
            state.limiter.update_allowance(allowance);
        }

        let until = state.limiter.limited(self.number, self.sent_at, now, asked_pause, known)?;
        Some(until.saturating_sub(now))
    }

    /// Records that the request got no good answer. `is_own` is true if the server has answered other calls since the
    /// previous failure of this call; `why` describes the failure to a person.
    pub(crate) fn failed(
        &self,
        clock: &dyn Clock,
        kind: ErrorKind,
        time: AnswerTime,
        is_own: bool,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        let failure = RequestFailure { source: self.source, kind, time, is_own };
        let mut state = self.account.state();
        let now = state.now(clock);
        state.limiter.failed(self.number, &self.model, failure, now, why)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.account.state().limiter.leave(self.number, &self.model, self.source);
        self.account.changed.notify_one();
        self.account.ended.notify_waiters();
    }
}
