//! Comparison of two answers without a model: the better one covers more of what counts.

use assize_rubric::{AnswerPreference, Criterion, Decision, TOLERANCE};

use super::answer_score::scored_criterion;
use super::{OfflineJudge, coverage_decisions};
use crate::{Judge as _, JudgeMaterial, PairTask};

/// Least lead in coverage, 0 to 1, that makes an answer the better one: a point of ten, which is what coverage is
/// rounded to.
const CLEARLY: f64 = 0.1;

impl OfflineJudge {
    /// Each answer is scored by itself, so that the order can't matter. What counts is each criterion of the author, else
    /// the expected outcome, else the reference.
    pub(super) fn decide_pair(self, task: &PairTask) -> Decision {
        let refuse = |message: &str| self.refuse_question(message);
        let given: Vec<&str> = if task.criteria.is_empty() {
            let outcome = task.expected_outcome.as_deref().or(task.reference.as_deref());
            outcome.into_iter().filter(|text| !text.trim().is_empty()).collect()
        } else {
            task.criteria.iter().map(String::as_str).collect()
        };
        if given.is_empty() {
            return refuse(
                "the offline judge needs criteria, an expected outcome or a reference to compare two answers",
            );
        }

        let criteria: Option<Vec<Criterion>> = given
            .iter()
            .enumerate()
            .map(|(at, text)| scored_criterion(&format!("claim-{}", at + 1), text))
            .collect();
        let Some(criteria) = criteria else { return refuse("what counts can't be judged by itself") };
        let covered = (covers(task, &task.first, &criteria), covers(task, &task.second, &criteria));
        let (Some(first), Some(second)) = covered else {
            return refuse("what counts has no words to look for");
        };
        let preference = if first - second > CLEARLY - TOLERANCE {
            AnswerPreference::First
        } else if second - first > CLEARLY - TOLERANCE {
            AnswerPreference::Second
        } else {
            AnswerPreference::Tie
        };

        let reason = format!("Answer 1 covers {first:.2} of what counts, answer 2 {second:.2}.");
        Decision::new(self.identity(), preference, reason)
    }
}

/// The mean score of an answer over the claims; `None` where none of them could be looked for.
fn covers(task: &PairTask, answer: &str, criteria: &[Criterion]) -> Option<f64> {
    let material = JudgeMaterial {
        reference: task.reference.clone(),
        answer: answer.to_owned(),
        ..JudgeMaterial::default()
    };
    let decided = coverage_decisions(&material, criteria);
    let values: Vec<f64> = decided.iter().filter_map(|decision| decision.outcome.value()).collect();

    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(first: &str, second: &str) -> PairTask {
        PairTask {
            question: "Why is my parcel late?".into(),
            expected_outcome: Some("Names the strike at the carrier and apologises for the delay".into()),
            first: first.into(),
            second: second.into(),
            ..PairTask::default()
        }
    }

    #[test]
    fn the_answer_that_covers_more_is_better_in_either_order() {
        let good = "Sorry for the delay, we apologise: there is a strike at the carrier.";
        let poor = "Please wait a little longer.";
        let found = OfflineJudge.decide_pair(&task(good, poor));
        assert_eq!(found.finding, AnswerPreference::First.into(), "{found:?}");
        assert_eq!(
            OfflineJudge.decide_pair(&task(good, poor).swap_answers()).finding,
            AnswerPreference::Second.into()
        );
        assert_eq!(OfflineJudge.decide_pair(&task(good, good)).finding, AnswerPreference::Tie.into());
        let by_criteria = PairTask { criteria: vec!["Asks to wait longer".into()], ..task(good, poor) };
        assert_eq!(OfflineJudge.decide_pair(&by_criteria).finding, AnswerPreference::Second.into());
    }

    #[test]
    fn without_anything_to_compare_by_it_does_not_decide() {
        let bare = PairTask { expected_outcome: None, ..task("a", "b") };
        let found = OfflineJudge.decide_pair(&bare);
        assert!(found.ungraded.is_some());
        assert_eq!(found.spent.attempts, 0);
    }
}
