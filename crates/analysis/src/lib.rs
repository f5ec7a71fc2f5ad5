//! Analysis of stored runs and labels, with uncertainty.
//!
//! Rows in, values with intervals out: pure functions over stored data. The formulas are those of
//! `assize-stats`; this crate selects the formula for each question, pairs cases, and reports what is
//! excluded.

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
