//! Runs of scorecards: cases of each benchmark, the tree that aggregates them, the review list, and
//! comparisons.

mod benchmark_case;
mod case_list;
mod compare;
mod run;
mod tree;

pub use benchmark_case::{BenchmarkCase, BenchmarkVote};
pub use case_list::BenchmarkCaseList;
pub use compare::{NodeDifference, NodeSide, ScorecardComparison, compare_scorecards};
pub use run::{BenchmarkCases, ScorecardRun, ScorecardRunError};
pub use tree::{ScorecardTree, ScorecardTreeError};
