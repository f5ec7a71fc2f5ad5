//! The judge that needs no model: deterministic word coverage.
//!
//! For each criterion it searches for the passage of the answer that covers the criterion's content words best,
//! quotes it, and decides by how much of them it covers. It compares words; it does not know facts and
//! understands nothing. All of its decisions carry low confidence. It reads English only: a criterion in another
//! language stays ungraded, because a negation that is not read turns a criterion around.

mod answer_score;
mod behaviour;
mod claim;
mod decide;
mod language;
mod limits;
mod pair;
mod search;
mod text;
mod word_lists;

use assize_llm::BoxFuture;
use assize_rubric::{
    Criterion, Decision, EvidenceQuote, Finding, JudgeConfidence, JudgeIdentity, Outcome, UngradedKind,
    UngradedReason,
};
use futures_util::FutureExt as _;

use crate::{Judge, JudgeMaterial, JudgeQuestion, RubricTask};

use claim::CriterionClaim;
use decide::{CoverageDecision, decide};
use search::AnswerCorpus;

/// Version of the method. Any change that can change a decision needs a new version.
const VERSION: &str = "offline.v5";

/// The built-in judge that needs no model and no network: the same answer always gets the same decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfflineJudge;

impl OfflineJudge {
    fn decide_all(self, task: &RubricTask) -> Vec<Decision> {
        let decisions = coverage_decisions(&task.material, task.rubric.criteria());
        let judge = self.identity();
        task.rubric
            .criteria()
            .iter()
            .zip(decisions)
            .map(|(criterion, decision)| {
                // The quote is a slice of the text and needs no verification.
                let evidence =
                    decision.quote.into_iter().map(|quote| EvidenceQuote { quote, verified: true }).collect();
                let finding = Finding::Criterion { criterion: criterion.clone(), outcome: decision.outcome };
                let is_open = decision.outcome == Outcome::Ungraded;
                let ungraded = UngradedReason::new(UngradedKind::NotJudged, decision.reason.clone());
                Decision {
                    evidence,
                    confidence: (!is_open).then_some(JudgeConfidence::Low),
                    ungraded: is_open.then_some(ungraded),
                    ..Decision::new(judge.clone(), finding, decision.reason)
                }
            })
            .collect()
    }

    /// The decision on a question that this judge can't answer.
    fn refuse_question(self, message: &str) -> Decision {
        let ungraded = UngradedReason { kind: UngradedKind::NotJudged, message: message.to_owned() };
        Decision::unanswered(self.identity(), ungraded)
    }

    fn answer(self, question: &JudgeQuestion) -> Vec<Decision> {
        match question {
            JudgeQuestion::Rubric(task) => self.decide_all(task),
            JudgeQuestion::AnswerScore(task) => vec![self.decide_whole(task)],
            JudgeQuestion::Behaviour(task) => vec![self.decide_behaviour(task)],
            JudgeQuestion::Pair(task) => vec![self.decide_pair(task)],
            JudgeQuestion::Questions(_) => {
                vec![
                    self.refuse_question(
                        "the offline judge writes no questions; name a model with `--judge`",
                    ),
                ]
            }
        }
    }
}

/// Decides on criteria one by one, after parsing the material once.
fn coverage_decisions(material: &JudgeMaterial, criteria: &[Criterion]) -> Vec<CoverageDecision> {
    let library = AnswerCorpus::parse(material.produced_texts());
    let reference =
        material.reference.as_deref().filter(|text| !text.trim().is_empty()).map(CriterionClaim::parse);

    criteria.iter().map(|criterion| decide(criterion, &library, reference.as_ref())).collect()
}

impl Judge for OfflineJudge {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity {
            name: "offline".into(),
            model: None,
            version: Some(VERSION.into()),
            prompt_hash: None,
        }
    }

    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        async { questions.iter().map(|question| self.answer(question)).collect() }.boxed()
    }
}
