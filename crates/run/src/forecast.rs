//! What an item would take, without running it.

use std::sync::Arc;

use assize_evalfile::{CompositeAggregator, Grader, GraderKind, LlmGrader, Message, Prompt};
use assize_grade::{Forecast, RubricJudge};
use assize_rubric::Judging;
use serde_json::Value;

use crate::grading::{
    Scene, behaviour_panel, behaviour_task, combine_task, pair_task, rubric_asking, rubric_task, whole_task,
};
use crate::panel::Panel;
use crate::{Source, WorkItem};

/// The judging of an item by judge (name), in the judging mode that applies or in another one. An answer that is not
/// there yet counts as an empty one, and so do the results of members and what a program prints as a prompt.
///
/// # Errors
/// When a judge can't be found.
pub fn forecast(item: &WorkItem, judging: Option<Judging>) -> Result<Vec<(Arc<str>, Forecast)>, String> {
    let answer = match &item.source {
        Source::Given(answer) => Arc::clone(answer),
        Source::Target(_) | Source::Missing { .. } => Arc::default(),
    };
    let mut found = Vec::new();
    let mut before: Vec<Message> = item.case.input.clone();
    for turn in item.case.turns() {
        // As if every turn were held, whatever comes before it.
        let turn_item = WorkItem { case: Arc::new(item.case.of_turn(turn, &before)), ..item.clone() };
        let scene = Scene::new(&turn_item, &answer);
        for grader in &turn.graders {
            add(&scene, grader, judging, &mut found)?;
        }
        before.extend(turn.input.iter().cloned());
    }
    let scene = Scene::new(item, &answer);
    for grader in &item.case.graders {
        add(&scene, grader, judging, &mut found)?;
    }
    Ok(found)
}

/// What a grader and everything it is made of asks of judges.
fn add(
    scene: &Scene<'_>,
    grader: &Grader,
    judging: Option<Judging>,
    found: &mut Vec<(Arc<str>, Forecast)>,
) -> Result<(), String> {
    let judge = |named: Option<&str>| scene.item.judges.judge(scene.item.judge_wish(named));
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let spec = scene.item.panels.spec(&rubric.panel, rubric.judge.as_deref());
            let panel = Panel::new(&spec, scene.item.judge_wish(rubric.judge.as_deref()));
            let mut task = rubric_task(scene, rubric, rubric_asking(&panel, 1));
            task.judging = judging.unwrap_or(task.judging);
            for member in &panel.members {
                let judge = scene.item.judges.judge(member.wish)?;
                found.push((judge.identity().name, judge.forecast(&task).times(panel.repeats)));
            }
            if let Some((wish, ..)) = panel.escalate {
                let judge = scene.item.judges.judge(wish)?;
                found.push((judge.identity().name, judge.forecast(&task).at_most()));
            }
        }
        GraderKind::Llm(llm) => {
            let LlmGrader { prompt, judge: named, panel, .. } = llm;
            let spec = scene.item.panels.spec(panel, named.as_deref());
            let panel = Panel::new(&spec, scene.item.judge_wish(named.as_deref()));
            let task = whole_task(scene, llm, known_text(prompt.as_ref()));
            for member in &panel.members {
                let judge = scene.item.judges.judge(member.wish)?;
                found.push((judge.identity().name, judge.forecast_whole(&task).times(panel.repeats)));
            }
            if let Some((wish, ..)) = panel.escalate {
                let judge = scene.item.judges.judge(wish)?;
                found.push((judge.identity().name, judge.forecast_whole(&task).at_most()));
            }
        }
        GraderKind::Pairwise(pairwise) => {
            let spec = scene.item.panels.spec(&pairwise.panel, pairwise.judge.as_deref());
            let panel = Panel::new(&spec, scene.item.judge_wish(pairwise.judge.as_deref()));
            let Ok(task) = pair_task(scene, pairwise) else { return Ok(()) };
            let both = |judge: &dyn RubricJudge| {
                let mut both = judge.forecast_pair(&task);
                both += judge.forecast_pair(&task.turned());
                both
            };
            for member in &panel.members {
                let judge = scene.item.judges.judge(member.wish)?;
                found.push((judge.identity().name, both(&*judge).times(panel.repeats)));
            }
            if let Some((wish, ..)) = panel.escalate {
                let judge = scene.item.judges.judge(wish)?;
                found.push((judge.identity().name, both(&*judge).at_most()));
            }
        }
        GraderKind::Composite(composite) => {
            for member in &composite.members {
                add(scene, member, judging, found)?;
            }
            if let CompositeAggregator::Llm { prompt, judge: named } = &composite.aggregator {
                let judge = judge(named.as_deref())?;
                let task = combine_task(scene, known_text(prompt.as_ref()), &Value::Null);
                found.push((judge.identity().name, judge.forecast_whole(&task)));
            }
        }
        GraderKind::Benchmark(benchmark) => {
            // Which cases a check settles is not known before it runs, so a hybrid counts in full.
            if let Some(behaviour) = &benchmark.behaviour {
                let spec = behaviour_panel(scene);
                let panel = Panel::new(&spec, scene.item.judge_wish(None));
                let task = behaviour_task(scene, behaviour);
                for member in &panel.members {
                    let judge = scene.item.judges.judge(member.wish)?;
                    found.push((judge.identity().name, judge.forecast_behaviour(&task).times(panel.repeats)));
                }
                if let Some((wish, ..)) = panel.escalate {
                    let judge = scene.item.judges.judge(wish)?;
                    found.push((judge.identity().name, judge.forecast_behaviour(&task).at_most()));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// The text of a prompt, where it is known without running anything.
fn known_text(prompt: Option<&Prompt>) -> Option<String> {
    match prompt {
        Some(Prompt::Text { text, .. }) => Some(text.clone()),
        Some(Prompt::Program(_)) | None => None,
    }
}
