//! Waiting for an account: places in its window, its rates, its rests. Accounts are told apart by server and key.

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
use super::pacer::Pacer;
use super::window::Window;
use crate::clock::Clock;
use crate::endpoint::Endpoint;
use crate::flight::Flights;
use crate::reply::Usage;

/// Requests in flight at the start.
const START: u32 = 32;
/// Requests in flight at most, unless told otherwise: below the 1,024 open files that many systems allow.
const CEILING: u32 = 256;
/// The same for a server on this machine, which does the work itself: what it can't take yet waits there, until the
/// time limit of the request has passed.
const LOCAL_CEILING: u32 = 32;

/// Limits that hold for each account; `None` leaves them to what the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Requests in flight at most. Without it 256, and 32 for a server on this machine.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Requests sent in a minute at most; more than 0.
    pub requests_per_minute: Option<f64>,
    /// Tokens read and written in a minute at most, as far as they can be known before; more than 0.
    pub tokens_per_minute: Option<f64>,
}

impl Limits {
    /// Requests that may be in flight to one account, at most.
    pub fn ceiling(&self) -> usize {
        self.max_concurrency.map_or(CEILING as usize, NonZeroUsize::get)
    }
}

/// A server's host and port, and the hash of the key that is sent there.
type Identity = (String, [u8; 32]);

/// The accounts of a process. Clients that share it, and have the same server and key, share an account.
#[derive(Debug, Default)]
pub struct Accounts {
    limits: Limits,
    known: Mutex<BTreeMap<Identity, Arc<Account>>>,
    flights: Flights,
}

impl Accounts {
    /// No accounts yet; each gets these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The limits that each account gets.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The calls that are being made, whoever makes them.
    pub(crate) fn flights(&self) -> &Flights {
        &self.flights
    }

    /// The account that a key has at a server. Several paths of one server are one account.
    pub(crate) fn of(&self, endpoint: &Endpoint) -> Arc<Account> {
        let key = endpoint.key.as_ref().map_or("", |key| key.secret.expose_secret());
        // The hash tells keys apart without keeping them a second time.
        let identity = (endpoint.host(), *blake3::hash(key.as_bytes()).as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let account = known.entry(identity).or_insert_with(|| {
            let usual = if endpoint.is_loopback() { LOCAL_CEILING } else { CEILING };
            let given = |most: NonZeroUsize| u32::try_from(most.get()).unwrap_or(u32::MAX >> 3);
            Arc::new(Account::new(self.limits, self.limits.max_concurrency.map_or(usual, given)))
        });
        Arc::clone(account)
    }
}

/// One account.
pub(crate) struct Account {
    /// One permit for each free place.
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    pacer: Pacer,
    /// Permits to be taken back when their holders leave, since the window was cut.
    owed: usize,
    /// The moment that times are counted from.
    born: Instant,
}

/// The account rests for longer than the one who asks wants to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shut(pub(crate) Duration);

impl Account {
    fn new(limits: Limits, ceiling: u32) -> Self {
        let window = Window::new(START, ceiling);
        Self {
            places: Arc::new(Semaphore::new(window.size() as usize)),
            state: Mutex::new(State {
                pacer: Pacer::new(window, limits.requests_per_minute, limits.tokens_per_minute),
                owed: 0,
                born: Instant::now(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may go out. `input` is the number of tokens it is expected to have, `most` the limit of
    /// its reply. A rest that ends at `rested` or earlier has been waited for already.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        clock: &dyn Clock,
        input: u64,
        most: Option<u32>,
        mut rested: Duration,
        longest: Duration,
    ) -> Result<Place, Shut> {
        self.state().pacer.window.want();
        let mut place =
            Place { account: Arc::clone(self), permit: None, number: 0, tokens: 0.0, stage: Stage::Waiting };
        // The semaphore is never closed; without a permit the request would only be one too many.
        place.permit = Arc::clone(&self.places).acquire_owned().await.ok();
        let wait = {
            let mut state = self.state();
            let now = state.now(clock);
            state.pacer.window.enter();
            place.stage = Stage::Entered;
            place.tokens = state.pacer.expected(input, most);
            state.pacer.take(now, place.tokens)
        };
        if !wait.is_zero() {
            clock.sleep(wait).await;
        }
        loop {
            let rest = {
                let mut state = self.state();
                let now = state.now(clock);
                let rest = state.pacer.rest(now);
                let gate = state.pacer.gate();
                // The second is for clocks that stand still, as those of tests may.
                if rest.is_zero() || gate <= rested {
                    place.number = state.pacer.window.send();
                    place.stage = Stage::Sent;
                    return Ok(place);
                }
                rested = gate;
                rest
            };
            if rest > longest {
                return Err(Shut(rest));
            }
            clock.sleep(rest).await;
        }
    }

    /// Good answers so far, to whatever request.
    pub(crate) fn good_answers(&self) -> u64 {
        self.state().pacer.good_answers()
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Account").field("window", &state.pacer.window).finish_non_exhaustive()
    }
}

impl State {
    fn now(&self, clock: &dyn Clock) -> Duration {
        clock.instant().saturating_duration_since(self.born)
    }

    /// Makes as many permits as the window has places.
    fn resize(&mut self, places: &Semaphore, before: u32) {
        let after = self.pacer.window.size();
        if after > before {
            let more = (after - before) as usize;
            let kept = self.owed.min(more);
            self.owed -= kept;
            places.add_permits(more - kept);
        } else {
            let fewer = (before - after) as usize;
            self.owed += fewer - places.forget_permits(fewer);
        }
    }
}

/// A place in the window of an account, for one request. Dropping it gives it to the next.
#[derive(Debug)]
pub(crate) struct Place {
    account: Arc<Account>,
    permit: Option<OwnedSemaphorePermit>,
    number: u64,
    tokens: f64,
    stage: Stage,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Entered,
    Sent,
}

impl Place {
    /// A good answer came.
    pub(crate) fn answered(&self, clock: &dyn Clock, headers: &HeaderMap, usage: Usage) {
        let mut state = self.account.state();
        let now = state.now(clock);
        let before = state.pacer.window.size();
        state.pacer.answered(self.number);
        state.pacer.cost(self.tokens, usage);
        for allowance in allowances(headers, || clock.now()) {
            state.pacer.told(now, allowance);
        }
        state.resize(&self.account.places, before);
    }

    /// The server limited this request, and perhaps asked for a rest. When the account's rest ends.
    pub(crate) fn limited(&self, clock: &dyn Clock, asked: Option<Duration>) -> Duration {
        let mut state = self.account.state();
        let now = state.now(clock);
        let before = state.pacer.window.size();
        state.pacer.limited(self.number, now, asked);
        state.resize(&self.account.places, before);
        state.pacer.gate()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.account.state();
        match self.stage {
            Stage::Waiting => state.pacer.window.give_up(),
            Stage::Entered => {
                state.pacer.window.leave();
                state.pacer.give_back(self.tokens);
            }
            Stage::Sent => state.pacer.window.leave(),
        }
        let Some(permit) = self.permit.take() else { return };
        if state.owed > 0 {
            state.owed -= 1;
            permit.forget();
        }
    }
}
