//! Finds the number of requests in flight at which a model on this machine works best.
//!
//! Such a server often has slots for several requests but only one processor. More requests in flight are then no
//! faster, and cost more: each slot processes the prefix that requests share for itself. So the number begins at one,
//! and is doubled, or quadrupled after a large gain, while the time per request falls. If a higher number does not
//! help, the climb returns to the best one and tries a higher one again after a rest, which doubles each time.
//!
//! The climb ends for a server that answers quickly: it would have answered hundreds of requests before a measurement
//! could help.

use std::time::Duration;

use super::latency::length_of;

/// A server whose answers take less than this is quick.
const QUICK_SECONDS: f64 = 1.0;
/// A number is measured over at least this many answers, and at least one for each request in flight.
const MIN_ANSWERS: u32 = 4;
/// A higher number is kept if the time per request falls to at most this share.
const MAX_KEPT: f64 = 0.85;
/// If it takes less than this part, the server works on nearly all at once: the next step is twice as large.
const LARGE_GAIN: f64 = 0.6;
/// Answers between a number that did not help and the next trial. They double each time.
const FIRST_REST: u32 = 16;

/// The best number of requests in flight to a server, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ThroughputClimb {
    /// The number of requests that may be in flight now.
    level: u32,
    /// The best number so far, and the seconds for each request of usual length with it.
    best: Option<(u32, f64)>,
    seconds: f64,
    answers: u32,
    /// Requests before this one were sent at another level.
    since: u64,
    /// Answers until the next trial, and after the next that does not help.
    rest: u32,
    next_rest: u32,
}

impl ThroughputClimb {
    pub(super) fn from(level: u32) -> Self {
        Self { level, best: None, seconds: 0.0, answers: 0, since: 1, rest: 0, next_rest: FIRST_REST }
    }

    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Records an answer. `sent` is the number of requests sent by now. Returns false if the server is quick.
    pub(super) fn note(&mut self, number: u64, sent: u64, time: AnswerTime, tokens: u64) -> bool {
        let seconds = time.latency.as_secs_f64();
        if number == 0 {
            // The first answer may include the time to load the model, so it only shows whether the server is quick.
            return seconds >= QUICK_SECONDS;
        }
        if number < self.since || time.load < self.level {
            return true;
        }

        self.seconds += seconds / length_of(tokens);
        self.answers += 1;
        if self.answers < self.level.max(MIN_ANSWERS) {
            return true;
        }

        let latency = self.seconds / f64::from(self.answers);
        let each = latency / f64::from(self.level);
        match self.best {
            Some((best, known)) if self.level > best && each > MAX_KEPT * known => {
                self.level = best;
                self.rest = self.next_rest;
                self.next_rest = self.next_rest.saturating_mul(2);
            }
            best => {
                let is_large =
                    best.is_some_and(|(level, known)| level < self.level && each < LARGE_GAIN * known);
                self.best = Some((self.level, each));
                self.rest = self.rest.saturating_sub(self.answers);
                if self.rest == 0 {
                    self.level = self.level.saturating_mul(if is_large { 4 } else { 2 });
                }
            }
        }
        (self.seconds, self.answers, self.since) = (0.0, 0, sent);
        latency >= QUICK_SECONDS
    }
}

/// How long an answer took, its time limit, and the number of requests in flight when its request was sent, itself
/// included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerTime {
    pub(crate) latency: Duration,
    pub(crate) limit: Duration,
    pub(crate) load: u32,
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::*;

    /// The level after each of `answers` answers. `latency` returns the seconds of an answer for a number in flight.
    fn levels(answers: usize, latency: impl Fn(u32) -> f64) -> Vec<u32> {
        let mut climb = ThroughputClimb::from(1);
        let (mut sent, mut in_flight) = (0, VecDeque::new());
        let mut levels = Vec::new();
        while levels.len() < answers {
            while in_flight.len() < climb.level() as usize {
                in_flight.push_back((sent, in_flight.len() as u32 + 1));
                sent += 1;
            }
            let (number, load) = in_flight.pop_front().expect("one is in flight");
            let latency = Duration::from_secs_f64(latency(load));
            if !climb.note(number, sent, AnswerTime { latency, limit: Duration::MAX, load }, 100) {
                return levels;
            }
            levels.push(climb.level());
        }
        levels
    }

    #[test]
    fn a_server_with_one_processor_gets_one_request_at_a_time_and_few_trials() {
        let levels = levels(200, |load| 3.0 * f64::from(load));
        assert_eq!(levels.iter().max(), Some(&2));
        assert!(levels.iter().filter(|level| **level == 2).count() <= 40, "{levels:?}");
    }

    #[test]
    fn a_server_that_works_on_several_gets_as_many() {
        let of_eight = levels(400, |load| 3.0 * (f64::from(load) / 8.0).max(1.0));
        let at_eight = of_eight.iter().filter(|level| **level == 8).count();
        assert!(at_eight > 250 && of_eight.iter().all(|level| *level <= 32), "{at_eight} {of_eight:?}");
        let of_all = levels(120, |_| 3.0);
        assert!(of_all.iter().max() >= Some(&128), "{of_all:?}");
    }

    #[test]
    fn a_quick_server_is_left_alone() {
        assert!(levels(100, |_| 0.9).is_empty());
        // The first answer waited for the model.
        let first = std::cell::Cell::new(10.0);
        assert_eq!(levels(100, |_| first.replace(0.2)).len(), MIN_ANSWERS as usize);
    }
}
