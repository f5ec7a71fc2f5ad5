//! Limits the number of requests in flight: one until the server has answered, slow start, then growth by a fixed
//! step, and a cut when the server limits requests or takes longer for each.
//!
//! This is the congestion control of TCP (Jacobson 1988), with a server's refusal in place of a lost packet. A
//! fixed number does not work: servers take anything from one request at a time (a model on a laptop) to
//! hundreds, and do not say how many.
//!
//! A server with a queue refuses nothing, and requests that wait in the queue run into the time limit. With n requests
//! in flight that take the time t, each adds at most t / n to the wait of the others. So the number allowed is the one
//! whose requests together take [`MAX_TIME_SHARE`] of the time limit ([`ConcurrencyWindow::note_time`]).
//!
//! Two rules keep it stable:
//!
//! - A burst that is too large causes many refusals, but must cut the window only once. Only an answer to a request
//!   that was sent after the last cut (`cut_at`) changes the size again.
//! - The window grows only while it is used in full. If a size is never reached, nothing shows that it is right.

use std::time::Duration;

use super::climb::{AnswerTime, ThroughputClimb};
use super::latency::LatencyGradient;
use crate::server_memory::ServerPace;

/// A round of growth after a cut adds this part of the size at which the cut was made.
const GROWTH_STEPS: u32 = 16;

/// Good answers needed before the window returns to the size that was too large last time.
const MIN_ANSWERS_AT_KNEE: u32 = 16;

/// No more requests are in flight than a server that works on them one after the other answers within this share of
/// the time limit.
const MAX_TIME_SHARE: f64 = 0.5;

/// Weights of a new answer in the time that a request adds: if it is shorter than the known time, and if it is longer.
/// A shorter time proves that the server works on more requests at once.
const SHORTER_TIME_WEIGHT: f64 = 0.5;
const LONGER_TIME_WEIGHT: f64 = 0.25;

/// The number in flight is stored for later processes only after this many requests.
const MIN_REMEMBERED_REQUESTS: u64 = 16;

/// The number of requests allowed in flight, between 1 and a ceiling.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConcurrencyWindow {
    start: u32,
    ceiling: u32,
    size: u32,
    in_flight: u32,
    /// The most requests in flight since the last cut.
    peak: u32,
    /// Requests that wait to be sent.
    waiting: u32,
    /// The size at the last cut; `None` before the first one, while the window doubles each round.
    knee: Option<u32>,
    /// Good answers since the last step of growth.
    good: u32,
    /// Requests sent so far.
    sent: u64,
    /// Answers to requests with a lower number say nothing about the current size.
    cut_at: u64,
    latency: LatencyGradient,
    /// For a model on this machine, until it proves quick.
    climb: Option<ThroughputClimb>,
    /// True once the server has answered a request well. Before that, one request at a time is sent.
    is_open: bool,
    /// The most seconds that each request in flight adds to the others.
    seconds_each: Option<f64>,
    /// The mean time of an answer in seconds; recent ones count more.
    seconds: f64,
    /// The largest number in flight when a request was sent that was answered in time.
    proven: u32,
    /// The time limit of a request, in seconds.
    limit_seconds: f64,
}

impl ConcurrencyWindow {
    /// A window that allows one request until the server has answered, then `start` requests, and never more than
    /// `ceiling`; both are raised to at least 1.
    pub(super) fn new(start: u32, ceiling: u32) -> Self {
        let ceiling = ceiling.max(1);
        let start = start.clamp(1, ceiling);
        Self {
            start,
            ceiling,
            size: start,
            in_flight: 0,
            peak: 0,
            waiting: 0,
            knee: None,
            good: 0,
            sent: 0,
            cut_at: 0,
            latency: LatencyGradient::default(),
            climb: None,
            is_open: false,
            seconds_each: None,
            seconds: 0.0,
            proven: 0,
            limit_seconds: f64::INFINITY,
        }
    }

    /// Begins with one request at a time, and allows more only while the server gains from more.
    pub(super) fn climbing(self) -> Self {
        Self { climb: Some(ThroughputClimb::from(1)), ..self }
    }

    /// The window of a server that has answered.
    #[cfg(test)]
    pub(super) fn opened(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Begins as an earlier process found to be right, once the server has answered.
    pub(super) fn recall(&mut self, pace: ServerPace) {
        self.size = pace.in_flight.clamp(1, self.ceiling);
        self.climb = self.climb.take().map(|_| ThroughputClimb::from(self.size));
        self.seconds_each = Some(pace.seconds_each.max(0.0));
        self.proven = pace.in_flight;
    }

    /// The values to store for later processes; `None` if too few requests were answered.
    pub(super) fn pace(&self) -> Option<ServerPace> {
        let seconds_each = self.seconds_each.filter(|_| self.sent >= MIN_REMEMBERED_REQUESTS)?;
        Some(ServerPace { in_flight: self.allowed(), seconds_each })
    }

    /// Whether one more request may be in flight.
    pub(super) fn has_room(&self) -> bool {
        self.in_flight < self.allowed()
    }

    /// The number of requests that may be in flight now.
    pub(super) fn allowed(&self) -> u32 {
        if !self.is_open {
            return 1;
        }
        let size = self.climb.as_ref().map_or(self.size, |climb| self.size.min(climb.level())).max(1);
        let Some(each) = self.seconds_each else { return size };
        let time = MAX_TIME_SHARE * self.limit_seconds;
        // This number is safe even with a server that works on one request after the other. A higher number needs
        // proof, step by step: part of the work for requests in flight may have been done already.
        let safe = (time / self.seconds) as u32;
        let proven = ((time / each) as u32).min(self.proven.saturating_mul(2));
        size.min(safe.max(proven)).max(1)
    }

    /// Whether the server has answered a request well.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The most requests that may ever be in flight.
    pub(super) fn ceiling(&self) -> u32 {
        self.ceiling
    }

    /// The number of requests sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The number of requests that wait to be sent.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// A request begins to wait.
    pub(super) fn queue(&mut self) {
        self.waiting += 1;
    }

    /// A request waits no more: it was sent or dropped.
    pub(super) fn unqueue(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// Counts a request that is sent now. Returns its number, to report its answer with.
    pub(super) fn send(&mut self) -> u64 {
        self.in_flight += 1;
        self.peak = self.peak.max(self.in_flight);
        self.sent += 1;
        self.sent - 1
    }

    /// A request is no longer in flight.
    pub(super) fn leave(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Starts again from the first size, after an outage.
    pub(super) fn restart(&mut self) {
        let Self { start, ceiling, in_flight, waiting, sent, .. } = *self;
        let Self { is_open, seconds_each, seconds, proven, limit_seconds, .. } = *self;
        let climb = self.climb.take();
        let new = Self::new(start, ceiling);
        *self = Self {
            in_flight,
            waiting,
            sent,
            cut_at: sent,
            climb,
            is_open,
            seconds_each,
            seconds,
            proven,
            limit_seconds,
            ..new
        };
    }

    /// Records the time and the length of the answer to the request with this number. The number in flight when the
    /// request was sent counts: it waited for those requests, and not for later ones.
    pub(super) fn note_time(&mut self, number: u64, time: AnswerTime, tokens: u64) {
        let sent = self.sent;
        self.climb.take_if(|climb| !climb.note(number, sent, time, tokens));
        self.limit_seconds = time.limit.as_secs_f64();
        let seconds = time.latency.as_secs_f64();
        let is_first = self.seconds == 0.0;
        self.seconds += if is_first { seconds } else { LONGER_TIME_WEIGHT * (seconds - self.seconds) };
        self.proven = self.proven.max(time.load);
        let each = seconds / f64::from(time.load.max(1));
        // The time of a request says little about higher numbers in flight if few were in flight.
        let is_used = self.is_open && time.load.saturating_mul(2) >= self.allowed();
        self.seconds_each = Some(match self.seconds_each {
            None => each,
            Some(known) if each < known => known + SHORTER_TIME_WEIGHT * (each - known),
            Some(known) if is_used => known + LONGER_TIME_WEIGHT * (each - known),
            Some(known) => known,
        });
    }

    /// Records that a request ran into its time limit. Returns true if others were in flight, so that it may have
    /// waited for them.
    pub(super) fn timed_out(&mut self, limit: Duration) -> bool {
        self.limit_seconds = limit.as_secs_f64();
        let each = self.limit_seconds / f64::from(self.in_flight.max(1));
        self.seconds_each = Some(self.seconds_each.map_or(each, |known| known.max(each)));
        self.seconds = self.seconds.max(self.limit_seconds);
        self.proven = self.in_flight / 2;
        self.in_flight > 1
    }

    /// Records the latency of the answer to request `number`, or of a timeout.
    pub(super) fn note_latency(&mut self, number: u64, latency: Duration, tokens: u64) {
        if number < self.cut_at {
            return;
        }

        let Some(size) = self.latency.note(latency, tokens, self.in_flight, self.size) else { return };
        if size < self.size {
            self.knee = Some(self.size);
        }

        self.size = size.min(self.ceiling);
        self.good = 0;
        self.peak = self.in_flight;
        self.cut_at = self.sent;
    }

    /// Records a good answer to the request with this number, which still counts as in flight. The window grows only if
    /// it is used in full, or will be at once by requests that wait for nothing else: an unused size proves nothing.
    /// `is_paced` means that waiting requests wait for a rate.
    pub(super) fn answered(&mut self, number: u64, is_paced: bool) {
        if !self.is_open {
            self.is_open = true;
            return;
        }

        let used = if is_paced { self.in_flight } else { self.in_flight.saturating_add(self.waiting) };
        let is_full = self.size == self.ceiling || self.allowed() < self.size;
        if number < self.cut_at || used < self.size || is_full {
            return;
        }

        self.good += 1;
        let (round, step) = match self.knee {
            None => (1, 1),
            Some(knee) => {
                let step = (knee / GROWTH_STEPS).max(1);
                // A size that was too large a moment ago probably still is. For a small window, finding out
                // would cost one refusal for every few answers.
                let least = if self.size + step >= knee { MIN_ANSWERS_AT_KNEE } else { 1 };
                (self.size.max(least), step)
            }
        };
        if self.good >= round {
            self.good = 0;
            // The server accepts more requests than were too many before, so the last cut no longer matters.
            if self.knee.is_some_and(|knee| self.size > knee) {
                self.knee = None;
            }
            self.size = self.size.saturating_add(step).min(self.ceiling);
        }
    }

    /// The server refused a request at this number in flight. It may accept no more than the others that were in
    /// flight.
    pub(super) fn limit_to_load(&mut self) {
        let load = self.in_flight.saturating_sub(1);
        // With a single request in flight, their number was not the cause.
        if (1..self.size).contains(&load) {
            (self.size, self.knee, self.good) = (load, Some(load), 0);
        }

        self.peak = self.in_flight;
        self.cut_at = self.sent;
        self.latency.begin_batch();
    }

    /// Records that the server limited the request with this number. The first cut, at the end of the slow start,
    /// halves the window, because the slow start may have doubled it past the server's limit. Later cuts remove a
    /// quarter. Returns whether it was cut.
    pub(super) fn limited(&mut self, number: u64) -> bool {
        // With a single request in flight, their number was not the cause.
        if number < self.cut_at || !self.is_open {
            return false;
        }

        let used = self.size.min(self.peak.max(1));
        self.size = match self.knee {
            None => used / 2,
            Some(_) => used - used.div_ceil(4),
        }
        .max(1);
        self.knee = Some(used);
        self.good = 0;
        self.peak = self.in_flight;
        self.cut_at = self.sent;
        self.latency.begin_batch();

        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: Duration = Duration::from_secs(1);

    fn open(start: u32, ceiling: u32) -> ConcurrencyWindow {
        ConcurrencyWindow::new(start, ceiling).opened()
    }

    /// Fills the window, answers everything once, and returns how many requests were sent.
    fn round(window: &mut ConcurrencyWindow, allowed: u32) -> u32 {
        let mut numbers = Vec::new();
        while window.has_room() {
            window.unqueue();
            numbers.push(window.send());
        }
        for (position, number) in numbers.iter().enumerate() {
            if position < allowed as usize {
                window.answered(*number, false);
            } else {
                window.limited(*number);
            }
            window.leave();
        }
        numbers.len() as u32
    }

    #[test]
    fn window_doubles_each_round_up_to_the_ceiling() {
        let mut window = ConcurrencyWindow::new(4, 50);
        (0..1000).for_each(|_| window.queue());
        let sizes: Vec<u32> = (0..6).map(|_| round(&mut window, u32::MAX)).collect();
        assert_eq!(sizes, [1, 4, 8, 16, 32, 50]);
    }

    #[test]
    fn window_settles_near_what_the_server_takes() {
        let mut window = ConcurrencyWindow::new(32, 500);
        (0..100_000).for_each(|_| window.queue());
        let sizes: Vec<u32> = (0..200).map(|_| round(&mut window, 100)).collect();
        let settled = &sizes[20..];
        assert!(settled.iter().all(|size| (70..=110).contains(size)), "{settled:?}");
        let sent: u32 = settled.iter().sum();
        let refused: u32 = settled.iter().map(|size| size.saturating_sub(100)).sum();
        assert!(refused * 50 < sent, "{refused} of {sent}");
    }

    #[test]
    fn a_server_that_takes_few_refuses_few() {
        for takes in [1, 2, 5] {
            let mut window = ConcurrencyWindow::new(32, 500);
            (0..100_000).for_each(|_| window.queue());
            let sizes: Vec<u32> = (0..400).map(|_| round(&mut window, takes)).collect();
            let settled = &sizes[20..];
            let sent: u32 = settled.iter().sum();
            let refused: u32 = settled.iter().map(|size| size.saturating_sub(takes)).sum();
            assert!(refused * 12 < sent, "{refused} of {sent}");
            assert!(sent * 4 > settled.len() as u32 * takes * 3, "{sent} of {takes} a round");
        }
    }

    #[test]
    fn a_burst_that_is_refused_cuts_once() {
        let mut window = open(64, 500);
        let numbers: Vec<u64> = (0..64).map(|_| window.send()).collect();
        let cuts = numbers.iter().filter(|number| window.limited(**number)).count();
        assert_eq!((cuts, window.size), (1, 32));
        for _ in &numbers {
            window.leave();
        }
        let flying: Vec<u64> = (0..32).map(|_| window.send()).collect();
        window.answered(numbers[3], false);
        assert_eq!(window.size, 32, "an answer from before the cut does not grow it");
        assert!(window.limited(flying[0]));
        assert_eq!(window.size, 24, "a quarter of what was in use");
    }

    #[test]
    fn growth_after_a_cut_is_a_step_each_round() {
        let mut window = open(64, 500);
        let first = (0..64).map(|_| window.send()).last().unwrap();
        window.limited(first);
        for _ in 0..33 {
            window.leave();
        }
        for _ in 0..32 {
            let number = window.send();
            window.answered(number, false);
            window.leave();
        }
        assert_eq!(window.size, 36, "32 good answers with 32 places are a round, a 16th of 64 is the step");
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut window = open(8, 100);
        for _ in 0..50 {
            let number = window.send();
            window.answered(number, false);
            window.leave();
        }
        assert_eq!(window.size, 8);
    }

    #[test]
    fn a_window_that_waits_for_a_rate_does_not_grow() {
        let mut window = open(8, 100);
        (0..100).for_each(|_| window.queue());
        let number = window.send();
        (0..50).for_each(|_| window.answered(number, true));
        assert_eq!(window.size, 8);
    }

    /// Plays rounds of a server that works on `at_once` requests at a time, one second each, and queues the others.
    fn queueing(window: &mut ConcurrencyWindow, at_once: u32, rounds: u32) -> Vec<u32> {
        let mut sizes = Vec::new();
        for _ in 0..rounds {
            let numbers: Vec<u64> = (0..window.allowed()).map(|_| window.send()).collect();
            let latency = Duration::from_secs((numbers.len() as u64).div_ceil(at_once.into()));
            for number in numbers {
                window.answered(number, false);
                window.note_latency(number, latency, 0);
                window.leave();
            }
            sizes.push(window.allowed());
        }
        sizes
    }

    #[test]
    fn a_server_that_queues_is_not_drowned_and_stays_busy() {
        let mut window = ConcurrencyWindow::new(32, 256);
        (0..100_000).for_each(|_| window.queue());
        let sizes = queueing(&mut window, 32, 200);
        assert!(sizes[20..].iter().all(|size| (24..=100).contains(size)), "{sizes:?}");
    }

    #[test]
    fn a_server_that_is_slow_whatever_it_is_sent_keeps_its_requests() {
        let mut window = ConcurrencyWindow::new(32, 256);
        (0..100_000).for_each(|_| window.queue());
        queueing(&mut window, 1_000, 20);
        assert_eq!(window.allowed(), 256);
        for _ in 0..20 {
            let numbers: Vec<u64> = (0..window.allowed()).map(|_| window.send()).collect();
            for number in numbers {
                window.answered(number, false);
                window.note_latency(number, Duration::from_secs(9), 0);
                window.leave();
            }
        }
        assert_eq!(window.allowed(), 256, "fewer requests were answered no faster");
    }

    #[test]
    fn no_more_are_in_flight_than_the_time_limit_allows_whatever_the_server_takes_at_once() {
        // Slots of the server, the share of the time limit that one request takes, and the most and the fewest that
        // may be in flight in the end.
        for (slots, share, fewest, most) in
            [(1, 0.04, 10, 13), (4, 0.04, 40, 51), (4, 0.125, 12, 16), (1, 0.8, 1, 1), (64, 0.001, 256, 256)]
        {
            let mut window = ConcurrencyWindow::new(32, 256);
            (0..100_000).for_each(|_| window.queue());
            for _ in 0..100 {
                let numbers: Vec<u64> = (0..window.allowed()).map(|_| window.send()).collect();
                let longest = share * f64::from((numbers.len() as u32).div_ceil(slots));
                assert!(longest < 1.0, "{slots} {share}: {} at once", numbers.len());
                for &number in &numbers {
                    let latency = Duration::from_secs_f64(longest);
                    window.note_time(1, AnswerTime { latency, limit: ONE, load: numbers.len() as u32 }, 0);
                    window.answered(number, false);
                }
                for _ in &numbers {
                    window.leave();
                }
            }
            let allowed = window.allowed();
            assert!((fewest..=most).contains(&allowed), "{slots} {share}: {allowed}");
        }
    }

    #[test]
    fn a_request_that_timed_out_in_a_crowd_halves_it() {
        let mut window = open(32, 256);
        (0..32).for_each(|_| _ = window.send());
        assert!(window.timed_out(ONE));
        assert_eq!(window.allowed(), 16);
        (1..32).for_each(|_| window.leave());
        assert!(!window.timed_out(ONE), "it was alone");
        assert_eq!(window.allowed(), 1);
    }

    proptest! {
        /// The size always stays between 1 and the ceiling, and at least one request is sent between two cuts.
        #[test]
        fn sizes_stay_in_bounds(ceiling in 1u32..300, start in 0u32..400, steps in prop::collection::vec(0u8..4, 0..400)) {
            let mut window = ConcurrencyWindow::new(start, ceiling);
            let mut flying: Vec<u64> = Vec::new();
            let mut sent_since_cut = 1u32;
            for step in steps {
                match step {
                    0 | 3 if window.has_room() => {
                        flying.push(window.send());
                        sent_since_cut += 1;
                    }
                    1 if !flying.is_empty() => {
                        window.answered(flying.remove(0), false);
                        window.leave();
                    }
                    2 if !flying.is_empty() => {
                        let before = window.size;
                        if window.limited(flying.remove(0)) {
                            prop_assert!(sent_since_cut > 0);
                            prop_assert!(window.size < before || before == 1);
                            sent_since_cut = 0;
                        } else {
                            prop_assert_eq!(window.size, before);
                        }
                        window.leave();
                    }
                    _ => {}
                }
                prop_assert!((1..=ceiling).contains(&window.allowed()));
                prop_assert!(window.in_flight() <= ceiling);
            }
        }
    }
}
