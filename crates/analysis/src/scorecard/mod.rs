//! Runs of scorecards: cases of each benchmark, the tree that aggregates them, the review list, and
//! comparisons.

mod case_list;
mod compare;
mod run;
mod tree;

pub use case_list::BenchmarkCaseList;
pub use compare::{NodeDifference, NodeSide, ScorecardComparison, compare_scorecards};
pub use run::{BenchmarkCase, BenchmarkCases, BenchmarkVote, ScorecardRun, ScorecardRunError};
pub use tree::{ScorecardTree, ScorecardTreeError};
