//! The judge that needs no model: deterministic word coverage.
//!
//! For each criterion it searches for the passage of the answer that covers the criterion's content words best, and
//! quotes it. It has no knowledge and no understanding, so it decides only criteria that words can decide: quoted text,
//! names, numbers and lengths; a passage with all words of the criterion; and for criteria that ask to mention
//! something, an answer with none of them. Everything else stays ungraded. All of its decisions carry low confidence.
//! It reads English only: a negation that is not read would turn a criterion around.

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
    Decision, EvidenceQuote, Finding, JudgeConfidence, JudgeIdentity, UngradedKind, UngradedReason,
};
use futures_util::FutureExt as _;

use crate::{Judge, JudgeQuestion, RubricTask};

use decide::decide;
use search::AnswerCorpus;

/// Version of the method. Any change that can change a decision needs a new version.
const VERSION: &str = "offline.v6";

/// The built-in judge that needs no model and no network: the same answer always gets the same decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfflineJudge;

impl OfflineJudge {
    fn decide_all(self, task: &RubricTask) -> Vec<Decision> {
        let library = AnswerCorpus::parse(task.material.produced_texts());
        let judge = self.identity();
        task.rubric
            .criteria()
            .iter()
            .map(|criterion| {
                let decision = decide(criterion, &library);
                // The quote is a slice of the text and needs no verification.
                let evidence =
                    decision.quote.into_iter().map(|quote| EvidenceQuote { quote, verified: true }).collect();
                let finding = Finding::Criterion { criterion: criterion.clone(), outcome: decision.outcome };
                let ungraded =
                    decision.ungraded.map(|message| UngradedReason::new(UngradedKind::NotJudged, message));
                Decision {
                    evidence,
                    confidence: ungraded.is_none().then_some(JudgeConfidence::Low),
                    ungraded,
                    ..Decision::new(judge.clone(), finding, decision.reason)
                }
            })
            .collect()
    }

    /// The decision on a question that this judge can't answer.
    fn refuse_question(self, message: &str) -> Decision {
        Decision::unanswered(self.identity(), UngradedReason::new(UngradedKind::NotJudged, message))
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
