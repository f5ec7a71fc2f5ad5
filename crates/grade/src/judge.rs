//! The trait of everything that judges.

use assize_llm::BoxFuture;
use assize_rubric::{Decision, JudgeIdentity};

use crate::{CallForecast, JudgeQuestion};

/// Something that decides on questions about an answer.
pub trait Judge: Send + Sync {
    /// Identity of the judge.
    fn identity(&self) -> JudgeIdentity;

    /// The calls that a question would take. Judges that call no model take nothing.
    fn forecast(&self, question: &JudgeQuestion) -> CallForecast {
        question.without_calls()
    }

    /// The decisions on each question, in their order: exactly one for each criterion of a rubric, in the rubric's order,
    /// and one for any other question. What could not be judged is a decision that says so; judging never fails as a
    /// whole. Questions about the same answer may share what they have in common. Dropping the future gives up the calls
    /// in flight.
    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>>;

    /// Reason the judge can't say how probable its decisions are, as far as that is known before it is asked.
    fn refuses_probabilities(&self) -> Option<&'static str> {
        Some("it gives no probabilities")
    }
}
