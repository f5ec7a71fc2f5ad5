//! Graders that are programs, including custom types of the user.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use assize_grade::{GradingProgram, ProgramGrade, ProgramInput, ProgramReply, check_by_program};
use assize_llm::{ErrorKind, ProxySetup, ProxyUsage};
use assize_model::{
    CodeGrader, CodeProgram, CustomGrader, Grader, GraderCommand, ProgramFolder, ProgramResult, ScriptCheck,
};
use assize_rubric::{
    CaseDecision, Decision, GraderFinding, GraderNote, JudgingUsage, UngradedKind, UngradedReason,
};
use serde_json::{Map, Value};

use super::GradingContext;
use super::path::GraderPath;
use crate::JudgeError;

pub(super) async fn grade_code(path: &GraderPath<'_>, grader: &CodeGrader) -> CaseDecision {
    let container = path.context.item.case.container.as_deref();
    let (own, workspace) = (grader_folder(path.grader), path.context.workspace());
    let mut command = Cow::Borrowed(&grader.command);
    let cwd = match (&grader.cwd, workspace) {
        (Some(ProgramFolder::Named(folder)), _) => Some(folder.clone()),
        (Some(ProgramFolder::Workspace), None) => {
            return path.broken_decision("`cwd` is the workspace, and this case has none");
        }
        (Some(ProgramFolder::Workspace), workspace) => workspace,
        (None, Some(workspace)) if container.is_none() => {
            command = Cow::Owned(with_files_of(&grader.command, own.as_deref()));
            Some(workspace)
        }
        (None, _) => own,
    };
    let program = GradingProgram {
        command: &command,
        cwd,
        timeout: grader.timeout,
        pass_env: &grader.pass_env,
        model: match grader.max_calls.map(|max_calls| model_access(path.context, max_calls)).transpose() {
            Ok(model) => model,
            Err(error) => return path.broken_decision(error),
        },
        result: grader.result,
        container,
    };
    run_program(path, &program, &grader.config).await
}

/// A command for another folder: arguments that name files of this one name them there, too. So a script beside the eval
/// file is that one, and not what an agent put into its workspace.
fn with_files_of(command: &GraderCommand, folder: Option<&Path>) -> GraderCommand {
    let GraderCommand::Argv(words) = command else { return command.clone() };
    let folder = folder.unwrap_or(Path::new("."));
    let word = |(at, word): (usize, &String)| {
        let file = folder.join(word);
        // A program without a slash is searched for.
        let is_file = (at > 0 || word.contains('/')) && Path::new(word).is_relative() && file.is_file();
        let absolute = is_file.then(|| std::path::absolute(file).ok()).flatten();
        absolute.map_or_else(|| word.clone(), |file| file.to_string_lossy().into_owned())
    };
    GraderCommand::Argv(words.iter().enumerate().map(word).collect())
}

pub(super) async fn grade_custom(path: &GraderPath<'_>, grader: &CustomGrader) -> CaseDecision {
    let command = match custom_command(&grader.path) {
        Ok(command) => command,
        Err(message) => return path.broken_decision(message),
    };
    let program = GradingProgram {
        command: &command,
        cwd: grader_folder(path.grader),
        timeout: None,
        pass_env: &grader.pass_env,
        model: None,
        result: ProgramResult::Json,
        container: None,
    };
    run_program(path, &program, &grader.config).await
}

/// Grades with code that an interpreter runs in the folder of its file.
pub(super) async fn grade_author_code(path: &GraderPath<'_>, check: &ScriptCheck) -> CaseDecision {
    let Some(program) = check.code.program() else {
        return path.broken_decision("this script needs no interpreter");
    };
    let folder = code_folder(program).or_else(|| grader_folder(path.grader));
    let facts = path.context.facts();
    match check_by_program(check, program, facts, folder.as_deref(), &path.context.item.programs).await {
        Ok(checked) => path.checked_decision(checked),
        Err(message) => path.broken_decision(message),
    }
}

/// The folder of a program's file; `None` for code in an eval file.
pub(super) fn code_folder(program: &CodeProgram) -> Option<PathBuf> {
    program.path.as_deref().and_then(Path::parent).map(Path::to_path_buf)
}

async fn run_program(
    path: &GraderPath<'_>,
    program: &GradingProgram<'_>,
    config: &Map<String, Value>,
) -> CaseDecision {
    let input = ProgramInput { config: config.clone(), ..path.context.program_input() };
    let ProgramGrade { result, asked: usage } = program.grade(&input, &path.context.item.programs).await;
    let mut decided = match result {
        Ok(reply) => {
            let (finding, reason) = reply_finding(reply);
            path.own_decision(finding, reason)
        }
        Err(message) => path.broken_decision(message),
    };
    if let Some(usage) = usage {
        record_model_calls(&mut decided.decision, usage);
    }

    decided
}

/// The finding in a program's reply, and its reason.
pub(super) fn reply_finding(reply: ProgramReply) -> (GraderFinding, String) {
    let ProgramReply { score, findings, reason, details } = reply;
    (GraderFinding { details, ..GraderFinding::new(Some(score), findings) }, reason)
}

/// The model for a program to use: the model of the judge that would decide here.
fn model_access(context: &GradingContext<'_>, max_calls: u32) -> Result<ProxySetup, JudgeError> {
    let item = context.item;
    let (name, ask) = item.judges.model(context.judge_selector(None))?;
    Ok(ProxySetup { ask, name, max_calls, repeat: item.trial })
}

/// Records a program's requests to a model. Requests that were cancelled because the run is ending do not count.
fn record_model_calls(decision: &mut Decision, usage: ProxyUsage) {
    decision.spent = JudgingUsage {
        attempts: usage.sent,
        cached_calls: usage.recalled,
        tokens: usage.tokens,
        latency_ms: (usage.sent > 0).then(|| u64::try_from(usage.latency.as_millis()).unwrap_or(u64::MAX)),
        cost: usage.cost,
        replies: Vec::new(),
        has_slips: false,
    };

    decision.judge.model = usage.model.map(Into::into);

    if let Some(error) = usage.failure.filter(|error| error.kind == ErrorKind::Cancelled) {
        decision.ungraded =
            Some(UngradedReason { kind: UngradedKind::Cancelled, message: error.to_string() });
    }

    let Some(finding) = decision.grader_mut().filter(|_| usage.refused > 0) else { return };
    let times = if usage.refused == 1 { "question" } else { "questions" };
    let text = format!("{} {times} to the model refused: `max_calls` is exhausted", usage.refused);
    finding.notes.push(GraderNote::remark(text, ""));
}

/// The folder of the file that defines a grader; `None` for the working folder.
pub(super) fn grader_folder(grader: &Grader) -> Option<PathBuf> {
    grader.place.path().parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf)
}

/// The command for a file that is a grader: the file itself if it is executable, or else the interpreter for
/// its extension.
pub fn custom_command(path: &Path) -> Result<GraderCommand, String> {
    let path = std::fs::canonicalize(path)
        .map_err(|error| format!("can't find the grader `{}`: {error}", path.display()))?;
    let text = path.to_string_lossy().into_owned();
    if is_executable(&path) {
        return Ok(GraderCommand::Argv(vec![text]));
    }

    let interpreter = match path.extension().and_then(|ending| ending.to_str()) {
        Some("py") => "python3",
        Some("sh") => "sh",
        Some("js" | "mjs" | "cjs") => "node",
        Some("ts" | "mts") => "bun",
        _ => {
            return Err(format!(
                "`{text}` can't be run: make it executable, or give it the ending .py, .sh, .js or .ts"
            ));
        }
    };
    Ok(GraderCommand::Argv(vec![interpreter.to_owned(), text]))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "exe")
}
