//! A question to a judge.

use assize_rubric::{Decision, JudgeIdentity, Ungraded, UngradedKind};

use crate::{AnswerScoreTask, BehaviourTask, Forecast, PairTask, RubricTask, SamplingOptions};

/// A question to a judge. Its answer is one decision, or one for each criterion of a rubric.
#[derive(Debug, Clone)]
pub enum Question {
    /// Each criterion of a rubric.
    Rubric(RubricTask),
    /// One score for the answer as a whole.
    AnswerScore(AnswerScoreTask),
    /// A benchmark's behaviour.
    Behaviour(BehaviourTask),
    /// The better of two answers, in one order.
    Pair(PairTask),
}

impl Question {
    /// This question with other options.
    #[must_use]
    pub fn with_sampling(&self, sampling: SamplingOptions) -> Self {
        let mut question = self.clone();
        *question.sampling_mut() = sampling;
        question
    }

    /// The options of its calls.
    pub const fn sampling(&self) -> SamplingOptions {
        match self {
            Self::Rubric(task) => task.sampling,
            Self::AnswerScore(task) => task.sampling,
            Self::Behaviour(task) => task.sampling,
            Self::Pair(task) => task.sampling,
        }
    }

    const fn sampling_mut(&mut self) -> &mut SamplingOptions {
        match self {
            Self::Rubric(task) => &mut task.sampling,
            Self::AnswerScore(task) => &mut task.sampling,
            Self::Behaviour(task) => &mut task.sampling,
            Self::Pair(task) => &mut task.sampling,
        }
    }

    /// The forecast of a judge that calls no model.
    pub fn without_calls(&self) -> Forecast {
        match self {
            Self::Rubric(task) => {
                Forecast { criteria: task.rubric.criteria().len() as u64, ..Forecast::default() }
            }
            Self::Behaviour(_) => Forecast { criteria: 1, ..Forecast::default() },
            Self::AnswerScore(_) | Self::Pair(_) => Forecast { scores: 1, ..Forecast::default() },
        }
    }

    /// The decisions of a judge that can't answer it.
    pub fn refused(&self, judge: &JudgeIdentity, message: &str) -> Vec<Decision> {
        let ungraded = || Ungraded { kind: UngradedKind::NotJudged, message: message.to_owned() };
        match self {
            Self::Rubric(task) => {
                let criteria = task.rubric.criteria().iter().cloned();
                criteria.map(|criterion| Decision::ungraded(judge.clone(), criterion, ungraded())).collect()
            }
            Self::AnswerScore(_) | Self::Behaviour(_) | Self::Pair(_) => {
                vec![Decision::unanswered(judge.clone(), ungraded())]
            }
        }
    }
}
