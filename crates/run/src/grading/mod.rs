//! Grading one answer: each grader by what it needs, members of composites like graders of their own.

mod behaviour;
mod benchmark;
mod benchmark_votes;
mod composite;
mod conversation;
mod pairwise;
mod panel;
mod programs;
mod rows;
mod rubrics;
mod scene;
mod votes;
mod whole;

use assize_evalfile::{Grader, GraderKind};
use assize_grade::check;
use assize_store::JudgementRow;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

pub(crate) use behaviour::{panel_spec as behaviour_panel, task as behaviour_task};
pub(crate) use conversation::Talk;
pub(crate) use pairwise::task as pair_task;
pub(crate) use panel::{Said, recombined, said};
pub use programs::custom_command;
pub(crate) use rubrics::{asking as rubric_asking, task as rubric_task};
pub(crate) use scene::Scene;
pub(crate) use whole::{combine_task, task as whole_task};

use rows::Spot;

/// All rows of a grader of the case. A grader that breaks leaves a row that says why; grading itself
/// never fails.
pub(crate) async fn grade(scene: &Scene<'_>, grader: &Grader) -> Vec<JudgementRow> {
    let top = grader.name.as_str().into();
    grade_at(scene, Spot { top, grader, standing: grader.standing, path: Vec::new() }).await
}

/// Boxed, because composites hold graders; and each kind that takes much room in a box of its own, so that a rubric, which
/// most graders are, takes none of it.
fn grade_at<'a>(scene: &'a Scene<'a>, spot: Spot<'a>) -> BoxFuture<'a, Vec<JudgementRow>> {
    async move {
        match &spot.grader.kind {
            GraderKind::Rubric(rubric) => rubrics::grade(scene, &spot, rubric).await,
            GraderKind::Llm(llm) => Box::pin(whole::grade(scene, &spot, llm)).await,
            GraderKind::Pairwise(pairwise) => Box::pin(pairwise::grade(scene, &spot, pairwise)).await,
            GraderKind::Code(code) => vec![Box::pin(programs::code(scene, &spot, code)).await],
            GraderKind::Custom(custom) => vec![Box::pin(programs::custom(scene, &spot, custom)).await],
            GraderKind::Benchmark(found) => Box::pin(benchmark::grade(scene, &spot, found)).await,
            GraderKind::Composite(composite) => Box::pin(composite::grade(scene, &spot, composite)).await,
            kind => match check(kind, scene.facts()) {
                Some(Ok(checked)) => vec![spot.checked(scene, checked)],
                Some(Err(message)) => vec![spot.broken(scene, message)],
                None => vec![spot.broken(scene, "nothing here can grade this type".to_owned())],
            },
        }
    }
    .boxed()
}
