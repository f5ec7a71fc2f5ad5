//! Graders that are programs, the user's own types among them.

use std::path::{Path, PathBuf};

use assize_grade::{Program, ProgramInput, ProgramReply};
use assize_spec::{CodeGrader, Command, CustomGrader, Grader};
use assize_store::{GraderResult, JudgementRow};
use serde_json::{Map, Value};

use super::Scene;
use super::rows::{Spot, note};

pub(super) async fn code(scene: &Scene<'_>, spot: &Spot<'_>, grader: &CodeGrader) -> JudgementRow {
    let program = Program {
        command: &grader.command,
        cwd: grader.cwd.clone().or_else(|| folder_of(spot.grader)),
        timeout: grader.timeout,
    };
    run(scene, spot, &program, &grader.config).await
}

pub(super) async fn custom(scene: &Scene<'_>, spot: &Spot<'_>, grader: &CustomGrader) -> JudgementRow {
    let command = match custom_command(&grader.path) {
        Ok(command) => command,
        Err(message) => return spot.broken(scene, message),
    };
    let program = Program { command: &command, cwd: folder_of(spot.grader), timeout: None };
    run(scene, spot, &program, &grader.config).await
}

async fn run(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    program: &Program<'_>,
    config: &Map<String, Value>,
) -> JudgementRow {
    let input = ProgramInput { config: config.clone(), ..scene.input.clone() };
    match program.grade(&input, &scene.item.programs).await {
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
    }
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
