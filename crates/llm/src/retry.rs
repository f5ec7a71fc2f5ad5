//! When and after how long to try again: exponential backoff with full jitter, bounded in number and in time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::error::ErrorKind;

/// Limits for retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Requests for one question at most, including the first. 0 counts as 1.
    pub max_attempts: u32,
    /// The first wait is drawn between zero and this. The range doubles for each further wait.
    pub base: Duration,
    /// The longest random wait. The server may ask for a longer one.
    pub cap: Duration,
    /// The limit for all waits of one question together. A wait that would exceed it is not begun: the question
    /// fails at once.
    pub max_total_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            max_total_wait: Duration::from_mins(5),
        }
    }
}

impl RetryPolicy {
    /// One attempt and no waiting.
    pub fn never() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }

    /// The wait before the next attempt, or `None` to give up.
    ///
    /// `tries` counts the attempts so far, `waited` sums the waits so far, `pause` is the pause that the server
    /// asked for. The wait is this pause plus a random part of up to an eighth of it (or of the first range, if that is
    /// less), so that many waiting requests do not return at the same instant.
    pub(crate) fn next_wait(
        &self,
        kind: ErrorKind,
        tries: u32,
        waited: Duration,
        pause: Option<Duration>,
        jitter: &mut RetryJitter,
    ) -> Option<Duration> {
        if !kind.is_retryable() || tries >= self.max_attempts {
            return None;
        }

        let wait = if let Some(pause) = pause {
            pause.checked_add(jitter.up_to(self.base.min(pause / 8 + self.base / 10)))?
        } else {
            let doublings = tries.saturating_sub(1).min(31);
            jitter.up_to(self.base.saturating_mul(1 << doublings).min(self.cap))
        };
        (waited.checked_add(wait)? <= self.max_total_wait).then_some(wait)
    }
}

/// The random waits of one call. They depend only on the seed and the call's number, not on other calls in flight.
pub(crate) struct RetryJitter(StdRng);

impl RetryJitter {
    pub(crate) fn new(seed: u64, question: u64) -> Self {
        // An odd multiplier spreads neighbouring question numbers over the whole seed space.
        Self(StdRng::seed_from_u64(seed ^ question.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    fn up_to(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(self.0.random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 5,
        base: Duration::from_secs(1),
        cap: Duration::from_secs(3),
        max_total_wait: Duration::from_mins(1),
    };

    fn wait(tries: u32, pause: Option<u64>, seed: u64) -> Option<Duration> {
        let pause = pause.map(Duration::from_secs);
        POLICY.next_wait(ErrorKind::Server, tries, Duration::ZERO, pause, &mut RetryJitter::new(seed, 0))
    }

    #[test]
    fn ranges_double_up_to_the_cap_and_are_used_fully() {
        for (tries, limit) in [(1, 1.0), (2, 2.0), (3, 3.0), (4, 3.0)] {
            let waits: Vec<f64> =
                (0..200).map(|seed| wait(tries, None, seed).unwrap().as_secs_f64()).collect();
            assert!(waits.iter().all(|w| (0.0..limit).contains(w)), "{tries}");
            assert!(
                waits.iter().any(|w| *w < limit * 0.1) && waits.iter().any(|w| *w > limit * 0.9),
                "{tries}"
            );
        }
    }

    #[test]
    fn a_servers_wish_is_a_lower_bound() {
        for seed in 0..50 {
            let wait = wait(1, Some(10), seed).unwrap().as_secs_f64();
            assert!((10.0..11.0).contains(&wait));
        }
    }

    #[test]
    fn gives_up_on_count_kind_and_total_time() {
        assert_eq!(wait(5, None, 1), None);
        assert_eq!(wait(1, Some(60), 1), None);
        assert_eq!(wait(1, Some(u64::MAX), 1), None);
        let jitter = &mut RetryJitter::new(1, 1);
        assert_eq!(POLICY.next_wait(ErrorKind::BadRequest, 1, Duration::ZERO, None, jitter), None);
    }

    #[test]
    fn the_same_seed_draws_the_same_and_questions_differ() {
        let draw = |seed, question| RetryJitter::new(seed, question).up_to(Duration::from_secs(1));
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
    }
}
