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
mod passages;
mod quote;
mod search;
mod tokens;
mod vocabulary;
mod whole;
mod words;

use assize_llm::BoxFuture;
use assize_rubric::{Confidence, Decision, Evidence, Finding, JudgeIdentity, Ungraded, UngradedKind};
use futures_util::FutureExt as _;

use crate::{Judge, Question, RubricTask};

use claim::Claim;
use decide::decide;
use search::Library;
use vocabulary::Vocabulary;

/// Version of the method. Any change that can change a decision makes a new version.
const VERSION: &str = "offline.v1";

/// The built-in judge that needs no model and no network: the same answer always gets the same decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfflineJudge;

impl OfflineJudge {
    fn decide_all(self, task: &RubricTask) -> Vec<Decision> {
        let mut vocabulary = Vocabulary::new();
        let library = Library::read(task.material.produced(), &task.material.question, &mut vocabulary);
        let reference = task.material.reference.as_deref().filter(|text| !text.trim().is_empty());
        let reference = reference.map(|text| Claim::read(text, &mut vocabulary));
        let judge = self.identity();
        task.rubric
            .criteria()
            .iter()
            .map(|criterion| {
                let decision = decide(criterion, &library, reference.as_ref(), &mut vocabulary);
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
