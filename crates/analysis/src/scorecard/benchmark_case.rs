//! Stored result of a benchmark on a case, with its votes.

use assize_rubric::{BenchmarkFinding, LabelAccount, UnitInterval};

use super::BenchmarkMeasurement;

/// Result of a benchmark on a case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkCase {
    /// The finding.
    pub finding: BenchmarkFinding,
    /// Its score, if it has one.
    pub score: Option<UnitInterval>,
    /// Reason of the finding, in words.
    pub reason: String,
    /// Number of judge calls.
    pub calls: u64,
    /// Number of judge calls answered from the cache.
    pub cached_calls: u64,
    /// Labels of people about it; `None` if there are none.
    pub labels: Option<Box<LabelAccount>>,
    /// Votes behind the decision; empty if there was only one judge call.
    pub votes: Vec<BenchmarkVote>,
    /// How it was measured.
    pub measurement: BenchmarkMeasurement,
}

/// Vote of one judge on a benchmark and case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkVote {
    /// Name of the judge, as the user wrote it.
    pub judge: String,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// True for the stronger judge that was called because the others were uncertain.
    pub escalated: bool,
    /// The finding of this judge alone.
    pub finding: BenchmarkFinding,
    /// Its score, 0 to 1, if it has one.
    pub score: Option<UnitInterval>,
    /// Reason of the vote.
    pub reason: String,
}
