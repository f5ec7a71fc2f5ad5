//! Graders that ask a judge for a score of the whole answer.

use std::sync::Arc;

use assize_evalfile::{LlmGrader, Prompt};
use assize_grade::{COMBINE_PROMPT, Program, ProgramInput, RubricJudge, WholeTask};
use assize_store::JudgementRow;
use serde_json::{Map, Value};

use super::programs::folder_of;
use super::rows::Spot;
use super::{Scene, votes};

/// Prompt variable with the results of a composite's members.
const RESULTS: &str = "EVALUATOR_RESULTS_JSON";

/// Grades an answer. Returns the row of the score and, for a panel, those of its votes after it.
pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, grader: &LlmGrader) -> Vec<JudgementRow> {
    let instructions = match &grader.prompt {
        None => None,
        Some(prompt) => match text_of(scene, spot, prompt, &grader.config).await {
            Ok(text) => Some(text),
            Err(message) => return vec![spot.broken(scene, message)],
        },
    };
    let ask = |judge: Arc<dyn RubricJudge>, temperature: Option<f64>, asking: u32| {
        let temperature = grader.temperature.or(temperature);
        let task = WholeTask { temperature, asking, ..task(scene, grader, instructions.clone()) };
        async move { spot.whole(scene, judge.judge_whole(&task).await) }
    };
    votes::grade(scene, spot, &grader.panel, grader.judge.as_deref(), ask).await
}

/// Asks a judge to score a composite from the results of its members.
pub(super) async fn combine(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    prompt: Option<&Prompt>,
    judge: Option<&str>,
    results: &Value,
) -> JudgementRow {
    let instructions = match prompt {
        None => None,
        Some(prompt) => match text_of(scene, spot, prompt, &Map::new()).await {
            Ok(text) => Some(text),
            Err(message) => return spot.broken(scene, message),
        },
    };
    ask(scene, spot, judge, &combine_task(scene, instructions, results)).await
}

/// Task of scoring an answer; without instructions the built-in ones are used.
pub(crate) fn task(scene: &Scene<'_>, grader: &LlmGrader, instructions: Option<String>) -> WholeTask {
    WholeTask {
        material: Arc::clone(&scene.material),
        instructions,
        variables: scene.variables(),
        temperature: grader.temperature,
        repeat: scene.item.repeat,
        asking: 1,
    }
}

/// Task of scoring a composite from the results of its members; without instructions the built-in ones are
/// used.
pub(crate) fn combine_task(scene: &Scene<'_>, instructions: Option<String>, results: &Value) -> WholeTask {
    let mut instructions = instructions.unwrap_or_else(|| COMBINE_PROMPT.to_owned());
    if !instructions.contains(RESULTS) {
        instructions.push_str("\n\n{{EVALUATOR_RESULTS_JSON}}\n");
    }
    let mut variables = scene.variables();
    variables.push((RESULTS.to_owned(), serde_json::to_string_pretty(results).unwrap_or_default()));
    WholeTask {
        material: Arc::clone(&scene.material),
        instructions: Some(instructions),
        variables,
        temperature: None,
        repeat: scene.item.repeat,
        asking: 1,
    }
}

async fn ask(scene: &Scene<'_>, spot: &Spot<'_>, judge: Option<&str>, task: &WholeTask) -> JudgementRow {
    let item = scene.item;
    match item.judges.judge(item.judge_wish(judge)) {
        Ok(judge) => spot.whole(scene, judge.judge_whole(task).await),
        Err(message) => spot.broken(scene, message),
    }
}

async fn text_of(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    prompt: &Prompt,
    config: &Map<String, Value>,
) -> Result<String, String> {
    match prompt {
        Prompt::Text { text, .. } => Ok(text.clone()),
        Prompt::Program(command) => {
            let cwd = folder_of(spot.grader);
            let program = Program { command, cwd, timeout: None, pass_env: &[], model: None };
            let input = ProgramInput { config: config.clone(), ..scene.input() };
            program.prompt(&input, &scene.item.programs).await
        }
    }
}
