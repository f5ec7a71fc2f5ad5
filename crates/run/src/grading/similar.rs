//! Compares meanings by the vectors of an embedding model.

use assize_grade::decide_similarity;
use assize_model::SimilarityCheck;
use assize_rubric::CaseDecision;

use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, check: &SimilarityCheck) -> CaseDecision {
    let model = check.model();
    match path.context.item.judges.measuring_model(model) {
        Ok(model) => path.place(decide_similarity(check, &path.context.answer.text, &*model).await),
        Err(error) => path.broken_decision(error),
    }
}
