//! Forecasts the calls and tokens of an item without running it.

use std::sync::Arc;

use assize_grade::{
    CallForecast, Judge, JudgeQuestion, answer_relevance_forecast, label_forecast, questions_task,
    similarity_forecast,
};
use assize_model::{
    AnswerSelection, CompositeAggregator, Grader, GraderKind, GraderPrompt, LlmGrader, RubricGrader,
};
use assize_rubric::{CaseMessage, JudgingMode};
use serde_json::Value;

use crate::grading::{
    GradingContext, answer_score_task, behaviour_panel, behaviour_task, combine_task, likely_grader,
    pair_grader, pair_task, rubric_task,
};
use crate::panel::JudgePanel;
use crate::{ItemSource, JudgeError, WorkItem};

/// The judging of an item by the name of the judge, in the judging mode that applies or in another one. Answers
/// that do not exist yet count as empty, and so do results of members and prompts that a program prints.
///
/// # Errors
/// If a judge can't be found.
pub fn forecast(
    item: &WorkItem,
    judging: Option<JudgingMode>,
) -> Result<Vec<(Arc<str>, CallForecast)>, JudgeError> {
    let answer = match &item.source {
        ItemSource::Given(answer) => Arc::clone(answer),
        ItemSource::Target(_) | ItemSource::Missing { .. } => Arc::default(),
    };
    let mut found = Vec::new();
    let mut before: Vec<CaseMessage> = item.case.input.clone();
    for turn in item.case.turns() {
        // Assumes that every turn runs, even after a failure.
        let turn_item = WorkItem { case: Arc::new(item.case.turn_case(turn, &before)), ..item.clone() };
        let context = GradingContext::new(&turn_item, &answer);
        for grader in &turn.graders {
            add(&context, grader, judging, &mut found)?;
        }

        before.extend(turn.input.iter().cloned());
    }

    let context = GradingContext::new(item, &answer);
    for grader in &item.case.graders {
        add(&context, grader, judging, &mut found)?;
    }

    Ok(found)
}

/// Adds the judge calls of a grader and of everything it consists of.
fn add(
    context: &GradingContext<'_>,
    grader: &Grader,
    judging: Option<JudgingMode>,
    found: &mut Vec<(Arc<str>, CallForecast)>,
) -> Result<(), JudgeError> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => add_rubric(context, rubric, judging, found),
        GraderKind::Context(grader) => {
            let (context, rubric) = likely_grader(context, grader);
            add_rubric(&context, &rubric, judging, found)
        }
        GraderKind::AnswerRelevance(check) => {
            let judge = context.item.judges.judge(context.item.judge_selector(check.judge.as_deref()))?;
            let task = questions_task(Arc::clone(&context.material), context.item.trial);
            found.push((judge.identity().name, judge.forecast(&JudgeQuestion::Questions(task))));
            let name = check.model();
            let model = context.item.judges.measuring_model(name)?;
            let forecast = answer_relevance_forecast(check, &context.material.question, &*model);
            found.push((name.into(), forecast));
            Ok(())
        }
        GraderKind::Llm(llm) => {
            let LlmGrader { prompt, judge: named, panel, .. } = llm;
            let spec = context.item.panels.spec(panel, named.as_deref());
            let panel = JudgePanel::new(&spec, context.item.judge_selector(named.as_deref()));
            let task = answer_score_task(context, llm, static_prompt_text(prompt.as_ref()));
            add_panel(context, &panel, &[JudgeQuestion::AnswerScore(task)], found)
        }
        GraderKind::Pairwise(pairwise) => {
            let spec = context.item.panels.spec(&pairwise.panel, pairwise.judge.as_deref());
            let panel = JudgePanel::new(&spec, context.item.judge_selector(pairwise.judge.as_deref()));
            let Ok(task) = pair_task(context, pairwise) else { return Ok(()) };
            let orders = [JudgeQuestion::Pair(task.swap_answers()), JudgeQuestion::Pair(task)];
            add_panel(context, &panel, &orders, found)
        }
        GraderKind::Composite(composite) => {
            for member in &composite.members {
                add(context, member, judging, found)?;
            }

            if let CompositeAggregator::Llm { prompt, judge: named } = &composite.aggregator {
                let judge = context.item.judges.judge(context.item.judge_selector(named.as_deref()))?;
                let task = combine_task(context, static_prompt_text(prompt.as_ref()), &Value::Null);
                found.push((judge.identity().name, judge.forecast(&JudgeQuestion::AnswerScore(task))));
            }

            Ok(())
        }
        GraderKind::Similar(check) => {
            let name = check.model();
            let model = context.item.judges.measuring_model(name)?;
            found.push((name.into(), similarity_forecast(check, &context.answer().text, &*model)));
            Ok(())
        }
        GraderKind::Labels(check) => {
            let model = context.item.judges.measuring_model(check.model())?;
            found.push((check.model().into(), label_forecast(&context.answer().text, &*model)));
            Ok(())
        }
        GraderKind::Selection(AnswerSelection::Best(rule)) => {
            let spec = context.item.panels.spec(&rule.panel, rule.judge.as_deref());
            let panel = JudgePanel::new(&spec, context.item.judge_selector(rule.judge.as_deref()));
            // The other answers are unknown; each is assumed to be as long as this one.
            let pair = pair_grader(rule, &context.material.answer);
            let Ok(task) = pair_task(context, &pair) else { return Ok(()) };
            let orders = [JudgeQuestion::Pair(task.swap_answers()), JudgeQuestion::Pair(task)];
            let rivals = context.item.relations.rivals.as_ref();
            for _ in 0..rivals.map_or(0, |group| group.comparisons_of(context.item)) {
                add_panel(context, &panel, &orders, found)?;
            }
            Ok(())
        }
        GraderKind::Transformed(changed) => add(context, &changed.inner, judging, found),
        GraderKind::Benchmark(benchmark) => {
            // Which cases a check settles is unknown before it runs, so a hybrid counts in full.
            let Some(behaviour) = &benchmark.behaviour else { return Ok(()) };
            let spec = behaviour_panel(context);
            let panel = JudgePanel::new(&spec, context.item.judge_selector(None));
            let question = JudgeQuestion::Behaviour(behaviour_task(context, behaviour));

            add_panel(context, &panel, &[question], found)
        }
        GraderKind::Check(_)
        | GraderKind::Selection(AnswerSelection::MaxScore(_))
        | GraderKind::Code(_)
        | GraderKind::Custom(_) => Ok(()),
    }
}

/// Adds the calls for the criteria of a rubric.
fn add_rubric(
    context: &GradingContext<'_>,
    rubric: &RubricGrader,
    judging: Option<JudgingMode>,
    found: &mut Vec<(Arc<str>, CallForecast)>,
) -> Result<(), JudgeError> {
    let spec = context.item.panels.spec(&rubric.panel, rubric.judge.as_deref());
    let panel = JudgePanel::new(&spec, context.item.judge_selector(rubric.judge.as_deref()));
    let mut task = rubric_task(context, rubric, panel.probabilities);
    task.judging = judging.unwrap_or(task.judging);

    add_panel(context, &panel, &[JudgeQuestion::Rubric(task)], found)
}

/// The calls of a panel for these questions: the calls of its members, and the maximum for the stronger judge.
fn add_panel(
    context: &GradingContext<'_>,
    panel: &JudgePanel<'_>,
    questions: &[JudgeQuestion],
    found: &mut Vec<(Arc<str>, CallForecast)>,
) -> Result<(), JudgeError> {
    let forecast = |judge: &dyn Judge| {
        questions.iter().fold(CallForecast::default(), |mut sum, question| {
            sum += judge.forecast(question);
            sum
        })
    };
    for member in &panel.members {
        let judge = context.item.judges.judge(member.selector)?;
        found.push((judge.identity().name, forecast(&*judge).multiply(panel.repeats)));
    }

    if let Some((selector, ..)) = panel.escalate {
        let judge = context.item.judges.judge(selector)?;
        found.push((judge.identity().name, forecast(&*judge).as_uncertain()));
    }

    Ok(())
}

/// The text of a prompt, if it is known without running anything.
fn static_prompt_text(prompt: Option<&GraderPrompt>) -> Option<String> {
    match prompt {
        Some(GraderPrompt::Text { text, .. }) => Some(text.clone()),
        Some(GraderPrompt::Program(_)) | None => None,
    }
}
