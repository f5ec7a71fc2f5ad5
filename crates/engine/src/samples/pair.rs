//! The outcome of comparing two answers.

use assize_rubric::Cost;
use assize_store::CaseRecord;

use super::result::is_unavailable;

/// Two answers that a judge compared in both orders.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// Score of the first answer: 1 if it is better, 0 if the other one is, 0.5 for a tie or if the two orders
    /// disagree; `None` if the judge did not decide.
    pub score: Option<f64>,
    /// Why there is no score.
    pub error: Option<String>,
    /// Calls made and calls answered from the cache.
    pub calls: (u32, u32),
    /// Cost of the calls.
    pub cost: Cost,
    /// True if no request was sent to the judge, because it failed before.
    pub is_unavailable: bool,
}

impl ComparedPair {
    pub(crate) fn from_record(record: CaseRecord) -> Self {
        let is_unavailable = is_unavailable(&record);
        let cost = record.result.cost();
        let calls = record
            .decisions
            .iter()
            .map(|row| &row.decision.spent)
            .fold((0, 0), |sum, spent| (sum.0 + spent.attempts, sum.1 + spent.cached_calls));
        let grader = record.result.graders.into_iter().next();
        let (score, error) = grader.map_or((None, None), |grader| (grader.score, grader.error));
        let error = error.or_else(|| record.result.error.map(|error| error.message));

        Self { score, error: error.filter(|_| score.is_none()), calls, cost, is_unavailable }
    }
}
