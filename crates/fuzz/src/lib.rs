//! Hostile inputs for everything that reads what others wrote.

#![warn(missing_docs)]

mod corpus;
mod mutator;
mod runner;
mod target;

pub use corpus::SeedCorpus;
pub use mutator::InputMutator;
pub use runner::{FuzzRun, FuzzSummary, InputFailure, fresh_seed};
pub use target::{FuzzTarget, TargetState};
