//! Combines all rules of one account: when the next request may be sent, and how each answer changes that.
//!
//! The parts know nothing of each other: [`window`](super::window) limits the requests in flight, [`pace`](super::pace)
//! finds the rate that refusals show, [`outage`](super::outage) puts a failing account on hold, and the token buckets
//! keep to limits that the user set. A request is sent when all of them allow it. Nothing here waits or reads a clock,
//! so the rules can be simulated.
//!
//! Nothing is known about a server before its first answer. It may be slow, hang, or refuse a parameter, and a whole
//! burst would run into the same fault. So the first request to a server, and to each of its models, is sent alone. If
//! it gets no answer for [`FIRST_ANSWER_PATIENCE`], another one follows, up to [`MAX_UNANSWERED`], because the first
//! may be the only one that hangs. After the first answer the window opens, and the next requests are spaced by
//! [`FIRST_SPACING`], so that the first refusals arrive before the whole window is sent.
//!
//! In a service, no client holds up another. A client that has no call in flight may send one, even beyond the
//! window and before the first answer, because all requests in flight may be calls of another client that hang. Of the
//! window itself, the client with the fewest in flight gets the next place ([`RateLimiter::has_more_in_flight`]).
//!
//! Rates are measured in busy time: the time minus the pauses in which nothing was in flight and a request could have
//! been sent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use super::allowance::{AllowanceKind, ServerAllowance};
use super::bucket::TokenBucket;
use super::climb::AnswerTime;
use super::outage::{AccountState, FailedRequest, FailureConsequence, OutageTracker, ServerOutage};
use super::pace::{RefusalMeaning, RequestPace};
use super::turns::ClientId;
use super::window::ConcurrencyWindow;
use crate::call_source::CallSource;
use crate::error::ErrorKind;
use crate::token_counts::TokenCounts;

/// Limits of an account at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountStatus {
    /// Host of the server.
    pub host: String,
    /// A name that distinguishes the accounts of one server. It reveals nothing about the key.
    pub name: String,
    /// Requests a second at most, as measured from refusals; `None` while no refusals show such a limit.
    pub requests_per_second: Option<f64>,
    /// Requests that may be in flight.
    pub window: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that wait to be sent.
    pub waiting: u32,
    /// True while nothing but probes is sent: the server asked for a pause, or failed again and again.
    pub is_paused: bool,
    /// True while nothing but probes is sent because the server failed again and again.
    pub is_held: bool,
    /// The failure for which nothing is sent to the server, or to one of its models.
    pub outage: Option<ServerOutage>,
}

/// Expected tokens of a reply before the first one has been seen.
const INITIAL_OUTPUT_TOKENS: f64 = 512.0;
/// Weight of the newest reply in the running means.
const NEWEST_WEIGHT: f64 = 0.1;
/// The first requests are sent this far apart, so that the first refusals arrive before a whole burst is sent. The
/// spacing ends when an answer comes back within [`QUICK_LATENCY`].
const FIRST_SPACING: Duration = Duration::from_millis(1);
const FIRST_REQUESTS: u64 = 128;
const QUICK_LATENCY: Duration = Duration::from_millis(20);
/// Timers wake a little late each time. The first requests may make up for this much of it.
const FIRST_CATCH_UP: Duration = Duration::from_millis(20);
/// The fill rate is computed from a reported allowance only if at least this share of it is used. Counts are whole
/// numbers, so a smaller share is too coarse.
const MIN_USED_SHARE: f64 = 0.5;

/// While the server or model has not answered, one more request is sent each time this has passed, up to
/// [`MAX_UNANSWERED`] in flight: the first one may hang, and must not block the others.
const FIRST_ANSWER_PATIENCE: Duration = Duration::from_secs(30);
const MAX_UNANSWERED: u32 = 4;

/// The state of one account. The times in all calls are counted from the same moment.
#[derive(Debug, Clone)]
pub(super) struct RateLimiter {
    pub(super) window: ConcurrencyWindow,
    pace: RequestPace,
    outage: OutageTracker,
    requests: Option<TokenBucket>,
    tokens: Option<TokenBucket>,
    /// Rates at which the server reports that its allowances of requests and of tokens fill, both in requests a
    /// second.
    reported: [Option<f64>; 2],
    /// No request is sent before this time.
    gate: Duration,
    /// Time of the last answer, and the sum of all idle time: nothing in flight, and nothing waiting.
    last_end: Duration,
    idle: Duration,
    /// Time at which the newest request was sent.
    last_send: Duration,
    first_spacing: Option<Duration>,
    /// Earliest time for the next of the first requests.
    first_due: Option<Duration>,
    good_answers: u64,
    /// The models that got requests. Until a model has given a good answer, it gets one request at a time, which shows
    /// what the model refuses.
    models: BTreeMap<Arc<str>, ModelCalls>,
    /// Requests in flight of each client, in a process that serves several.
    clients: BTreeMap<u64, u32>,
    /// Running means: tokens of a reply, and of a request with its reply.
    mean_output: f64,
    mean_tokens: f64,
}

/// The calls to a model.
#[derive(Debug, Clone, Copy, Default)]
struct ModelCalls {
    in_flight: u32,
    has_answered: bool,
}

/// How a request failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestFailure {
    pub(super) source: Option<CallSource>,
    pub(super) kind: ErrorKind,
    pub(super) time: AnswerTime,
    /// True if the failure says nothing about the account: since the previous failure of the same call, the server has
    /// answered others.
    pub(super) is_own: bool,
}

/// Whether the next request may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SendChance {
    Now,
    /// Not before this time.
    At(Duration),
    /// After one of the requests in flight is answered.
    AfterAnswer,
    /// After one of the requests in flight is answered, and at this time if none was.
    AfterAnswerOrAt(Duration),
    /// Not before this time, if there is one, or after a request in flight ends. Other requests need not wait for this
    /// one.
    Aside(Option<Duration>),
    /// Not for now: the account, or this model of it, was given up.
    Not(ServerOutage),
}

impl RateLimiter {
    /// `requests` and `tokens` are limits a minute, more than 0.
    pub(super) fn new(window: ConcurrencyWindow, requests: Option<f64>, tokens: Option<f64>) -> Self {
        Self {
            window,
            pace: RequestPace::default(),
            outage: OutageTracker::default(),
            requests: requests.map(TokenBucket::per_minute),
            tokens: tokens.map(TokenBucket::per_minute),
            reported: [None, None],
            gate: Duration::ZERO,
            last_end: Duration::ZERO,
            idle: Duration::ZERO,
            last_send: Duration::ZERO,
            first_spacing: Some(FIRST_SPACING),
            first_due: None,
            good_answers: 0,
            models: BTreeMap::new(),
            clients: BTreeMap::new(),
            mean_output: INITIAL_OUTPUT_TOKENS,
            mean_tokens: INITIAL_OUTPUT_TOKENS,
        }
    }

    /// Tries an account that was given up again; see [`RateLimits::recovery`](super::RateLimits::recovery).
    pub(super) fn with_recovery(mut self, recovery: Option<Duration>) -> Self {
        self.outage = self.outage.with_recovery(recovery);
        self
    }

    /// Expected tokens of a request with `input` tokens, whose reply may have at most `max_output` tokens.
    pub(super) fn expected(&self, input: u64, max_output: Option<u32>) -> f64 {
        input as f64
            + max_output.map_or(self.mean_output, |max_output| self.mean_output.min(f64::from(max_output)))
    }

    /// Whether a request to this model, of about `tokens` tokens, may be sent now.
    pub(super) fn chance(
        &self,
        now: Duration,
        model: &str,
        source: Option<CallSource>,
        tokens: f64,
    ) -> SendChance {
        let probe_at = match self.outage.state(model, source, now) {
            AccountState::GivenUp(outage) => return SendChance::Not(outage),
            AccountState::Aside => return SendChance::Aside(None),
            AccountState::ProbingAside(from) if from > now => return SendChance::Aside(Some(from)),
            AccountState::ProbingAside(_) if !self.window.has_room() => return SendChance::AfterAnswer,
            AccountState::Probing(_) if self.window.in_flight() > 0 => return SendChance::AfterAnswer,
            AccountState::ProbingAside(from) | AccountState::Probing(from) => from,
            AccountState::Open if self.is_clients_first(source) => Duration::ZERO,
            AccountState::Open if self.awaits_first_answer(model) => {
                let next_at = self.last_send + FIRST_ANSWER_PATIENCE;
                if !self.may_send_unanswered(model) {
                    return SendChance::AfterAnswer;
                } else if next_at > now {
                    return SendChance::AfterAnswerOrAt(next_at);
                }
                Duration::ZERO
            }
            AccountState::Open if !self.window.has_room() => return SendChance::AfterAnswer,
            AccountState::Open => Duration::ZERO,
        };

        match self.spaced_until(tokens).max(probe_at) {
            at if at > now => SendChance::At(at),
            _ => SendChance::Now,
        }
    }

    /// The end of all waits that do not depend on requests in flight.
    fn spaced_until(&self, tokens: f64) -> Duration {
        let is_spaced = self.first_spacing.is_some() && self.window.in_flight() > 0;
        let spaced = self.first_due.filter(|_| is_spaced).unwrap_or(Duration::ZERO);
        let by_requests = self.requests.as_ref().map_or(Duration::ZERO, |bucket| bucket.ready_at(1.0));
        let by_tokens = self.tokens.as_ref().map_or(Duration::ZERO, |bucket| bucket.ready_at(tokens));

        [spaced, by_requests, by_tokens, self.pace.ready_at(), self.gate]
            .into_iter()
            .fold(Duration::ZERO, Duration::max)
    }

    /// Whether all requests in flight are of other clients.
    fn is_clients_first(&self, source: Option<CallSource>) -> bool {
        source.is_some_and(|source| !self.clients.contains_key(&source.client))
    }

    /// Whether more requests of a client are in flight than of another one.
    pub(super) fn has_more_in_flight(&self, client: ClientId, other: ClientId) -> bool {
        let in_flight = |client: ClientId| client.and_then(|client| self.clients.get(&client)).copied();
        in_flight(client) > in_flight(other)
    }

    /// Whether the first request to the server or to this model is in flight. The others wait for its result.
    fn awaits_first_answer(&self, model: &str) -> bool {
        let awaits_server = !self.window.is_open() && self.window.in_flight() > 0;
        awaits_server
            || self.models.get(model).is_some_and(|first| first.in_flight > 0 && !first.has_answered)
    }

    /// Whether one more request may be sent to a server or model that hasn't answered for a long time.
    fn may_send_unanswered(&self, model: &str) -> bool {
        let to_server = self.window.in_flight();
        let to_model = self.models.get(model).map_or(0, |calls| calls.in_flight);
        if self.window.is_open() {
            self.window.has_room() && to_model < MAX_UNANSWERED
        } else {
            to_server < MAX_UNANSWERED.min(self.window.ceiling())
        }
    }

    /// Counts a request to a model that is sent now, and returns its number.
    pub(super) fn send_to(
        &mut self,
        model: &Arc<str>,
        now: Duration,
        source: Option<CallSource>,
        tokens: f64,
    ) -> u64 {
        self.models.entry(Arc::clone(model)).or_default().in_flight += 1;
        self.send(now, source, tokens)
    }

    /// Records that the request with this number to a model is no longer in flight.
    pub(super) fn leave(&mut self, number: u64, model: &str, source: Option<CallSource>) {
        if let Some(CallSource { client, .. }) = source
            && let Entry::Occupied(mut own) = self.clients.entry(client)
        {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
        }
        if let Some(first) = self.models.get_mut(model) {
            first.in_flight = first.in_flight.saturating_sub(1);
        }
        self.window.leave();
        self.outage.left(number);
    }

    /// Counts a request that is sent now, and returns its number.
    pub(super) fn send(&mut self, now: Duration, source: Option<CallSource>, tokens: f64) -> u64 {
        if self.window.in_flight() == 0 && self.window.sent() > 0 {
            let possible = self.last_end.max(self.spaced_until(tokens));
            self.idle += now.saturating_sub(possible);
        }

        if let Some(bucket) = &mut self.requests {
            bucket.take(now, 1.0);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.take(now, tokens);
        }

        if self.window.sent() >= FIRST_REQUESTS {
            self.first_spacing = None;
        }
        if let Some(space) = self.first_spacing {
            let due = self.first_due.filter(|_| self.window.in_flight() > 0).unwrap_or(now);
            self.first_due = Some(due.max(now.saturating_sub(FIRST_CATCH_UP)) + space);
        }

        if let Some(CallSource { client, .. }) = source {
            *self.clients.entry(client).or_default() += 1;
        }
        self.last_send = now;
        self.pace.send(now);
        let number = self.window.send();
        self.outage.sent(number, source);
        number
    }

    /// The time so far, without idle time. Rates are measured in busy time, because the few requests of a quiet minute
    /// say nothing about the server's limit.
    pub(super) fn busy_time(&self, now: Duration) -> Duration {
        now.saturating_sub(self.idle)
    }

    /// Records that an answer of any kind arrived.
    pub(super) fn note_end(&mut self, now: Duration) {
        self.last_end = self.last_end.max(now);
    }

    /// The limits at this moment.
    pub(super) fn status(&self, host: &str, name: &str, now: Duration) -> AccountStatus {
        AccountStatus {
            host: host.to_owned(),
            name: name.to_owned(),
            requests_per_second: self.pace.rate(),
            window: self.window.allowed(),
            in_flight: self.window.in_flight(),
            waiting: self.window.waiting(),
            is_paused: self.gate > now || self.outage.is_held(),
            is_held: self.outage.is_held(),
            outage: self.outage.outage(now),
        }
    }

    /// The number of good answers so far.
    pub(super) fn good_answers(&self) -> u64 {
        self.good_answers
    }

    /// Records a good answer to the request with this number. Returns true if it ends an outage.
    pub(super) fn answered(
        &mut self,
        number: u64,
        model: &str,
        time: AnswerTime,
        usage: TokenCounts,
    ) -> bool {
        let latency = time.latency;
        self.good_answers += 1;
        if latency < QUICK_LATENCY {
            self.first_spacing = None;
        }
        if let Some(first) = self.models.get_mut(model) {
            first.has_answered = true;
        }

        let tokens = usage.output.unwrap_or(0);
        self.window.note_time(number, time, tokens);
        self.window.answered(number, self.pace.is_limited());
        self.window.note_latency(number, latency, tokens);

        let is_back = self.outage.answered(model);
        if is_back {
            self.window.restart();
        }

        is_back
    }

    /// Records that the server limited request `number`, which was sent at the busy time `sent_at`. `asked_pause` is
    /// the pause that the server asked for, `known_rate` a rate in requests a second that other processes have found.
    /// Returns the end of the account's rest, if it rests.
    pub(super) fn limited(
        &mut self,
        number: u64,
        sent_at: Duration,
        now: Duration,
        asked_pause: Option<Duration>,
        known_rate: Option<f64>,
    ) -> Option<Duration> {
        self.note_end(now);
        let hint = self.reported.into_iter().chain([known_rate]).flatten().reduce(f64::min);
        match self.pace.refused(number, sent_at, now, self.window.sent(), asked_pause, hint) {
            RefusalMeaning::OneRequest => None,
            RefusalMeaning::Account { until, again } => {
                // The first time, only the rate may be limited. If keeping to a rate was not enough, the number
                // in flight is limited as well.
                if again {
                    self.window.limited(number);
                } else {
                    self.window.limit_to_load();
                }

                self.gate = self.gate.max(until);
                Some(until)
            }
        }
    }

    /// Records that request `number` to this model failed.
    pub(super) fn failed(
        &mut self,
        number: u64,
        model: &str,
        failure: RequestFailure,
        now: Duration,
        why: impl FnOnce() -> String,
    ) -> FailureConsequence {
        let RequestFailure { source, kind, time, is_own } = failure;
        self.note_end(now);
        // A server may also say that its own time limit has passed.
        let is_silent = kind == ErrorKind::Timeout && time.latency >= time.limit;
        let was_crowded = is_silent && self.window.timed_out(time.limit);
        if kind == ErrorKind::Timeout {
            self.window.note_latency(number, time.latency, 0);
        }

        let consequence = if is_own {
            FailureConsequence::None
        } else {
            self.outage
                .failed(FailedRequest { number, model, source, kind, now, sent: self.window.sent() }, why)
        };
        match consequence {
            FailureConsequence::None if was_crowded => FailureConsequence::FewerInFlight,
            other => other,
        }
    }

    /// Records an allowance that the server reports: how much is left, and when it is full again. Together these give
    /// its fill rate, which is used only when requests are refused. While all requests are answered, reports slow
    /// nothing down, because they may be wrong.
    pub(super) fn update_allowance(&mut self, allowance: ServerAllowance) {
        let ServerAllowance { kind, limit, remaining, reset } = allowance;
        let (slot, cost) = match kind {
            AllowanceKind::Requests => (0, 1.0),
            AllowanceKind::Tokens => (1, self.mean_tokens.max(1.0)),
        };
        let Some(limit) = limit.filter(|limit| *limit >= 1.0 && remaining <= *limit * (1.0 - MIN_USED_SHARE))
        else {
            return;
        };
        if !reset.is_zero() {
            self.reported[slot] = Some((limit - remaining) / reset.as_secs_f64() / cost);
        }
    }

    /// Corrects the token rates by the real cost of a request that was expected to cost `expected` tokens.
    pub(super) fn cost(&mut self, expected: f64, usage: TokenCounts) {
        if let Some(output) = usage.output {
            self.mean_output += NEWEST_WEIGHT * (output as f64 - self.mean_output);
        }

        let Some(input) = usage.input else { return };
        let real = input.saturating_add(usage.output.unwrap_or(0)) as f64;
        self.mean_tokens += NEWEST_WEIGHT * (real - self.mean_tokens);

        if let Some(bucket) = &mut self.tokens {
            bucket.correct(real - expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limiter(requests: Option<f64>, tokens: Option<f64>) -> RateLimiter {
        RateLimiter::new(ConcurrencyWindow::new(64, 100).opened(), requests, tokens)
    }

    /// Sends a request as soon as possible, and returns when that was.
    fn send(limiter: &mut RateLimiter, tokens: f64) -> Duration {
        let at = match limiter.chance(Duration::ZERO, "m", None, tokens) {
            SendChance::Now => Duration::ZERO,
            SendChance::At(at) => at,
            other => panic!("{other:?}"),
        };
        limiter.send(at, None, tokens);
        at
    }

    #[test]
    fn a_first_request_that_hangs_does_not_hold_all_others() {
        for (ceiling, expected) in [(100, vec![30, 60, 90]), (2, vec![30])] {
            let mut limiter = RateLimiter::new(ConcurrencyWindow::new(64, ceiling), None, None);
            let model = Arc::from("m");
            limiter.send_to(&model, Duration::ZERO, None, 1.0);
            let mut sent = Vec::new();
            for second in 1..300 {
                let now = second * SECOND;
                if limiter.chance(now, "m", None, 1.0) == SendChance::Now {
                    limiter.send_to(&model, now, None, 1.0);
                    sent.push(second);
                }
            }
            assert_eq!(sent, expected, "no more than {MAX_UNANSWERED}, or {ceiling}");

            let time = AnswerTime { latency: SECOND, limit: 600 * SECOND, load: 1 };
            limiter.answered(0, "m", time, TokenCounts::default());
            let is_free = limiter.chance(300 * SECOND, "m", None, 1.0) == SendChance::Now;
            assert_eq!(is_free, ceiling > 2, "after one answer, the others need not wait");
        }
    }

    #[test]
    fn tokens_are_estimated_and_then_known() {
        let mut limiter = limiter(None, Some(60_000.0));
        assert_eq!(limiter.expected(100, None), 612.0);
        assert_eq!(limiter.expected(100, Some(10)), 110.0);
        for _ in 0..200 {
            limiter.cost(0.0, TokenCounts { input: Some(100), cached: None, output: Some(20) });
        }
        assert!((limiter.expected(100, None) - 120.0).abs() < 0.1);
    }

    #[test]
    fn a_request_that_was_larger_than_expected_holds_up_the_next() {
        let mut limiter = limiter(None, Some(60_000.0));
        assert_eq!(send(&mut limiter, 900.0), Duration::ZERO);
        limiter.cost(900.0, TokenCounts { input: Some(10_000), cached: None, output: Some(900) });
        assert!(send(&mut limiter, 1.0) > 9 * SECOND);
    }

    /// Sends requests with a timer that wakes late each time, and returns when the last one went out.
    fn last_sent(limiter: &mut RateLimiter, requests: u32, late: Duration) -> Duration {
        let mut now = Duration::ZERO;
        for _ in 0..requests {
            while let SendChance::At(at) = limiter.chance(now, "m", None, 1.0) {
                now = at + late;
            }
            limiter.send(now, None, 1.0);
        }
        now
    }

    #[test]
    fn the_first_requests_are_a_millisecond_apart_however_late_timers_wake() {
        let new = || RateLimiter::new(ConcurrencyWindow::new(1_000, 1_000).opened(), None, None);
        let exact = last_sent(&mut new(), 1_000, Duration::ZERO);
        let late = last_sent(&mut new(), 1_000, Duration::from_micros(1_300));
        assert_eq!(exact, Duration::from_millis(128), "only the first ones are spaced");
        assert!(late >= exact && late < exact + Duration::from_millis(5), "{late:?}");

        let mut limiter = new();
        limiter.send(SECOND, None, 1.0);
        assert_eq!(
            limiter.chance(SECOND, "m", None, 1.0),
            SendChance::At(SECOND + FIRST_SPACING),
            "time before the first request is not made up for"
        );
    }

    /// Sends requests one at a time, `apart` from each other, and refuses those for which `is_refused` holds.
    /// Returns the time afterwards.
    fn trickle(
        limiter: &mut RateLimiter,
        apart: Duration,
        count: u64,
        is_refused: fn(u64) -> bool,
    ) -> Duration {
        let latency = Duration::from_millis(10);
        let mut now = Duration::ZERO;
        for turn in 0..count {
            while let SendChance::At(at) = limiter.chance(now, "m", None, 1.0) {
                now = at;
            }
            let number = limiter.send(now, None, 1.0);
            let sent_at = limiter.busy_time(now);
            let end = now + latency;
            if is_refused(turn) {
                limiter.limited(number, sent_at, end, None, None);
            } else {
                limiter.note_end(end);
                let time = AnswerTime { latency, limit: 900 * SECOND, load: 1 };
                limiter.answered(number, "m", time, TokenCounts::default());
            }
            limiter.window.leave();
            now += apart;
        }

        now
    }

    #[test]
    fn refusals_in_a_quiet_minute_tell_no_low_rate() {
        for is_refused in [|turn: u64| turn % 3 == 2, |turn: u64| turn > 12] {
            let mut limiter = limiter(None, None);
            let begun = trickle(&mut limiter, SECOND, 24, is_refused);
            limiter.first_spacing = None;

            (0..100).for_each(|_| limiter.window.queue());
            let mut now = begun;
            for _ in 0..30 {
                while let SendChance::At(at) = limiter.chance(now, "m", None, 1.0) {
                    now = at;
                }
                limiter.send(now, None, 1.0);
            }

            // The account may rest first, which says nothing about the rate.
            assert!(
                now < begun + 6 * SECOND,
                "{:?} {:?}",
                now.checked_sub(begun),
                limiter.status("", "", now)
            );
        }
    }

    /// The time in which an account that keeps to one request a second gets back to 50, if the server takes
    /// everything.
    fn recovery(is_confirmed: bool) -> Duration {
        let mut limiter = limiter(None, None);
        limiter.first_spacing = None;
        limiter.pace = RequestPace::kept_to(1.0, is_confirmed);

        let mut now = Duration::ZERO;
        while limiter.status("", "", now).requests_per_second < Some(50.0) {
            while let SendChance::At(at) = limiter.chance(now, "m", None, 1.0) {
                now = at;
            }
            limiter.send(now, None, 1.0);
            // The callers give up, so no request is ever answered.
            limiter.window.leave();
        }

        now
    }

    #[test]
    fn a_low_rate_is_left_within_seconds_once_nothing_is_refused() {
        let unconfirmed = recovery(false);
        assert!(unconfirmed < 25 * SECOND, "{unconfirmed:?}");
        let confirmed = recovery(true);
        assert!(confirmed > 40 * SECOND && confirmed < 65 * SECOND, "{confirmed:?}");
    }

    #[test]
    fn refusals_of_fewer_requests_than_a_rate_allows_say_nothing_about_it() {
        let mut limiter = limiter(None, None);
        limiter.pace = RequestPace::kept_to(1.0, false);
        let before = limiter.pace.rate();
        let end = trickle(&mut limiter, 10 * SECOND, 12, |turn| turn % 3 == 2);
        assert!(
            limiter.status("", "", end).requests_per_second >= before,
            "{:?}",
            limiter.status("", "", end)
        );
    }

    #[test]
    fn both_rates_hold() {
        let mut limiter = limiter(Some(60.0), Some(6_000.0));
        assert_eq!(send(&mut limiter, 50.0), Duration::ZERO);
        assert_eq!(send(&mut limiter, 50.0), SECOND, "requests are the scarcer");
        assert!(send(&mut limiter, 5_000.0) > 40 * SECOND, "now tokens are");
    }

    #[test]
    fn what_a_server_reports_with_good_answers_holds_up_nobody() {
        let mut limiter = limiter(None, None);
        for (limit, remaining, hours) in
            [(Some(0.0), 0.0, 1_000_000), (Some(100.0), 0.0, 1_000_000), (None, 0.0, 1)]
        {
            let reset = Duration::from_hours(hours);
            limiter.update_allowance(ServerAllowance {
                kind: AllowanceKind::Requests,
                limit,
                remaining,
                reset,
            });
            limiter.first_spacing = None;
            assert_eq!(send(&mut limiter, 1.0), Duration::ZERO);
        }
    }
}
