//! Judges that are Python functions. They run on their own threads, a limited number at once, and hold the GIL
//! while they compute.

use std::sync::Arc;

use assize_grade::{EvidenceIndex, Judge, JudgeMaterial, JudgeQuestion, RubricTask};
use assize_llm::BoxFuture;
use assize_rubric::{
    Criterion, CriterionScale, Decision, EvidencePolicy, EvidenceQuote, Finding, JudgeIdentity, Outcome,
    OutcomeKind, UngradedKind, UngradedReason,
};
use pyo3::prelude::*;
use tokio::sync::Semaphore;

/// Longest message of an exception that becomes the reason of an ungraded criterion, in characters.
const MAX_MESSAGE: usize = 500;

/// Decision of a Python function on a criterion: outcome, score from 0 to 10, reason, quotes.
type FunctionDecision = (String, Option<u8>, String, Vec<String>);

/// A criterion for Python: id, text, bands (lowest and highest score, text), whether it may not apply.
type CriterionTuple = (String, String, Vec<(u8, u8, String)>, bool);

/// A judge that is a Python function.
pub(crate) struct FunctionJudge {
    identity: JudgeIdentity,
    function: Arc<Py<PyAny>>,
    at_once: Semaphore,
}

impl FunctionJudge {
    /// A judge with this name. The function gets a [`JudgeTask`] and returns a decision for each criterion.
    pub(crate) fn new(name: &str, version: &str, function: Py<PyAny>, at_once: usize) -> Self {
        let identity =
            JudgeIdentity { name: name.into(), version: Some(version.into()), ..JudgeIdentity::default() };
        let at_once = Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS));
        Self { identity, function: Arc::new(function), at_once }
    }

    async fn answer(&self, question: &JudgeQuestion) -> Vec<Decision> {
        let JudgeQuestion::Rubric(task) = question else {
            return question.refuse(&self.identity, "a judge written in Python decides on rubrics only");
        };
        let Ok(_place) = self.at_once.acquire().await else {
            return question.refuse(&self.identity, "grading was stopped");
        };

        let (function, copy) = (Arc::clone(&self.function), task.clone());
        let answered = tokio::task::spawn_blocking(move || call(&function, &copy)).await;
        match answered.unwrap_or_else(|error| Err((UngradedKind::Transport, error.to_string()))) {
            Ok(decisions) => self.read(task, decisions),
            Err((kind, message)) => self.refuse_all(task, kind, &message),
        }
    }

    fn refuse_all(&self, task: &RubricTask, kind: UngradedKind, message: &str) -> Vec<Decision> {
        let message: String =
            format!("judge `{}`: {message}", self.identity.name).chars().take(MAX_MESSAGE).collect();
        let refuse = |criterion: &Criterion| {
            let reason = UngradedReason { kind, message: message.clone() };
            Decision::ungraded(self.identity.clone(), criterion.clone(), reason)
        };
        task.rubric.criteria().iter().map(refuse).collect()
    }

    fn read(&self, task: &RubricTask, decisions: Vec<FunctionDecision>) -> Vec<Decision> {
        let criteria = task.rubric.criteria();
        if decisions.len() != criteria.len() {
            let message = format!("{} decisions on {} criteria", decisions.len(), criteria.len());
            return self.refuse_all(task, UngradedKind::Malformed, &message);
        }

        let index = EvidenceIndex::new(&task.material);
        let pairs = criteria.iter().zip(decisions);
        pairs.map(|(criterion, decision)| self.decision(task, criterion, decision, &index)).collect()
    }

    /// The decision on a criterion; an invalid decision makes it ungraded.
    fn decision(
        &self,
        task: &RubricTask,
        criterion: &Criterion,
        (word, score, reason, quotes): FunctionDecision,
        index: &EvidenceIndex,
    ) -> Decision {
        let refuse = |kind, message: String| {
            let reason = UngradedReason { kind, message };
            Decision::ungraded(self.identity.clone(), criterion.clone(), reason)
        };
        let kind = OutcomeKind::from_name(&word);
        if kind == Some(OutcomeKind::Ungraded) {
            return refuse(UngradedKind::Refusal, reason);
        }
        let outcome = kind
            .and_then(|kind| Outcome::from_parts(kind, score, None))
            .filter(|outcome| outcome.fits_scale(&criterion.scale))
            .filter(|outcome| *outcome != Outcome::NotApplicable || criterion.may_not_apply);
        let Some(outcome) = outcome else {
            let expected = match (&criterion.scale, criterion.may_not_apply) {
                (CriterionScale::Checklist, false) => "met or unmet",
                (CriterionScale::Checklist, true) => "met, unmet or not applicable",
                (CriterionScale::Bands(_), false) => "a score from 0 to 10",
                (CriterionScale::Bands(_), true) => "a score from 0 to 10, or not applicable",
            };
            let score = score.map(|score| format!(" {score}")).unwrap_or_default();
            return refuse(UngradedKind::Malformed, format!("decided `{word}{score}`; expected {expected}"));
        };

        let checked = |quote: String| EvidenceQuote { verified: index.contains(&quote), quote };
        let evidence: Vec<EvidenceQuote> = quotes.into_iter().map(checked).collect();
        if task.evidence == EvidencePolicy::Required {
            let lacks_quote = evidence.is_empty() && matches!(outcome, Outcome::Met | Outcome::Scored(_));
            if lacks_quote || evidence.iter().any(|quote| !quote.verified) {
                let message = "the rubric demands evidence, and the quotes are missing or not in the answer";
                return refuse(UngradedKind::Evidence, message.to_owned());
            }
        }

        let finding = Finding::Criterion { criterion: criterion.clone(), outcome };
        Decision { evidence, ..Decision::new(self.identity.clone(), finding, reason) }
    }
}

impl Judge for FunctionJudge {
    fn identity(&self) -> JudgeIdentity {
        self.identity.clone()
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        Box::pin(async move {
            let mut decisions = Vec::with_capacity(questions.len());
            for question in questions {
                decisions.push(self.answer(question).await);
            }
            decisions
        })
    }
}

/// Calls the function. An exception is a failure of the judge.
fn call(function: &Py<PyAny>, task: &RubricTask) -> Result<Vec<FunctionDecision>, (UngradedKind, String)> {
    let outcome = Python::try_attach(|py| {
        let task = JudgeTask::new(task);
        let returned = function.call1(py, (task,)).map_err(|error| {
            let name = error.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
            (UngradedKind::Transport, format!("{name}: {}", error.value(py)))
        })?;
        returned.extract(py).map_err(|error: PyErr| (UngradedKind::Malformed, error.to_string()))
    });
    outcome.unwrap_or_else(|| Err((UngradedKind::Transport, "the interpreter has ended".to_owned())))
}

/// Task of a judge: an answer with its question, and the criteria to decide on.
#[pyclass(frozen, get_all, module = "assize_native")]
pub(crate) struct JudgeTask {
    /// The question.
    question: String,
    /// The answer to be judged. Untrusted text.
    answer: String,
    /// An answer known to be good.
    reference: Option<String>,
    /// Description of a good answer.
    expected_outcome: Option<String>,
    /// Tool calls of the target.
    tool_calls: Option<String>,
    /// Id, text, bands (lowest and highest score, text), and whether it may not apply, of each criterion.
    criteria: Vec<CriterionTuple>,
    /// Id of the sample.
    sample_id: String,
}

impl JudgeTask {
    fn new(task: &RubricTask) -> Self {
        let JudgeMaterial { question, expected_outcome, reference, answer, tool_calls, .. } = &*task.material;
        let criteria = task.rubric.criteria().iter().map(|criterion| {
            let bands = match &criterion.scale {
                CriterionScale::Checklist => Vec::new(),
                CriterionScale::Bands(bands) => bands
                    .as_slice()
                    .iter()
                    .map(|band| (band.low.get(), band.high.get(), band.text.clone()))
                    .collect(),
            };
            (criterion.id.to_string(), criterion.text.clone(), bands, criterion.may_not_apply)
        });

        Self {
            question: question.clone(),
            answer: answer.clone(),
            reference: reference.clone(),
            expected_outcome: expected_outcome.clone(),
            tool_calls: tool_calls.clone(),
            criteria: criteria.collect(),
            sample_id: task.case_id.clone(),
        }
    }
}
