//! The trait of everything that judges by a rubric.

use assize_llm::BoxFuture;
use assize_rubric::{JudgeIdentity, Judgement, UngradedKind};
use futures_util::future::join_all;

use crate::{
    BehaviourJudgement, BehaviourTask, Forecast, PairJudgement, PairTask, RubricTask, WholeJudgement,
    WholeTask,
};

/// Something that decides on the criteria of a rubric.
pub trait RubricJudge: Send + Sync {
    /// Who judges.
    fn identity(&self) -> JudgeIdentity;

    /// What judging the task would take. Judges that call no model take nothing.
    fn forecast(&self, task: &RubricTask) -> Forecast {
        Forecast { criteria: task.rubric.criteria().len() as u64, ..Forecast::default() }
    }

    /// What scoring the answer as a whole would take. Judges that call no model take nothing.
    fn forecast_whole(&self, task: &WholeTask) -> Forecast {
        let _ = task;
        Forecast { scores: 1, ..Forecast::default() }
    }

    /// Exactly one judgement per criterion, in the rubric's order. A criterion that could not be judged is an
    /// ungraded judgement; judging never fails as a whole. Dropping the future gives up the calls in flight.
    fn judge<'a>(&'a self, task: &'a RubricTask) -> BoxFuture<'a, Vec<Judgement>>;

    /// Why the judge can't say how probable its decisions are, as far as that is known before it is asked.
    fn refuses_probabilities(&self) -> Option<&'static str> {
        Some("it gives no probabilities")
    }

    /// The judgements of several tasks on the same answer, in their order: repeats of one task, which may share what
    /// they have in common.
    fn judge_all<'a>(&'a self, tasks: &'a [RubricTask]) -> BoxFuture<'a, Vec<Vec<Judgement>>> {
        Box::pin(join_all(tasks.iter().map(|task| self.judge(task))))
    }

    /// What deciding about a behaviour would take. Judges that call no model take nothing.
    fn forecast_behaviour(&self, task: &BehaviourTask) -> Forecast {
        let _ = task;
        Forecast { criteria: 1, ..Forecast::default() }
    }

    /// One score for the answer as a whole. What could not be judged is an ungraded judgement. A judge that
    /// knows criteria only says so.
    fn judge_whole<'a>(&'a self, task: &'a WholeTask) -> BoxFuture<'a, WholeJudgement> {
        let _ = task;
        let judge = self.identity();
        Box::pin(async {
            WholeJudgement::ungraded(judge, UngradedKind::NotJudged, "this judge decides on criteria only")
        })
    }

    /// What deciding between two answers in one order would take. Judges that call no model take nothing.
    fn forecast_pair(&self, task: &PairTask) -> Forecast {
        let _ = task;
        Forecast { scores: 1, ..Forecast::default() }
    }

    /// Which of two answers is better, in the order of the task. What could not be judged is an ungraded judgement. A
    /// judge that knows criteria only says so.
    fn judge_pair<'a>(&'a self, task: &'a PairTask) -> BoxFuture<'a, PairJudgement> {
        let _ = task;
        let judge = self.identity();
        Box::pin(async {
            PairJudgement::ungraded(judge, UngradedKind::NotJudged, "this judge decides on criteria only")
        })
    }

    /// Whether an output shows a behaviour. What could not be judged is an ungraded judgement. A judge
    /// that knows criteria only says so.
    fn judge_behaviour<'a>(&'a self, task: &'a BehaviourTask) -> BoxFuture<'a, BehaviourJudgement> {
        let _ = task;
        let judge = self.identity();
        Box::pin(async {
            BehaviourJudgement::ungraded(
                judge,
                UngradedKind::NotJudged,
                "this judge decides on criteria only",
            )
        })
    }
}
