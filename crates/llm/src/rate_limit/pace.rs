//! Rate that an account is allowed, as its refusals tell it.
//!
//! A server that limits a rate admits exactly what its allowance fills with between two refusals, since nothing is left of it
//! at either. So the requests admitted between two refusals, divided by the time between them, are the rate, to within one
//! request. No limit is assumed until refusals come close together; a few among many are the fate of those requests.

use std::collections::VecDeque;
use std::time::Duration;

/// Consecutive requests among which [`DENSE`] refusals show a limit of the account.
const NEIGHBOURS: u64 = 8;
const DENSE: usize = 5;
/// Requests among which [`FREQUENT`] refusals make a rate worth a try.
const SAMPLE: u64 = 128;
const FREQUENT: usize = 6;
/// Refusals that are remembered.
const REMEMBERED: usize = 64;
/// Admitted requests from which a rate is measured: with fewer, one more or less changes too much.
const MEASURED: f64 = 10.0;
/// Admitted requests that are enough for a rate; older ones only hide that it changed.
const ENOUGH: f64 = 60.0;
/// Pause before the first measurement; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Requests a second at which a measurement begins.
const MEASURING_RATE: f64 = 1_000.0;
/// Growth with each request: at first, and at most. It doubles with every [`CALM`] requests that nobody refuses.
const GROWTH: f64 = 5e-5;
const MOST_GROWTH: f64 = 0.02;
const CALM: f64 = 250.0;
/// Share of a rate that is kept to at first, so that refusals are rare.
const SAFE: f64 = 0.98;
/// Requests that a rate of few is taken to have gone without a refusal, so that it grows faster if it is too low.
const HEAD_START: f64 = 800.0;
/// Growth a second while requests wait for a rate and none is refused. It doubles with every [`TRUST_TIME`] of that, so that a
/// low rate, at which few requests go out, is left within seconds once the server takes more.
const TIMED_GROWTH: f64 = 0.01;
const MOST_TIMED_GROWTH: f64 = 0.5;
const TRUST_TIME: f64 = 2.0;
/// Seconds and requests without a refusal after which a rate that refusals have confirmed grows so too.
const CONFIRMED_TIME: f64 = 40.0;
const CONFIRMED_REQUESTS: f64 = 40.0;
/// Requests that have waited for a rate before a refusal says something about it.
const PRESSED: u32 = 3;
/// Requests after which a rate has to have ended the refusals, but for this share of them.
const TRIAL: u64 = 100;
const UNEXPLAINED: f64 = 0.04;
/// Time that requests may make up for when they went out late, and requests at least.
const CATCH_UP: Duration = Duration::from_millis(20);
const CATCH_UP_REQUESTS: f64 = 2.0;

/// Refused request: its number among those sent, and when it was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Refusal {
    number: u64,
    /// Without the time in which nobody wanted to send anything.
    sent_at: Duration,
}

/// Meaning of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalMeaning {
    /// It concerns this one request, or the rate was corrected by it.
    OneRequest,
    /// The account is at its limit, and rests until this moment.
    Account {
        /// End of the rest.
        until: Duration,
        /// True if the account was held to a rate already, which was not enough.
        again: bool,
    },
}

/// Pace at which requests go out, once refusals have shown that there is a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestPace {
    refusals: VecDeque<Refusal>,
    limit: Option<PaceLimit>,
    /// Refusals of requests with a lower number came about before the last change.
    changed_at: u64,
    /// Number of the first request that may give reason to try a rate, and how many of them were sent in vain so far.
    try_from: u64,
    in_vain: u32,
}

/// Rate that is kept to.
#[derive(Debug, Clone)]
struct PaceLimit {
    per_second: f64,
    /// When the next request may go out.
    next: Duration,
    /// Refusal from which on requests are counted.
    since: Refusal,
    /// Number of the first request at this rate, and the refusals since.
    begun: u64,
    refused: u64,
    /// Requests that nobody refused, in a row.
    calm: f64,
    /// Seconds in which requests waited for the rate and none was refused.
    calm_time: f64,
    /// Requests that waited for the rate since it was set.
    pressed: u32,
    /// True if requests were refused at about this rate before.
    is_confirmed: bool,
    /// Pause of the measurement; `None` once there is a rate.
    measuring: Option<Duration>,
}

impl RequestPace {
    /// When the next request may go out.
    pub(super) fn ready_at(&self) -> Duration {
        self.limit.as_ref().map_or(Duration::ZERO, |limit| limit.next)
    }

    /// True if a rate is kept to.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Requests a second that are kept to; `None` without such a rate, and while it is measured.
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

    /// A request goes out.
    pub(super) fn send(&mut self, now: Duration) {
        let Some(limit) = &mut self.limit else { return };
        let every = seconds(1.0 / limit.per_second);
        let late = now.saturating_sub(limit.next);

        // A rate that nobody waits for is not known to be right.
        if late < every.max(CATCH_UP) {
            limit.calm += 1.0;
            limit.calm_time += every.as_secs_f64();
            limit.pressed = limit.pressed.saturating_add(1);
            limit.per_second *= 1.0 + limit.growth(every);
        }

        let made_up = CATCH_UP.max(every.mul_f64(CATCH_UP_REQUESTS));
        limit.next = limit.next.max(now.saturating_sub(made_up)) + every;
    }

    /// The server refused a request, given by its number and the time without idle time at which it was sent. `sent` counts
    /// all requests so far, `asked` is the pause that it asked for, `hint` the rate by which it says its allowance fills.
    pub(super) fn refused(
        &mut self,
        (number, sent_at): (u64, Duration),
        now: Duration,
        sent: u64,
        asked: Option<Duration>,
        hint: Option<f64>,
    ) -> RefusalMeaning {
        let refusal = Refusal { number, sent_at };
        let place = self.refusals.partition_point(|other| other.number < number);
        self.refusals.insert(place, refusal);
        if self.refusals.len() > REMEMBERED {
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
                    self.measure(first, FIRST_PAUSE, now, sent, asked, false)
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
                        limit.calm = HEAD_START;
                    }
                    meaning
                }
                None => self.measure(since, pause.saturating_mul(2), now, sent, asked, false),
            };
        }
        if let Some((first, _)) = neighbours.filter(|(_, count)| *count >= dense) {
            return self.measure(first, FIRST_PAUSE, now, sent, asked, true);
        }

        let tried = sent - limit.begun;
        if tried >= TRIAL && limit.refused as f64 >= UNEXPLAINED * tried as f64 {
            // Going slower has not ended the refusals, so the rate is not what they are about.
            self.limit = None;
            self.in_vain += 1;
            self.try_from = sent + (TRIAL << self.in_vain.min(16));
            self.changed_at = sent;
            return RefusalMeaning::OneRequest;
        }

        if limit.pressed < PRESSED {
            // Fewer were sent than the rate allows, so it is not what this refusal is about.
            return RefusalMeaning::OneRequest;
        }

        let (begun, count, present) = (limit.begun, limit.refused, limit.per_second);
        let rate = self.latest_rate(refusal).map_or(SAFE * present, |rate| rate.min(present));
        let since = self.refusals.front().copied().unwrap_or(refusal);
        let meaning = self.keep_to(rate, since, now, sent);
        if let Some(limit) = &mut self.limit {
            (limit.begun, limit.refused) = (begun, count);
            limit.is_confirmed = true;
        }

        meaning
    }

    /// Refusals among the last requests up to this one since the last change, and the first of them.
    fn recent(&self, number: u64, span: u64) -> Option<(Refusal, usize)> {
        let from = (number + 1).saturating_sub(span).max(self.changed_at);
        let mut recent = self.refusals.iter().filter(|refusal| (from..=number).contains(&refusal.number));
        let first = *recent.next()?;

        Some((first, 1 + recent.count()))
    }

    /// Refusals among neighbours that show a limit: more where refusals have turned out to be about something else.
    fn dense(&self) -> usize {
        DENSE + self.in_vain.min(2) as usize
    }

    /// Rests, and then sends until the next refusal, which gives the rate.
    fn measure(
        &mut self,
        since: Refusal,
        pause: Duration,
        now: Duration,
        sent: u64,
        asked: Option<Duration>,
        again: bool,
    ) -> RefusalMeaning {
        let pause = pause.min(LONGEST_PAUSE);
        let until = now.saturating_add(asked.unwrap_or_default().max(pause));
        self.changed_at = sent;
        self.limit = Some(PaceLimit {
            per_second: MEASURING_RATE,
            next: until,
            since,
            begun: sent,
            refused: 0,
            calm: 0.0,
            calm_time: 0.0,
            pressed: 0,
            is_confirmed: false,
            measuring: Some(pause),
        });

        RefusalMeaning::Account { until, again }
    }

    /// Keeps to the rate of late if refusals are frequent, and sees whether that ends them.
    fn try_rate(&mut self, number: u64, now: Duration, sent: u64) {
        if number < self.try_from {
            return;
        }

        if let Some((first, FREQUENT..)) = self.recent(number, SAMPLE)
            && let Some(last) = self.refusals.iter().find(|refusal| refusal.number == number)
            && let Some(rate) = self.rate_between(first, *last)
        {
            self.keep_to(rate, first, now, sent);
        }
    }

    fn keep_to(&mut self, rate: f64, since: Refusal, now: Duration, sent: u64) -> RefusalMeaning {
        self.changed_at = sent;
        self.limit = Some(PaceLimit {
            per_second: SAFE * rate,
            next: now + seconds(1.0 / rate),
            since,
            begun: sent,
            refused: 0,
            calm: 0.0,
            calm_time: 0.0,
            pressed: 0,
            is_confirmed: false,
            measuring: None,
        });

        RefusalMeaning::OneRequest
    }

    /// Rate between two refusals; `None` if too few requests were admitted between them.
    fn rate_between(&self, first: Refusal, last: Refusal) -> Option<f64> {
        let between = first.number + 1..=last.number;
        let refused = self.refusals.iter().filter(|refusal| between.contains(&refusal.number)).count();
        let admitted = last.number.saturating_sub(first.number) as f64 - refused as f64;
        let time = last.sent_at.saturating_sub(first.sent_at).as_secs_f64();

        (admitted >= MEASURED && time > 0.0).then(|| admitted / time)
    }

    /// Rate over the shortest time up to this refusal that says enough, or over all that is remembered.
    fn latest_rate(&self, last: Refusal) -> Option<f64> {
        let since = self.limit.as_ref().map_or(last, |limit| limit.since);
        let before =
            || self.refusals.iter().filter(|first| (since.number..last.number).contains(&first.number));
        let is_enough = |first: &&Refusal| (last.number - first.number) as f64 >= ENOUGH;

        before()
            .rev()
            .find(is_enough)
            .or_else(|| before().next())
            .and_then(|first| self.rate_between(*first, last))
    }
}

impl PaceLimit {
    /// Growth with a request that had to wait this long for the one before.
    fn growth(&self, every: Duration) -> f64 {
        if self.measuring.is_some() {
            return MOST_GROWTH;
        }

        let by_count = (GROWTH * (self.calm / CALM).exp2()).min(MOST_GROWTH);
        let trusted = self.calm_time - if self.is_confirmed { CONFIRMED_TIME } else { 0.0 };
        if trusted <= 0.0 || self.is_confirmed && self.calm < CONFIRMED_REQUESTS {
            return by_count;
        }

        let a_second = (TIMED_GROWTH * (trusted / TRUST_TIME).exp2()).min(MOST_TIMED_GROWTH);
        by_count.max((a_second * every.as_secs_f64()).min(1.0))
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
