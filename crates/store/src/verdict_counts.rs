//! Number of cases by verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ResultRow;
use crate::tool_call_row::is_zero;

/// Cases by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Counts")]
pub struct VerdictCounts {
    /// Passed.
    pub pass: usize,
    /// Borderline: between the two thresholds.
    pub borderline: usize,
    /// Failed.
    pub fail: usize,
    /// Incomplete.
    pub incomplete: usize,
    /// Skipped because a case they depend on did not pass. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
}

impl VerdictCounts {
    /// Counts one case.
    pub fn add_verdict(&mut self, verdict: assize_rubric::Verdict) {
        use assize_rubric::Verdict;
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Borderline => self.borderline += 1,
            Verdict::Fail => self.fail += 1,
            Verdict::Incomplete => self.incomplete += 1,
        }
    }

    /// Counts the case of a row.
    pub fn add_row(&mut self, row: &ResultRow) {
        if row.is_skipped() {
            self.skipped += 1;
        } else {
            self.add_verdict(row.verdict);
        }
    }

    /// Number of all cases.
    pub const fn total(self) -> usize {
        self.pass + self.borderline + self.fail + self.incomplete + self.skipped
    }
}
