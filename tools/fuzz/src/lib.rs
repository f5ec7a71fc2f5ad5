//! Fuzzing of every parser of untrusted input.

#![warn(missing_docs)]

mod corpus;
mod mutator;
mod outcome;
mod runner;
mod target;
mod thread_time;

pub use corpus::SeedCorpus;
pub use mutator::InputMutator;
pub use outcome::ReadOutcome;
pub use runner::{FuzzRun, FuzzSummary, InputFailure, fresh_seed};
pub use target::{FuzzTarget, TargetState};
