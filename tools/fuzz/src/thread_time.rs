//! Processor time of a thread.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Clock that measures the processor time of the thread that created it, or elapsed time if the system does not
/// report that.
#[derive(Debug, Clone)]
pub(crate) struct ThreadClock {
    /// File with the thread's processor time in nanoseconds.
    counter: Option<PathBuf>,
    begun: Instant,
}

impl ThreadClock {
    pub(crate) fn new() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        let counter = thread.map(|thread| Path::new("/proc").join(thread).join("schedstat"));
        Self { counter: counter.filter(|path| path.exists()), begun: Instant::now() }
    }

    /// Returns the time since a fixed moment, for differences between readings.
    pub(crate) fn now(&self) -> Duration {
        let text = self.counter.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let spent = text.and_then(|text| text.split(' ').next()?.parse().ok());
        spent.map_or_else(|| self.begun.elapsed(), Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let clock = ThreadClock::new();
        let (before, begun) = (clock.now(), Instant::now());
        while begun.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        assert!(clock.now() > before);
    }
}
