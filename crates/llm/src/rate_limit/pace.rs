//! Finds the request rate that a server allows. The only input is which requests it refuses.
//!
//! The problem: a provider limits requests a minute, rarely documents the number, and headers that report it are often
//! missing or wrong. Sending too fast costs refused requests; sending too slowly costs hours. The obvious approach, to
//! back off on each refusal and speed up again (as [`window`](super::window) does for concurrency), oscillates around
//! the limit: it is often far below the limit, and pays for each approach with a burst of refusals.
//!
//! So the rate is measured instead. A server that limits a rate holds a token bucket, and refuses only when the bucket
//! is empty. Between two refusals it therefore admits exactly as many requests as flowed into the bucket. So the rate
//! is the number of requests admitted between two refusals, give or take one, divided by the time between them.
//!
//! The states:
//!
//! 1. *Unlimited.* No rate is assumed until refusals come close together ([`DENSE_REFUSALS`] of [`NEIGHBOURS`]
//!    consecutive requests). A server that refuses one request in twenty at random does not slow the account down.
//! 2. *Measuring* (`PaceLimit::measuring` is set). The account rests, then sends almost freely. The next
//!    refusal yields the rate if at least [`MIN_MEASURED_REQUESTS`] requests were admitted; otherwise the
//!    account rests twice as long.
//! 3. *Limited.* The account keeps to [`SAFE_SHARE`] times the rate. The rate grows slowly at first, and faster
//!    the longer nothing is refused; the next refusal corrects it.
//!
//! If refusals are frequent or even, but not dense, a rate is tried. It is dropped again if keeping to it does not end the
//! refusals, because then they have another cause.
//!
//! What must hold for a measurement to be right:
//!
//! - Refusals are ordered by the number of the request, that is, by the time it was sent. Refusals come back
//!   sooner than answers, so their order of arrival says nothing.
//! - Times exclude idle time, in which nothing was in flight and nothing waited. The few requests of a quiet minute say
//!   nothing about the server's limit.
//! - A refusal corrects a rate only if requests had to wait for that rate (`waited`), and the rate grows only
//!   then.
//! - Refusals of requests that were sent before the last change (`changed_at`) are ignored, because they were caused by
//!   the previous rate.
//!
//! `simulation_tests.rs` runs these rules in virtual time against servers of several kinds: 0.95 to 1.00 of the
//! allowed rate is used, and up to 1.3 % of the calls are refused.

use std::collections::VecDeque;
use std::time::Duration;

/// [`DENSE_REFUSALS`] refusals among this many consecutive requests show that the account has reached a limit.
const NEIGHBOURS: u64 = 8;
const DENSE_REFUSALS: usize = 5;
/// [`FREQUENT_REFUSALS`] refusals among this many requests make a rate worth a try, and so do fewer at even distances: a
/// server that admits a fixed rate refuses every so many requests. Refusals at random are neither.
const SAMPLE_REQUESTS: u64 = 128;
const FREQUENT_REFUSALS: usize = 16;
const EVEN_REFUSALS: usize = 10;
/// The largest distance between even refusals, compared with their mean distance. Of ten refusals at random, 1 in 400
/// are as even.
const MAX_EVEN_DISTANCE: f64 = 1.5;
/// How many refusals are remembered.
const MAX_REMEMBERED_REFUSALS: usize = 64;
/// The minimum of admitted requests for a measurement. With fewer, one request more or less changes the result too
/// much.
const MIN_MEASURED_REQUESTS: f64 = 10.0;
/// This many admitted requests suffice to compute a rate. Older ones would hide a change of the rate.
const SUFFICIENT_REQUESTS: f64 = 60.0;
/// Pause before the first measurement; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Requests a second while measuring: in effect no limit, until a refusal comes.
const MEASURING_RATE: f64 = 1_000.0;
/// Initial and maximum growth of the rate with each request. It doubles with every [`GROWTH_DOUBLING_REQUESTS`]
/// requests in a row that are not refused.
const GROWTH: f64 = 5e-5;
const MAX_GROWTH: f64 = 0.02;
const GROWTH_DOUBLING_REQUESTS: f64 = 250.0;
/// The share of a measured rate that is used at first, so that refusals are rare.
const SAFE_SHARE: f64 = 0.98;
/// A newly measured rate begins as if this many requests had been admitted without a refusal. It is based on few
/// requests and may be too low, so it grows faster than a corrected one.
const INITIAL_UNREFUSED: f64 = 800.0;
/// Growth a second while requests wait for the rate and none is refused. It doubles with every
/// [`TIMED_GROWTH_DOUBLING_SECONDS`] seconds of that. At a low rate few requests are sent, so growth by requests alone
/// would take minutes. With growth by time, a low rate rises within seconds once the server allows more.
const TIMED_GROWTH: f64 = 0.01;
const MAX_TIMED_GROWTH: f64 = 0.5;
const TIMED_GROWTH_DOUBLING_SECONDS: f64 = 2.0;
/// Seconds and requests without a refusal after which a rate that refusals have confirmed grows by time as
/// well.
const CONFIRMED_SECONDS: f64 = 40.0;
const CONFIRMED_REQUESTS: f64 = 40.0;
/// A refusal corrects the rate only after this many requests have waited for the rate.
const MIN_WAITED_REQUESTS: u32 = 3;
/// After this many requests, a rate that is tried must have reduced the refusals to less than this share. If it has
/// not, the refusals have another cause.
const TRIAL_REQUESTS: u64 = 100;
const MAX_UNEXPLAINED_SHARE: f64 = 0.04;
/// After a request that was sent late, the next ones may be sent sooner, to make up for at most this much time, or for
/// this many requests if they take longer.
const CATCH_UP: Duration = Duration::from_millis(20);
const CATCH_UP_REQUESTS: f64 = 2.0;

/// A refused request: its number among those sent, and when it was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Refusal {
    number: u64,
    /// Busy time of the account: it excludes idle time.
    sent_at: Duration,
}

/// What a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalMeaning {
    /// It applies to this one request only, or the rate was corrected and no rest is needed.
    OneRequest,
    /// The account is at its limit, and rests until this moment.
    Account {
        /// End of the rest.
        until: Duration,
        /// True if the account already kept to a rate, and that was not enough.
        again: bool,
    },
}

/// The pace at which requests are sent once refusals have shown that there is a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestPace {
    refusals: VecDeque<Refusal>,
    limit: Option<PaceLimit>,
    /// Number of requests sent up to the last change. Refusals of requests with lower numbers were caused by the rate
    /// before the change.
    changed_at: u64,
    /// Number of the first request whose refusal may start another try of a rate, and how many tries did not help so
    /// far. Each of them doubles the time until the next try.
    try_from: u64,
    failed_tries: u32,
}

/// A rate that the account keeps to.
#[derive(Debug, Clone)]
struct PaceLimit {
    per_second: f64,
    /// Earliest time for the next request.
    next: Duration,
    /// The refusal at which the count of admitted requests began.
    since: Refusal,
    /// Requests sent before this rate was set, and refusals since. A later correction keeps both.
    begun: u64,
    refused: u64,
    /// Requests that waited for the rate, in a row, and were not refused.
    unrefused: f64,
    /// Seconds in which requests waited for the rate and none was refused.
    unrefused_seconds: f64,
    /// Requests that had to wait for the rate since it was set.
    waited: u32,
    /// True if requests were refused at about this rate before.
    is_confirmed: bool,
    /// Length of the rest before this measurement; `None` once the rate is known.
    measuring: Option<Duration>,
}

impl RequestPace {
    /// Earliest time for the next request.
    pub(super) fn ready_at(&self) -> Duration {
        self.limit.as_ref().map_or(Duration::ZERO, |limit| limit.next)
    }

    /// Whether the account keeps to a rate, or measures one.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The rate in requests a second; `None` while there is no limit, and while it is measured.
    pub(super) fn rate(&self) -> Option<f64> {
        self.limit.as_ref().filter(|limit| limit.measuring.is_none()).map(|limit| limit.per_second)
    }

    #[cfg(test)]
    pub(super) fn kept_to(rate: f64, is_confirmed: bool) -> Self {
        let mut pace = Self::default();
        let since = Refusal { number: 0, sent_at: Duration::ZERO };
        pace.keep_to(rate, since, Duration::ZERO, 0);
        if let Some(limit) = &mut pace.limit {
            limit.is_confirmed = is_confirmed;
        }

        pace
    }

    /// Counts a request that is sent now.
    pub(super) fn send(&mut self, now: Duration) {
        let Some(limit) = &mut self.limit else { return };
        let every = seconds(1.0 / limit.per_second);
        let late = now.saturating_sub(limit.next);

        // If no request waits for the rate, nothing shows whether it is right, so it does not grow.
        if late < every.max(CATCH_UP) {
            limit.unrefused += 1.0;
            limit.unrefused_seconds += every.as_secs_f64();
            limit.waited = limit.waited.saturating_add(1);
            limit.per_second *= 1.0 + limit.growth(every);
        }

        let made_up = CATCH_UP.max(every.mul_f64(CATCH_UP_REQUESTS));
        limit.next = limit.next.max(now.saturating_sub(made_up)) + every;
    }

    /// Records a refusal of request `number`, which was sent at the busy time `sent_at`. `sent` is the number of all
    /// requests so far, `asked_pause` the pause that the server asked for, and `hint` the rate in requests a second at
    /// which it reports that its allowance fills.
    pub(super) fn refused(
        &mut self,
        number: u64,
        sent_at: Duration,
        now: Duration,
        sent: u64,
        asked_pause: Option<Duration>,
        hint: Option<f64>,
    ) -> RefusalMeaning {
        let refusal = Refusal { number, sent_at };
        let index = self.refusals.partition_point(|other| other.number < number);
        self.refusals.insert(index, refusal);
        if self.refusals.len() > MAX_REMEMBERED_REFUSALS {
            self.refusals.pop_front();
        }

        if number < self.changed_at {
            return RefusalMeaning::OneRequest;
        }

        let neighbours = self.recent(number, NEIGHBOURS);
        let dense = self.dense();
        let Some(limit) = &mut self.limit else {
            return match neighbours {
                Some((first, count)) if count >= dense => {
                    self.measure(first, FIRST_PAUSE, now, sent, asked_pause, false)
                }
                _ => {
                    self.try_rate(number, now, sent);
                    RefusalMeaning::OneRequest
                }
            };
        };

        limit.refused += 1;
        if let Some(pause) = limit.measuring {
            let since = limit.since;
            return match self.rate_between(since, refusal).or(hint) {
                Some(rate) => {
                    let meaning = self.keep_to(rate, since, now, sent);
                    if let Some(limit) = &mut self.limit {
                        limit.unrefused = INITIAL_UNREFUSED;
                    }
                    meaning
                }
                None => self.measure(since, pause.saturating_mul(2), now, sent, asked_pause, false),
            };
        }
        if let Some((first, _)) = neighbours.filter(|(_, count)| *count >= dense) {
            return self.measure(first, FIRST_PAUSE, now, sent, asked_pause, true);
        }

        let tried = sent - limit.begun;
        if tried >= TRIAL_REQUESTS && limit.refused as f64 >= MAX_UNEXPLAINED_SHARE * tried as f64 {
            // Going slower has not ended the refusals, so they are not about the rate.
            self.limit = None;
            self.failed_tries += 1;
            self.try_from = sent + (TRIAL_REQUESTS << self.failed_tries.min(16));
            self.changed_at = sent;
            return RefusalMeaning::OneRequest;
        }

        if limit.waited < MIN_WAITED_REQUESTS {
            // Fewer requests were sent than the rate allows, so this refusal is not about the rate.
            return RefusalMeaning::OneRequest;
        }

        let (begun, count, present) = (limit.begun, limit.refused, limit.per_second);
        let rate = self.latest_rate(refusal).map_or(SAFE_SHARE * present, |rate| rate.min(present));
        let since = self.refusals.front().copied().unwrap_or(refusal);
        let meaning = self.keep_to(rate, since, now, sent);
        if let Some(limit) = &mut self.limit {
            (limit.begun, limit.refused) = (begun, count);
            limit.is_confirmed = true;
        }

        meaning
    }

    /// The number of refusals among the last `span` requests up to `number`, and the first of them. Only
    /// requests since the last change count.
    fn recent(&self, number: u64, span: u64) -> Option<(Refusal, usize)> {
        let from = (number + 1).saturating_sub(span).max(self.changed_at);
        let mut recent = self.refusals.iter().filter(|refusal| (from..=number).contains(&refusal.number));
        let first = *recent.next()?;

        Some((first, 1 + recent.count()))
    }

    /// How many refusals among neighbours show a limit. More are needed after tried rates did not help.
    fn dense(&self) -> usize {
        DENSE_REFUSALS + self.failed_tries.min(2) as usize
    }

    /// Rests, and then sends freely until the next refusal, which yields the rate.
    fn measure(
        &mut self,
        since: Refusal,
        pause: Duration,
        now: Duration,
        sent: u64,
        asked_pause: Option<Duration>,
        again: bool,
    ) -> RefusalMeaning {
        let pause = pause.min(LONGEST_PAUSE);
        let until = now.saturating_add(asked_pause.unwrap_or_default().max(pause));
        self.changed_at = sent;
        let limit = PaceLimit::new(MEASURING_RATE, until, since, sent);
        self.limit = Some(PaceLimit { measuring: Some(pause), ..limit });

        RefusalMeaning::Account { until, again }
    }

    /// If refusals are frequent or even, keeps to the rate of the recent requests, to see whether that ends the refusals.
    fn try_rate(&mut self, number: u64, now: Duration, sent: u64) {
        if number < self.try_from {
            return;
        }

        let frequent = self.recent(number, SAMPLE_REQUESTS).filter(|(_, count)| *count >= FREQUENT_REFUSALS);
        if let Some(first) = frequent.map(|(first, _)| first).or_else(|| self.first_of_even(number))
            && let Some(last) = self.refusals.iter().find(|refusal| refusal.number == number)
            && let Some(rate) = self.rate_between(first, *last)
        {
            self.keep_to(rate, first, now, sent);
        }
    }

    /// The first of the last [`EVEN_REFUSALS`] up to this request, if they are at even distances.
    fn first_of_even(&self, number: u64) -> Option<Refusal> {
        let known = self.refusals.iter().rev().skip_while(|refusal| refusal.number > number);
        let last: Vec<Refusal> = known.take(EVEN_REFUSALS).copied().collect();
        let (newest, first) = (last.first()?, *last.get(EVEN_REFUSALS - 1)?);
        let largest = last.windows(2).map(|pair| pair[0].number - pair[1].number).max()?;
        let mean = (newest.number - first.number) as f64 / (EVEN_REFUSALS - 1) as f64;

        (first.number >= self.changed_at && largest as f64 <= MAX_EVEN_DISTANCE * mean).then_some(first)
    }

    /// Keeps to a little less than this rate from now on.
    fn keep_to(&mut self, rate: f64, since: Refusal, now: Duration, sent: u64) -> RefusalMeaning {
        self.changed_at = sent;
        self.limit = Some(PaceLimit::new(SAFE_SHARE * rate, now + seconds(1.0 / rate), since, sent));

        RefusalMeaning::OneRequest
    }

    /// The rate between two refusals, in requests a second; `None` if too few requests were admitted between
    /// them.
    fn rate_between(&self, first: Refusal, last: Refusal) -> Option<f64> {
        let between = first.number + 1..=last.number;
        let refused = self.refusals.iter().filter(|refusal| between.contains(&refusal.number)).count();
        let admitted = last.number.saturating_sub(first.number) as f64 - refused as f64;
        let time = last.sent_at.saturating_sub(first.sent_at).as_secs_f64();

        (admitted >= MIN_MEASURED_REQUESTS && time > 0.0).then(|| admitted / time)
    }

    /// The rate over the shortest time up to this refusal in which [`SUFFICIENT_REQUESTS`] requests were admitted, or
    /// else over all remembered refusals.
    fn latest_rate(&self, last: Refusal) -> Option<f64> {
        let since = self.limit.as_ref().map_or(last, |limit| limit.since);
        let before =
            || self.refusals.iter().filter(|first| (since.number..last.number).contains(&first.number));
        let is_enough = |first: &&Refusal| (last.number - first.number) as f64 >= SUFFICIENT_REQUESTS;

        before()
            .rev()
            .find(is_enough)
            .or_else(|| before().next())
            .and_then(|first| self.rate_between(*first, last))
    }
}

impl PaceLimit {
    /// A rate that is known, and has not been tried yet. `begun` is the number of requests so far.
    fn new(per_second: f64, next: Duration, since: Refusal, begun: u64) -> Self {
        Self {
            per_second,
            next,
            since,
            begun,
            refused: 0,
            unrefused: 0.0,
            unrefused_seconds: 0.0,
            waited: 0,
            is_confirmed: false,
            measuring: None,
        }
    }

    /// Relative growth of the rate with a request that waited for it; `every` is the time between two requests
    /// at this rate.
    fn growth(&self, every: Duration) -> f64 {
        if self.measuring.is_some() {
            return MAX_GROWTH;
        }

        let by_count = (GROWTH * (self.unrefused / GROWTH_DOUBLING_REQUESTS).exp2()).min(MAX_GROWTH);
        let trusted = self.unrefused_seconds - if self.is_confirmed { CONFIRMED_SECONDS } else { 0.0 };
        if trusted <= 0.0 || self.is_confirmed && self.unrefused < CONFIRMED_REQUESTS {
            return by_count;
        }

        let a_second =
            (TIMED_GROWTH * (trusted / TIMED_GROWTH_DOUBLING_SECONDS).exp2()).min(MAX_TIMED_GROWTH);
        by_count.max((a_second * every.as_secs_f64()).min(1.0))
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
