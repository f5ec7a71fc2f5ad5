//! The trait of everything that judges by a rubric.

use assize_llm::BoxFuture;
use assize_rubric::{JudgeIdentity, Judgement};

use crate::{Forecast, RubricTask};

/// Something that decides on the criteria of a rubric.
pub trait RubricJudge: Send + Sync {
    /// Who judges.
    fn identity(&self) -> JudgeIdentity;

    /// What judging the task would take. Judges that call no model take nothing.
    fn forecast(&self, task: &RubricTask) -> Forecast {
        Forecast { criteria: task.rubric.criteria().len() as u64, ..Forecast::default() }
    }

    /// Exactly one judgement per criterion, in the rubric's order. A criterion that could not be judged is an
    /// ungraded judgement; judging never fails as a whole. Dropping the future gives up the calls in flight.
    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>>;
}
