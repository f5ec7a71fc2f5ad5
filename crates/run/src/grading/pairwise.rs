//! Comparisons of the answer with another one, judged in both orders.

use assize_evalfile::{Baseline, PairwiseGrader};
use assize_grade::{PairTask, Question, SamplingOptions};
use assize_rubric::{
    CaseDecision, Comparison, Decision, Finding, GraderFinding, GraderFindingKind, JudgeIdentity, Note,
    OrderDecision, PairOutcome, PairScores, PanelRule, Preference,
};

use super::GradingContext;
use super::path::GraderPath;
use super::votes::{self, PanelQuestion};
use crate::panel::Panel;

pub(super) async fn grade(path: &GraderPath<'_>, grader: &PairwiseGrader) -> Vec<CaseDecision> {
    let task = match task(path.context, grader) {
        Ok(task) => task,
        Err(message) => return vec![path.broken(message)],
    };
    let item = path.context.item;
    let spec = item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = Panel::new(&spec, item.judge_selector(grader.judge.as_deref()));

    let decided = votes::decide(path.context, &panel, &PairQuestion { path, grader, task }).await;
    decided.unwrap_or_else(|message| vec![path.broken(message)])
}

/// A comparison in both orders as a question to a panel.
struct PairQuestion<'a> {
    path: &'a GraderPath<'a>,
    grader: &'a PairwiseGrader,
    task: PairTask,
}

impl PanelQuestion for PairQuestion<'_> {
    /// Both orders; none for answers that are the same.
    fn questions(&self, _: &[usize]) -> Vec<Question> {
        if self.task.first == self.task.second {
            return Vec::new();
        }
        vec![Question::Pair(self.task.clone()), Question::Pair(self.task.turned())]
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
            decided.next().unwrap_or_else(|| Decision::new(judge.clone(), Preference::Tie, reason))
        };
        let (candidate_first, baseline_first) = (next(), next());

        vec![self.path.place(both_orders(self.grader, candidate_first, baseline_first))]
    }

    fn unasked(&self, _: usize, _: &str, message: String) -> CaseDecision {
        self.path.broken(message)
    }

    fn rule(&self, panel: &Panel<'_>, _: usize) -> PanelRule {
        panel.combine.unwrap_or(PanelRule::Mean)
    }
}

/// What a judge is given, with the candidate first. The error says why there is nothing to compare with.
pub(crate) fn task(context: &GradingContext<'_>, grader: &PairwiseGrader) -> Result<PairTask, String> {
    let material = &context.material;
    let (baseline, reference) = match &grader.baseline {
        Baseline::Reference => {
            let reference = material.reference.clone();
            let reference = reference
                .ok_or("the case has no reference answer to compare with: add `expected_output`, or name a `baseline`")?;
            (reference, None)
        }
        Baseline::Text(text) => (text.to_string(), material.reference.clone()),
        Baseline::Run { answer: Some(Ok(answer)), .. } => (answer.to_string(), material.reference.clone()),
        Baseline::Run { answer: Some(Err(message)), .. } => return Err(message.clone()),
        Baseline::Run { written, answer: None, .. } => {
            return Err(format!("the answers of the run `{written}` are not at hand"));
        }
    };
    Ok(PairTask {
        question: material.question.clone(),
        expected_outcome: material.expected_outcome.clone(),
        reference,
        criteria: grader.criteria.clone(),
        first: material.answer.clone(),
        second: baseline,
        repeat: context.item.repeat,
        sampling: SamplingOptions::default(),
    })
}

/// The decision of both orders. One order alone decides nothing: which answer it favours, and which place, can't be told
/// apart.
fn both_orders(grader: &PairwiseGrader, candidate_first: Decision, baseline_first: Decision) -> Decision {
    let outcome = preference(&candidate_first)
        .zip(preference(&baseline_first))
        .map(|(candidate_first, baseline_first)| PairOutcome::of(candidate_first, baseline_first));
    let ungraded = candidate_first.ungraded.clone().or_else(|| baseline_first.ungraded.clone());
    let comparison = Comparison {
        outcome,
        baseline: match &grader.baseline {
            Baseline::Reference => "reference".to_owned(),
            Baseline::Text(_) => "text".to_owned(),
            Baseline::Run { written, .. } => format!("run {written}"),
        },
        candidate_first: order(&candidate_first),
        baseline_first: order(&baseline_first),
    };
    let notes =
        [("with the candidate first", &candidate_first), ("with the baseline first", &baseline_first)];
    let finding = GraderFinding {
        score: match &ungraded {
            Some(ungraded) => Err(format!("could not be judged: {}", ungraded.message)),
            None => Ok(outcome.map(|outcome| grader.scores.of(outcome))),
        },
        notes: notes.map(|(order, decision)| remark(order, decision)).into(),
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
        spent: candidate_first.spent.and(baseline_first.spent),
        ..candidate_first
    }
}

fn preference(decision: &Decision) -> Option<Preference> {
    match decision.finding {
        Finding::Preference(preference) => Some(preference),
        Finding::Criterion { .. } | Finding::Grader(_) => None,
    }
}

/// What one order came to, as a remark: alone it decides nothing.
fn remark(order: &str, decision: &Decision) -> Note {
    let word = match preference(decision) {
        Some(Preference::First) => "the one shown first is better",
        Some(Preference::Second) => "the one shown second is better",
        Some(Preference::Tie) => "neither is better",
        None => "not judged",
    };
    Note::remark(format!("{order}: {word}"), decision.reason.clone())
}

fn order(decision: &Decision) -> OrderDecision {
    OrderDecision { preference: preference(decision), reason: decision.reason.clone() }
}

/// The outcome in words, with the judge's own.
fn reason(
    outcome: PairOutcome,
    scores: PairScores,
    candidate_first: &Decision,
    baseline_first: &Decision,
) -> String {
    let said = |decision: &Decision| decision.reason.trim().to_owned();
    match outcome {
        PairOutcome::Win => {
            format!("win: better than the baseline in both orders. {}", said(candidate_first))
        }
        PairOutcome::Loss => {
            format!("loss: worse than the baseline in both orders. {}", said(candidate_first))
        }
        PairOutcome::Tie => format!("tie in both orders. {}", said(candidate_first)),
        PairOutcome::Inconsistent => {
            let word = |preference: Option<Preference>, first: &str, second: &str| match preference {
                Some(Preference::First) => format!("{first} is better"),
                Some(Preference::Second) => format!("{second} is better"),
                Some(Preference::Tie) | None => "a tie".to_owned(),
            };
            format!(
                "inconsistent, counted as {}: with the candidate first {} ({}), with the baseline first {} ({})",
                scores.inconsistent.get(),
                word(preference(candidate_first), "the candidate", "the baseline"),
                said(candidate_first),
                word(preference(baseline_first), "the baseline", "the candidate"),
                said(baseline_first),
            )
        }
    }
}
