//! Checks that may take long run on threads that can be abandoned.
//!
//! A thread can't be stopped from outside. A check that exceeds its time gets an error as its result, and its thread
//! continues. It keeps its place among the threads of its client, so no client can use up the threads of another.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

pub use assize_limits::CHECK_TIME;
pub use assize_limits::GIVEN_UP_CHECKS as MAX_GIVEN_UP_CHECKS;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The fewest and the most checks of one client that run at once.
const MIN_THREADS: usize = 2 * MAX_GIVEN_UP_CHECKS;
const MAX_THREADS: usize = 64;

/// The threads for the checks of one client: of a run, or of a key of the grading service. Clones share them.
#[derive(Debug, Clone)]
pub struct CheckThreads(Arc<ThreadPlaces>);

#[derive(Debug)]
struct ThreadPlaces {
    free: Arc<Semaphore>,
    /// Number of abandoned checks that still run.
    given_up: watch::Sender<usize>,
}

impl Default for CheckThreads {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let free = Arc::new(Semaphore::new(cores.clamp(MIN_THREADS, MAX_THREADS)));
        Self(Arc::new(ThreadPlaces { free, given_up: watch::Sender::new(0) }))
    }
}

impl CheckThreads {
    /// Runs a check on another thread, within [`CHECK_TIME`].
    ///
    /// # Errors
    /// When it takes longer or panics, or when too many earlier checks still run.
    pub async fn run<T: Send + 'static>(
        &self,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.run_within(CHECK_TIME, check).await
    }

    /// Like [`CheckThreads::run`], with another time limit.
    ///
    /// # Errors
    /// As there.
    pub async fn run_within<T: Send + 'static>(
        &self,
        limit: Duration,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let mut given_up = self.0.given_up.subscribe();
        let permit = tokio::select! {
            biased;
            _ = given_up.wait_for(|count| *count >= MAX_GIVEN_UP_CHECKS) => None,
            permit = Arc::clone(&self.0.free).acquire_owned() => permit.ok(),
        };
        let Some(permit) = permit else {
            return Err(format!(
                "not checked: {MAX_GIVEN_UP_CHECKS} earlier checks exceeded {} s and are still running",
                limit.as_secs()
            ));
        };

        let progress = Arc::new(Mutex::new(CheckProgress::Running));
        let place =
            ThreadPlace { places: Arc::clone(&self.0), progress: Arc::clone(&progress), _permit: permit };
        let _given_up = GivenUpCheck { places: &self.0, progress };
        let checked = tokio::task::spawn_blocking(move || {
            let _place = place;
            check()
        });
        match tokio::time::timeout(limit, checked).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(format!("the check failed: {error}")),
            Err(_) => Err(format!("the check was stopped after {} s", limit.as_secs())),
        }
    }
}

/// State of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckProgress {
    Running,
    GivenUp,
    Ended,
}

/// The place of a running check. It is freed when its thread ends.
struct ThreadPlace {
    places: Arc<ThreadPlaces>,
    progress: Arc<Mutex<CheckProgress>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for ThreadPlace {
    fn drop(&mut self) {
        let was = std::mem::replace(&mut *self.progress.lock(), CheckProgress::Ended);
        if was == CheckProgress::GivenUp {
            self.places.given_up.send_modify(|count| *count -= 1);
        }
    }
}

/// Counts a check as given up if it still runs when its caller stops waiting.
struct GivenUpCheck<'a> {
    places: &'a ThreadPlaces,
    progress: Arc<Mutex<CheckProgress>>,
}

impl Drop for GivenUpCheck<'_> {
    fn drop(&mut self) {
        let mut progress = self.progress.lock();
        if *progress == CheckProgress::Running {
            *progress = CheckProgress::GivenUp;
            self.places.given_up.send_modify(|count| *count += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn checks_that_run_on_take_places_of_their_own_client_only() {
        let (client, other) = (CheckThreads::default(), CheckThreads::default());
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        for _ in 0..MAX_GIVEN_UP_CHECKS {
            let ended = Arc::clone(&ended);
            let stuck = client.run_within(LIMIT, move || ended.lock().recv()).await;
            assert_eq!(stuck.unwrap_err(), "the check was stopped after 0 s");
        }

        let refused = client.run_within(LIMIT, || 1).await.unwrap_err();
        assert!(refused.starts_with("not checked: 4 earlier checks"), "{refused}");
        assert_eq!(other.run(|| 2).await, Ok(2));

        drop(end);
        let mut given_up = client.0.given_up.subscribe();
        given_up.wait_for(|count| *count == 0).await.expect("the threads end");
        assert_eq!(client.run(|| 3).await, Ok(3));
    }

    #[tokio::test]
    async fn a_check_that_panics_gives_its_place_back() {
        let client = CheckThreads::default();
        let all = client.0.free.available_permits();
        assert!(client.run(|| panic!("on purpose")).await.unwrap_err().contains("failed"));
        assert_eq!((client.0.free.available_permits(), *client.0.given_up.borrow()), (all, 0));
    }
}
