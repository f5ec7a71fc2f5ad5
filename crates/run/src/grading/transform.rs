//! Scripts that change answers before they are graded.

use std::borrow::Cow;

use assize_grade::{AnswerFacts, ProgramSetup, transform_answer, transform_by_program};
use assize_model::{AnswerTransform, AuthorCode, TransformedGrader};
use assize_rubric::CaseDecision;
use assize_targets::TargetAnswer;
use serde_json::Value;

use super::path::GraderPath;
use super::programs::code_folder;
use super::{GradingContext, grade_at};
use crate::WorkItem;

/// An answer after the scripts of its case.
pub(crate) struct ChangedAnswer<'a> {
    /// The answer with its text changed.
    pub(crate) answer: Cow<'a, TargetAnswer>,
    /// The answer as a value, if the last script returned something other than text.
    pub(crate) value: Option<Value>,
    /// The answer before the scripts of its test, if those changed it.
    pub(crate) before_test: Option<(String, Option<Value>)>,
}

/// Applies the scripts of a case to an answer. The error names the script that failed, and the reason.
pub(crate) async fn change_answer<'a>(
    item: &WorkItem,
    answer: &'a TargetAnswer,
) -> Result<ChangedAnswer<'a>, String> {
    let value = if answer.is_json { serde_json::from_str(&answer.text).ok() } else { None };
    let mut changed = ChangedAnswer { answer: Cow::Borrowed(answer), value, before_test: None };
    let target = item.target_name();
    let applies = |transform: &&AnswerTransform| {
        transform.target.as_deref().is_none_or(|wanted| Some(wanted) == target)
    };
    for transform in item.case.transforms.iter().filter(applies) {
        let facts =
            GradingContext::new(item, &changed.answer).with_value(changed.value.clone()).facts().clone();
        if transform.target.is_none() && changed.before_test.is_none() {
            changed.before_test = Some((changed.answer.text.clone(), changed.value.clone()));
        }
        let (text, value) = run_transform(&transform.code, facts, &item.programs)
            .await
            .map_err(|message| format!("`transform`: {message}"))?;
        let answer = changed.answer.to_mut();
        (answer.text, answer.is_json) = (text, value.is_some());
        changed.value = value;
    }

    Ok(changed)
}

/// Grades an answer after applying the grader's own script.
pub(super) async fn grade(path: &GraderPath<'_>, changed: &TransformedGrader) -> Vec<CaseDecision> {
    let facts = path.context.facts().clone();
    let ran = run_transform(&changed.transform.code, facts, &path.context.item.programs).await;
    let (text, value) = match ran {
        Ok(changed) => changed,
        Err(message) => return vec![path.broken_decision(format!("`transform`: {message}"))],
    };

    let answer = TargetAnswer { text, ..path.context.answer.clone() };
    let context = path.context.with_answer(&answer).with_value(value);
    let inner = GraderPath { context: &context, grader: &changed.inner, ..path.clone() };

    grade_at(inner).await
}

/// Runs an author's code with an answer as input. Returns the text of its result, and the value if that is not
/// a text.
pub(super) async fn run_transform(
    code: &AuthorCode,
    facts: AnswerFacts,
    programs: &ProgramSetup,
) -> Result<(String, Option<Value>), String> {
    match code {
        AuthorCode::Script(script) => {
            let script = script.clone();
            programs.threads.run(move || transform_answer(&script, &facts)).await?
        }
        AuthorCode::Program(program) => {
            let folder = code_folder(program);
            transform_by_program(program, &facts, folder.as_deref(), programs).await
        }
    }
}
