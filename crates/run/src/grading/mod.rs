//! Grades one answer. Members of composites are graded like graders of the case.

mod answer_relevance;
mod answer_score;
mod behaviour;
mod benchmark;
mod benchmark_checks;
mod composite;
mod context;
mod context_rubric;
mod conversation;
mod labels;
mod pairwise;
mod panel;
mod path;
mod programs;
mod rubrics;
mod scoring;
mod selection;
mod similar;
mod timed_check;
mod transform;
mod votes;

use assize_model::{AnswerCheck, Grader, GraderKind};
use assize_rubric::CaseDecision;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

pub(crate) use answer_score::{combine_task, score_task as answer_score_task};
pub(crate) use behaviour::{behaviour_task, panel_spec as behaviour_panel};
pub(crate) use context::GradingContext;
pub(crate) use context_rubric::likely_grader;
pub(crate) use conversation::ConversationGrades;
pub(crate) use pairwise::pair_task;
pub(crate) use panel::{ComparableVote, comparable_vote, recombine_votes};
pub use programs::custom_command;
pub(crate) use rubrics::rubric_task;
pub(crate) use selection::{GradedRival, pair_grader, select};
pub(crate) use transform::change_answer;

use path::GraderPath;

/// All decisions of a grader of the case. If the grader fails to run, a decision contains the reason; grading itself
/// never fails.
pub(crate) async fn grade(context: &GradingContext<'_>, grader: &Grader) -> Vec<CaseDecision> {
    grade_at(GraderPath::new(context, grader)).await
}

/// Boxed, because composites contain graders. Kinds with a large future are boxed separately, so that a rubric,
/// by far the most common grader, does not carry their size.
fn grade_at(path: GraderPath<'_>) -> BoxFuture<'_, Vec<CaseDecision>> {
    async move {
        match &path.grader.kind {
            GraderKind::Rubric(rubric) => rubrics::grade(&path, rubric).await,
            GraderKind::Llm(llm) => Box::pin(answer_score::grade(&path, llm)).await,
            GraderKind::Pairwise(pairwise) => Box::pin(pairwise::grade(&path, pairwise)).await,
            GraderKind::Code(code) => vec![Box::pin(programs::grade_code(&path, code)).await],
            GraderKind::Custom(custom) => vec![Box::pin(programs::grade_custom(&path, custom)).await],
            GraderKind::Similar(check) => vec![Box::pin(similar::grade(&path, check)).await],
            GraderKind::Labels(check) => vec![Box::pin(labels::grade(&path, check)).await],
            GraderKind::Context(grader) => Box::pin(context_rubric::grade(&path, grader)).await,
            GraderKind::AnswerRelevance(check) => {
                vec![Box::pin(answer_relevance::grade(&path, check)).await]
            }
            // Decided when all answers exist.
            GraderKind::Selection(_) => vec![selection::not_compared(&path)],
            GraderKind::Check(AnswerCheck::Script(check)) if check.code.program().is_some() => {
                vec![Box::pin(programs::grade_author_code(&path, check)).await]
            }
            GraderKind::Transformed(changed) => Box::pin(transform::grade(&path, changed)).await,
            GraderKind::Benchmark(found) => Box::pin(benchmark::grade(&path, found)).await,
            GraderKind::Composite(composite) => Box::pin(composite::grade(&path, composite)).await,
            GraderKind::Check(check) => match timed_check::check_in_time(check, path.context).await {
                Some(Ok(checked)) => vec![path.checked_decision(checked)],
                Some(Err(message)) => vec![path.broken_decision(message)],
                None => vec![path.broken_decision("this type of grader is not supported".to_owned())],
            },
        }
    }
    .boxed()
}
