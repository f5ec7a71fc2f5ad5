//! Runs of scorecards: cases of each benchmark, the tree that aggregates them, the review list, and
//! comparisons.

mod benchmark_case;
mod case_list;
mod compare;
mod distinct_cases;
mod gates;
mod label_set;
mod measurement;
mod run;
mod scored_card;
mod tree;
mod trend;

pub use benchmark_case::{BenchmarkCase, BenchmarkMeasurement, BenchmarkVote};
pub use case_list::BenchmarkCaseList;
pub use compare::{NodeDifference, NodeSide, ScorecardComparison, compare_scorecards};
pub use distinct_cases::count_distinct_cases;
pub use gates::{ScorecardFailOn, check_scorecard_gates};
pub use label_set::{LabelSet, needs_person};
pub use measurement::{MeasurementChange, group_changes};
pub use run::{BenchmarkCases, ScorecardRun, ScorecardRunError};
pub use scored_card::ScoredCard;
pub use tree::{ScorecardTree, ScorecardTreeError};
pub use trend::{NodeTrendPoint, ScorecardMethod, ScorecardTrendPoint, scorecard_trend_point};
