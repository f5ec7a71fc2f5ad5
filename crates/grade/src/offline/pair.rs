//! Compares two answers without a model: the better one covers more of what counts.

use assize_rubric::{
    AnswerPreference, Criterion, CriterionOperator, CriterionScale, Decision, TOLERANCE, Weight,
};

use super::answer_score::scored_criterion;
use super::{OfflineJudge, coverage_decisions};
use crate::{Judge as _, JudgeMaterial, PairTask};

/// Smallest lead in coverage, 0 to 1, that makes an answer the better one: one point of ten, to which coverage
/// is rounded.
const MIN_LEAD: f64 = 0.1;

impl OfflineJudge {
    /// Each answer is scored by itself, so the order can't matter. What counts are the author's criteria with
    /// their weights, otherwise the expected outcome, otherwise the reference.
    pub(super) fn decide_pair(self, task: &PairTask) -> Decision {
        let refuse = |message: &str| self.refuse_question(message);
        let mut criteria: Vec<Criterion> = task.counting_criteria().cloned().collect();
        if criteria.is_empty() {
            let outcome = task.expected_outcome.as_deref().or(task.reference.as_deref());
            let outcome = outcome.filter(|text| !text.trim().is_empty());
            criteria.extend(outcome.map(|text| Criterion::checklist("claim", text)));
        }
        if criteria.is_empty() {
            return refuse(
                "the offline judge needs criteria, an expected outcome or a reference to compare two answers",
            );
        }

        let criteria: Option<Vec<Criterion>> = criteria.into_iter().map(coverage_form).collect();
        let Some(criteria) = criteria else { return refuse("what counts can't be judged by itself") };
        let covered = (covers(task, &task.first, &criteria), covers(task, &task.second, &criteria));
        let (Some(first), Some(second)) = covered else {
            return refuse(
                "the offline judge can't decide what counts, as it reads only English; name a model with `--judge`",
            );
        };
        let preference = if first - second > MIN_LEAD - TOLERANCE {
            AnswerPreference::First
        } else if second - first > MIN_LEAD - TOLERANCE {
            AnswerPreference::Second
        } else {
            AnswerPreference::Tie
        };

        let reason = format!("Answer 1 covers {first:.2} of what counts, answer 2 {second:.2}.");
        Decision::new(self.identity(), preference, reason)
    }
}

/// A criterion in the form for comparing: how much of it an answer covers says more than whether it is met.
fn coverage_form(criterion: Criterion) -> Option<Criterion> {
    let is_plain =
        criterion.scale == CriterionScale::Checklist && criterion.operator == CriterionOperator::Correctness;
    if !is_plain {
        return Some(criterion);
    }

    let scored = scored_criterion(criterion.id.as_str(), &criterion.text)?;
    Some(Criterion { scale: scored.scale, ..criterion })
}

/// The weighted mean score of an answer over the criteria; penalties count against it. `None` if one of the
/// criteria can't be decided, or none of them counts.
fn covers(task: &PairTask, answer: &str, criteria: &[Criterion]) -> Option<f64> {
    let material = JudgeMaterial {
        reference: task.reference.clone(),
        answer: answer.to_owned(),
        ..JudgeMaterial::default()
    };
    let decided = coverage_decisions(&material, criteria);
    let (mut sum, mut total) = (0.0, 0.0);
    for (criterion, decision) in criteria.iter().zip(&decided) {
        let value = decision.outcome.value()?;
        // A criterion that is only a gate counts with weight 1 here, because no answer can make up for it.
        let weight = if criterion.weight == Weight::ZERO { 1.0 } else { criterion.weight.get() };
        sum += weight * value;
        total += weight.abs();
    }

    (total > 0.0).then(|| sum / total)
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
        let by_criteria =
            PairTask { criteria: vec![Criterion::checklist("a", "Asks to wait longer")], ..task(good, poor) };
        assert_eq!(OfflineJudge.decide_pair(&by_criteria).finding, AnswerPreference::Second.into());
    }

    #[test]
    fn what_a_penalty_names_counts_against_an_answer_by_its_weight() {
        let weighted = |text: &str, weight| Criterion {
            weight: Weight::new(weight).expect("finite"),
            ..Criterion::checklist(format!("c{weight}"), text)
        };
        let (faulty, plain) = ("We promise a voucher for the late parcel.", "The strike is at the carrier.");
        let preference = |criteria: Vec<Criterion>| {
            OfflineJudge.decide_pair(&PairTask { criteria, ..task(faulty, plain) }).finding
        };

        let fault = || weighted("Promises a voucher", -2.0);
        assert_eq!(preference(vec![fault()]), AnswerPreference::Second.into());
        assert_eq!(preference(vec![weighted("Names the late parcel", 1.0)]), AnswerPreference::First.into());
        let both = vec![weighted("Names the late parcel", 1.0), fault()];
        assert_eq!(preference(both), AnswerPreference::Second.into());
    }

    #[test]
    fn without_anything_to_compare_by_it_does_not_decide() {
        let bare = PairTask { expected_outcome: None, ..task("a", "b") };
        let found = OfflineJudge.decide_pair(&bare);
        assert!(found.ungraded.is_some());
        assert_eq!(found.spent.attempts, 0);
    }
}
