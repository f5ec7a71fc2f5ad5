//! The judge that needs no model: deterministic word coverage.
//!
//! For each criterion it looks for the passage of the answer that covers the criterion's content words best, quotes
//! it, and decides by how much of them is covered. It compares words; it does not know facts, and it does not
//! understand. All of its decisions carry low confidence.

mod behaviour;
mod claim;
mod decide;
mod limits;
mod pair;
mod search;
mod text;
mod whole;
mod words;

use assize_llm::BoxFuture;
use assize_rubric::{
    Confidence, Criterion, Decision, Evidence, Finding, JudgeIdentity, Ungraded, UngradedKind,
};
use futures_util::FutureExt as _;

use crate::{Judge, Material, Question, RubricTask};

use claim::Claim;
use decide::{CoverageDecision, decide};
use search::Library;

/// Version of the method. Any change that can change a decision makes a new version.
const VERSION: &str = "offline.v2";

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
                // The quote is a slice of the text, so there is nothing left to verify.
                let evidence =
                    decision.quote.into_iter().map(|quote| Evidence { quote, verified: true }).collect();
                let finding = Finding::Criterion { criterion: criterion.clone(), outcome: decision.outcome };
                Decision {
                    evidence,
                    confidence: Some(Confidence::Low),
                    ..Decision::new(judge.clone(), finding, decision.reason)
                }
            })
            .collect()
    }

    /// A question that it can't answer.
    fn refuse(self, message: &str) -> Decision {
        let ungraded = Ungraded { kind: UngradedKind::NotJudged, message: message.to_owned() };
        Decision::unanswered(self.identity(), ungraded)
    }

    fn answer(self, question: &Question) -> Vec<Decision> {
        match question {
            Question::Rubric(task) => self.decide_all(task),
            Question::AnswerScore(task) => vec![self.decide_whole(task)],
            Question::Behaviour(task) => vec![self.decide_behaviour(task)],
            Question::Pair(task) => vec![self.decide_pair(task)],
        }
    }
}

/// Decides on criteria, one by one, after reading the material once.
fn coverage_decisions(material: &Material, criteria: &[Criterion]) -> Vec<CoverageDecision> {
    let library = Library::read(material.produced());
    let reference = material.reference.as_deref().filter(|text| !text.trim().is_empty()).map(Claim::read);

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

    fn decide<'a>(&'a self, questions: &'a [Question]) -> BoxFuture<'a, Vec<Vec<Decision>>> {
        async { questions.iter().map(|question| self.answer(question)).collect() }.boxed()
    }
}
