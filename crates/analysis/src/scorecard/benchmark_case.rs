//! Stored result of a benchmark on a case, with its votes.

use std::sync::Arc;

use assize_rubric::{BenchmarkFinding, LabelAccount, UnitInterval};

/// Result of a benchmark on a case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkCase {
    /// The finding.
    pub finding: BenchmarkFinding,
    /// Its score, if it has one.
    pub score: Option<UnitInterval>,
    /// Reason of the finding.
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

/// Measurement of a benchmark on a case, as far as the run stored it. Absent values are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BenchmarkMeasurement {
    /// Hash of the inputs of the case: its narrative and its ground truth.
    pub inputs: Option<Arc<str>>,
    /// Hash of the settings of the benchmark: its checks, its question to judges, its scale.
    pub settings: Option<Arc<str>>,
    /// Name and model of each judge that decided.
    pub judge: Option<Arc<str>>,
    /// Version and hash of the prompt of each judge.
    pub prompt: Option<Arc<str>>,
}
