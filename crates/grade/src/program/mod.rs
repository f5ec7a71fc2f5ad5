//! Graders that are programs: JSON on stdin, JSON on stdout.
//!
//! A program that can't be started, takes too long, exits with a failure or prints something else has
//! graded nothing: that is an error of the grader, never a score.

mod input;
mod reply;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_llm::Redactor;
use assize_process::{Command as ProcessCommand, Environment, Finished, Limits};
use assize_spec::Command;
use serde_json::Value;
use tokio::sync::Semaphore;

pub use input::ProgramInput;
pub use reply::ProgramReply;

/// How long a program may take when nobody says.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// Most bytes of a program's output.
const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// Bytes of stderr that an error shows, from the end.
const STDERR_TAIL: usize = 2000;

/// What every program of a run is given.
#[derive(Debug, Clone, Default)]
pub struct ProgramSetup {
    /// Every variable programs see.
    pub env: Environment,
    /// The folder temporary files are made in.
    pub scratch: PathBuf,
    /// Takes secrets out of what programs say, before it is kept.
    pub redactor: Option<Arc<Redactor>>,
    /// A permit for each program that may run at a time; `None` for any number.
    pub slots: Option<Arc<Semaphore>>,
}

impl ProgramSetup {
    fn without_secrets(&self, text: &str) -> String {
        match &self.redactor {
            Some(redactor) => redactor.redact(text).into_owned(),
            None => text.to_owned(),
        }
    }
}

/// A program that grades.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    /// What to run: words without a shell, or a line for `sh -c`.
    pub command: &'a Command,
    /// Working folder; this process's own if absent.
    pub cwd: Option<PathBuf>,
    /// Wall-clock limit; 60 s if absent.
    pub timeout: Option<Duration>,
}

impl Program<'_> {
    /// Runs the program on `input` and reads its score.
    pub async fn grade(&self, input: &ProgramInput, setup: &ProgramSetup) -> Result<ProgramReply, String> {
        let finished = self.run(input, setup).await?;
        let stdout = std::str::from_utf8(&finished.stdout.bytes)
            .map_err(|_| "the program's output is not UTF-8".to_owned())?;
        reply::read(&setup.without_secrets(stdout))
            .map_err(|problem| setup.without_secrets(&format!("{problem}{}", said(&finished))))
    }

    /// Runs the program on `input` and takes what it prints as a prompt.
    pub async fn prompt(&self, input: &ProgramInput, setup: &ProgramSetup) -> Result<String, String> {
        let finished = self.run(input, setup).await?;
        let text = String::from_utf8(finished.stdout.bytes.clone())
            .map_err(|_| "the program's prompt is not UTF-8".to_owned())?;
        if text.trim().is_empty() {
            return Err(format!("the program printed no prompt{}", said(&finished)));
        }
        Ok(text)
    }

    async fn run(&self, input: &ProgramInput, setup: &ProgramSetup) -> Result<Finished, String> {
        // The folder lives until the program has ended.
        let (payload, _large) = input.payload(&setup.scratch)?;
        self.run_json(&payload, setup).await.map_err(|message| setup.without_secrets(&message))
    }

    async fn run_json(&self, payload: &Value, setup: &ProgramSetup) -> Result<Finished, String> {
        // Never closed; without a permit it would only be one too many.
        let _slot = match &setup.slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        };
        let mut command = match self.command {
            Command::Argv(words) => ProcessCommand::argv(words.iter().map(String::as_str), setup.env.clone()),
            Command::Shell(line) => ProcessCommand::shell(line.clone(), setup.env.clone()),
        };
        command.cwd.clone_from(&self.cwd);
        let limits = Limits {
            timeout: Some(self.timeout.unwrap_or(DEFAULT_TIMEOUT)),
            stdout_cap: MAX_OUTPUT,
            ..Limits::default()
        };
        let command = command.with_stdin(payload.to_string()).with_limits(limits);
        let finished = command.run().await.map_err(|error| {
            let stderr = error.partial().map(|partial| partial.stderr.tail(STDERR_TAIL).trim().to_owned());
            let stderr = stderr.filter(|text| !text.is_empty());
            let stderr = stderr.map(|text| format!("; it said: {text}")).unwrap_or_default();
            format!("the program gave no result: {error}{stderr}")
        })?;
        if !finished.exit.success() {
            return Err(format!("the program failed ({}){}", finished.exit, said(&finished)));
        }
        if finished.stdout.truncated() {
            return Err(format!(
                "the program printed {} bytes, more than the limit of {MAX_OUTPUT}",
                finished.stdout.total
            ));
        }
        Ok(finished)
    }
}

/// What a program had to say beside its result.
fn said(finished: &Finished) -> String {
    let stderr = finished.stderr.tail(STDERR_TAIL);
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}
