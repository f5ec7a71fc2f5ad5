//! Judges that give one score for the whole answer.

use std::sync::Arc;

use assize_grade::{COMBINE_PROMPT, Program, ProgramInput, WholeTask};
use assize_rubric::PanelRule;
use assize_spec::{LlmGrader, Prompt};
use assize_store::{EscalationRow, JudgementRow, VoteRow};
use futures_util::future::join_all;
use serde_json::{Map, Value};

use super::Scene;
use super::panel::{combined, doubt, vote};
use super::programs::folder_of;
use super::rows::Spot;
use crate::panel::Panel;

/// The variable that holds the members' results in the prompt of a composite.
const RESULTS: &str = "EVALUATOR_RESULTS_JSON";

/// The row of the score, and where several judges gave one, those of their votes after it.
pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, grader: &LlmGrader) -> Vec<JudgementRow> {
    let instructions = match &grader.prompt {
        None => None,
        Some(prompt) => match text_of(scene, spot, prompt, &grader.config).await {
            Ok(text) => Some(text),
            Err(message) => return vec![spot.broken(scene, message)],
        },
    };
    let item = scene.item;
    let spec = item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = Panel::new(&spec, item.judge_wish(grader.judge.as_deref()));
    let mut calls = Vec::new();
    for (place, member) in (1u32..).zip(&panel.members) {
        let judge = match item.judges.judge(member.wish) {
            Ok(judge) => judge,
            Err(message) => return vec![spot.broken(scene, message)],
        };
        for repeat in 1..=panel.repeats {
            let task = WholeTask {
                temperature: grader.temperature.or(panel.temperature),
                asking: repeat,
                ..task(scene, grader, instructions.clone())
            };
            let (judge, vote) = (Arc::clone(&judge), VoteRow { judge: place, repeat, weight: member.weight });
            calls.push(async move { (vote, judge.judge_whole(&task).await) });
        }
    }
    let decided = join_all(calls).await.into_iter();
    let mut votes: Vec<JudgementRow> =
        decided.map(|(vote, whole)| JudgementRow { vote: Some(vote), ..spot.whole(scene, whole) }).collect();
    if panel.is_single() {
        return votes.into_iter().map(|row| JudgementRow { vote: None, ..row }).collect();
    }
    let mut escalation = None;
    if let Some((wish, to, when)) = panel.escalate {
        let because = doubt(&votes.iter().collect::<Vec<_>>(), when);
        if because.is_some() {
            let row = match item.judges.judge(wish) {
                Ok(judge) => spot.whole(scene, judge.judge_whole(&task(scene, grader, instructions)).await),
                Err(message) => spot.broken(scene, message),
            };
            votes.push(vote(row));
        }
        escalation = Some(EscalationRow { to: to.to_owned(), when: when.name().to_owned(), because });
    }
    let rule = panel.combine.unwrap_or(PanelRule::Mean);
    combined(&votes, rule, panel.ties, escalation).into_iter().chain(votes).collect()
}

/// One score from the results of a composite's members.
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

/// What a judge is given for one score of the answer; without instructions the built-in ones.
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

/// What a judge is given for one score from the results of members; without instructions the built-in ones.
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
            let input = ProgramInput { config: config.clone(), ..scene.input.clone() };
            program.prompt(&input, &scene.item.programs).await
        }
    }
}
