//! The rate of all workers as a leaky bucket. Workers may use a grant any time within its term, and still no
//! minute exceeds the limit.

use std::time::Duration;

const MINUTE: f64 = 60.0;

/// Leaky bucket of one limit.
#[derive(Debug, Clone)]
pub(super) struct SharedBucket {
    per_second: f64,
    burst: f64,
    level: f64,
    at: Duration,
}

impl SharedBucket {
    /// A bucket for `per_minute` units a minute. Because a grant may be used up to `term` later, the use of one
    /// minute comes from the grants of a minute plus `term`, and the bucket keeps to the limit over that
    /// window. It begins empty, since earlier coordinators may have granted until now.
    pub(super) fn new(per_minute: u32, term: Duration, now: Duration) -> Self {
        let limit = f64::from(per_minute);
        let window = MINUTE + term.as_secs_f64();
        let burst = (limit / window).max(1.0);
        // With a burst of 1, the spacing alone keeps to the limit.
        let flow = if burst > 1.0 { limit - burst } else { limit };

        Self { per_second: flow / window, burst, level: 0.0, at: now }
    }

    /// Takes up to `count` times `each`; returns how many times it could.
    pub(super) fn take(&mut self, now: Duration, count: u64, each: f64) -> u64 {
        self.flow(now, each);
        if each <= 0.0 {
            return count;
        }
        let fitting = (self.level / each + 1e-9).floor().max(0.0);
        let taken = count.min(fitting as u64);
        self.level -= taken as f64 * each;

        taken
    }

    /// How many times `each` could be taken now.
    pub(super) fn fitting(&mut self, now: Duration, each: f64) -> u64 {
        self.flow(now, each);
        if each <= 0.0 { u64::MAX } else { (self.level / each + 1e-9).floor().max(0.0) as u64 }
    }

    /// Takes `more` in addition to the granted tokens; a negative number returns tokens.
    pub(super) fn correct(&mut self, more: f64) {
        self.level = (self.level - more).min(self.burst);
    }

    fn flow(&mut self, now: Duration, each: f64) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        // A request larger than the bucket must fit once as much has flowed in.
        self.level = (self.level + passed * self.per_second).min(self.burst.max(each));
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TERM: Duration = Duration::from_secs(2);

    proptest! {
        /// For all requests of workers, and all times of use within the term, no minute exceeds the limit.
        #[test]
        fn no_minute_of_use_has_more_than_the_limit(
            per_minute in 1u32..600,
            asks in prop::collection::vec((0u64..2_000, 1u64..50, 0u64..2_000), 1..300),
        ) {
            let mut bucket = SharedBucket::new(per_minute, TERM, Duration::ZERO);
            let mut now = 0;
            let mut uses: Vec<(u64, u64)> = Vec::new();
            for (gap, count, delay) in asks {
                now += gap;
                let taken = bucket.take(Duration::from_millis(now), count, 1.0);
                uses.push((now + delay, taken));
            }
            for (start, _) in &uses {
                let used: u64 = uses
                    .iter()
                    .filter(|(at, _)| at >= start && *at < start + 60_000)
                    .map(|(_, taken)| taken)
                    .sum();
                prop_assert!(used <= u64::from(per_minute), "{used} of {per_minute}");
            }
        }
    }

    #[test]
    fn what_is_larger_than_the_bucket_is_granted_once_it_has_flowed_in() {
        let mut bucket = SharedBucket::new(6_000, TERM, Duration::ZERO);
        assert_eq!(bucket.take(Duration::from_secs(1), 1, 5_000.0), 0);
        assert_eq!(bucket.fitting(Duration::from_secs(62), 5_000.0), 1);
        assert_eq!(bucket.take(Duration::from_secs(62), 3, 5_000.0), 1);
        bucket.correct(-1_000.0);
        assert!(bucket.fitting(Duration::from_secs(62), 10.0) > 0);
    }
}
