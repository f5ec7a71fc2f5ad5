//! Labels of an answer from a model for moderation or classification.

use assize_grade::decide_labels;
use assize_model::LabelCheck;
use assize_rubric::CaseDecision;

use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, check: &LabelCheck) -> CaseDecision {
    match path.context.item.judges.measuring_model(check.model()) {
        Ok(model) => path.place(decide_labels(check, &path.context.answer.text, &*model).await),
        Err(error) => path.broken_decision(error),
    }
}
