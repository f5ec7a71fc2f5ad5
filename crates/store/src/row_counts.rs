//! Row counts of a finished run, and sums of their checksums.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checksum::named_sum;

/// Line counts at the end of the run, for detecting lost lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RowCounts {
    /// Number of lines in `results.jsonl`.
    pub results: u64,
    /// Number of lines in `judgements.jsonl`.
    pub judgements: u64,
    /// Number of lines in `questions.jsonl`; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// Checksums of the files, for detecting replaced lines; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<RowSums>,
}

/// Sums of the line checksums of each file, modulo 2^32. The order of lines does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RowSums {
    /// Checksum of `results.jsonl`.
    pub results: u32,
    /// Checksum of `judgements.jsonl`.
    pub judgements: u32,
    /// Checksum of `questions.jsonl`.
    pub questions: u32,
}

/// Rows of one file: their number and the sum of their checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RowTally {
    pub(crate) count: u64,
    pub(crate) sum: u32,
}

impl RowTally {
    /// Counts a row, given as a line with its line end.
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(named_sum(line).unwrap_or(0));
    }

    /// Counts the rows of a text that consists of complete lines.
    pub(crate) fn add_lines(&mut self, lines: &[u8]) {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.add(line);
        }
    }

    /// Adds the tally of other rows of the same file.
    pub(crate) fn join(&mut self, others: Self) {
        self.count += others.count;
        self.sum = self.sum.wrapping_add(others.sum);
    }
}

/// Tallies of the row files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RowTallies {
    pub(crate) results: RowTally,
    pub(crate) judgements: RowTally,
    pub(crate) questions: RowTally,
}

impl From<RowTallies> for RowCounts {
    fn from(RowTallies { results, judgements, questions }: RowTallies) -> Self {
        Self {
            results: results.count,
            judgements: judgements.count,
            questions: Some(questions.count),
            sums: Some(RowSums {
                results: results.sum,
                judgements: judgements.sum,
                questions: questions.sum,
            }),
        }
    }
}

/// Rows that a file of a run must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpectedRows {
    pub(crate) count: u64,
    /// Sum of the checksums; `None` if the run did not store it.
    pub(crate) sum: Option<u32>,
}

impl RowCounts {
    /// Rows that `results.jsonl` must hold.
    pub(crate) fn expected_results(&self) -> ExpectedRows {
        ExpectedRows { count: self.results, sum: self.sums.map(|sums| sums.results) }
    }

    /// Rows that `judgements.jsonl` must hold.
    pub(crate) fn expected_judgements(&self) -> ExpectedRows {
        ExpectedRows { count: self.judgements, sum: self.sums.map(|sums| sums.judgements) }
    }

    /// Rows that `questions.jsonl` must hold; `None` if the run did not count them.
    pub(crate) fn expected_questions(&self) -> Option<ExpectedRows> {
        let count = self.questions?;
        Some(ExpectedRows { count, sum: self.sums.map(|sums| sums.questions) })
    }
}

/// The part of `run.json` that readers of rows need.
#[derive(Deserialize)]
pub(crate) struct RowCountsHeader {
    #[serde(default)]
    pub(crate) rows: Option<RowCounts>,
}
