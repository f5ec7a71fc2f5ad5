//! A rate per minute as a bucket that fills evenly (the leaky bucket as a meter, ITU-T I.371).

use std::time::Duration;

/// A leaky bucket. The amount taken within any minute never exceeds the amount that it was made for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TokenBucket {
    /// Refill rate per second.
    per_second: f64,
    /// Capacity.
    burst: f64,
    /// The current level. A negative level is reserved in advance.
    level: f64,
    /// The time at which the level was computed.
    at: Duration,
}

impl TokenBucket {
    /// A full bucket for `per_minute`, which must be more than 0. It holds one second's worth, but at least 1. It fills
    /// at a rate at which the burst and the flow of a minute together are `per_minute`.
    pub(super) fn per_minute(per_minute: f64) -> Self {
        let burst = (per_minute / 60.0).max(1.0);
        // With a burst of 1, spacing alone keeps the count: two requests are always at least one interval
        // apart.
        let flow = if burst > 1.0 { per_minute - burst } else { per_minute };
        Self { per_second: flow / 60.0, burst, level: burst, at: Duration::ZERO }
    }

    /// The earliest time at which `cost` may be taken. A cost above the bucket's size has to wait until that much has
    /// flowed in.
    pub(super) fn ready_at(&self, cost: f64) -> Duration {
        let missing = (cost - self.level).max(0.0) / self.per_second;
        self.at.saturating_add(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX))
    }

    /// Takes `cost` out.
    pub(super) fn take(&mut self, now: Duration, cost: f64) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.burst.max(cost)) - cost;
        self.at = self.at.max(now);
    }

    /// Takes out `more`; a negative amount gives back an unused part.
    pub(super) fn correct(&mut self, more: f64) {
        self.level = (self.level - more).min(self.burst);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    /// Takes `cost` as soon as possible, and returns the wait.
    fn wait(bucket: &mut TokenBucket, now: Duration, cost: f64) -> Duration {
        let at = bucket.ready_at(cost).max(now);
        bucket.take(at, cost);
        at.saturating_sub(now)
    }

    #[test]
    fn a_second_at_once_and_the_rest_spread() {
        let mut bucket = TokenBucket::per_minute(600.0);
        let waits: Vec<Duration> = (0..12).map(|_| wait(&mut bucket, Duration::ZERO, 1.0)).collect();
        assert!(waits[..10].iter().all(Duration::is_zero));
        assert!((waits[10].as_secs_f64() - 60.0 / 590.0).abs() < 1e-9);
        assert!((waits[11].as_secs_f64() - 2.0 * 60.0 / 590.0).abs() < 1e-9);
    }

    #[test]
    fn one_a_minute_is_one_a_minute() {
        let mut bucket = TokenBucket::per_minute(1.0);
        assert_eq!(wait(&mut bucket, Duration::ZERO, 1.0), Duration::ZERO);
        assert_eq!(wait(&mut bucket, Duration::ZERO, 1.0), MINUTE);
    }

    #[test]
    fn a_wrong_estimate_is_made_good() {
        let mut bucket = TokenBucket::per_minute(6_000.0);
        assert_eq!(wait(&mut bucket, Duration::ZERO, 100.0), Duration::ZERO);
        bucket.correct(5_900.0);
        assert!(wait(&mut bucket, Duration::ZERO, 1.0) > Duration::from_secs(59));
        let mut bucket = TokenBucket::per_minute(6_000.0);
        let later = wait(&mut bucket, Duration::ZERO, 5_000.0);
        bucket.correct(-4_950.0);
        assert_eq!(wait(&mut bucket, later, 50.0), Duration::ZERO);
    }

    proptest! {
        /// However requests come, those allowed within any minute never cost more than the amount.
        #[test]
        fn no_minute_has_more_than_the_amount(
            per_minute in 1u32..500,
            arrivals in prop::collection::vec((0u64..3_000, 1u32..4), 1..200),
        ) {
            let amount = f64::from(per_minute);
            let mut bucket = TokenBucket::per_minute(amount);
            let mut now = Duration::ZERO;
            let mut allowed: Vec<(Duration, f64)> = Vec::new();
            for (gap, cost) in arrivals {
                let cost = f64::from(cost.min(per_minute));
                now += Duration::from_millis(gap);
                let wait = wait(&mut bucket, now, cost);
                allowed.push((now + wait, cost));
            }
            for (start, _) in &allowed {
                let within: f64 = allowed
                    .iter()
                    .filter(|(at, _)| at >= start && *at + Duration::from_millis(1) < *start + MINUTE)
                    .map(|(_, cost)| cost)
                    .sum();
                // A request that costs more than the bucket holds waits until enough has flowed in, so it exceeds the
                // rate by its own size at most.
                prop_assert!(within <= amount.max(4.0) + 3.0 + 1e-6, "{within} of {amount}");
            }
        }
    }
}
