//! Accounts: permits for requests, their rates, their pauses. An account is one key at one server.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::allowance::allowances;
use super::limiter::{RateLimiter, SendChance};
use super::outage::{FailureConsequence, ServerOutage};
use super::window::ConcurrencyWindow;
use crate::clock::Clock;
use crate::endpoint::ModelEndpoint;
use crate::error::ErrorKind;
use crate::single_flight::SingleFlight;
use crate::token_counts::TokenCounts;

/// Requests in flight at the start, unless somebody says how many there will be.
const START: u32 = 32;
/// Requests in flight at most, unless told otherwise: below the 1,024 open files that many systems allow.
const CEILING: u32 = 256;

/// Limits that hold for each account; `None` leaves them to what the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateLimits {
    /// Requests in flight at most. Without it 256, or as many as there are workers if those are more.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Cases at once that somebody asked for: so many requests are in flight from the start.
    pub workers: Option<NonZeroUsize>,
    /// Requests sent in a minute at most; more than 0.
    pub requests_per_minute: Option<f64>,
    /// Tokens read and written in a minute at most, as far as they can be known before; more than 0.
    pub tokens_per_minute: Option<f64>,
    /// Longest time after which an account, or a model, that was given up gets another request; the first ones come sooner.
    /// Without it, it gets none as long as the process lives: right for a run, wrong for a service.
    pub recovery: Option<Duration>,
}

impl RateLimits {
    /// Requests that may be in flight to one account, at most.
    pub fn ceiling(&self) -> usize {
        let workers = self.workers.map_or(0, NonZeroUsize::get);
        self.max_concurrency.map_or(workers.max(CEILING as usize), NonZeroUsize::get)
    }
}

/// A server's host and port, and the hash of the key that is sent there.
type AccountKey = (String, [u8; 32]);

/// The accounts of a process. Clients that share it, and have the same server and key, share an account.
#[derive(Debug, Default)]
pub struct ProviderAccounts {
    limits: RateLimits,
    known: Mutex<BTreeMap<AccountKey, Arc<ProviderAccount>>>,
    single_flight: SingleFlight,
}

impl ProviderAccounts {
    /// No accounts yet; each gets these limits.
    pub fn new(limits: RateLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The limits that each account gets.
    pub fn limits(&self) -> RateLimits {
        self.limits
    }

    /// The calls that are being made, whoever makes them.
    pub(crate) fn single_flight(&self) -> &SingleFlight {
        &self.single_flight
    }

    /// Limits of all accounts at this moment.
    pub fn statuses(&self, clock: &dyn Clock) -> Vec<AccountStatus> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|((host, _), account)| account.status(host, clock)).collect()
    }

    /// The account that a key has at a server. Several paths of one server are one account.
    pub(crate) fn account_for(&self, endpoint: &ModelEndpoint) -> Arc<ProviderAccount> {
        let key = endpoint.key.as_ref().map_or("", |key| key.secret.expose_secret());
        // The hash tells keys apart without keeping them a second time.
        let identity = (endpoint.host(), *blake3::hash(key.as_bytes()).as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let name = account_name(&identity);
        let account =
            known.entry(identity).or_insert_with(|| Arc::new(ProviderAccount::new(name, self.limits)));

        Arc::clone(account)
    }
}

/// Limits of an account at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountStatus {
    /// Host of the server.
    pub host: String,
    /// Name that tells accounts of one server apart. No key can be told from it.
    pub name: String,
    /// Requests a second that are sent at most, as refusals have shown; `None` while nothing shows such a limit.
    pub requests_per_second: Option<f64>,
    /// Requests that may be in flight.
    pub window: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that wait to be sent.
    pub waiting: u32,
    /// True while nothing, or nothing but a probe, is sent: the server asked for a pause, or failed again and again.
    pub is_paused: bool,
    /// True while only probes are sent, or nothing, because the server failed again and again.
    pub is_held: bool,
    /// The failure for which nothing is sent, to the server or to one of its models.
    pub outage: Option<ServerOutage>,
}

/// Name of an account for other processes. Half a hash of a hash: it tells accounts apart, and confirms no guess of a key.
fn account_name((host, key): &AccountKey) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("assize account of a provider, version 1");
    hasher.update(host.as_bytes());
    hasher.update(key);
    hasher.finalize().to_hex()[..16].to_owned()
}

/// One account.
pub(crate) struct ProviderAccount {
    /// Name from which neither server nor key can be told.
    name: String,
    /// Turn of the one request that goes out next; the others queue for it, first come, first served.
    turn: tokio::sync::Mutex<()>,
    /// Wakes the one whose turn it is, when something has changed.
    changed: Notify,
    state: Mutex<AccountLimits>,
}

struct AccountLimits {
    limiter: RateLimiter,
    /// Origin of all times of this account.
    born: Instant,
}

/// Reason why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AcquireError {
    /// The account rests for longer than the caller wants to wait.
    Pause(Duration),
    /// The account, or the model, was given up.
    GivenUp(ServerOutage),
}

/// Request that wants to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedRequest<'a> {
    pub(crate) model: &'a Arc<str>,
    /// Tokens that it is expected to have, and the limit of its reply.
    pub(crate) input: u64,
    pub(crate) most: Option<u32>,
    /// Longest pause of the account to be waited for.
    pub(crate) longest: Duration,
}

impl ProviderAccount {
    fn new(name: String, limits: RateLimits) -> Self {
        let ceiling = u32::try_from(limits.ceiling()).unwrap_or(u32::MAX >> 3);
        let start = limits.workers.map_or(START, |workers| u32::try_from(workers.get()).unwrap_or(ceiling));
        let window = ConcurrencyWindow::new(start, ceiling);
        Self {
            name,
            turn: tokio::sync::Mutex::default(),
            changed: Notify::new(),
            state: Mutex::new(AccountLimits {
                limiter: RateLimiter::new(window, limits.requests_per_minute, limits.tokens_per_minute)
                    .with_recovery(limits.recovery),
                born: Instant::now(),
            }),
        }
    }

    /// Name for other processes.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn state(&self) -> MutexGuard<'_, AccountLimits> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may go out.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        clock: &dyn Clock,
        request: QueuedRequest<'_>,
    ) -> Result<Permit, AcquireError> {
        let _place = QueuePlace::new(self);
        let _turn = self.turn.lock().await;

        // What has been waited for is over, also for clocks that stand still, as those of tests may.
        let mut now_at_least = Duration::ZERO;
        loop {
            let changed = self.changed.notified();
            let (chance, now) = {
                let mut state = self.state();
                let now = state.now(clock).max(now_at_least);
                let tokens = state.limiter.expected(request.input, request.most);
                let chance = state.limiter.chance(now, request.model, tokens);
                if chance == SendChance::Now {
                    let number = state.limiter.send(now, tokens);
                    let model = Arc::clone(request.model);
                    let sent_at = state.limiter.busy_time(now);
                    return Ok(Permit { account: Arc::clone(self), model, number, sent_at, tokens });
                }

                (chance, now)
            };

            match chance {
                SendChance::Now => {}
                SendChance::AfterAnswer => changed.await,
                SendChance::Not(outage) => return Err(AcquireError::GivenUp(outage)),
                SendChance::At(at) => {
                    let wait = at.saturating_sub(now);
                    if wait > request.longest {
                        return Err(AcquireError::Pause(wait));
                    }

                    tokio::select! {
                        biased;
                        () = clock.sleep(wait) => now_at_least = at,
                        () = changed => {}
                    }
                }
            }
        }
    }

    fn status(&self, host: &str, clock: &dyn Clock) -> AccountStatus {
        let state = self.state();
        let status = state.limiter.status(state.now(clock));
        AccountStatus {
            host: host.to_owned(),
            name: self.name.clone(),
            requests_per_second: status.requests_per_second,
            window: status.window,
            in_flight: status.in_flight,
            waiting: status.waiting,
            is_paused: status.is_paused,
            is_held: status.is_held,
            outage: status.outage,
        }
    }

    /// Good answers so far, to whatever request.
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

/// Place of a request among those that wait.
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

/// Permit for one request in flight to an account. Dropping it passes it on.
#[derive(Debug)]
pub(crate) struct Permit {
    account: Arc<ProviderAccount>,
    model: Arc<str>,
    number: u64,
    /// Busy time of the account.
    sent_at: Duration,
    tokens: f64,
}

impl Permit {
    /// Tokens that the request is expected to take.
    pub(crate) fn expected_tokens(&self) -> u64 {
        self.tokens.ceil() as u64
    }

    /// A good answer came. Returns true if it ends an outage.
    pub(crate) fn answered(
        &self,
        clock: &dyn Clock,
        headers: &HeaderMap,
        latency: Duration,
        usage: TokenCounts,
    ) -> bool {
        let mut state = self.account.state();
        let now = state.now(clock);
        state.limiter.note_end(now);
        let is_back = state.limiter.answered(self.number, &self.model, latency, usage);
        state.limiter.cost(self.tokens, usage);

        for allowance in allowances(headers, || clock.now()) {
            state.limiter.update_allowance(allowance);
        }

        is_back
    }

    /// The server limited this request, and perhaps asked for a pause. `known` is the rate, in requests a second, that other
    /// processes know of. How long the account rests, if it does.
    pub(crate) fn limited(
        &self,
        clock: &dyn Clock,
        headers: &HeaderMap,
        asked: Option<Duration>,
        known: Option<f64>,
    ) -> Option<Duration> {
        let mut state = self.account.state();
        let now = state.now(clock);

        for allowance in allowances(headers, || clock.now()) {
            state.limiter.update_allowance(allowance);
        }

        let until = state.limiter.limited((self.number, self.sent_at), now, asked, known)?;
        Some(until.saturating_sub(now))
    }

    /// The request got no good answer. `why` says it to a person.
    pub(crate) fn failed(
        &self,
        clock: &dyn Clock,
        kind: ErrorKind,
        latency: Duration,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        let mut state = self.account.state();
        let now = state.now(clock);
        state.limiter.failed((self.number, &self.model), kind, now, latency, why)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.account.state().limiter.window.leave();
        self.account.changed.notify_one();
    }
}
