//! Relevance of answers, computed from a judge's questions and the vectors of an embedding model.

use std::sync::Arc;

use assize_grade::{decide_answer_relevance, questions_task};
use assize_model::AnswerRelevanceCheck;
use assize_rubric::CaseDecision;

use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, check: &AnswerRelevanceCheck) -> CaseDecision {
    let item = path.context.item;
    let judge = match item.judges.judge(path.context.judge_selector(check.judge.as_deref())) {
        Ok(judge) => judge,
        Err(error) => return path.broken_decision(error),
    };
    let model = match item.judges.measuring_model(check.model()) {
        Ok(model) => model,
        Err(error) => return path.broken_decision(error),
    };

    let task = questions_task(Arc::clone(&path.context.material), item.trial);
    path.place(decide_answer_relevance(check, task, &*judge, &*model).await)
}
