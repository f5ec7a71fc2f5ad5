//! The comparisons that a run holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{PairOutcome, Preference};
use assize_store::ResultRow;

/// One comparison of two answers to one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest {
    /// Number of the system whose answer is the candidate.
    pub first: usize,
    /// Number of the system whose answer is the baseline.
    pub second: usize,
    /// Number of the case, or of the cluster it belongs to: comparisons of one are not independent.
    pub cluster: usize,
    /// How the candidate fares; `None` where an order could not be judged.
    pub outcome: Option<PairOutcome>,
    /// The preferences with the candidate first and with the baseline first.
    pub preferences: [Option<Preference>; 2],
}

/// Comparisons, taken from rows one at a time.
#[derive(Debug, Clone, Default)]
pub struct Contests {
    /// The comparisons, in the order in which they were taken.
    pub all: Vec<Contest>,
    pub(super) clusters: BTreeMap<(Arc<str>, String), usize>,
}

impl Contests {
    /// Takes the comparisons of a case between two systems; `case` is the case without the two. Every vote of a panel is
    /// one comparison.
    pub fn take(&mut self, row: &ResultRow, case: &str, (first, second): (usize, usize)) {
        let shared =
            row.cluster.as_ref().map_or_else(|| format!("case {case}"), |name| format!("cluster {name}"));
        let next = self.clusters.len();
        let cluster = *self.clusters.entry((row.suite.clone(), shared)).or_insert(next);
        let found = row.graders.iter().flat_map(|grader| &grader.pairwise);
        self.all.extend(found.map(|pair| Contest {
            first,
            second,
            cluster,
            outcome: pair.outcome,
            preferences: [pair.candidate_first.preference, pair.baseline_first.preference],
        }));
    }

    /// How many cases, or clusters of them, there are.
    pub fn clusters(&self) -> usize {
        self.clusters.len()
    }
}
