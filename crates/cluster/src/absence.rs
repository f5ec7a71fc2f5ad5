//! How long a job has been without a worker.

use std::time::Duration;

use tokio::time::Instant;

/// Time without a worker before the first warning; the next one comes after twice as long, and so on.
const FIRST_WARNING: Duration = Duration::from_mins(1);

/// Time without a sign of work on a job.
#[derive(Debug)]
pub(crate) struct Absence {
    /// The last known signs: of workers at work, and results.
    signs: (u64, usize),
    since: Instant,
    /// Time without a sign before the next warning.
    next_warning: Duration,
    first_warning: Duration,
    limit: Duration,
}

/// Result of a look for signs of work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// No change to report.
    Quiet,
    /// No sign for long enough to warn the user.
    Missed(Duration),
    /// No sign for the longest wait.
    GivenUp,
}

impl Absence {
    /// Begins now. Workers show signs several times during a lease, so silence shorter than its term is no
    /// evidence.
    pub(crate) fn begin(limit: Duration, lease: Duration) -> Self {
        let first_warning = FIRST_WARNING.max(lease);
        Self {
            signs: (0, 0),
            since: Instant::now(),
            next_warning: first_warning,
            first_warning,
            limit: limit.max(lease),
        }
    }

    /// The longest wait for a sign.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Notes the current signs; `None` while the servers can't be reached, because then no worker can work either.
    pub(crate) fn note(&mut self, signs: Option<(u64, usize)>) -> Presence {
        if signs != Some(self.signs) {
            self.signs = signs.unwrap_or(self.signs);
            (self.since, self.next_warning) = (Instant::now(), self.first_warning);
            return Presence::Quiet;
        }

        let silence = self.since.elapsed();
        if silence >= self.limit {
            Presence::GivenUp
        } else if silence >= self.next_warning {
            self.next_warning *= 2;
            Presence::Missed(silence)
        } else {
            Presence::Quiet
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_ago(absence: &mut Absence, seconds: u64) {
        absence.since = Instant::now().checked_sub(Duration::from_secs(seconds)).expect("the clock runs");
    }

    #[test]
    fn silence_is_told_at_growing_intervals_and_ends() {
        let mut absence = Absence::begin(Duration::from_secs(200), Duration::from_secs(30));
        assert_eq!(absence.note(Some((0, 0))), Presence::Quiet);
        for (seconds, is_told) in [(59, false), (61, true), (119, false), (121, true), (199, false)] {
            long_ago(&mut absence, seconds);
            let told = matches!(absence.note(Some((0, 0))), Presence::Missed(_));
            assert_eq!(told, is_told, "{seconds}");
        }
        long_ago(&mut absence, 200);
        assert_eq!(absence.note(Some((0, 0))), Presence::GivenUp);
    }

    #[test]
    fn a_sign_of_work_a_result_and_servers_that_are_away_begin_it_anew() {
        for signs in [Some((1, 0)), Some((0, 1)), None] {
            let mut absence = Absence::begin(Duration::from_secs(10), Duration::from_secs(1));
            long_ago(&mut absence, 11);
            assert_eq!(absence.note(signs), Presence::Quiet);
            assert_eq!(absence.note(signs), Presence::Quiet);
        }
    }

    #[test]
    fn no_silence_shorter_than_a_lease_tells_anything() {
        let mut absence = Absence::begin(Duration::from_secs(1), Duration::from_mins(5));
        long_ago(&mut absence, 299);
        assert_eq!(absence.note(Some((0, 0))), Presence::Quiet);
        long_ago(&mut absence, 300);
        assert_eq!(absence.note(Some((0, 0))), Presence::GivenUp);
    }
}
