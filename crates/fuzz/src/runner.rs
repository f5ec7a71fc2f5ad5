//! Runs of a target over many inputs.

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::{FuzzTarget, InputMutator, SeedCorpus, TargetState};

/// Time for one input.
const INPUT_TIME: Duration = Duration::from_secs(10);

/// A run of one target.
#[derive(Debug, Clone, Copy)]
pub struct FuzzRun {
    /// Reader of the inputs.
    pub target: FuzzTarget,
    /// Seed from which all inputs follow.
    pub seed: u64,
    /// Number of the first input.
    pub first: u64,
    /// Maximum number of inputs.
    pub inputs: u64,
    /// Time after which no further input begins.
    pub time: Duration,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzSummary {
    /// Inputs that were read.
    pub inputs: u64,
    /// Inputs that failed.
    pub failures: Vec<InputFailure>,
    /// The slowest input: its number and time.
    pub slowest: (u64, Duration),
}

/// Returns a seed that no run before had.
pub fn fresh_seed() -> u64 {
    RandomState::new().hash_one("seed")
}

/// The input being read: 0 while there is none.
#[derive(Debug, Default)]
struct CurrentInput {
    number: AtomicU64,
    begun: RwLock<Option<Instant>>,
}

impl FuzzRun {
    /// Reads all inputs. `stuck` is called from another thread with the number of an input that takes too long; it can't be
    /// ended, so the process should.
    pub fn execute(&self, stuck: impl Fn(u64) + Send + Sync + 'static) -> FuzzSummary {
        let corpus = SeedCorpus::load(self.target);
        let state = TargetState::new(self.target);
        let current = Arc::new(CurrentInput::default());
        watch(Arc::downgrade(&current), stuck);

        let begun = Instant::now();
        let mut summary = FuzzSummary { inputs: 0, failures: Vec::new(), slowest: (0, Duration::ZERO) };
        for number in self.first..self.first.saturating_add(self.inputs) {
            let started = Instant::now();
            if started.duration_since(begun) >= self.time {
                break;
            }

            current.number.store(number, Ordering::Release);
            *current.begun.write().unwrap_or_else(PoisonError::into_inner) = Some(started);

            let mut mutator = InputMutator::new(&corpus.seeds, self.seed, number);
            let input = mutator.make();
            let result = catch_unwind(AssertUnwindSafe(|| state.read(&input, &mut mutator)));

            *current.begun.write().unwrap_or_else(PoisonError::into_inner) = None;
            let time = started.elapsed();
            if time > summary.slowest.1 {
                summary.slowest = (number, time);
            }

            summary.inputs += 1;
            if let Err(panic) = result {
                let words = panic.downcast_ref::<String>().cloned();
                let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
                let cause = words.unwrap_or_else(|| "a panic".to_owned());
                summary.failures.push(InputFailure { number, input, cause });
            }
        }

        summary
    }

    /// Returns one input of the run.
    pub fn input(&self, number: u64) -> Vec<u8> {
        InputMutator::new(&SeedCorpus::load(self.target).seeds, self.seed, number).make()
    }
}

/// Watches the inputs until the run is over.
fn watch(current: std::sync::Weak<CurrentInput>, stuck: impl Fn(u64) + Send + 'static) {
    std::thread::spawn(move || {
        while let Some(current) = current.upgrade() {
            let begun = *current.begun.read().unwrap_or_else(PoisonError::into_inner);
            if begun.is_some_and(|begun| begun.elapsed() > INPUT_TIME) {
                stuck(current.number.load(Ordering::Acquire));
                return;
            }

            drop(current);
            std::thread::sleep(Duration::from_millis(500));
        }
    });
}
