//! The trait that all judges implement.

use assize_llm::BoxFuture;
use assize_rubric::{Decision, JudgeIdentity};

use crate::{CallForecast, JudgeQuestion};

/// Decides on questions about an answer.
pub trait Judge: Send + Sync {
    /// Identity of the judge.
    fn identity(&self) -> JudgeIdentity;

    /// The calls that a question would take. Judges that call no model take none.
    fn forecast(&self, question: &JudgeQuestion) -> CallForecast {
        question.without_calls()
    }

    /// The decisions on each question, in order: exactly one for each criterion of a rubric, in the rubric's
    /// order, and one for any other question. A criterion that could not be judged gets a decision that says
    /// so; judging never fails as a whole. Questions about the same answer may share parts of their requests.
    /// Dropping the future abandons the calls in flight.
    fn decide<'a>(&'a self, questions: &'a [JudgeQuestion]) -> BoxFuture<'a, Vec<Vec<Decision>>>;

    /// Why the judge can't give probabilities for its decisions, as far as that is known before it is called.
    fn refuses_probabilities(&self) -> Option<&'static str> {
        Some("it gives no probabilities")
    }
}
