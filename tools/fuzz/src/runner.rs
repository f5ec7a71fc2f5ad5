//! Runs of a target over many inputs.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::thread_time::ThreadClock;
use crate::{FuzzTarget, InputMutator, SeedCorpus, TargetState};

/// Processor time after which an input counts as stuck.
const INPUT_TIME: Duration = Duration::from_secs(10);
/// An input that takes at least this much processor time is a failure, even if it was read to its end.
const SLOW: Duration = Duration::from_secs(1);
/// Time between two checks of the current input.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);
/// Number of inputs between two reports.
const REPORT_INTERVAL: u64 = 1 << 16;
/// An input that takes at least this long is read again to measure its processor time.
const NOTABLE: Duration = Duration::from_millis(100);
/// Limits on the inputs that become seeds: their number, and the bytes of each. Large seeds make all later
/// inputs slow.
const MAX_LEARNT: usize = 2_048;
const MAX_LEARNT_BYTES: usize = 8 * 1024;

/// A run of one target.
#[derive(Debug, Clone, Copy)]
pub struct FuzzRun {
    /// Reader of the inputs.
    pub target: FuzzTarget,
    /// Seed that determines all inputs.
    pub seed: u64,
    /// Number of the first input.
    pub first: u64,
    /// Maximum number of inputs.
    pub inputs: u64,
    /// Time after which no more inputs are started.
    pub time: Duration,
    /// True if inputs with a new outcome become seeds. An input then no longer follows from its number alone.
    pub learns: bool,
}

/// An input that panicked or took too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFailure {
    /// Number of the input.
    pub number: u64,
    /// The input.
    pub input: Vec<u8>,
    /// Cause in a few words.
    pub cause: String,
}

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FuzzSummary {
    /// Inputs that were read.
    pub inputs: u64,
    /// Inputs that failed.
    pub failures: Vec<InputFailure>,
    /// The slowest input: its number and time.
    pub slowest: (u64, Duration),
    /// Number of inputs that became seeds because their outcome was new.
    pub learnt: usize,
}

/// Returns a random seed.
pub fn fresh_seed() -> u64 {
    RandomState::new().hash_one("seed")
}

/// The input being read.
#[derive(Debug)]
struct CurrentInput {
    number: AtomicU64,
    input: Mutex<Vec<u8>>,
    clock: ThreadClock,
}

impl FuzzRun {
    /// Creates a run without limits that does not learn.
    pub const fn new(target: FuzzTarget, seed: u64) -> Self {
        Self { target, seed, first: 0, inputs: u64::MAX, time: Duration::MAX, learns: false }
    }

    /// Reads all inputs. `report` is called after each failure, every [`REPORT_INTERVAL`] inputs, and at the
    /// end. `stuck` is called from another thread with the number and bytes of an input that takes too long. A
    /// reader can't be interrupted, so `stuck` should end the process.
    pub fn execute(
        &self,
        mut report: impl FnMut(&FuzzSummary),
        stuck: impl Fn(u64, &[u8]) + Send + Sync + 'static,
    ) -> FuzzSummary {
        let mut seeds = SeedCorpus::load(self.target).seeds;
        let state = TargetState::new(self.target);
        let clock = ThreadClock::new();
        let current = Arc::new(CurrentInput {
            number: AtomicU64::new(self.first),
            input: Mutex::default(),
            clock: clock.clone(),
        });
        watch(Arc::downgrade(&current), stuck);

        let begun = Instant::now();
        let mut messages = HashSet::new();
        let mut summary = FuzzSummary::default();
        for number in self.first..self.first.saturating_add(self.inputs) {
            let started = Instant::now();
            if started.duration_since(begun) >= self.time {
                break;
            }

            let input = InputMutator::new(&seeds, self.seed, number).make();
            current.input.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
            current.number.store(number, Ordering::Release);
            let read = || {
                let mut choices = InputMutator::choices(self.seed, number);
                catch_unwind(AssertUnwindSafe(|| state.read(&input, &mut choices)))
            };
            let result = read();
            let mut time = started.elapsed();

            // On a busy machine any input can be slow, so a slow one is read again and only its processor time
            // counts.
            if time >= NOTABLE {
                let before = clock.now();
                drop(read());
                time = time.min(clock.now().saturating_sub(before));
            }
            if time > summary.slowest.1 {
                summary.slowest = (number, time);
            }

            summary.inputs += 1;
            let cause = match &result {
                Err(panic) => {
                    let words = panic.downcast_ref::<String>().map(String::as_str);
                    Some(words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
                }
                Ok(_) if time >= SLOW => Some(format!("{} ms", time.as_millis())),
                Ok(_) => None,
            };

            if let Some(cause) = cause {
                summary.failures.push(InputFailure { number, input, cause });
                report(&summary);
            } else if let Ok(outcome) = result
                && self.learns
                && summary.learnt < MAX_LEARNT
                && input.len() <= MAX_LEARNT_BYTES
            {
                let known = messages.len();
                messages.extend(outcome.messages);
                if messages.len() > known {
                    seeds.push(input);
                    summary.learnt += 1;
                }
            }

            if summary.inputs.is_multiple_of(REPORT_INTERVAL) {
                report(&summary);
            }
        }

        report(&summary);
        summary
    }

    /// Reads an input that was kept. Panics are not caught.
    pub fn read_again(&self, number: u64, input: &[u8]) {
        TargetState::new(self.target).read(input, &mut InputMutator::choices(self.seed, number));
    }

    /// Returns one input of a run that does not learn.
    pub fn input(&self, number: u64) -> Vec<u8> {
        InputMutator::new(&SeedCorpus::load(self.target).seeds, self.seed, number).make()
    }
}

/// Watches for stuck inputs until the run is over.
fn watch(current: Weak<CurrentInput>, stuck: impl Fn(u64, &[u8]) + Send + 'static) {
    std::thread::spawn(move || {
        // The number of the input that was current at the last checks, and the processor time when it was first
        // seen.
        let mut seen = (u64::MAX, Duration::ZERO);
        while let Some(current) = current.upgrade() {
            let number = current.number.load(Ordering::Acquire);
            let now = current.clock.now();
            if number != seen.0 {
                seen = (number, now);
            } else if now.saturating_sub(seen.1) > INPUT_TIME {
                stuck(number, &current.input.lock().unwrap_or_else(PoisonError::into_inner));
                return;
            }

            drop(current);
            std::thread::sleep(WATCH_INTERVAL);
        }
    });
}
