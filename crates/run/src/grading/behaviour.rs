//! Benchmarks decided by judges: a single one, several, or one that follows the checks of a hybrid.

use std::borrow::Cow;
use std::sync::Arc;

use assize_grade::{BehaviourTask, JudgeQuestion, SamplingOptions};
use assize_model::{Behaviour, BenchmarkGrader, PanelSpec};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, Decision, GraderFinding, GraderFindingKind,
    GraderNote, JudgeIdentity, PanelRule, UnitInterval,
};

use super::GradingContext;
use super::benchmark_checks::{CheckSummary, run_checks, undecided_finding};
use super::path::GraderPath;
use super::votes::{self, PanelQuestion};
use crate::panel::JudgePanel;

/// The panel settings for a benchmark; its files have none.
pub(crate) fn panel_spec<'a>(context: &GradingContext<'a>) -> Cow<'a, PanelSpec> {
    context.item.panels.spec(&PanelSpec::default(), None)
}

/// The part of the judge's task that is known before the answer.
pub(crate) fn behaviour_task(context: &GradingContext<'_>, behaviour: &Arc<Behaviour>) -> BehaviourTask {
    let material = &context.material;
    BehaviourTask {
        behaviour: Arc::clone(behaviour),
        ground_truth: material.reference.clone(),
        source_narrative: Some(material.question.clone()).filter(|text| !text.is_empty()),
        candidate_output: material.answer.clone(),
        trial: context.item.trial,
        sampling: SamplingOptions::default(),
    }
}

/// A benchmark's behaviour as a question to a panel.
struct BehaviourQuestion<'a> {
    path: &'a GraderPath<'a>,
    benchmark: &'a BenchmarkGrader,
    behaviour: &'a Arc<Behaviour>,
}

impl PanelQuestion for BehaviourQuestion<'_> {
    fn questions(&self, _: &[usize]) -> Vec<JudgeQuestion> {
        vec![JudgeQuestion::Behaviour(behaviour_task(self.path.context, self.behaviour))]
    }

    fn decisions(&self, _: &JudgeIdentity, _: &[usize], decided: Vec<Vec<Decision>>) -> Vec<CaseDecision> {
        let may_not_apply = self.behaviour.applicability.is_some();
        let decided = decided.into_iter().flatten().map(|mut decision| {
            if let Some(finding) = decision.grader_mut() {
                // If the judge gave no decision, the benchmark has no result.
                let missing =
                    BenchmarkFinding::undecided(BenchmarkState::Missing, self.benchmark.scale.is_some());
                let found = finding.benchmark().copied().unwrap_or(missing);
                finding.kind = GraderFindingKind::Benchmark(BenchmarkFinding { may_not_apply, ..found });
            }
            self.path.place(decision)
        });
        decided.collect()
    }

    fn unasked(&self, _: usize, _: &str, message: String) -> CaseDecision {
        undecided_finding(self.path, self.benchmark, BenchmarkState::Missing, message, Vec::new())
    }

    /// The mean for results on a scale, the majority for passes and fails.
    fn rule(&self, panel: &JudgePanel<'_>, _: usize) -> PanelRule {
        let usual = if self.benchmark.scale.is_some() { PanelRule::Mean } else { PanelRule::Majority };
        panel.combine.unwrap_or(usual)
    }
}

/// Calls the judges. For a hybrid, calls them only if the checks don't decide: a failed check decides, unless the
/// benchmark may not apply at all, which only a judge can decide. With several judges, the decision that combines their
/// votes comes before the votes.
pub(super) async fn decide_by_judges(
    path: &GraderPath<'_>,
    benchmark: &BenchmarkGrader,
) -> Vec<CaseDecision> {
    let missing = |message: String, notes: Vec<GraderNote>| {
        vec![undecided_finding(path, benchmark, BenchmarkState::Missing, message, notes)]
    };
    let Some(behaviour) = &benchmark.behaviour else {
        return missing("the benchmark has no prompt".to_owned(), Vec::new());
    };
    let found = run_checks(path, benchmark).await;
    if let Some(error) = found.error {
        return missing(error, found.notes);
    }
    if !found.pass && behaviour.applicability.is_none() {
        return vec![path.own_decision(failed_check_decision(benchmark, false, found.notes), found.reason)];
    }

    let spec = panel_spec(path.context);
    let panel = JudgePanel::new(&spec, path.context.judge_selector(None));
    let question = BehaviourQuestion { path, benchmark, behaviour };
    let mut decisions = match votes::decide(path.context, &panel, &question).await {
        Ok(decisions) => decisions,
        Err(error) => return missing(error.to_string(), found.notes),
    };
    if let Some(decided) = decisions.first_mut() {
        merge_checks(&mut decided.decision, benchmark, found);
    }

    decisions
}

/// The decision for a failed check of a hybrid.
fn failed_check_decision(
    benchmark: &BenchmarkGrader,
    may_not_apply: bool,
    notes: Vec<GraderNote>,
) -> GraderFinding {
    let finding = BenchmarkFinding {
        pass: Some(false),
        decided_by: Some(DecidedBy::Checks),
        may_not_apply,
        ..BenchmarkFinding::undecided(BenchmarkState::Scored, benchmark.scale.is_some())
    };
    finding.with_score(Ok(Some(UnitInterval::ZERO)), notes)
}

/// Adds the results of a hybrid's checks to the decision. If a check failed and the benchmark applies, it
/// replaces the decision.
fn merge_checks(decision: &mut Decision, benchmark: &BenchmarkGrader, found: CheckSummary) {
    let state = decision.benchmark().map(|benchmark| benchmark.state);
    let applies = matches!(state, Some(BenchmarkState::Scored | BenchmarkState::Uncertain));

    if !found.pass && applies {
        decision.finding = failed_check_decision(benchmark, decision.may_not_apply(), found.notes).into();
        decision.reason = found.reason;
    } else if let Some(finding) = decision.grader_mut() {
        finding.notes = found.notes;
    }
}
