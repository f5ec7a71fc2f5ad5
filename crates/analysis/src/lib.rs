//! What stored runs and labels say, with error bars.
//!
//! Rows in, values with intervals out: pure functions over what a run left behind. The formulas are those of
//! `assize-stats`; this crate says which of them fits which question, pairs cases, and names what is left out.

#![warn(missing_docs)]

pub mod calibrate;
mod card;
mod case_figures;
pub mod compare;
mod facts;
mod figure;
pub mod labels;
mod noise;
pub mod orders;
pub mod pairwise;
mod pieces;
pub mod power;
pub mod raters;
mod repeated;
pub mod repeats;
mod sample;
pub mod shares;
mod summary;
pub mod trend;

pub use card::{
    BenchmarkCases, BenchmarkVote, CardComparison, CardRun, CardRunError, CardTree, CardTreeError, CaseList,
    CaseOfBenchmark, NodeDifference, NodeSide, compare_cards,
};
pub use facts::{AmbiguousRun, CaseFact, CriterionFact, Names, RunFacts};
pub use figure::{Figure, Resampling};
pub use summary::{Summariser, mean_of};
