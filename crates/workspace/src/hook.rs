//! Execution of the hooks around the use of a workspace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_evalfile::{Command as Words, Hook, Moment};
use assize_process::{Command, Limits, ProcessError, Value, fill_arguments, fill_script};
use serde_json::json;

use crate::setup::Setup;
use crate::{PlaceError, Visitor};

/// Default time limit of commands that prepare something, as the format defines it.
const BEFORE: Duration = Duration::from_mins(1);
/// Default time limit of commands that clean up.
const AFTER: Duration = Duration::from_secs(30);
/// Bytes of a command's output that an error shows, from the end.
const TAIL: usize = 2000;

/// Runs the command of a hook, if it has one. `whose` names the owner of the hook.
///
/// The command reads a JSON object from its standard input, with the path of the workspace and the data of
/// the case. In its arguments, `{{workspace_path}}`, `{{test_id}}` and `{{eval_run_id}}` are replaced by the
/// same values, which are passed as data whatever they contain.
pub(crate) async fn run(
    hook: &Hook,
    moment: Moment,
    whose: &str,
    place: &Path,
    visitor: Option<&Visitor>,
    setup: &Setup,
) -> Result<(), PlaceError> {
    let Some(words) = &hook.command else { return Ok(()) };
    let lookup = |name: &str| {
        let value = match name {
            "workspace_path" => place.as_os_str().to_owned(),
            "test_id" => visitor.map(|visitor| visitor.case_id.as_str()).unwrap_or_default().into(),
            "eval_run_id" => setup.run().unwrap_or_default().into(),
            _ => return None,
        };
        Some(Value::One(value))
    };
    let mut command = match words {
        Words::Argv(words) => {
            let words: Vec<String> = words.iter().map(|word| single(word)).collect();
            Command::argv(fill_arguments(&words, &lookup), setup.env().clone())
        }
        Words::Shell(line) => {
            let filled = fill_script(&single(line), &lookup);
            let mut command = Command::shell(filled.script, setup.env().clone());
            if let assize_process::Program::Shell { parameters, .. } = &mut command.program {
                *parameters = filled.parameters;
            }
            command
        }
    };
    let cwd = fill_arguments(&[single(&hook.cwd.to_string_lossy())], &lookup);
    command.cwd = cwd.into_iter().next().map(PathBuf::from);
    let default = if matches!(moment, Moment::BeforeAll | Moment::BeforeEach) { BEFORE } else { AFTER };
    let limits = Limits { timeout: Some(hook.timeout.unwrap_or(default)), ..Limits::default() };
    let context = json!({
        "workspace_path": place.to_string_lossy(),
        "test_id": visitor.map(|visitor| &visitor.case_id),
        "eval_run_id": setup.run(),
        "case_input": visitor.map(|visitor| &visitor.input),
        "case_metadata": visitor.map(|visitor| &visitor.metadata),
    });
    let command = command.with_stdin(context.to_string()).with_limits(limits);
    let name = format!("`{}` of the {whose} ({})", moment.name(), hook.place);
    let said = |text: &str| match text.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    };
    match command.run().await {
        Ok(finished) if finished.exit.success() => Ok(()),
        Ok(finished) => {
            let stderr = finished.stderr.tail(TAIL);
            let text = if stderr.trim().is_empty() { finished.stdout.tail(TAIL) } else { stderr };
            Err(setup.said("hook", &format!("{name} failed ({}){}", finished.exit, said(&text))))
        }
        Err(error) => {
            let kind = match &error {
                ProcessError::Timeout { .. } => "timeout",
                ProcessError::Cancelled { .. } => "cancelled",
                _ => "hook",
            };
            let text =
                error.partial().map(|partial| partial.stderr.tail(TAIL).into_owned()).unwrap_or_default();
            Err(setup.said(kind, &format!("{name}: {error}{}", said(&text))))
        }
    }
}

/// Rewrites `{{ name }}` as the placeholder `{name}`, for the known names.
fn single(text: &str) -> String {
    let mut single = text.to_owned();
    for name in ["workspace_path", "test_id", "eval_run_id"] {
        for double in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
            single = single.replace(&double, &format!("{{{name}}}"));
        }
    }
    single
}
