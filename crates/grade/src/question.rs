//! A question to a judge.

use assize_rubric::{Decision, JudgeIdentity, UngradedKind, UngradedReason};

use crate::{
    AnswerScoreTask, BehaviourTask, CallForecast, PairTask, QuestionsTask, RubricTask, SamplingOptions,
};

/// A question to a judge. It is answered with one decision, or with one for each criterion of a rubric.
#[derive(Debug, Clone)]
pub enum JudgeQuestion {
    /// Each criterion of a rubric.
    Rubric(RubricTask),
    /// One score for the answer as a whole.
    AnswerScore(AnswerScoreTask),
    /// A benchmark's behaviour.
    Behaviour(BehaviourTask),
    /// The better of two answers, in one order.
    Pair(PairTask),
    /// Questions that the answer would answer: the notes of the finding, which has no score.
    Questions(QuestionsTask),
}

impl JudgeQuestion {
    /// The options of its calls.
    pub const fn sampling_mut(&mut self) -> &mut SamplingOptions {
        match self {
            Self::Rubric(task) => &mut task.sampling,
            Self::AnswerScore(task) => &mut task.sampling,
            Self::Behaviour(task) => &mut task.sampling,
            Self::Pair(task) => &mut task.sampling,
            Self::Questions(task) => &mut task.sampling,
        }
    }

    /// The forecast of a judge that makes no calls.
    pub fn without_calls(&self) -> CallForecast {
        match self {
            Self::Rubric(task) => {
                CallForecast { criteria: task.rubric.criteria().len() as u64, ..CallForecast::default() }
            }
            Self::Behaviour(_) => CallForecast { criteria: 1, ..CallForecast::default() },
            Self::AnswerScore(_) | Self::Pair(_) | Self::Questions(_) => {
                CallForecast { scores: 1, ..CallForecast::default() }
            }
        }
    }

    /// The decisions of a judge that can't answer the question.
    pub fn refuse(&self, judge: &JudgeIdentity, message: &str) -> Vec<Decision> {
        let ungraded = || UngradedReason { kind: UngradedKind::NotJudged, message: message.to_owned() };
        match self {
            Self::Rubric(task) => {
                let criteria = task.rubric.criteria().iter().cloned();
                criteria.map(|criterion| Decision::ungraded(judge.clone(), criterion, ungraded())).collect()
            }
            Self::AnswerScore(_) | Self::Behaviour(_) | Self::Pair(_) | Self::Questions(_) => {
                vec![Decision::unanswered(judge.clone(), ungraded())]
            }
        }
    }
}
