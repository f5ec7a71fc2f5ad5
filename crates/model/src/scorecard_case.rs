//! Conversion of the cases of a scorecard to cases that can be run: benchmarks become graders.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use assize_rubric::{CaseMessage, Criticality, GraderWeighting, Label, MessageRole, Weight};
use serde_json::Value;

use super::benchmark_grader::{Applicability, Behaviour, BenchmarkGrader};
use super::label_subject::value_text;
use super::{
    BenchmarkApplicability, Case, CaseId, GivenOutput, Grader, GraderKind, Guidelines, Scorecard,
    ScorecardCase,
};

/// Converts the cases of a scorecard, borrowed or shared, to cases that can be run. Parts that many cases share
/// are built once.
#[derive(Debug)]
pub struct ScorecardCases<S> {
    scorecard: S,
    /// Questions of each benchmark: first without, then with the decision on applicability.
    behaviours: Vec<[Option<Arc<Behaviour>>; 2]>,
    /// Labels by case and code of the benchmark.
    labels: BTreeMap<(String, String), Vec<Label>>,
}

impl<S: Deref<Target = Scorecard>> ScorecardCases<S> {
    /// Prepares the benchmarks of a scorecard.
    pub fn new(scorecard: S) -> Self {
        let guidelines: Vec<Option<Arc<Guidelines>>> =
            scorecard.rubrics.iter().map(|rubric| rubric.guidelines.clone().map(Arc::new)).collect();
        let behaviours = (0..scorecard.benchmarks.len())
            .map(|at| {
                let plain = build_behaviour(&scorecard, &guidelines, at);
                let asking = plain.clone().map(|plain| {
                    let benchmark = &scorecard.benchmarks[at];
                    let applicability = Applicability {
                        inclusion: benchmark.inclusion.clone(),
                        exclusion: benchmark.exclusion.clone(),
                    };
                    Behaviour { applicability: Some(applicability), ..plain }
                });
                [plain.map(Arc::new), asking.map(Arc::new)]
            })
            .collect();

        let mut labels: BTreeMap<(String, String), Vec<Label>> = BTreeMap::new();
        for label in scorecard.stored_labels() {
            labels.entry((label.case.clone(), label.criterion.clone())).or_default().push(label);
        }

        Self { scorecard, behaviours, labels }
    }

    /// Returns the case at an index as in [`ScorecardCases::build`]; `None` if the index is out of range.
    pub fn build_case(&self, at: usize) -> Option<Case> {
        self.scorecard.cases.get(at).map(|case| self.build(case))
    }

    /// Returns the scorecard.
    pub fn scorecard(&self) -> &Scorecard {
        &self.scorecard
    }

    /// Converts a case, from the scorecard or from elsewhere. It gets one grader for each benchmark that
    /// applies or may apply, in the order of the benchmarks.
    ///
    /// The source narrative becomes its question, the ground truth its reference, the candidate output its
    /// answer. A hard gate becomes a required grader, so a case that fails it fails as a whole. An improvement
    /// signal gets the weight 0.
    pub fn build(&self, case: &ScorecardCase) -> Case {
        let graders: Vec<Arc<Grader>> = (0..self.scorecard.benchmarks.len())
            .filter_map(|benchmark| {
                let applies = self.scorecard.applies(benchmark, case);
                (applies != BenchmarkApplicability::No).then(|| self.build_grader(benchmark, case, applies))
            })
            .map(Arc::new)
            .collect();

        let text = |value: &Option<Value>, role| {
            value.as_ref().map(|value| CaseMessage::text(role, value_text(value)))
        };
        Case {
            input: text(&case.source_narrative, MessageRole::User).into_iter().collect(),
            expected_output: text(&case.ground_truth, MessageRole::Assistant).into_iter().collect(),
            output: case.candidate_output.as_ref().map(value_text).map(GivenOutput::Text),
            tags: case.tags.clone(),
            ..Case::new(CaseId::new(Arc::clone(&case.id)), case.place.clone(), graders)
        }
    }

    fn build_grader(&self, at: usize, case: &ScorecardCase, applies: BenchmarkApplicability) -> Grader {
        let benchmark = &self.scorecard.benchmarks[at];
        let gate = benchmark.criticality == Criticality::HardGate;
        let counts = benchmark.criticality != Criticality::ImprovementSignal;
        let asks = usize::from(applies == BenchmarkApplicability::AskJudge);

        Grader {
            name: benchmark.code.to_string(),
            type_name: benchmark.evaluator.name().to_owned(),
            weighting: GraderWeighting {
                weight: if counts { Weight::ONE } else { Weight::ZERO },
                required: gate,
                min_score: gate.then_some(benchmark.threshold),
                negate: false,
            },
            place: benchmark.place.clone(),
            kind: GraderKind::Benchmark(BenchmarkGrader {
                evaluator: benchmark.evaluator,
                checks: benchmark.checks.clone(),
                all_must_pass: benchmark.all_must_pass,
                behaviour: self.behaviours.get(at).and_then(|both| both[asks].clone()),
                scale: benchmark.scale.clone(),
                subject: self.scorecard.label_subject(at, case),
                labels: self
                    .labels
                    .get(&(case.id.to_string(), benchmark.code.to_string()))
                    .cloned()
                    .unwrap_or_default(),
                raters: benchmark.raters,
                unbound_labels: self.scorecard.unbound_labels,
            }),
        }
    }
}

/// Returns the question of a benchmark; `None` if it does not ask a judge.
fn build_behaviour(
    scorecard: &Scorecard,
    guidelines: &[Option<Arc<Guidelines>>],
    at: usize,
) -> Option<Behaviour> {
    let benchmark = &scorecard.benchmarks[at];
    let prompt = scorecard.prompts.get(benchmark.prompt?)?;
    let mut above = Vec::new();
    let mut rubric = Some(benchmark.parent);
    while let Some(place) = rubric {
        above.extend(guidelines.get(place).cloned().flatten());
        rubric = scorecard.rubrics.get(place).and_then(|rubric| rubric.parent);
    }

    above.reverse();
    Some(Behaviour {
        prompt: Arc::clone(&prompt.text),
        guidelines: above,
        applicability: None,
        scale: benchmark.scale.clone(),
        pass_conditions: prompt.pass_conditions.clone(),
        failure_limit: benchmark.failure_limit(),
    })
}
