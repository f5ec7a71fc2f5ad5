//! Runs the hooks before and after the use of a workspace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_model::{GraderCommand as Words, HookEvent, WorkspaceHook};
use assize_process::{
    CommandProgram, FilledScript, PlaceholderValue, ProcessCommand, ProcessError, fill_arguments, fill_script,
};
use serde_json::json;

use crate::setup::WorkspaceSetup;
use crate::{CaseInfo, WorkspaceError};

/// Default time limit of preparing commands, as the eval-file format defines it.
const PREPARE_TIMEOUT: Duration = Duration::from_mins(1);
/// Default time limit of clean-up commands.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(30);
/// Message of Node.js versions that can't strip types. It is about the option with which TypeScript hooks run.
const NO_TYPESCRIPT: &str = "bad option: --experimental-strip-types";
/// Bytes of a command's output that an error shows, from the end.
const STDERR_TAIL: usize = 2000;

/// Runs the command of a hook, if it has one. `whose` names the owner of the hook.
///
/// The command reads a JSON object with the path of the workspace and the data of the case from standard input. In its
/// arguments, `{{workspace_path}}`, `{{test_id}}` and `{{eval_run_id}}` are replaced by the same values. The values are
/// passed as data, never as part of a script.
pub(crate) async fn run_hook(
    hook: &WorkspaceHook,
    moment: HookEvent,
    whose: &str,
    place: &Path,
    visitor: Option<&CaseInfo>,
    setup: &WorkspaceSetup,
) -> Result<(), WorkspaceError> {
    let Some(words) = &hook.command else { return Ok(()) };
    let lookup = |name: &str| {
        let value = match name {
            "workspace_path" => place.as_os_str().to_owned(),
            "test_id" => visitor.map(|visitor| visitor.case_id.as_str()).unwrap_or_default().into(),
            "eval_run_id" => setup.run().unwrap_or_default().into(),
            _ => return None,
        };
        Some(PlaceholderValue::One(value))
    };

    let mut command = match words {
        Words::Argv(words) => {
            let words: Vec<String> = words.iter().map(|word| to_placeholders(word)).collect();
            ProcessCommand::argv(fill_arguments(&words, &lookup), setup.env.clone())
        }
        Words::Shell(line) => {
            let FilledScript { script, parameters } = fill_script(&to_placeholders(line), &lookup);
            ProcessCommand::new(CommandProgram::Shell { script, parameters }, setup.env.clone())
        }
    };

    let cwd = fill_arguments(&[to_placeholders(&hook.cwd.to_string_lossy())], &lookup);
    command.cwd = cwd.into_iter().next().map(PathBuf::from);

    let default = if matches!(moment, HookEvent::BeforeAll | HookEvent::BeforeEach) {
        PREPARE_TIMEOUT
    } else {
        CLEANUP_TIMEOUT
    };
    let context = json!({
        "workspace_path": place.to_string_lossy(),
        "test_id": visitor.map(|visitor| &visitor.case_id),
        "eval_run_id": setup.run(),
        "case_input": visitor.map(|visitor| &visitor.input),
        "case_metadata": visitor.map(|visitor| &visitor.metadata),
    });

    let command = command.with_stdin(context.to_string()).with_timeout(hook.timeout.unwrap_or(default));
    let name = format!("`{}` of the {whose} ({})", moment.name(), hook.place);
    let quoted = |text: &str| match text.trim() {
        "" => String::new(),
        text if text.contains(NO_TYPESCRIPT) => {
            format!("; this `node` can't run TypeScript, install Node.js 22.6 or later; stderr: {text}")
        }
        text => format!("; stderr: {text}"),
    };
    match command.run(setup.consent).await {
        Ok(finished) if finished.exit.is_success() => Ok(()),
        Ok(finished) => {
            let stderr = finished.stderr.tail(STDERR_TAIL);
            let text = if stderr.trim().is_empty() { finished.stdout.tail(STDERR_TAIL) } else { stderr };
            Err(setup.redacted_error("hook", &format!("{name} failed ({}){}", finished.exit, quoted(&text))))
        }
        Err(error) => {
            let kind = match &error {
                ProcessError::Timeout { .. } => "timeout",
                ProcessError::Cancelled { .. } => "cancelled",
                _ => "hook",
            };

            let text = error
                .partial()
                .map(|partial| partial.stderr.tail(STDERR_TAIL).into_owned())
                .unwrap_or_default();
            Err(setup.redacted_error(kind, &format!("{name}: {error}{}", quoted(&text))))
        }
    }
}

/// Rewrites `{{ name }}` as the placeholder `{name}`, for the known names.
fn to_placeholders(text: &str) -> String {
    let mut single = text.to_owned();
    for name in ["workspace_path", "test_id", "eval_run_id"] {
        for double in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
            single = single.replace(&double, &format!("{{{name}}}"));
        }
    }

    single
}
