//! Compares the answer with another one, in both orders.

use assize_grade::{JudgeQuestion, PairTask, SamplingOptions};
use assize_model::{PairwiseBaseline, PairwiseGrader};
use assize_rubric::{
    AnswerComparison, AnswerPreference, CaseDecision, Decision, Finding, GraderFinding, GraderFindingKind,
    GraderNote, JudgeIdentity, OrderDecision, PairOutcome, PairScores,
};

use super::GradingContext;
use super::path::GraderPath;
use super::votes::{self, PanelQuestion};
use crate::panel::JudgePanel;

pub(super) async fn grade(path: &GraderPath<'_>, grader: &PairwiseGrader) -> Vec<CaseDecision> {
    let task = match pair_task(path.context, grader) {
        Ok(task) => task,
        Err(message) => return vec![path.broken_decision(message)],
    };
    let spec = path.context.item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = JudgePanel::new(&spec, path.context.judge_selector(grader.judge.as_deref()));

    let decided = votes::decide(path.context, &panel, &PairQuestion { path, grader, task }).await;
    decided.unwrap_or_else(|error| vec![path.broken_decision(error)])
}

/// A comparison in both orders as a question to a panel.
struct PairQuestion<'a> {
    path: &'a GraderPath<'a>,
    grader: &'a PairwiseGrader,
    task: PairTask,
}

impl PanelQuestion for PairQuestion<'_> {
    /// Both orders; none if the answers are equal.
    fn questions(&self, _: &[usize]) -> Vec<JudgeQuestion> {
        if self.task.first == self.task.second {
            return Vec::new();
        }
        vec![JudgeQuestion::Pair(self.task.clone()), JudgeQuestion::Pair(self.task.swap_answers())]
    }

    fn decisions(
        &self,
        judge: &JudgeIdentity,
        _: &[usize],
        decided: Vec<Vec<Decision>>,
    ) -> Vec<CaseDecision> {
        let mut decided = decided.into_iter().flatten();
        let mut next = || {
            let reason = "The answers are the same, word for word.";
            decided.next().unwrap_or_else(|| Decision::new(judge.clone(), AnswerPreference::Tie, reason))
        };
        let (candidate_first, baseline_first) = (next(), next());

        vec![self.path.place(combine_orders(self.grader, candidate_first, baseline_first))]
    }

    fn unasked(&self, _: usize, _: &str, message: String) -> CaseDecision {
        self.path.broken_decision(message)
    }
}

/// The task of the judge, with the candidate first. The error is the reason why there is nothing to compare with.
pub(crate) fn pair_task(context: &GradingContext<'_>, grader: &PairwiseGrader) -> Result<PairTask, String> {
    let material = &context.material;
    let (baseline, reference) = match &grader.baseline {
        PairwiseBaseline::Reference => {
            let reference = material.reference.clone();
            let reference = reference
                .ok_or("the case has no reference answer to compare with: add `expected_output`, or name a `baseline`")?;
            (reference, None)
        }
        PairwiseBaseline::Text(text) => (text.to_string(), material.reference.clone()),
        PairwiseBaseline::Run { answer: Some(Ok(answer)), .. } => {
            (answer.to_string(), material.reference.clone())
        }
        PairwiseBaseline::Run { answer: Some(Err(message)), .. } => return Err(message.clone()),
        PairwiseBaseline::Run { written, answer: None, .. } => {
            return Err(format!("the answers of the run `{written}` were not loaded"));
        }
    };
    Ok(PairTask {
        question: material.question.clone(),
        expected_outcome: material.expected_outcome.clone(),
        reference,
        criteria: grader.criteria.clone(),
        first: material.answer.clone(),
        second: baseline,
        trial: context.item.trial,
        sampling: SamplingOptions::default(),
    })
}

/// Combines both orders. A single order decides nothing, because a preference for an answer and one for its
/// position can't be distinguished.
fn combine_orders(grader: &PairwiseGrader, candidate_first: Decision, baseline_first: Decision) -> Decision {
    let outcome = preference(&candidate_first)
        .zip(preference(&baseline_first))
        .map(|(candidate_first, baseline_first)| PairOutcome::from_orders(candidate_first, baseline_first));
    let ungraded = candidate_first.ungraded.clone().or_else(|| baseline_first.ungraded.clone());
    let comparison = AnswerComparison {
        outcome,
        baseline: match &grader.baseline {
            PairwiseBaseline::Reference => "reference".to_owned(),
            PairwiseBaseline::Text(_) => "text".to_owned(),
            PairwiseBaseline::Run { written, .. } => format!("run {written}"),
        },
        candidate_first: order(&candidate_first),
        baseline_first: order(&baseline_first),
    };

    let notes =
        [("with the candidate first", &candidate_first), ("with the baseline first", &baseline_first)];
    let finding = GraderFinding {
        score: match &ungraded {
            Some(ungraded) => Err(format!("could not be judged: {}", ungraded.message)),
            None => Ok(outcome.map(|outcome| grader.scores.score_for(outcome))),
        },
        notes: notes.map(|(order, decision)| order_note(order, decision)).into(),
        kind: GraderFindingKind::Comparison(Box::new(comparison)),
        ..GraderFinding::without_score()
    };

    let reason = match outcome {
        Some(outcome) => reason(outcome, grader.scores, &candidate_first, &baseline_first),
        None => ungraded.as_ref().map(|ungraded| ungraded.message.clone()).unwrap_or_default(),
    };

    let mut evidence = candidate_first.evidence.clone();
    for quote in baseline_first.evidence {
        if !evidence.contains(&quote) {
            evidence.push(quote);
        }
    }

    Decision {
        finding: finding.into(),
        reason,
        evidence,
        ungraded,
        spent: candidate_first.spent.combined_with(baseline_first.spent),
        ..candidate_first
    }
}

fn preference(decision: &Decision) -> Option<AnswerPreference> {
    match decision.finding {
        Finding::Preference(preference) => Some(preference),
        Finding::Criterion { .. } | Finding::Grader(_) => None,
    }
}

/// Note about the result of one order, which decides nothing alone.
fn order_note(order: &str, decision: &Decision) -> GraderNote {
    let word = match preference(decision) {
        Some(AnswerPreference::First) => "first shown is better",
        Some(AnswerPreference::Second) => "second shown is better",
        Some(AnswerPreference::Tie) => "neither is better",
        None => "not judged",
    };
    GraderNote::remark(format!("{order}: {word}"), decision.reason.clone())
}

fn order(decision: &Decision) -> OrderDecision {
    OrderDecision { preference: preference(decision), reason: decision.reason.clone() }
}

/// The outcome in words, with the judge's reason.
fn reason(
    outcome: PairOutcome,
    scores: PairScores,
    candidate_first: &Decision,
    baseline_first: &Decision,
) -> String {
    let reason_of = |decision: &Decision| decision.reason.trim().to_owned();
    match outcome {
        PairOutcome::Win => {
            format!("win: better than the baseline in both orders. {}", reason_of(candidate_first))
        }
        PairOutcome::Loss => {
            format!("loss: worse than the baseline in both orders. {}", reason_of(candidate_first))
        }
        PairOutcome::Tie => format!("tie in both orders. {}", reason_of(candidate_first)),
        PairOutcome::Inconsistent => {
            let word = |preference: Option<AnswerPreference>, first: &str, second: &str| match preference {
                Some(AnswerPreference::First) => format!("{first} is better"),
                Some(AnswerPreference::Second) => format!("{second} is better"),
                Some(AnswerPreference::Tie) | None => "a tie".to_owned(),
            };
            format!(
                "inconsistent, counted as {}: candidate first: {} ({}); baseline first: {} ({})",
                scores.inconsistent.get(),
                word(preference(candidate_first), "the candidate", "the baseline"),
                reason_of(candidate_first),
                word(preference(baseline_first), "the baseline", "the candidate"),
                reason_of(baseline_first),
            )
        }
    }
}
