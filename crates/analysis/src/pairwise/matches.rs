//! Pairwise comparisons of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{AnswerPreference, PairOutcome};
use assize_store::ResultRow;

/// One comparison of two answers to one case.
#[derive(Debug, Clone, PartialEq)]
pub struct PairwiseMatch {
    /// Index of the target whose answer is the candidate.
    pub first: usize,
    /// Index of the target whose answer is the baseline.
    pub second: usize,
    /// Index of the case or its cluster; comparisons within one are not independent.
    pub cluster: usize,
    /// Outcome for the candidate; `None` if an order could not be judged.
    pub outcome: Option<PairOutcome>,
    /// Preferences with the candidate first and with the baseline first.
    pub preferences: [Option<AnswerPreference>; 2],
}

/// Comparisons, collected row by row.
#[derive(Debug, Clone, Default)]
pub struct PairwiseMatches {
    /// Comparisons in the order in which they were added.
    pub all: Vec<PairwiseMatch>,
    pub(super) clusters: BTreeMap<(Arc<str>, String), usize>,
}

impl PairwiseMatches {
    /// Adds the comparisons of a case between two targets. `case` identifies the case without the targets.
    /// Every vote of a panel is one comparison.
    pub fn add_row(&mut self, row: &ResultRow, case: &str, (first, second): (usize, usize)) {
        let shared =
            row.cluster.as_ref().map_or_else(|| format!("case {case}"), |name| format!("cluster {name}"));
        let next = self.clusters.len();
        let cluster = *self.clusters.entry((row.suite.clone(), shared)).or_insert(next);
        let found = row.graders.iter().flat_map(|grader| &grader.pairwise);

        self.all.extend(found.map(|pair| PairwiseMatch {
            first,
            second,
            cluster,
            outcome: pair.outcome,
            preferences: [pair.candidate_first.preference, pair.baseline_first.preference],
        }));
    }

    /// Returns the number of cases or clusters.
    pub fn clusters(&self) -> usize {
        self.clusters.len()
    }
}
