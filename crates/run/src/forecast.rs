//! What an item would take, without running it.

use std::sync::Arc;

use assize_grade::Forecast;
use assize_rubric::Judging;
use assize_target::Answer;

use crate::material::material;
use crate::work::{rubric_graders, task};
use crate::{Source, WorkItem};

/// The judging of an item by judge (name), in the judging mode that applies or in another one. An answer that is not
/// there yet counts as an empty one.
///
/// # Errors
/// When a judge can't be found.
pub fn forecast(item: &WorkItem, judging: Option<Judging>) -> Result<Vec<(String, Forecast)>, String> {
    let answer = match &item.source {
        Source::Given(answer) => (**answer).clone(),
        Source::Target(_) | Source::Missing { .. } => Answer::default(),
    };
    let material = Arc::new(material(&item.case, &answer));
    rubric_graders(item)
        .into_iter()
        .map(|(_, grader)| {
            let judge = item.judges.judge(item.judge_wish(grader))?;
            let mut task = task(item, grader, &material);
            task.judging = judging.unwrap_or(task.judging);
            Ok((judge.identity().name, judge.forecast(&task)))
        })
        .collect()
}
