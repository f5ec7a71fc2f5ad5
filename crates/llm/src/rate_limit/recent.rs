//! The last answers of a server, for requests that wait in its queue behind others.
//!
//! A server that handles few requests at once does not say so; it answers them in turn. A request that waits there is
//! not lost while requests that were sent before it are answered.

use std::collections::VecDeque;

use tokio::time::Instant;

/// The number of answers kept. Answers to requests that were sent before one in flight are among them, unless the
/// server has since answered this many later requests.
const KEPT: usize = 1024;

/// Which requests were answered last, and when.
#[derive(Debug, Default)]
pub(super) struct RecentAnswers(VecDeque<RecentAnswer>);

#[derive(Debug)]
struct RecentAnswer {
    number: u64,
    at: Instant,
}

impl RecentAnswers {
    /// Records the answer to the request with this number.
    pub(super) fn note(&mut self, number: u64, at: Instant) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(RecentAnswer { number, at });
    }

    /// When a request that was sent before the one with this number was last answered.
    pub(super) fn last_before(&self, number: u64) -> Option<Instant> {
        self.0.iter().rev().find(|answer| answer.number < number).map(|answer| answer.at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_answers_to_earlier_requests_count() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut recent = RecentAnswers::default();
        for (number, seconds) in [(1, 10), (0, 20), (7, 30)] {
            recent.note(number, at(seconds));
        }
        for (number, last) in [(0, None), (1, Some(20)), (2, Some(20)), (7, Some(20)), (8, Some(30))] {
            assert_eq!(recent.last_before(number), last.map(at), "{number}");
        }
        (0..KEPT as u64).for_each(|number| recent.note(100 + number, at(40)));
        assert_eq!((recent.last_before(8), recent.0.len()), (None, KEPT));
    }
}
