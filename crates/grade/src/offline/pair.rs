//! Compares two answers without a model: the better one covers more of the criteria, the expected outcome or
//! the reference.

use assize_rubric::{AnswerPreference, Criterion, CriterionOperator, Decision, TOLERANCE, Weight};

use super::OfflineJudge;
use super::claim::CriterionClaim;
use super::decide::{covered_share, decide};
use super::search::AnswerCorpus;
use crate::{Judge as _, PairTask};

/// Smallest lead in coverage, 0 to 1, that makes an answer the better one.
const MIN_LEAD: f64 = 0.1;

impl OfflineJudge {
    /// Each answer is scored by itself, so the order can't matter. The score is the coverage of the author's
    /// criteria with their weights, otherwise of the expected outcome, otherwise of the reference.
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

        let covered = (covers(task, &task.first, &criteria), covers(task, &task.second, &criteria));
        let (Some(first), Some(second)) = covered else {
            return refuse("the words of the answers don't decide what counts; name a model with `--judge`");
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

/// The weighted mean score of an answer over the criteria; penalties count against it. `None` if one of the
/// criteria can't be decided, or none of them counts.
fn covers(task: &PairTask, answer: &str, criteria: &[Criterion]) -> Option<f64> {
    let library = AnswerCorpus::parse(std::iter::once(answer));
    let reference = task.reference.as_deref().filter(|text| !text.trim().is_empty());
    let reference = reference.map(CriterionClaim::parse);
    let (mut sum, mut total) = (0.0, 0.0);
    for criterion in criteria {
        let value = match criterion.operator {
            CriterionOperator::Correctness => covered_share(criterion, &library, reference.as_ref())?,
            CriterionOperator::Contradiction => decide(criterion, &library).outcome.value()?,
        };
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
