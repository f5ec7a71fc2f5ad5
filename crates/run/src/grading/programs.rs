//! Graders that are programs, the user's own types among them.

use std::path::{Path, PathBuf};

use assize_evalfile::{CodeGrader, Command, CustomGrader, Grader};
use assize_grade::{Program, ProgramGrade, ProgramInput, ProgramReply};
use assize_llm::{ErrorKind, ProxySetup, ProxyUsage};
use assize_rubric::{Ungraded, UngradedKind};
use assize_store::{GraderResult, JudgementRow, Note};
use serde_json::{Map, Value};

use super::Scene;
use super::rows::{Spot, note};

pub(super) async fn code(scene: &Scene<'_>, spot: &Spot<'_>, grader: &CodeGrader) -> JudgementRow {
    let program = Program {
        command: &grader.command,
        cwd: grader.cwd.clone().or_else(|| folder_of(spot.grader)),
        timeout: grader.timeout,
        pass_env: &grader.pass_env,
        model: match grader.max_calls.map(|max_calls| lent(scene, max_calls)).transpose() {
            Ok(model) => model,
            Err(message) => return spot.broken(scene, message),
        },
    };
    run(scene, spot, &program, &grader.config).await
}

pub(super) async fn custom(scene: &Scene<'_>, spot: &Spot<'_>, grader: &CustomGrader) -> JudgementRow {
    let command = match custom_command(&grader.path) {
        Ok(command) => command,
        Err(message) => return spot.broken(scene, message),
    };
    let program = Program {
        command: &command,
        cwd: folder_of(spot.grader),
        timeout: None,
        pass_env: &grader.pass_env,
        model: None,
    };
    run(scene, spot, &program, &grader.config).await
}

async fn run(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    program: &Program<'_>,
    config: &Map<String, Value>,
) -> JudgementRow {
    let input = ProgramInput { config: config.clone(), ..scene.input() };
    let ProgramGrade { result, asked } = program.grade(&input, &scene.item.programs).await;
    let mut row = match result {
        Ok(reply) => {
            let ProgramReply { score, findings, reason, details } = reply;
            let result = GraderResult {
                score: Some(score.get()),
                notes: findings.into_iter().map(note).collect(),
                details,
                ..GraderResult::default()
            };
            spot.row(scene, result, reason)
        }
        Err(message) => spot.broken(scene, message),
    };
    if let Some(asked) = asked {
        note_asked(&mut row, asked);
    }
    row
}

/// The model that a program is lent: that of the judge who would judge here.
fn lent(scene: &Scene<'_>, max_calls: u32) -> Result<ProxySetup, String> {
    let item = scene.item;
    let (name, ask) = item.judges.model(item.judge_wish(None))?;
    Ok(ProxySetup { ask, name, max_calls, repeat: item.repeat })
}

/// Notes what a program asked of a model. What it asked in vain because the run is ending was not asked at all.
fn note_asked(row: &mut JudgementRow, asked: ProxyUsage) {
    row.attempts = asked.sent;
    row.cached_calls = asked.recalled;
    row.tokens = asked.tokens;
    row.latency_ms = (asked.sent > 0).then(|| u64::try_from(asked.latency.as_millis()).unwrap_or(u64::MAX));
    row.cost_usd = asked.cost.whole();
    row.cost_partial = asked.cost.partial();
    row.judge.model = asked.model.map(Into::into);
    if let Some(error) = asked.failure.filter(|error| error.kind == ErrorKind::Cancelled) {
        row.ungraded = Some(Ungraded { kind: UngradedKind::Cancelled, message: error.to_string() });
    }
    let Some(result) = row.grader_result.as_mut().filter(|_| asked.refused > 0) else { return };
    let times = if asked.refused == 1 { "question" } else { "questions" };
    result.notes.push(Note {
        text: format!("{} {times} to the model refused: `max_calls` is used up", asked.refused),
        passed: None,
        reason: String::new(),
        weight: None,
    });
}

/// The folder of the file a grader is written in; `None` for the working folder.
pub(super) fn folder_of(grader: &Grader) -> Option<PathBuf> {
    grader.place.path().parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf)
}

/// How a file that is a grader is run: by itself when it may be, else by the interpreter of its ending.
pub fn custom_command(path: &Path) -> Result<Command, String> {
    let path = std::fs::canonicalize(path)
        .map_err(|error| format!("can't find the grader `{}`: {error}", path.display()))?;
    let text = path.to_string_lossy().into_owned();
    if is_executable(&path) {
        return Ok(Command::Argv(vec![text]));
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
    Ok(Command::Argv(vec![interpreter.to_owned(), text]))
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
