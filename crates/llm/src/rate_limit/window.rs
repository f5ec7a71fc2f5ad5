//! Number of requests allowed in flight: slow start, then growth by a fixed step, and a cut when the server limits
//! requests.
//!
//! This is the congestion control of TCP (Jacobson 1988) with a server's refusal in the place of a lost packet. One
//! burst that is too large is refused many times over, so only an answer to a request that was sent after the last cut
//! cuts again.

/// A round of growth after a cut adds this part of the size at which the cut was made.
const STEPS: u32 = 16;

/// Good answers at least before as many requests are in flight again as were too many the last time.
const PROOF: u32 = 16;

/// The number of requests allowed in flight, between 1 and a ceiling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConcurrencyWindow {
    ceiling: u32,
    size: u32,
    in_flight: u32,
    /// The most of it since the last cut.
    peak: u32,
    /// Requests that wait for a place.
    waiting: u32,
    /// The size at the last cut; `None` before the first one, while the window doubles each round.
    knee: Option<u32>,
    /// Good answers since the last step of growth.
    good: u32,
    /// Requests sent so far.
    sent: u64,
    /// Answers to requests with a lower number say nothing about the present size.
    cut_at: u64,
}

impl ConcurrencyWindow {
    /// A window of `start` places that never has more than `ceiling`; both are at least 1.
    pub(super) fn new(start: u32, ceiling: u32) -> Self {
        let ceiling = ceiling.max(1);
        Self {
            ceiling,
            size: start.clamp(1, ceiling),
            in_flight: 0,
            peak: 0,
            waiting: 0,
            knee: None,
            good: 0,
            sent: 0,
            cut_at: 0,
        }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// A request wants a place.
    pub(super) fn want(&mut self) {
        self.waiting += 1;
    }

    /// A request that waited wants none any more.
    pub(super) fn give_up(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// A request that waited takes a place.
    pub(super) fn enter(&mut self) {
        self.give_up();
        self.in_flight += 1;
        self.peak = self.peak.max(self.in_flight);
    }

    /// A place is free again.
    pub(super) fn leave(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A request goes out; its number, by which its answer is told from others.
    pub(super) fn send(&mut self) -> u64 {
        self.sent += 1;
        self.sent - 1
    }

    /// A good answer to the request with this number, which still has its place. Grows only while all places are
    /// taken or will be at once: a size that is never used is not known to be right.
    pub(super) fn answered(&mut self, number: u64) {
        let used = self.in_flight.saturating_add(self.waiting);
        if number < self.cut_at || used < self.size || self.size == self.ceiling {
            return;
        }

        self.good += 1;
        let (round, step) = match self.knee {
            None => (1, 1),
            Some(knee) => {
                let step = (knee / STEPS).max(1);
                // What was too many a moment ago probably still is: finding out costs a small window a refusal for
                // every few answers.
                let least = if self.size + step >= knee { PROOF } else { 1 };
                (self.size.max(least), step)
            }
        };
        if self.good >= round {
            self.good = 0;
            self.size = self.size.saturating_add(step).min(self.ceiling);
        }
    }

    /// The server limited the request with this number. Halves the window at the end of the slow start, which may have
    /// doubled it past what the server takes, and takes a quarter of it later. Whether it was cut.
    pub(super) fn limited(&mut self, number: u64) -> bool {
        if number < self.cut_at {
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

        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Fills the window and answers everything once; how many were sent.
    fn round(window: &mut ConcurrencyWindow, allowed: u32) -> u32 {
        let mut numbers = Vec::new();
        while window.in_flight() < window.size() {
            window.enter();
            numbers.push(window.send());
        }
        for (position, number) in numbers.iter().enumerate() {
            if position < allowed as usize {
                window.answered(*number);
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
        (0..1000).for_each(|_| window.want());
        let sizes: Vec<u32> = (0..6).map(|_| round(&mut window, u32::MAX)).collect();
        assert_eq!(sizes, [4, 8, 16, 32, 50, 50]);
    }

    #[test]
    fn window_settles_near_what_the_server_takes() {
        let mut window = ConcurrencyWindow::new(32, 500);
        (0..100_000).for_each(|_| window.want());
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
            (0..100_000).for_each(|_| window.want());
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
        let mut window = ConcurrencyWindow::new(64, 500);
        for _ in 0..64 {
            window.enter();
        }
        let numbers: Vec<u64> = (0..64).map(|_| window.send()).collect();
        let cuts = numbers.iter().filter(|number| window.limited(**number)).count();
        assert_eq!((cuts, window.size()), (1, 32));
        let later = window.send();
        window.answered(numbers[3]);
        assert_eq!(window.size(), 32, "an answer from before the cut does not grow it");
        assert!(window.limited(later));
        assert_eq!(window.size(), 24, "a quarter of what was in use");
    }

    #[test]
    fn growth_after_a_cut_is_a_step_each_round() {
        let mut window = ConcurrencyWindow::new(64, 500);
        for _ in 0..64 {
            window.enter();
        }
        let first = window.send();
        window.limited(first);
        for _ in 0..32 {
            window.leave();
        }
        for _ in 0..32 {
            let number = window.send();
            window.answered(number);
        }
        assert_eq!(window.size(), 36, "32 good answers with 32 places are a round, a 16th of 64 is the step");
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut window = ConcurrencyWindow::new(8, 100);
        for _ in 0..50 {
            window.enter();
            let number = window.send();
            window.answered(number);
            window.leave();
        }
        assert_eq!(window.size(), 8);
    }

    proptest! {
        /// Whatever happens, the size stays between 1 and the ceiling, and cuts never follow each other without a
        /// request in between.
        #[test]
        fn sizes_stay_in_bounds(ceiling in 1u32..300, start in 0u32..400, steps in prop::collection::vec(0u8..4, 0..400)) {
            let mut window = ConcurrencyWindow::new(start, ceiling);
            let mut flying: Vec<u64> = Vec::new();
            let mut sent_since_cut = 1u32;
            for step in steps {
                match step {
                    0 | 3 if window.in_flight() < window.size() => {
                        window.enter();
                        flying.push(window.send());
                        sent_since_cut += 1;
                    }
                    1 if !flying.is_empty() => {
                        window.answered(flying.remove(0));
                        window.leave();
                    }
                    2 if !flying.is_empty() => {
                        let before = window.size();
                        if window.limited(flying.remove(0)) {
                            prop_assert!(sent_since_cut > 0);
                            prop_assert!(window.size() < before || before == 1);
                            sent_since_cut = 0;
                        } else {
                            prop_assert_eq!(window.size(), before);
                        }
                        window.leave();
                    }
                    _ => {}
                }
                prop_assert!((1..=ceiling).contains(&window.size()));
                prop_assert!(window.in_flight() <= ceiling);
            }
        }
    }
}
