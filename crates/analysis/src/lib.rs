//! What stored runs and labels say, with error bars.
//!
//! Rows in, values with intervals out: pure functions over what a run left behind. The formulas are those of
//! `assize-stats`; this crate says which of them fits which question, pairs cases, and names what is left out.

#![warn(missing_docs)]

mod card;

pub use card::{
    BenchmarkCases, CardComparison, CardRun, CardRunError, CardTree, CardTreeError, CaseOfBenchmark,
    NodeDifference, NodeSide, compare_cards,
};
