//! Decisions of a run by criterion, for the rate of each.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use assize_rubric::{CaseDecision, CriterionScale, Outcome};
use assize_store::CaseRecord;

/// Criteria that are followed one by one. Suites of many cases with rubrics of their own have more.
const MAX_FOLLOWED: usize = 2_000;

/// Decisions on one criterion.
#[derive(Debug, Clone)]
pub struct CriterionTally {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Name of the grader.
    pub grader: Arc<str>,
    /// Id of the criterion.
    pub criterion: Arc<str>,
    /// Its text.
    pub text: String,
    /// Its weight; below zero for a penalty.
    pub weight: f64,
    /// True if it is scored rather than met or unmet.
    pub is_scored: bool,
    /// Values of the decisions, 0 to 1, each with the cluster of its case.
    pub values: Vec<(f64, u64)>,
    /// Number of cases that nobody could decide.
    pub ungraded: u64,
    /// Number of cases to which it does not apply.
    pub not_applicable: u64,
}

/// Decisions by criterion.
#[derive(Debug, Clone, Default)]
pub(crate) struct CriterionTotals {
    tallies: HashMap<u64, CriterionTally>,
}

impl CriterionTotals {
    pub(crate) fn add(&mut self, record: &CaseRecord) {
        let row = &record.result;

        // Trials after a failure would count criteria by their failures.
        if row.repeat > 1 && row.repeats.is_some_and(|plan| plan.early_stop) {
            return;
        }

        let cluster = match &row.cluster {
            Some(cluster) => hash(&(&row.suite, "cluster", cluster)),
            None => hash(&(&row.suite, "case", &row.case_id)),
        };
        for decided in record.decisions.iter().filter(|decided| !decided.is_vote()) {
            self.add_decision(&row.suite, decided, cluster);
        }
    }

    fn add_decision(&mut self, suite: &Arc<str>, decided: &CaseDecision, cluster: u64) {
        let Some(criterion) = decided.criterion() else { return };
        let id = decided.shown_criterion();
        let key = hash(&(suite, &decided.grader, &id, &criterion.text));
        let has_room = self.tallies.len() < MAX_FOLLOWED;
        if !has_room && !self.tallies.contains_key(&key) {
            return;
        }

        let tally = self.tallies.entry(key).or_insert_with(|| CriterionTally {
            suite: Arc::clone(suite),
            grader: Arc::clone(&decided.grader),
            criterion: id,
            text: criterion.text.clone(),
            weight: criterion.weight.get(),
            is_scored: matches!(criterion.scale, CriterionScale::Bands(_)),
            values: Vec::new(),
            ungraded: 0,
            not_applicable: 0,
        });
        let value = match decided.decision.outcome() {
            Outcome::Met => 1.0,
            Outcome::Unmet => 0.0,
            Outcome::NotApplicable => {
                tally.not_applicable += 1;
                return;
            }
            Outcome::Ungraded => {
                tally.ungraded += 1;
                return;
            }
            scored => match scored.points() {
                Some(points) => points / 10.0,
                None => return,
            },
        };
        tally.values.push((value, cluster));
    }

    /// Returns the tallies of the criteria that were asked of several results, in no order.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &CriterionTally> {
        self.tallies.values().filter(|tally| tally.values.len() as u64 + tally.ungraded > 1)
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
