//! All rules of one account together: when the next request may go out, and what each answer changes.

use std::time::Duration;

use super::allowance::{AllowanceKind, ServerAllowance};
use super::bucket::TokenBucket;
use super::window::ConcurrencyWindow;
use crate::token_counts::TokenCounts;

/// The longest pause taken from a reset that comes with a good answer: it says when an allowance is full again, and
/// long before that a request may pass.
const LONGEST_RESET: Duration = Duration::from_mins(1);
/// Tokens that a reply is expected to have before one has been seen.
const FIRST_OUTPUT: f64 = 512.0;
/// The weight of the newest reply in the running means.
const NEWEST: f64 = 0.1;

/// The state of an account. Times are counted from one moment, the same for all calls.
#[derive(Debug, Clone)]
pub(super) struct RateLimiter {
    pub(super) window: ConcurrencyWindow,
    requests: Option<TokenBucket>,
    tokens: Option<TokenBucket>,
    /// Spacing that the server's own allowances ask for, of requests and of tokens.
    spacings: [Option<EvenSpacing>; 2],
    /// End of the pause: no request is sent before.
    gate: Duration,
    good_answers: u64,
    /// Tokens of a reply, and of a request with its reply, on the average of late.
    mean_output: f64,
    mean_tokens: f64,
}

/// Even spacing of requests until an allowance is full again.
#[derive(Debug, Clone, Copy, PartialEq)]
struct EvenSpacing {
    every: Duration,
    next: Duration,
    until: Duration,
}

impl RateLimiter {
    /// Limits a minute are more than 0 where they are given.
    pub(super) fn new(window: ConcurrencyWindow, requests: Option<f64>, tokens: Option<f64>) -> Self {
        Self {
            window,
            requests: requests.map(TokenBucket::per_minute),
            tokens: tokens.map(TokenBucket::per_minute),
            spacings: [None, None],
            gate: Duration::ZERO,
            good_answers: 0,
            mean_output: FIRST_OUTPUT,
            mean_tokens: FIRST_OUTPUT,
        }
    }

    /// Expected tokens of a request with `input` tokens whose reply may have at most `most`.
    pub(super) fn expected(&self, input: u64, most: Option<u32>) -> f64 {
        input as f64 + most.map_or(self.mean_output, |most| self.mean_output.min(f64::from(most)))
    }

    /// Takes a request's share of all rates, and says how long it has to wait for it.
    pub(super) fn take(&mut self, now: Duration, tokens: f64) -> Duration {
        let mut wait = Duration::ZERO;
        if let Some(bucket) = &mut self.requests {
            wait = wait.max(bucket.take(now, 1.0));
        }
        if let Some(bucket) = &mut self.tokens {
            wait = wait.max(bucket.take(now, tokens));
        }

        for spacing in &mut self.spacings {
            let Some(present) = spacing else { continue };
            if now >= present.until {
                *spacing = None;
                continue;
            }

            present.next = present.next.max(now);
            wait = wait.max(present.next.saturating_sub(now));

            present.next += present.every;
        }

        wait
    }

    /// Gives back the share of a request that is not sent.
    pub(super) fn give_back(&mut self, tokens: f64) {
        if let Some(bucket) = &mut self.requests {
            bucket.correct(-1.0);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.correct(-tokens);
        }
    }

    /// Remaining pause of the account; zero when there is none.
    pub(super) fn rest(&self, now: Duration) -> Duration {
        self.gate.saturating_sub(now)
    }

    /// When the rest ends.
    pub(super) fn gate(&self) -> Duration {
        self.gate
    }

    /// Good answers so far.
    pub(super) fn good_answers(&self) -> u64 {
        self.good_answers
    }

    /// A good answer to the request with this number.
    pub(super) fn answered(&mut self, number: u64) {
        self.good_answers += 1;
        self.window.answered(number);
    }

    /// The server limited the request with this number, and perhaps asked for a rest.
    pub(super) fn limited(&mut self, number: u64, now: Duration, asked: Option<Duration>) {
        self.window.limited(number);
        if let Some(asked) = asked {
            self.gate = self.gate.max(now.saturating_add(asked));
        }
    }

    /// Takes a reported allowance in. When the requests that are in flight use it up, the next ones go out as fast as
    /// the allowance fills.
    pub(super) fn update_allowance(&mut self, now: Duration, allowance: ServerAllowance) {
        let ServerAllowance { kind, limit, remaining, reset } = allowance;
        let (slot, cost) = match kind {
            AllowanceKind::Requests => (0, 1.0),
            AllowanceKind::Tokens => (1, self.mean_tokens.max(1.0)),
        };
        let on_their_way = f64::from(self.window.in_flight().saturating_sub(1)) * cost;
        if remaining > on_their_way {
            self.spacings[slot] = None;
            return;
        }

        let Some(used) = limit.map(|limit| limit - remaining).filter(|used| *used > 0.0) else {
            // How fast it fills is not known, only when it is full.
            if remaining <= 0.0 {
                self.gate = self.gate.max(now + reset.min(LONGEST_RESET));
            }
            return;
        };

        let every = Duration::try_from_secs_f64(reset.as_secs_f64() * cost / used).unwrap_or(LONGEST_RESET);
        let every = every.min(LONGEST_RESET);
        let next = self.spacings[slot].map_or(now + every, |spacing| spacing.next.min(now + every));
        self.spacings[slot] = Some(EvenSpacing { every, next, until: now.saturating_add(reset) });
    }

    /// Corrects the rates by the real cost of a request that was expected to cost `expected` tokens.
    pub(super) fn cost(&mut self, expected: f64, usage: TokenCounts) {
        if let Some(output) = usage.output {
            self.mean_output += NEWEST * (output as f64 - self.mean_output);
        }

        let Some(input) = usage.input else { return };
        let real = input.saturating_add(usage.output.unwrap_or(0)) as f64;
        self.mean_tokens += NEWEST * (real - self.mean_tokens);

        if let Some(bucket) = &mut self.tokens {
            bucket.correct(real - expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limiter() -> RateLimiter {
        RateLimiter::new(ConcurrencyWindow::new(8, 100), None, None)
    }

    fn requests_left(limit: Option<f64>, remaining: f64, reset: u64) -> ServerAllowance {
        ServerAllowance { kind: AllowanceKind::Requests, limit, remaining, reset: Duration::from_secs(reset) }
    }

    #[test]
    fn pause_holds_for_all_requests_and_never_gets_shorter() {
        let mut limiter = limiter();
        limiter.limited(0, SECOND, Some(7 * SECOND));
        assert_eq!(limiter.rest(2 * SECOND), 6 * SECOND);
        limiter.limited(0, 2 * SECOND, Some(SECOND));
        assert_eq!(limiter.rest(2 * SECOND), 6 * SECOND);
        assert_eq!(limiter.rest(9 * SECOND), Duration::ZERO);
        limiter.limited(0, Duration::MAX, Some(SECOND));
        assert_eq!(limiter.gate(), Duration::MAX);
    }

    #[test]
    fn exhausted_allowance_spaces_later_requests_evenly() {
        let mut limiter = limiter();
        limiter.update_allowance(SECOND, requests_left(Some(60.0), 30.0, 30));
        assert_eq!(limiter.take(SECOND, 0.0), Duration::ZERO, "enough is left");
        limiter.update_allowance(SECOND, requests_left(Some(60.0), 0.0, 60));
        assert_eq!(limiter.take(SECOND, 0.0), SECOND, "60 in 60 s");
        assert_eq!(limiter.take(SECOND, 0.0), 2 * SECOND);
        assert_eq!(limiter.rest(SECOND), Duration::ZERO);
        limiter.update_allowance(2 * SECOND, requests_left(Some(60.0), 20.0, 40));
        assert_eq!(limiter.take(2 * SECOND, 0.0), Duration::ZERO, "there is room again");
    }

    #[test]
    fn exhausted_allowance_without_a_limit_is_a_pause() {
        let mut limiter = limiter();
        limiter.update_allowance(SECOND, requests_left(None, 0.0, 4));
        assert_eq!(limiter.rest(SECOND), 4 * SECOND);
        limiter.update_allowance(SECOND, requests_left(None, 0.0, 100_000));
        assert_eq!(limiter.rest(SECOND), LONGEST_RESET);
    }

    #[test]
    fn tokens_are_estimated_and_then_known() {
        let mut limiter = RateLimiter::new(ConcurrencyWindow::new(8, 100), None, Some(60_000.0));
        assert_eq!(limiter.expected(100, None), 612.0);
        assert_eq!(limiter.expected(100, Some(10)), 110.0);
        for _ in 0..200 {
            limiter.cost(0.0, TokenCounts { input: Some(100), cached: None, output: Some(20) });
        }
        assert!((limiter.expected(100, None) - 120.0).abs() < 0.1);
        let mut limiter = RateLimiter::new(ConcurrencyWindow::new(8, 100), None, Some(60_000.0));
        assert_eq!(limiter.take(Duration::ZERO, 900.0), Duration::ZERO);
        limiter.cost(900.0, TokenCounts { input: Some(10_000), cached: None, output: Some(900) });
        assert!(limiter.take(Duration::ZERO, 1.0) > 9 * SECOND);
        limiter.give_back(1.0);
    }

    #[test]
    fn both_rates_hold() {
        let mut limiter = RateLimiter::new(ConcurrencyWindow::new(8, 100), Some(60.0), Some(6_000.0));
        assert_eq!(limiter.take(Duration::ZERO, 50.0), Duration::ZERO);
        assert_eq!(limiter.take(Duration::ZERO, 50.0), SECOND, "requests are the scarcer");
        assert!(limiter.take(Duration::ZERO, 5_000.0) > 40 * SECOND, "now tokens are");
    }
}
