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
use assize_rubric::{Confidence, Criterion, Evidence, JudgeIdentity, Judgement, Tokens};
use futures_util::FutureExt as _;

use crate::{
    BehaviourJudgement, BehaviourTask, Material, PairJudgement, PairTask, RubricJudge, RubricTask,
    WholeJudgement, WholeTask,
};

use claim::Claim;
use decide::{Decision, decide};
use search::Library;

/// Version of the method. Any change that can change a decision makes a new version.
const VERSION: &str = "offline.v2";

/// The built-in judge that needs no model and no network: the same answer always gets the same decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfflineJudge;

impl OfflineJudge {
    fn decide_all(self, task: &RubricTask) -> Vec<Judgement> {
        let decisions = decisions(&task.material, task.rubric.criteria());
        let judge = self.identity();
        task.rubric
            .criteria()
            .iter()
            .zip(decisions)
            .map(|(criterion, decision)| {
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

/// Decides on criteria, one by one, after reading the material once.
fn decisions(material: &Material, criteria: &[Criterion]) -> Vec<Decision> {
    let library = Library::read(material.produced());
    let reference = material.reference.as_deref().filter(|text| !text.trim().is_empty()).map(Claim::read);

    criteria.iter().map(|criterion| decide(criterion, &library, reference.as_ref())).collect()
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
