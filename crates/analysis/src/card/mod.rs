//! Runs of scorecards: cases of each benchmark, the tree that aggregates them, the review list, and
//! comparisons.

mod case_list;
mod compare;
mod run;
mod tree;

pub use case_list::CaseList;
pub use compare::{CardComparison, NodeDifference, NodeSide, compare_cards};
pub use run::{BenchmarkCases, BenchmarkVote, CardRun, CardRunError, CaseOfBenchmark};
pub use tree::{CardTree, CardTreeError};
