//! Accounts: permits of their window, their rates, their pauses. An account is one key at one server.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use secrecy::ExposeSecret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::allowance::allowances;
use super::limiter::RateLimiter;
use super::window::ConcurrencyWindow;
use crate::clock::Clock;
use crate::endpoint::ModelEndpoint;
use crate::single_flight::SingleFlight;
use crate::token_counts::TokenCounts;

/// Requests in flight at the start.
const START: u32 = 32;
/// Requests in flight at most, unless told otherwise: below the 1,024 open files that many systems allow.
const CEILING: u32 = 256;
/// [`CEILING`] for a server on this machine, which does the work itself: requests it can't take yet wait there, until the
/// time limit of the request has passed.
const LOCAL_CEILING: u32 = 32;

/// Limits that hold for each account; `None` leaves them to what the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateLimits {
    /// Requests in flight at most. Without it 256, and 32 for a server on this machine.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Requests sent in a minute at most; more than 0.
    pub requests_per_minute: Option<f64>,
    /// Tokens read and written in a minute at most, as far as they can be known before; more than 0.
    pub tokens_per_minute: Option<f64>,
}

impl RateLimits {
    /// Requests that may be in flight to one account, at most.
    pub fn ceiling(&self) -> usize {
        self.max_concurrency.map_or(CEILING as usize, NonZeroUsize::get)
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

    /// The account that a key has at a server. Several paths of one server are one account.
    pub(crate) fn account_for(&self, endpoint: &ModelEndpoint) -> Arc<ProviderAccount> {
        let key = endpoint.key.as_ref().map_or("", |key| key.secret.expose_secret());
        // The hash tells keys apart without keeping them a second time.
        let identity = (endpoint.host(), *blake3::hash(key.as_bytes()).as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let account = known.entry(identity).or_insert_with(|| {
            let usual = if endpoint.is_loopback() { LOCAL_CEILING } else { CEILING };
            let given = |most: NonZeroUsize| u32::try_from(most.get()).unwrap_or(u32::MAX >> 3);
            Arc::new(ProviderAccount::new(self.limits, self.limits.max_concurrency.map_or(usual, given)))
        });

        Arc::clone(account)
    }
}

/// One account.
pub(crate) struct ProviderAccount {
    /// One permit for each free permit.
    permits: Arc<Semaphore>,
    state: Mutex<AccountState>,
}

struct AccountState {
    limiter: RateLimiter,
    /// Permits to be taken back when they are dropped, since the window was cut.
    owed: usize,
    /// Origin of all times of this account.
    born: Instant,
}

/// Pause of an account that is longer than the caller wants to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitPause(pub(crate) Duration);

impl ProviderAccount {
    fn new(limits: RateLimits, ceiling: u32) -> Self {
        let window = ConcurrencyWindow::new(START, ceiling);
        Self {
            permits: Arc::new(Semaphore::new(window.size() as usize)),
            state: Mutex::new(AccountState {
                limiter: RateLimiter::new(window, limits.requests_per_minute, limits.tokens_per_minute),
                owed: 0,
                born: Instant::now(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, AccountState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may go out. `input` is the number of tokens it is expected to have, `most` the limit of
    /// its reply. A rest that ends at `rested` or earlier has been waited for already.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        clock: &dyn Clock,
        input: u64,
        most: Option<u32>,
        mut rested: Duration,
        longest: Duration,
    ) -> Result<Permit, RateLimitPause> {
        self.state().limiter.window.want();
        let mut permit = Permit {
            account: Arc::clone(self),
            slot: None,
            number: 0,
            tokens: 0.0,
            stage: PermitStage::Waiting,
        };

        // The semaphore is never closed; without a permit the request would only be one too many.
        permit.slot = Arc::clone(&self.permits).acquire_owned().await.ok();
        let wait = {
            let mut state = self.state();
            let now = state.now(clock);

            state.limiter.window.enter();
            permit.stage = PermitStage::Entered;
            permit.tokens = state.limiter.expected(input, most);

            state.limiter.take(now, permit.tokens)
        };
        if !wait.is_zero() {
            clock.sleep(wait).await;
        }

        loop {
            let rest = {
                let mut state = self.state();
                let now = state.now(clock);
                let rest = state.limiter.rest(now);
                let gate = state.limiter.gate();

                // The second is for clocks that stand still, as those of tests may.
                if rest.is_zero() || gate <= rested {
                    permit.number = state.limiter.window.send();
                    permit.stage = PermitStage::Sent;
                    return Ok(permit);
                }

                rested = gate;
                rest
            };
            if rest > longest {
                return Err(RateLimitPause(rest));
            }

            clock.sleep(rest).await;
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

impl AccountState {
    fn now(&self, clock: &dyn Clock) -> Duration {
        clock.instant().saturating_duration_since(self.born)
    }

    /// Makes as many permits as the window has places.
    fn resize(&mut self, permits: &Semaphore, before: u32) {
        let after = self.limiter.window.size();
        if after > before {
            let more = (after - before) as usize;
            let kept = self.owed.min(more);
            self.owed -= kept;
            permits.add_permits(more - kept);
        } else {
            let fewer = (before - after) as usize;
            self.owed += fewer - permits.forget_permits(fewer);
        }
    }
}

/// Permit for one request in flight to an account. Dropping it passes it on.
#[derive(Debug)]
pub(crate) struct Permit {
    account: Arc<ProviderAccount>,
    slot: Option<OwnedSemaphorePermit>,
    number: u64,
    tokens: f64,
    stage: PermitStage,
}

/// Progress of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermitStage {
    Waiting,
    Entered,
    Sent,
}

impl Permit {
    /// A good answer came.
    pub(crate) fn answered(&self, clock: &dyn Clock, headers: &HeaderMap, usage: TokenCounts) {
        let mut state = self.account.state();
        let now = state.now(clock);
        let before = state.limiter.window.size();

        state.limiter.answered(self.number);
        state.limiter.cost(self.tokens, usage);

        for allowance in allowances(headers, || clock.now()) {
            state.limiter.update_allowance(now, allowance);
        }

        state.resize(&self.account.permits, before);
    }

    /// The server limited this request, and perhaps asked for a rest. When the account's rest ends.
    pub(crate) fn limited(&self, clock: &dyn Clock, asked: Option<Duration>) -> Duration {
        let mut state = self.account.state();
        let now = state.now(clock);
        let before = state.limiter.window.size();

        state.limiter.limited(self.number, now, asked);
        state.resize(&self.account.permits, before);

        state.limiter.gate()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.account.state();
        match self.stage {
            PermitStage::Waiting => state.limiter.window.give_up(),
            PermitStage::Entered => {
                state.limiter.window.leave();
                state.limiter.give_back(self.tokens);
            }
            PermitStage::Sent => state.limiter.window.leave(),
        }

        let Some(permit) = self.slot.take() else { return };
        if state.owed > 0 {
            state.owed -= 1;
            permit.forget();
        }
    }
}
