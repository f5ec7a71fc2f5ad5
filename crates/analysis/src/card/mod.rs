//! Runs of scorecards: the cases of each benchmark, the tree they are added up in, who should look at
//! what, and how two runs differ.

mod case_list;
mod compare;
mod run;
mod tree;

pub use case_list::CaseList;
pub use compare::{CardComparison, NodeDifference, NodeSide, compare_cards};
pub use run::{BenchmarkCases, BenchmarkVote, CardRun, CardRunError, CaseOfBenchmark};
pub use tree::{CardTree, CardTreeError};
