//! What stored runs and labels say, with error bars.
//!
//! Rows in, values with intervals out: pure functions over what a run left behind. The formulas are those of
//! `assize-stats`; this crate says which of them fits which question, pairs cases, and names what is left out.

#![warn(missing_docs)]

pub mod compare;
mod facts;
mod figure;
pub mod power;
mod sample;
mod summary;
pub mod trend;

pub use facts::{AmbiguousRun, CaseFact, CriterionFact, Decision, Names, RunFacts};
pub use summary::{Summariser, mean_of};
