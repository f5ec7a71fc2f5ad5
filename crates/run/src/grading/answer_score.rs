//! Graders for which a judge scores the whole answer.

use std::sync::Arc;

use assize_grade::{
    AnswerScoreTask, COMBINE_PROMPT, GradingProgram, JudgeQuestion, ProgramInput, SamplingOptions,
};
use assize_model::{GraderPrompt, LlmGrader, ProgramResult};
use assize_rubric::{CaseDecision, Decision, JudgeIdentity};
use serde_json::{Map, Value};

use super::GradingContext;
use super::path::GraderPath;
use super::programs::grader_folder;
use super::votes::{self, PanelQuestion};
use crate::panel::JudgePanel;

/// Prompt variable with the results of a composite's members.
const RESULTS_VARIABLE: &str = "EVALUATOR_RESULTS_JSON";

/// The decision on the score. If several judges gave one, their votes follow.
pub(super) async fn grade(path: &GraderPath<'_>, grader: &LlmGrader) -> Vec<CaseDecision> {
    let instructions = match instructions(path, grader.prompt.as_ref(), &grader.config).await {
        Ok(instructions) => instructions,
        Err(message) => return vec![path.broken_decision(message)],
    };
    let spec = path.context.item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = JudgePanel::new(&spec, path.context.judge_selector(grader.judge.as_deref()));
    let question = ScoreQuestion { path, task: score_task(path.context, grader, instructions) };

    let decided = votes::decide(path.context, &panel, &question).await;
    decided.unwrap_or_else(|error| vec![path.broken_decision(error)])
}

/// A score of the whole answer as a question to a panel.
struct ScoreQuestion<'a> {
    path: &'a GraderPath<'a>,
    task: AnswerScoreTask,
}

impl PanelQuestion for ScoreQuestion<'_> {
    fn questions(&self, _: &[usize]) -> Vec<JudgeQuestion> {
        vec![JudgeQuestion::AnswerScore(self.task.clone())]
    }

    fn decisions(&self, _: &JudgeIdentity, _: &[usize], decided: Vec<Vec<Decision>>) -> Vec<CaseDecision> {
        decided.into_iter().flatten().map(|decision| self.path.place(decision)).collect()
    }

    fn unasked(&self, _: usize, _: &str, message: String) -> CaseDecision {
        self.path.broken_decision(message)
    }
}

/// Lets a judge score a composite from the results of its members.
pub(super) async fn combine(
    path: &GraderPath<'_>,
    prompt: Option<&GraderPrompt>,
    judge: Option<&str>,
    results: &Value,
) -> CaseDecision {
    let instructions = match instructions(path, prompt, &Map::new()).await {
        Ok(instructions) => instructions,
        Err(message) => return path.broken_decision(message),
    };
    let item = path.context.item;
    let judge = match item.judges.judge(path.context.judge_selector(judge)) {
        Ok(judge) => judge,
        Err(error) => return path.broken_decision(error),
    };

    let question = JudgeQuestion::AnswerScore(combine_task(path.context, instructions, results));
    let decided = judge.decide(std::slice::from_ref(&question)).await.into_iter().flatten().next();
    match decided {
        Some(decision) => path.place(decision),
        None => path.broken_decision("the judge gave no decision"),
    }
}

/// The task of a judge that scores the whole answer. Without instructions, the built-in ones are used.
pub(crate) fn score_task(
    context: &GradingContext<'_>,
    grader: &LlmGrader,
    instructions: Option<String>,
) -> AnswerScoreTask {
    let given = grader.given.as_ref();
    let variables = given.map(|given| given.variables.clone()).into_iter().flatten();
    AnswerScoreTask {
        material: Arc::clone(&context.material),
        instructions,
        variables: variables.chain(context.variables()).collect(),
        range: given.map(|given| given.range),
        trial: context.item.trial,
        sampling: SamplingOptions { temperature: grader.temperature, ..SamplingOptions::default() },
    }
}

/// The task of a judge that computes a score from the results of members. Without instructions, the built-in
/// ones are used.
pub(crate) fn combine_task(
    context: &GradingContext<'_>,
    instructions: Option<String>,
    results: &Value,
) -> AnswerScoreTask {
    let mut instructions = instructions.unwrap_or_else(|| COMBINE_PROMPT.to_owned());
    if !instructions.contains(RESULTS_VARIABLE) {
        instructions.push_str("\n\n{{EVALUATOR_RESULTS_JSON}}\n");
    }

    let mut variables = context.variables();
    variables.push((RESULTS_VARIABLE.to_owned(), serde_json::to_string_pretty(results).unwrap_or_default()));

    AnswerScoreTask {
        material: Arc::clone(&context.material),
        instructions: Some(instructions),
        variables,
        range: None,
        trial: context.item.trial,
        sampling: SamplingOptions::default(),
    }
}

/// The text of a prompt, if there is one. If it is a program, its output.
async fn instructions(
    path: &GraderPath<'_>,
    prompt: Option<&GraderPrompt>,
    config: &Map<String, Value>,
) -> Result<Option<String>, String> {
    match prompt {
        None => Ok(None),
        Some(GraderPrompt::Text { text, .. }) => Ok(Some(text.clone())),
        Some(GraderPrompt::Program(command)) => {
            let cwd = grader_folder(path.grader);
            let program = GradingProgram {
                command,
                cwd,
                timeout: None,
                pass_env: &[],
                model: None,
                result: ProgramResult::Json,
                container: None,
            };
            let input = ProgramInput { config: config.clone(), ..path.context.program_input() };
            program.generate_prompt(&input, &path.context.item.programs).await.map(Some)
        }
    }
}
