//! Command target: fills the template, runs the command, reads its answer.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assize_llm::BoxFuture;
use assize_process::{
    CommandProgram, Environment, PlaceholderValue, ProcessCommand, ProcessLimits, ProcessOutput,
    ProgramConsent, absolute_path, fill_arguments, fill_script,
};
use assize_rubric::{Cost, IdentityWriter, Tokens};
use assize_trace::LogFormat;

use crate::error::STDERR_TAIL;
use crate::scratch::ScratchFolder;
use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    messages_json, prompt_or_messages, prompt_text, reply, stream,
};

/// The template of a command, with placeholders.
///
/// `{PROMPT}` is the prompt, `{PROMPT_FILE}` a file with it, `{CHAT}` the prompt with several messages as JSON;
/// `{OUTPUT_FILE}` the file for the answer; `{FILES}` the attached files; `{EVAL_ID}` the case id; `{ATTEMPT}`
/// the number of the trial, from 1; `{GUIDELINES}` the guideline text; `{MESSAGES_FILE}` a file with the
/// messages as JSON; `{VARS}` the variables of the test as a JSON object, `{VARS_FILE}` a file with it;
/// `{TURN}` the number of a conversation's turn, which is empty for any other case. Other names in braces are
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandTemplate {
    /// A script for `sh -c`. Placeholders may be quoted but need not be; their values always arrive unchanged
    /// and are never parsed as script. A template that passes text to a second shell (`bash -c "..."`, `ssh`)
    /// needs `{PROMPT_FILE}`, because that shell parses its input as script.
    Shell(String),
    /// A program and its arguments, run without a shell.
    Argv(Vec<String>),
}

/// A target that runs a command for each case.
///
/// If its template has `{OUTPUT_FILE}`, the answer is the content of that file, and it is an error if the command does
/// not write it. Otherwise the answer is the standard output of the command. Either may be plain text, or a JSON object
/// with `text` or `output`, `token_usage`, `cost_usd` and `duration_ms`. A command that ends with a failure has given
/// no answer, even if it wrote one.
#[derive(Debug, Clone)]
pub struct CommandTarget {
    /// Name of the target.
    pub name: String,
    /// Template of the command.
    pub template: CommandTemplate,
    /// Format of one attached file in `{FILES}`, with `{path}` and `{basename}`.
    pub files_format: String,
    /// Template of the command's standard input, with the same placeholders; `None` for no input.
    pub stdin: Option<String>,
    /// Log format of the output, if the command is an agent that prints its log.
    pub stream: Option<LogFormat>,
    /// The working directory. A case's own folder takes precedence.
    pub cwd: Option<PathBuf>,
    /// True if the command runs in the eval file's folder, and `cwd` is relative to that. Otherwise `cwd` is
    /// absolute, and without it the command runs in the folder of this process.
    pub beside_suite: bool,
    /// Consent to start the command.
    pub consent: Option<ProgramConsent>,
    /// Complete environment of the command.
    pub env: Environment,
    /// Limits on time and output; `stdout_cap` also bounds the size of the output file.
    pub limits: ProcessLimits,
    /// Folder for temporary files.
    pub scratch: PathBuf,
}

impl CommandTarget {
    /// Creates a target without consent and without a time limit, whose attached files are written as bare paths.
    pub fn new(
        name: impl Into<String>,
        template: CommandTemplate,
        env: Environment,
        scratch: impl Into<PathBuf>,
    ) -> Self {
        Self {
            name: name.into(),
            template,
            files_format: "{path}".to_owned(),
            stdin: None,
            stream: None,
            cwd: None,
            beside_suite: false,
            consent: None,
            env,
            limits: ProcessLimits::default(),
            scratch: scratch.into(),
        }
    }

    async fn run(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        let (bytes, duration) = self.output(input).await?;
        let answer = match self.stream {
            Some(format) => stream::parse_stream(&bytes, format, duration),
            None => reply::parse_reply(&bytes, duration),
        };
        answer.map_err(|error| TargetError { duration: error.duration.or(Some(duration)), ..error })
    }

    /// Runs the command and returns its raw answer and its duration.
    pub(crate) async fn output(&self, input: &TargetInput) -> Result<(Vec<u8>, Duration), TargetError> {
        let scratch = ScratchFolder::new(&self.scratch, input)
            .map_err(|problem| io_error("make a temporary folder in", &self.scratch, &problem))?;
        let filled = self.fill(input, &scratch)?;
        let command = ProcessCommand {
            program: filled.program,
            cwd: self.folder(input),
            env: match &input.workdir {
                Some(_) => self.env.clone().outside_repositories(),
                None => self.env.clone(),
            },
            stdin: filled.stdin,
            limits: self.limits,
        };

        let finished = command.run(self.consent).await.map_err(|error| {
            let log =
                error.partial().and_then(|partial| self.logged(&partial.stdout.bytes, partial.duration));
            let (tokens, cost) = usage(log.as_ref());
            TargetError { tokens, cost, ..TargetError::from(error) }
        })?;
        let duration = finished.duration;
        let outcome = self.read(finished, filled.writes_file.then(|| scratch.output_file()).as_deref());
        match outcome {
            Ok(bytes) => Ok((bytes, duration)),
            Err(error) => Err(TargetError { duration: Some(duration), ..error }),
        }
    }

    /// The folder in which the command runs; `None` for that of this process.
    fn folder(&self, input: &TargetInput) -> Option<PathBuf> {
        match &input.workdir {
            Some(workdir) => Some(workdir.clone()),
            None if self.beside_suite => Some(input.folder_beside_suite(self.cwd.as_deref())),
            None => self.cwd.clone(),
        }
    }

    fn fill(&self, input: &TargetInput, scratch: &ScratchFolder) -> Result<FilledCommand, TargetError> {
        let prompt = prompt_text(&input.messages);
        let vars = serde_json::to_string(&input.vars).map_err(|problem| {
            TargetError::new(TargetErrorKind::BadInput, format!("the variables can't be written: {problem}"))
        })?;
        let chat = prompt_or_messages(&input.messages);
        let by_file = Cell::new(false);
        let by_messages = Cell::new(false);
        let by_vars = Cell::new(false);
        let writes_file = Cell::new(false);
        let one = |text: &str| Some(PlaceholderValue::One(text.into()));
        let file = |is_used: &Cell<bool>, path: PathBuf| {
            is_used.set(true);
            Some(PlaceholderValue::One(path.into()))
        };
        let lookup = |name: &str| match name {
            "PROMPT" => one(&prompt),
            "PROMPT_FILE" => file(&by_file, scratch.prompt_file()),
            "CHAT" => one(&chat),
            "MESSAGES_FILE" => file(&by_messages, scratch.messages_file()),
            "VARS" => one(&vars),
            "VARS_FILE" => file(&by_vars, scratch.vars_file()),
            "TURN" => one(&input.turn.as_ref().map_or_else(String::new, |turn| turn.number.to_string())),
            "OUTPUT_FILE" => file(&writes_file, scratch.output_file()),
            "FILES" => Some(self.files(input)),
            "EVAL_ID" => one(&input.case_id),
            "ATTEMPT" => one(&input.attempt.to_string()),
            "GUIDELINES" => one(&input.guidelines),
            _ => None,
        };

        let program = match &self.template {
            CommandTemplate::Shell(template) => {
                let filled = fill_script(template, &lookup);
                CommandProgram::Shell { script: filled.script, parameters: filled.parameters }
            }
            CommandTemplate::Argv(words) => CommandProgram::Argv(fill_arguments(words, &lookup)),
        };

        reject_nul(&program)?;
        let stdin = self.stdin.as_ref().map(|template| {
            let words = fill_arguments(std::slice::from_ref(template), &lookup);
            words.join(std::ffi::OsStr::new(" ")).into_encoded_bytes()
        });

        let write = |what: &str, path: PathBuf, text: &str| {
            std::fs::write(&path, text)
                .map_err(|problem| io_error(&format!("write the {what} to"), &path, &problem))
        };
        if by_file.get() {
            write("prompt", scratch.prompt_file(), &prompt)?;
        }
        if by_messages.get() {
            write("messages", scratch.messages_file(), &messages_json(&input.messages).to_string())?;
        }
        if by_vars.get() {
            write("variables", scratch.vars_file(), &vars)?;
        }
        Ok(FilledCommand { program, stdin, writes_file: writes_file.get() })
    }

    fn files(&self, input: &TargetInput) -> PlaceholderValue {
        let item = |path: &Path| {
            let basename = path.file_name().unwrap_or(path.as_os_str()).to_owned();
            vec![("path", absolute_path(path).into_os_string()), ("basename", basename)]
        };
        PlaceholderValue::Each {
            format: self.files_format.clone(),
            items: input.attachments().into_iter().map(item).collect(),
        }
    }

    fn read(&self, finished: ProcessOutput, file: Option<&Path>) -> Result<Vec<u8>, TargetError> {
        let stderr = finished.stderr.tail(STDERR_TAIL).trim_end().to_owned();
        let with_stderr = |error: TargetError| TargetError {
            stderr: (!stderr.is_empty()).then(|| stderr.as_str().into()),
            ..error
        };
        if !finished.exit.is_success() {
            let log = self.logged(&finished.stdout.bytes, finished.duration);
            // An error printed by an agent is more specific than the end of its output.
            if let Some(Err(error)) = &log
                && error.kind == TargetErrorKind::Failed
            {
                let message = format!("the command failed ({}); {error}", finished.exit);
                return Err(with_stderr(TargetError { message: message.into(), ..error.clone() }));
            }

            let text =
                if stderr.is_empty() { finished.stdout.tail(STDERR_TAIL) } else { stderr.as_str().into() };
            let text = text.trim();
            let text =
                if text.is_empty() { "it printed nothing".to_owned() } else { format!("it said: {text}") };
            let message = format!("the command failed ({}); {text}", finished.exit);

            let (tokens, cost) = usage(log.as_ref());
            return Err(with_stderr(TargetError {
                tokens,
                cost,
                ..TargetError::new(TargetErrorKind::Failed, message)
            }));
        }

        let Some(path) = file else {
            if finished.stdout.is_truncated() {
                return Err(with_stderr(self.too_large("printed", finished.stdout.total)));
            }
            return Ok(finished.stdout.bytes);
        };
        self.read_file(path).map_err(with_stderr)
    }

    /// The answer in the log of an agent, if the command is an agent.
    fn logged(&self, log: &[u8], measured: Duration) -> Option<Result<TargetAnswer, TargetError>> {
        self.stream.map(|format| stream::parse_stream(log, format, measured))
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, TargetError> {
        let cap = self.limits.stdout_cap;
        let unreadable = |problem| io_error("read the answer from", path, &problem);
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => {
                let message = "{OUTPUT_FILE} is not a regular file";
                return Err(TargetError::new(TargetErrorKind::Malformed, message));
            }
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => {
                let message = "the command succeeded but did not write {OUTPUT_FILE}; write the answer there, or remove {OUTPUT_FILE} from the template to use its stdout";
                return Err(TargetError::new(TargetErrorKind::NoAnswer, message));
            }
            Err(problem) => return Err(unreadable(problem)),
        }

        let file = assize_files::open_file(path).map_err(unreadable)?;
        let mut bytes = Vec::new();

        // Reads one byte more than the limit, to distinguish a file that is too large from one that just fits.
        let read = file.take(cap as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if read > cap {
            let size = std::fs::metadata(path).map_or(read as u64, |found| found.len());
            return Err(self.too_large("wrote", size));
        }

        Ok(bytes)
    }

    fn too_large(&self, verb: &str, size: u64) -> TargetError {
        let message = format!(
            "the command {verb} an answer of {size} bytes, more than the limit of {} bytes",
            self.limits.stdout_cap
        );
        TargetError::new(TargetErrorKind::TooLarge, message)
    }

    /// Sets the wall-clock limit of each run.
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limits.timeout = Some(limit);
        self
    }
}

impl Target for CommandTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.run(input))
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Command)
    }

    /// Variables are not part of the identity, because they differ between shells. Neither are the settings that may
    /// end a run of the command.
    fn write_settings(&self, identity: &mut IdentityWriter) {
        let Self {
            name,
            template,
            files_format,
            stdin,
            stream,
            cwd,
            beside_suite,
            consent: _,
            env: _,
            limits: _,
            scratch: _,
        } = self;

        identity.begin("command target", 2);
        identity.field(name);

        match template {
            CommandTemplate::Shell(script) => {
                identity.text("shell");
                identity.field(script);
            }
            CommandTemplate::Argv(words) => {
                identity.text("argv");
                identity.field(words);
            }
        }

        identity.fields(&[files_format, stdin, &stream.map(LogFormat::name), cwd, beside_suite]);
    }
}

/// The tokens and cost of an agent according to its log, also if it failed.
fn usage(log: Option<&Result<TargetAnswer, TargetError>>) -> (Tokens, Cost) {
    match log {
        Some(Ok(answer)) => (answer.tokens, answer.cost.unwrap_or(Cost::UNKNOWN)),
        Some(Err(error)) => (error.tokens, error.cost),
        None => (Tokens::default(), Cost::UNKNOWN),
    }
}

struct FilledCommand {
    program: CommandProgram,
    stdin: Option<Vec<u8>>,
    writes_file: bool,
}

/// The system passes arguments as NUL-terminated texts, so a NUL inside one would cut it short.
fn reject_nul(program: &CommandProgram) -> Result<(), TargetError> {
    let has_nul = |word: &OsString| word.as_encoded_bytes().contains(&0);
    let values = match program {
        CommandProgram::Argv(words) => words,
        CommandProgram::Shell { parameters, .. } => parameters,
    };
    if values.iter().any(has_nul) {
        let message = "the prompt or another value holds a NUL byte, which can't be passed to a command as an \
                       argument; use {PROMPT_FILE} instead of {PROMPT} to pass the prompt in a file";
        return Err(TargetError::without_attempt(TargetErrorKind::BadInput, message));
    }

    Ok(())
}

fn io_error(doing: &str, path: &Path, problem: &std::io::Error) -> TargetError {
    TargetError::new(TargetErrorKind::Io, format!("could not {doing} {}: {problem}", path.display()))
}
