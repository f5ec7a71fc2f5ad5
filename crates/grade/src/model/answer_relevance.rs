//! Relevance of an answer: how close the question is to questions that the answer would answer.

use std::sync::Arc;

use assize_llm::ChatModel;
use assize_model::{AnswerRelevanceCheck, SimilarityMeasure};
use assize_rubric::{Decision, Finding, GraderNote, UngradedKind, UngradedReason};

use super::similarity::{EmbeddedTexts, embed_texts, finding, measure, text_forecast};
use crate::check::{CheckResult, decided, shorten};
use crate::{CallForecast, Judge, JudgeMaterial, JudgeQuestion, QuestionsTask, SamplingOptions};

/// The task for the judge that writes questions.
pub fn questions_task(material: Arc<JudgeMaterial>, trial: u32) -> QuestionsTask {
    QuestionsTask {
        material,
        count: AnswerRelevanceCheck::QUESTIONS,
        trial,
        sampling: SamplingOptions::default(),
    }
}

/// Forecast of the calls for vectors. The generated questions are assumed to be as long as the original one.
pub fn answer_relevance_forecast(
    check: &AnswerRelevanceCheck,
    question: &str,
    model: &dyn ChatModel,
) -> CallForecast {
    let query = check.query.as_deref().unwrap_or(question);
    let texts = std::iter::repeat_n(query, AnswerRelevanceCheck::QUESTIONS as usize + 1);
    CallForecast { scores: 0, ..text_forecast(texts, model) }
}

/// Has a judge write questions for an answer, and compares their meaning with the original question. Without
/// questions or vectors, the result is ungraded.
pub async fn decide_answer_relevance(
    check: &AnswerRelevanceCheck,
    task: QuestionsTask,
    judge: &dyn Judge,
    model: &dyn ChatModel,
) -> Decision {
    if task.material.answer.trim().is_empty() {
        let note = GraderNote::new(false, "relevance", "the answer is empty");
        return Decision::new(judge.identity(), finding(decided(false, 0.0, note)), "");
    }

    let query = check.query.clone().unwrap_or_else(|| task.material.question.clone());
    let question = [JudgeQuestion::Questions(task)];
    let Some(written) = judge.decide(&question).await.into_iter().flatten().next() else {
        let failure = UngradedReason::new(UngradedKind::NotJudged, "the judge gave no reply");
        return Decision::unanswered(judge.identity(), failure);
    };
    if written.ungraded.is_some() {
        return written;
    }

    let Decision { judge, spent, finding: found, .. } = written;
    let questions: Vec<String> = match found {
        Finding::Grader(found) => found.notes.into_iter().map(|note| note.text).collect(),
        _ => Vec::new(),
    };
    let texts = std::iter::once(query.as_str()).chain(questions.iter().map(String::as_str));
    let EmbeddedTexts { vectors, spent: embedding, .. } = embed_texts(model, texts).await;
    let spent = spent.combined_with(embedding);
    let compared = vectors.and_then(|vectors| compare(check, &questions, &vectors));
    match compared {
        Ok(result) => Decision { spent, ..Decision::new(judge, finding(result), "") },
        Err(failure) => Decision { spent, ..Decision::unanswered(judge, failure) },
    }
}

/// Compares the first vector (the original question) with the vectors of the generated questions.
fn compare(
    check: &AnswerRelevanceCheck,
    questions: &[String],
    vectors: &[Vec<f64>],
) -> Result<CheckResult, UngradedReason> {
    let (query, written) = match vectors.split_first() {
        Some((query, written))
            if !written.is_empty() && written.iter().all(|one| one.len() == query.len()) =>
        {
            (query, written)
        }
        _ => {
            let message = "the model returned vectors of different lengths, or none";
            return Err(UngradedReason::new(UngradedKind::Malformed, message));
        }
    };

    let similarities: Vec<f64> =
        written.iter().map(|one| measure(SimilarityMeasure::Cosine, query, one)).collect();
    let mean = similarities.iter().sum::<f64>() / similarities.len() as f64;
    let passed = mean >= check.threshold - f64::EPSILON;
    let line = check.threshold;
    let note = GraderNote::new(
        passed,
        "relevance",
        format!("mean similarity {mean:.3}, at least {line} is required"),
    );

    let mut result = decided(passed, mean, note);
    result.findings.extend(questions.iter().zip(similarities).map(|(question, similarity)| {
        GraderNote::remark(shorten(question), format!("similarity {similarity:.3} with the question"))
    }));
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_similarity_is_the_score() {
        let check = AnswerRelevanceCheck { query: None, threshold: 0.5, judge: None, model: None };
        let questions = ["a?".to_owned(), "b?".to_owned()];
        let result =
            compare(&check, &questions, &[vec![1.0, 0.0], vec![2.0, 0.0], vec![0.0, 1.0]]).expect("alike");
        assert_eq!(
            (result.passed, result.score.map(assize_rubric::UnitInterval::get)),
            (Some(true), Some(0.5))
        );
        assert_eq!(result.findings.len(), 3);
        let strict = AnswerRelevanceCheck { threshold: 0.51, ..check };
        assert_eq!(
            compare(&strict, &questions, &[vec![1.0], vec![1.0], vec![0.0]]).unwrap().passed,
            Some(false)
        );
        assert!(compare(&strict, &questions, &[vec![1.0], vec![1.0, 2.0]]).is_err());
        assert!(compare(&strict, &questions, &[vec![1.0]]).is_err());
    }
}
