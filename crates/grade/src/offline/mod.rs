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
use assize_rubric::{Confidence, Evidence, JudgeIdentity, Judgement, Tokens};
use futures_util::FutureExt as _;

use crate::{
    BehaviourJudgement, BehaviourTask, PairJudgement, PairTask, RubricJudge, RubricTask, WholeJudgement,
    WholeTask,
};

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
    fn decide_all(self, task: &RubricTask) -> Vec<Judgement> {
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
                Judgement {
                    criterion: criterion.id.clone(),
                    outcome: decision.outcome,
                    reason: decision.reason,
                    evidence,
                    confidence: Some(Confidence::Low),
                    probability: None,
                    judge: judge.clone(),
                    ungraded: None,
                    attempts: 0,
                    cached_calls: 0,
                    tokens: Tokens::default(),
                    latency_ms: None,
                    cost: assize_rubric::Cost::ZERO,
                    truncated: None,
                    replies: Vec::new(),
                }
            })
            .collect()
    }
}

impl RubricJudge for OfflineJudge {
    fn identity(&self) -> JudgeIdentity {
        JudgeIdentity {
            name: "offline".into(),
            model: None,
            version: Some(VERSION.into()),
            prompt_hash: None,
        }
    }

    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>> {
        async { self.decide_all(task) }.boxed()
    }

    fn judge_whole<'a>(&'a self, task: &'a WholeTask) -> BoxFuture<'a, WholeJudgement> {
        async { self.decide_whole(task) }.boxed()
    }

    fn judge_pair<'a>(&'a self, task: &'a PairTask) -> BoxFuture<'a, PairJudgement> {
        async { self.decide_pair(task) }.boxed()
    }

    fn judge_behaviour<'a>(&'a self, task: &'a BehaviourTask) -> BoxFuture<'a, BehaviourJudgement> {
        async { self.decide_behaviour(task) }.boxed()
    }
}
