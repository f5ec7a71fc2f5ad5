//! Similarity of meaning: the answer and given texts as vectors, and the distance between them.

use assize_llm::{CacheableReply, ChatMessage, ChatModel, ChatRequest};
use assize_model::{SimilarityCheck, SimilarityMeasure};
use assize_rubric::{
    Decision, GraderFinding, GraderFindingKind, GraderNote, JudgeIdentity, JudgingUsage, UngradedKind,
    UngradedReason,
};
use futures_util::future::join_all;

use super::answer::failure_of;
use super::tally::UsageTally;
use crate::CallForecast;
use crate::check::{CheckResult, decided, shorten};

/// Name of the judge in decisions.
const NAME: &str = "similar";

/// The request for the vector or the labels of a text.
pub(super) fn text_request(text: &str) -> ChatRequest {
    // The model writes no text in reply.
    ChatRequest { max_output_tokens: Some(1), ..ChatRequest::new([ChatMessage::user(text)]) }
}

/// Forecast of the calls for a comparison.
pub fn similarity_forecast(check: &SimilarityCheck, answer: &str, model: &dyn ChatModel) -> CallForecast {
    text_forecast(std::iter::once(answer).chain(check.texts.iter().map(String::as_str)), model)
}

/// Forecast of the calls for the vectors or labels of texts.
pub(super) fn text_forecast<'a>(texts: impl Iterator<Item = &'a str>, model: &dyn ChatModel) -> CallForecast {
    let (id, card) = (model.describe(), model.card());
    let mut forecast = CallForecast { scores: 1, ..CallForecast::default() };
    for text in texts {
        forecast += CallForecast::from_request(&text_request(text), 0, &id.model, card);
    }

    forecast
}

/// Compares the meaning of an answer with given texts; one of them must be close. Without a vector for one of
/// the texts, the result is ungraded.
pub async fn decide_similarity(check: &SimilarityCheck, answer: &str, model: &dyn ChatModel) -> Decision {
    if answer.trim().is_empty() {
        let note = GraderNote::new(false, "similarity", "the answer is empty");
        return Decision::new(named_judge(NAME, None), finding(decided(false, 0.0, note)), "");
    }

    let texts = std::iter::once(answer).chain(check.texts.iter().map(String::as_str));
    let EmbeddedTexts { vectors, spent, answered_by } = embed_texts(model, texts).await;
    let judge = named_judge(NAME, answered_by.or_else(|| Some(model.describe().model)));
    match vectors.and_then(|vectors| compare(check, &vectors)) {
        Ok(result) => Decision { spent, ..Decision::new(judge, finding(result), "") },
        Err(failure) => Decision { spent, ..Decision::unanswered(judge, failure) },
    }
}

/// Identity of a judge without instructions of its own.
pub(super) fn named_judge(name: &str, model: Option<String>) -> JudgeIdentity {
    JudgeIdentity { name: name.into(), model: model.map(Into::into), ..JudgeIdentity::default() }
}

/// Vectors of texts, and their cost.
pub(super) struct EmbeddedTexts {
    /// A vector for each text, in order, or why one of them has none.
    pub(super) vectors: Result<Vec<Vec<f64>>, UngradedReason>,
    pub(super) spent: JudgingUsage,
    /// Model that replied, as its server names it.
    pub(super) answered_by: Option<String>,
}

/// Requests the vectors of texts.
pub(super) async fn embed_texts(model: &dyn ChatModel, texts: impl Iterator<Item = &str>) -> EmbeddedTexts {
    let replies = join_all(texts.map(|text| embed(model, text))).await;
    let mut tally = UsageTally::new(model.card());
    let mut vectors = Vec::new();
    let (mut failure, mut answered_by) = (None, None);
    for reply in replies {
        match reply {
            Embedded::Vector(vector, reply) => {
                tally.add_reply(&reply);
                answered_by = answered_by.or_else(|| reply.reply.model.clone());
                vectors.push(vector);
            }
            Embedded::Unusable(reason, reply) => {
                tally.add_reply(&reply);
                failure = failure.or(Some(reason));
            }
            Embedded::Failed(error) => {
                tally.add_error(&error);
                failure = failure.or_else(|| Some(failure_of(&error)));
            }
        }
    }

    EmbeddedTexts {
        vectors: failure.map_or(Ok(vectors), Err),
        // The stored replies are vectors, which are useless to a reader.
        spent: JudgingUsage { replies: Vec::new(), ..tally.spent },
        answered_by,
    }
}

pub(super) fn finding(result: CheckResult) -> GraderFinding {
    GraderFinding {
        kind: GraderFindingKind::Checked { passed: result.passed.unwrap_or_default() },
        ..GraderFinding::new(result.score, result.findings)
    }
}

/// Outcome of a request for a vector.
enum Embedded {
    Vector(Vec<f64>, CacheableReply),
    Unusable(UngradedReason, CacheableReply),
    Failed(assize_llm::AskError),
}

/// Requests the vector of a text. All trials of a case use the same one.
async fn embed(model: &dyn ChatModel, text: &str) -> Embedded {
    let mut reply = match model.ask_repeat(&text_request(text), 1).await {
        Ok(reply) => reply,
        Err(error) => return Embedded::Failed(error),
    };

    match serde_json::from_str::<Vec<f64>>(&reply.reply.text) {
        Ok(vector)
            if vector.iter().any(|part| *part != 0.0) && vector.iter().all(|part| part.is_finite()) =>
        {
            reply.keep();
            Embedded::Vector(vector, reply)
        }
        _ => {
            let message =
                "the reply holds no vector: name a model for embeddings, such as `openai-embeddings:MODEL`";
            Embedded::Unusable(UngradedReason::new(UngradedKind::Malformed, message), reply)
        }
    }
}

/// Compares the first vector (the answer) with each of the others.
fn compare(check: &SimilarityCheck, vectors: &[Vec<f64>]) -> Result<CheckResult, UngradedReason> {
    let Some((answer, texts)) = vectors.split_first() else {
        return Err(UngradedReason::new(UngradedKind::Malformed, "there is nothing to compare"));
    };
    if texts.iter().any(|text| text.len() != answer.len()) {
        let message = "the model returned vectors of different lengths";
        return Err(UngradedReason::new(UngradedKind::Malformed, message));
    }

    let distances = check.measure == SimilarityMeasure::Euclidean;
    let values = texts.iter().map(|text| measure(check.measure, answer, text)).zip(&check.texts);
    let closest = values.reduce(|best, other| {
        let is_closer = if distances { other.0 < best.0 } else { other.0 > best.0 };
        if is_closer { other } else { best }
    });
    let Some((value, text)) = closest else {
        return Err(UngradedReason::new(UngradedKind::Malformed, "there is nothing to compare with"));
    };

    let line = check.threshold;
    let (passed, score, words) = if distances {
        (value <= line + f64::EPSILON, 1.0 / (1.0 + value), format!("distance {value:.3}, at most {line}"))
    } else {
        (value >= line - f64::EPSILON, value, format!("similarity {value:.3}, at least {line}"))
    };
    let reason = match texts.len() {
        1 => format!("{words} is wanted"),
        _ => format!("{words} is required; the closest text is \"{}\"", shorten(text)),
    };

    Ok(decided(passed, score, GraderNote::new(passed, "similarity", reason)))
}

pub(super) fn measure(measure: SimilarityMeasure, one: &[f64], other: &[f64]) -> f64 {
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    match measure {
        SimilarityMeasure::Cosine => dot(one, other) / (dot(one, one).sqrt() * dot(other, other).sqrt()),
        SimilarityMeasure::Dot => dot(one, other),
        SimilarityMeasure::Euclidean => {
            one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(measure: SimilarityMeasure, threshold: f64, texts: &[&str]) -> SimilarityCheck {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        SimilarityCheck { texts, measure, threshold, model: None }
    }

    fn result(check: &SimilarityCheck, vectors: &[&[f64]]) -> (bool, f64) {
        let vectors: Vec<Vec<f64>> = vectors.iter().map(|vector| vector.to_vec()).collect();
        let result = compare(check, &vectors).expect("vectors of one length");
        (result.passed.unwrap(), result.score.unwrap().get())
    }

    #[test]
    fn each_measure_has_its_score_and_its_line() {
        let answer: &[f64] = &[3.0, 4.0];
        let cosine = check(SimilarityMeasure::Cosine, 0.6, &["a"]);
        assert_eq!(result(&cosine, &[answer, &[1.0, 0.0]]), (true, 0.6));
        let dot = check(SimilarityMeasure::Dot, 0.5, &["a"]);
        assert_eq!(result(&dot, &[answer, &[0.1, 0.0]]), (false, 0.1 * 3.0));
        let distance = check(SimilarityMeasure::Euclidean, 5.0, &["a"]);
        assert_eq!(result(&distance, &[answer, &[0.0, 0.0]]), (true, 1.0 / 6.0));
        assert!(!result(&check(SimilarityMeasure::Euclidean, 4.9, &["a"]), &[answer, &[0.0, 0.0]]).0);
    }

    #[test]
    fn one_close_text_is_enough_and_scores_stay_in_range() {
        let several = check(SimilarityMeasure::Cosine, 0.9, &["a", "b"]);
        assert_eq!(result(&several, &[&[1.0, 0.0], &[0.0, 1.0], &[2.0, 0.0]]), (true, 1.0));
        assert_eq!(result(&several, &[&[1.0, 0.0], &[-1.0, 0.0], &[-2.0, 0.0]]), (false, 0.0));
    }

    #[test]
    fn vectors_of_different_lengths_are_not_compared() {
        let one = check(SimilarityMeasure::Cosine, 0.9, &["a"]);
        assert!(compare(&one, &[vec![1.0], vec![1.0, 2.0]]).is_err());
    }
}
