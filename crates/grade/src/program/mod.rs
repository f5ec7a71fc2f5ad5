//! Graders that are programs: JSON on stdin, JSON on stdout.
//!
//! A program that can't be started, times out, is killed by a signal, or writes to stderr and exits with a
//! failure gives no grade: that is an error of the grader, never a score. A command that prints plain text can
//! be graded by its exit code.

mod author_code;
mod container;
mod contract;
mod convert_file;
mod environment;
mod extension_host;
mod file_programs;
mod input;
mod messages;
mod reply;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_limits::PROGRAM_OUTPUT_BYTES as MAX_OUTPUT_BYTES;
use assize_llm::{ModelProxy, ProxySetup, ProxyUsage, Redactor};
use assize_model::{ContainerSpec, GraderCommand, PYTHON_LOADER, ProgramResult};
use assize_process::{
    CapturedStream, Environment, ProcessCommand, ProcessExit, ProcessLimits, ProcessOutput, ProgramConsent,
};
use assize_rubric::GraderNote;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::check_threads::CheckThreads;

pub(crate) use author_code::{Called, CodePurpose, call_program};
use container::Container;
use contract::ContractForm;
pub use convert_file::{AnswerFile, convert_file};
pub use environment::ProgramEnvironment;
pub use extension_host::{ExtensionCall, ExtensionHost};
pub use file_programs::FilePrograms;
pub use input::ProgramInput;
pub use reply::ProgramReply;

/// Default timeout of a program.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// Bytes of stderr shown in an error, from the end.
const STDERR_TAIL_BYTES: usize = 2000;

/// Bytes of stderr that are searched for a complaint about types.
const COMPLAINT_BYTES: usize = 256 * 1024;

/// A Python host that loads a file of functions.
fn python_host(own: &str) -> String {
    [PYTHON_LOADER, include_str!("../../hosts/plain.py"), own].concat()
}

/// Resources that all programs and checks of a run share.
#[derive(Debug, Clone, Default)]
pub struct ProgramSetup {
    /// Environment variables of programs.
    pub env: ProgramEnvironment,
    /// Folder for temporary files.
    pub scratch: PathBuf,
    /// Removes secrets from programs' output before it is stored.
    pub redactor: Option<Arc<Redactor>>,
    /// A permit for each program that may run at once; `None` for no limit.
    pub slots: Option<Arc<Semaphore>>,
    /// Consent to start them.
    pub consent: Option<ProgramConsent>,
    /// Threads for checks and scripts that may take long.
    pub threads: CheckThreads,
}

impl ProgramSetup {
    /// Waits for a slot, if programs are limited to some at once.
    async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        match &self.slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        }
    }

    fn redact(&self, text: &str) -> String {
        match &self.redactor {
            Some(redactor) => redactor.redact(text).into_owned(),
            None => text.to_owned(),
        }
    }
}

/// A grading program.
#[derive(Debug, Clone)]
pub struct GradingProgram<'a> {
    /// Command line: words without a shell, or a line for `sh -c`.
    pub command: &'a GraderCommand,
    /// Working folder; `None` for the folder of this process.
    pub cwd: Option<PathBuf>,
    /// Time limit; `None` for 60 s.
    pub timeout: Option<Duration>,
    /// Variables that the program sees although they are normally withheld.
    pub pass_env: &'a [String],
    /// Access to a model, if the program may call one.
    pub model: Option<ProxySetup>,
    /// How its output and its exit code become a grade.
    pub result: ProgramResult,
    /// Container to run it in; `None` for this machine.
    pub container: Option<&'a ContainerSpec>,
}

/// Result of a program, and its use of the model.
#[derive(Debug)]
pub struct ProgramGrade {
    /// Its decision, or why there is none.
    pub result: Result<ProgramReply, String>,
    /// Its use of the model; `None` for a program without access to one.
    pub asked: Option<ProxyUsage>,
}

impl GradingProgram<'_> {
    /// Runs the program on `input` and reads its score. If a call to its model failed, the result is an error:
    /// the program had no basis for a grade.
    pub async fn grade(&self, input: &ProgramInput, setup: &ProgramSetup) -> ProgramGrade {
        let Some(model) = &self.model else {
            return ProgramGrade { result: self.read_grade(input, setup, None).await, asked: None };
        };
        let proxy = match ModelProxy::open(model.clone()).await {
            Ok(proxy) => proxy,
            Err(error) => {
                let message = format!("the program can't be given a way to the model: {error}");
                return ProgramGrade { result: Err(message), asked: None };
            }
        };

        let token = proxy.token().to_owned();
        let result = self.read_grade(input, setup, Some(&proxy)).await;
        let usage = proxy.close().await;
        let result = match &usage.failure {
            None => result,
            Some(error) => {
                Err(format!("{} of the program's {} model calls failed: {error}", usage.failed, usage.calls))
            }
        };

        // The token is no longer valid, but must not be recorded anyway.
        let result = result.map_err(|message| message.replace(&token, "[redacted]"));
        ProgramGrade { result, asked: Some(usage) }
    }

    async fn read_grade(
        &self,
        input: &ProgramInput,
        setup: &ProgramSetup,
        proxy: Option<&ModelProxy>,
    ) -> Result<ProgramReply, String> {
        let (finished, form) = self.run_with_input(input, setup, proxy).await?;
        let stdout = std::str::from_utf8(&finished.stdout.bytes)
            .map_err(|_| format!("the program's output is not UTF-8{}", describe_stderr(&finished.stderr)))?;
        let mut reply =
            self.read_reply(&setup.redact(stdout), &finished).map_err(|problem| setup.redact(&problem))?;
        if form.objects_as_text {
            let remark = "the program refuses objects as `content` and was given JSON text there";
            reply.findings.push(GraderNote::remark(remark, ""));
        }

        Ok(reply)
    }

    fn read_reply(&self, stdout: &str, finished: &ProcessOutput) -> Result<ProgramReply, String> {
        let stderr = describe_stderr(&finished.stderr);
        if finished.exit.is_success() {
            return match self.result {
                ProgramResult::ExitCode => Ok(reply::exit_code_reply(stdout, 0)),
                ProgramResult::Json => reply::parse_program_reply(stdout),
                ProgramResult::Any => reply::word_reply(stdout)
                    .filter(|_| !stdout.trim().is_empty() || stderr.is_empty())
                    .map_or_else(|| reply::parse_program_reply(stdout).map_err(explain_output), Ok),
            }
            .map_err(|problem| format!("{problem}{stderr}"));
        }

        // Output on stderr distinguishes a program that broke from one that found the answer wrong.
        match finished.exit {
            ProcessExit::Code(code) if !is_breakdown(code) => match self.result {
                ProgramResult::ExitCode => Ok(reply::exit_code_reply(stdout, code)),
                // A result in JSON that does not fit its exit code is no decision.
                ProgramResult::Any if stderr.is_empty() && !stdout.trim_start().starts_with(['{', '[']) => {
                    Ok(reply::exit_code_reply(stdout, code))
                }
                _ => Err(describe_failure(finished, stdout)),
            },
            _ => Err(describe_failure(finished, stdout)),
        }
    }

    /// Runs the program on `input` and returns its output as a prompt.
    pub async fn generate_prompt(
        &self,
        input: &ProgramInput,
        setup: &ProgramSetup,
    ) -> Result<String, String> {
        let (finished, _) = self.run_with_input(input, setup, None).await?;
        if !finished.exit.is_success() {
            let stdout = String::from_utf8_lossy(&finished.stdout.bytes);
            return Err(setup.redact(&describe_failure(&finished, &stdout)));
        }

        let text = String::from_utf8(finished.stdout.bytes.clone())
            .map_err(|_| "the program's prompt is not UTF-8".to_owned())?;
        if text.trim().is_empty() {
            return Err(format!("the program printed no prompt{}", describe_stderr(&finished.stderr)));
        }

        Ok(text)
    }

    async fn run_with_input(
        &self,
        input: &ProgramInput,
        setup: &ProgramSetup,
        proxy: Option<&ModelProxy>,
    ) -> Result<(ProcessOutput, ContractForm), String> {
        let mut form = ContractForm { output_as_text: input.output_as_text, ..ContractForm::default() };
        let mut refused = Vec::new();
        loop {
            // The folder must exist until the program has ended.
            let (payload, large) = input.build_payload(&setup.scratch, form)?;
            let env = setup.env.build_environment(self.pass_env, input.workspace.as_deref(), proxy);
            let finished = self
                .run_with_payload(&payload, large.as_ref().map(TempDir::path), env, setup)
                .await
                .map_err(|message| setup.redact(&message))?;
            if finished.exit.is_success() {
                return Ok((finished, form));
            }

            // A library that refuses the types of its input has not graded the answer yet.
            let stdout = String::from_utf8_lossy(&finished.stdout.bytes);
            let complaint = reply::failed_note(&stdout)
                .unwrap_or_else(|| finished.stderr.tail(COMPLAINT_BYTES).trim().to_owned());
            match form.after_refusal(&complaint) {
                Some(wanted) if !refused.contains(&wanted) => {
                    refused.push(std::mem::replace(&mut form, wanted));
                }
                _ => return Ok((finished, form)),
            }
        }
    }

    async fn run_with_payload(
        &self,
        payload: &Value,
        folder: Option<&Path>,
        env: Environment,
        setup: &ProgramSetup,
    ) -> Result<ProcessOutput, String> {
        // The semaphore is never closed; without a permit, one program too many would run at worst.
        let _slot = setup.slot().await;
        let container = self.container.map(Container::new);
        let mut command = match (&container, self.command) {
            (Some(container), program) => {
                container.fetch_image(&env, setup.consent).await?;
                container.command(program, self.pass_env, folder, env.clone())
            }
            (None, GraderCommand::Argv(words)) => {
                ProcessCommand::argv(words.iter().map(String::as_str), env.clone())
            }
            (None, GraderCommand::Shell(line)) => ProcessCommand::shell(line.clone(), env.clone()),
        };
        command.cwd.clone_from(&self.cwd);

        let timeout = match &container {
            Some(container) => container.timeout(self.timeout),
            None => self.timeout.unwrap_or(DEFAULT_TIMEOUT),
        };
        let limits = ProcessLimits::new(timeout, MAX_OUTPUT_BYTES);
        let command = command.with_stdin(payload.to_string()).with_limits(limits);
        let ran = command.run(setup.consent).await;
        if let Some(container) = container.filter(|_| ran.is_err()) {
            container.remove(env, setup.consent).await;
        }
        let finished = ran.map_err(|error| {
            let output = error.partial().map(|partial| {
                let stdout = String::from_utf8_lossy(&partial.stdout.bytes);
                format!("{}{}", describe_stdout(&stdout), describe_stderr(&partial.stderr))
            });
            format!("the program returned no result: {error}{}", output.unwrap_or_default())
        })?;

        if finished.stdout.is_truncated() {
            return Err(format!(
                "the program printed {} bytes, more than the limit of {MAX_OUTPUT_BYTES}",
                finished.stdout.total
            ));
        }

        Ok(finished)
    }
}

/// True for exit codes that mean that a command could not be run or was killed by a signal: 126, 127, and 128
/// plus the number of the signal, as shells report it.
fn is_breakdown(code: i32) -> bool {
    const SIGNALS: i32 = 64;
    code < 0 || code == 126 || code == 127 || (129..=128 + SIGNALS).contains(&code)
}

/// Adds to a problem with the output of a program how its exit code can count instead.
fn explain_output(problem: String) -> String {
    format!(
        "{problem}; with exit code 0, a grader prints JSON, `pass`, `ok`, a number from 0 to 1 or nothing; if its output \
         is a log, set `result: exit-code`"
    )
}

/// Message about a program that exited with a failure and gave no grade.
fn describe_failure(finished: &ProcessOutput, stdout: &str) -> String {
    let (stdout, stderr) = (describe_stdout(stdout), describe_stderr(&finished.stderr));
    format!("the program failed ({}){stdout}{stderr}", finished.exit)
}

fn describe_stdout(stdout: &str) -> String {
    match reply::failure_reason(stdout).as_str() {
        "" => String::new(),
        text => format!("; it printed: {text}"),
    }
}

/// Formats the end of stderr for an error message.
fn describe_stderr(stderr: &CapturedStream) -> String {
    let stderr = stderr.tail(STDERR_TAIL_BYTES);
    match stderr.trim() {
        "" => String::new(),
        text => format!("; stderr: {text}"),
    }
}
