//! People's labels, applied whenever a stored run of a scorecard is read.

use std::collections::HashMap;

use assize_rubric::{
    BenchmarkScale, BenchmarkState, CaseDecision, DecidedBy, Label, LabelAccount, NormalisationFormula,
    PeopleRule, UnboundLabels,
};
use assize_store::{CaseRecord, ScorecardInfo};

/// Labels of a scorecard, by case and benchmark.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelSet {
    labels: HashMap<(String, String), Vec<Label>>,
    unbound: UnboundLabels,
    people: PeopleRule,
}

impl LabelSet {
    /// Groups labels by case and benchmark.
    pub fn new(labels: impl IntoIterator<Item = Label>, unbound: UnboundLabels) -> Self {
        let mut sorted: HashMap<(String, String), Vec<Label>> = HashMap::new();
        for label in labels {
            sorted.entry((label.case.clone(), label.criterion.clone())).or_default().push(label);
        }

        Self { labels: sorted, unbound, people: PeopleRule::default() }
    }

    /// Ids of the cases with labels; a case with several labels is named several times.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        self.labels.keys().map(|(case, _)| case.as_str())
    }

    /// Sets who decides where labels contradict a judge.
    #[must_use]
    pub fn with_people(self, people: PeopleRule) -> Self {
        Self { people, ..self }
    }

    /// Lets labels decide the benchmarks of a case that wait for people: benchmarks for people, and benchmarks that
    /// judges left ungraded. A label that contradicts the decision of a judge makes it disputed. Labels about another
    /// answer, target, case or question have no effect and are noted.
    pub fn apply(&self, record: &mut CaseRecord, info: &ScorecardInfo) {
        let target = record.result.target.clone();
        let case = record.result.case_id.to_string();
        for decided in record.decisions.iter_mut().filter(|decided| is_labelled(decided)) {
            let is_for_people = is_for_people(decided, info);
            let seen = decided.decision.benchmark().and_then(|benchmark| benchmark.seen);
            let labels = self.labels.get(&(case.clone(), decided.grader.to_string()));
            let place = info.nodes.iter().position(|node| *node.code == *decided.grader);
            let node = place.and_then(|place| info.nodes.get(place));
            let account =
                LabelAccount::new(labels.into_iter().flatten(), seen, target.as_deref(), self.unbound)
                    .with_raters(node.and_then(|node| node.raters));
            let scale = node.and_then(|node| node.scale.as_ref());
            let formula = scale.and_then(|scale| NormalisationFormula::parse(&scale.formula).ok());
            let scale = scale.zip(formula.as_ref()).map(|(scale, formula)| BenchmarkScale {
                min: scale.min,
                max: scale.max,
                formula,
            });

            match node {
                Some(node) if !is_for_people => {
                    let gate = place.is_some_and(|place| info.is_gate(place));
                    decided.decision.dispute_by_labels(account, scale, node.threshold, gate, self.people);
                }
                _ if is_for_people => decided.decision.apply_labels(account, scale),
                _ => {}
            }
        }
    }
}

/// Returns true if labels may be about this decision: it is the decision on a benchmark, and not one of several votes.
fn is_labelled(decided: &CaseDecision) -> bool {
    decided.decision.benchmark().is_some() && !decided.is_vote() && decided.member.is_empty()
}

/// Returns true if people decide a benchmark on a case: it is a benchmark for people, or its judge was
/// uncertain, its judges disagreed, or no judge could be called. A check that a program failed to make is up
/// to the program's author.
fn is_for_people(decided: &CaseDecision, info: &ScorecardInfo) -> bool {
    let Some(benchmark) = decided.decision.benchmark() else { return false };
    let evaluator = info
        .nodes
        .iter()
        .find(|node| *node.code == *decided.grader)
        .and_then(|node| node.evaluator.as_deref());

    benchmark.decided_by == Some(DecidedBy::Person)
        || needs_person(benchmark.state, evaluator.unwrap_or_default())
}

/// Returns true if a benchmark with this evaluator waits for people in this state.
pub fn needs_person(state: BenchmarkState, evaluator: &str) -> bool {
    match state {
        BenchmarkState::Missing => matches!(evaluator, "llm_judge" | "hybrid"),
        state => state.is_for_review(),
    }
}
