//! What can be run to get an answer, as a targets file describes it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{Place, Unbuilt};

/// A target of a targets file. `use_target` is already followed, so `kind` says what is really run.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSpec {
    /// The name suites refer to; unique in its file.
    pub name: String,
    /// Where it is written.
    pub place: Place,
    /// What is run.
    pub kind: TargetSpecKind,
    /// The names `use_target` led through, nearest first; empty for a target that stands for itself.
    pub uses: Vec<String>,
    /// `grader_target`: who judges this target's answers, as written. A target's name, a model name
    /// or `offline`; whether there is such a judge is for the run to say.
    pub grader_target: Option<String>,
    /// `workers`: how many cases at once, 1 to 50.
    pub workers: Option<usize>,
    /// When a failed attempt is repeated.
    pub retry: RetrySpec,
    /// `fallback_targets`: the targets of the same file that are asked in order when this one gives no answer.
    pub fallbacks: Vec<String>,
    /// How to see whether the target is there before it is asked.
    pub health: Option<HealthSpec>,
    /// Environment variables that the target needs and that are not set. A run that uses the target
    /// must refuse to start; one that uses another target is not concerned.
    pub missing_variables: Vec<MissingVariable>,
    /// Parts that are read and checked but can't be run yet. A run that uses the target must refuse.
    pub unbuilt: Vec<Unbuilt>,
    /// Settings that are read and checked but change nothing; worth a remark in a run that uses the
    /// target.
    pub without_effect: Vec<Unbuilt>,
}

impl TargetSpec {
    /// Why a run can't use this target, one sentence for each reason; empty when it can.
    pub fn obstacles(&self) -> Vec<String> {
        let missing = self.missing_variables.iter().filter(|missing| missing.setting != "grader_target");
        let mut reasons: Vec<String> = missing
            .map(|missing| {
                format!(
                    "{}: target `{}` needs the environment variable {}, which is not set",
                    missing.place, self.name, missing.name
                )
            })
            .collect();
        reasons.extend(self.unbuilt.iter().map(|unbuilt| {
            format!("{}: target `{}` asks for {}, not built yet", unbuilt.place, self.name, unbuilt.feature)
        }));
        reasons
    }
}

/// What a target is.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetSpecKind {
    /// A model behind a server.
    Model(ModelTargetSpec),
    /// A command, or an agent, which is one.
    Command(CommandTargetSpec),
    /// What was recorded.
    Recording(RecordingSpec),
    /// One answer to everything.
    Mock(MockTargetSpec),
    /// A kind that can't be run yet; `unbuilt` of the target says so too.
    Unbuilt {
        /// The provider, in its usual spelling.
        provider: &'static str,
    },
    /// Not known, because a variable it depends on is not set (see `missing_variables`) or because
    /// of a mistake that has been reported.
    Undetermined,
}

/// A model that answers.
#[derive(Clone, PartialEq)]
pub struct ModelTargetSpec {
    /// The provider, such as `openai`, `openai-compatible` or `anthropic`.
    pub provider: &'static str,
    /// The model as its server names it.
    pub model: String,
    /// Address of the server's API; `None` leaves it to the provider's own default.
    pub base_url: Option<String>,
    /// The key; `None` leaves it to the provider's own default.
    pub api_key: Option<SecretText>,
    /// Where the key came from, for messages: a variable's name, or words about the file.
    pub api_key_source: Option<String>,
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// Upper limit for the tokens of an answer, at least 1.
    pub max_output_tokens: Option<u32>,
    /// Tokens that the model can read and write in one call, at least 1.
    pub context_tokens: Option<u64>,
    /// The version of the API, where the provider has several (Azure).
    pub api_version: Option<String>,
    /// What the target says in place of variables of the environment: the region of Bedrock, the project and the
    /// location of Vertex.
    pub variables: Vec<(&'static str, String)>,
}

impl fmt::Debug for ModelTargetSpec {
    /// Leaves out what may be secret in an address: credentials and the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelTargetSpec")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url.as_deref().map(without_credentials))
            .field("api_key", &self.api_key)
            .field("api_key_source", &self.api_key_source)
            .field("temperature", &self.temperature)
            .field("seed", &self.seed)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("context_tokens", &self.context_tokens)
            .field("api_version", &self.api_version)
            .field("variables", &self.variables)
            .finish()
    }
}

fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let host_ends = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_ends);
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A command that answers.
#[derive(Clone, PartialEq)]
pub struct CommandTargetSpec {
    /// What is run, with placeholders such as `{PROMPT}` and `{OUTPUT_FILE}`.
    pub template: CommandText,
    /// Whether values of environment variables are part of the template; it is not shown then.
    pub holds_variables: bool,
    /// How one attached file is written for `{FILES}`, with `{path}` and `{basename}`.
    pub files_format: Option<String>,
    /// What the command reads from its standard input, with the same placeholders.
    pub stdin: Option<String>,
    /// The log format that its output is in, when it prints what it does: one of [`SESSION_FORMATS`].
    pub stream: Option<String>,
    /// Whether it is run once for all cases and gives lines with their ids.
    pub batch: bool,
    /// The working directory, absolute. Written relative to the folder of the targets file.
    pub cwd: Option<PathBuf>,
    /// Limit on the time of one run; more than zero.
    pub timeout: Option<Duration>,
}

impl fmt::Debug for CommandTargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("CommandTargetSpec");
        if self.holds_variables {
            all.field("template", &"[redacted]");
        } else {
            all.field("template", &self.template);
        }
        all.field("files_format", &self.files_format)
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The formats of agents' logs that targets files may name.
pub const SESSION_FORMATS: [&str; 7] =
    ["claude-code", "codex", "copilot", "gemini", "opencode", "pi", "otel"];

/// Answers that were recorded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingSpec {
    /// What is recorded.
    pub kind: RecordingKind,
    /// The file or folder, absolute. Written relative to the folder of the targets file.
    pub path: PathBuf,
}

/// What a recording holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingKind {
    /// Sessions of agents, as their logs.
    Sessions {
        /// The log format, one of [`SESSION_FORMATS`]; `None` when the logs tell.
        format: Option<&'static str>,
    },
    /// Lines with the answers of cases.
    Answers {
        /// The target whose answers count; `None` for all lines.
        source: Option<String>,
    },
}

/// One answer to everything.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTargetSpec {
    /// The answer: a text, messages, or any other value. `None` only when it fails.
    pub response: Option<serde_json::Value>,
    /// Shortest wait before the answer.
    pub shortest: Duration,
    /// Longest wait before it, not less.
    pub longest: Duration,
    /// What it fails with instead of answering.
    pub fail: Option<String>,
}

/// How to see whether a target is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthSpec {
    /// A server answers a GET with success.
    Http {
        /// The address.
        url: String,
        /// Limit on the time.
        timeout: Option<Duration>,
    },
    /// A command succeeds.
    Command {
        /// What is run.
        command: CommandText,
        /// The working directory, absolute.
        cwd: Option<PathBuf>,
        /// Limit on the time.
        timeout: Option<Duration>,
    },
}

/// How a command is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandText {
    /// A script for the shell; not blank.
    Shell(String),
    /// A program and its arguments; at least the program.
    Argv(Vec<String>),
}

/// When a failed attempt is repeated; `None` leaves the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RetrySpec {
    /// Attempts after the first.
    pub max_retries: Option<u32>,
    /// Range of the first wait.
    pub initial_delay: Option<Duration>,
    /// Longest wait.
    pub max_delay: Option<Duration>,
}

impl RetrySpec {
    /// These settings, and those of `other` where these are silent.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            max_retries: self.max_retries.or(other.max_retries),
            initial_delay: self.initial_delay.or(other.initial_delay),
            max_delay: self.max_delay.or(other.max_delay),
        }
    }
}

/// An environment variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// The variable.
    pub name: String,
    /// The key of the target that refers to it.
    pub setting: String,
    /// Where.
    pub place: Place,
}

/// A text that must not be shown. It has no `Display`, and its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for whoever sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_what_may_be_secret() {
        for (address, shown) in [
            ("https://h/v1", "https://h/v1"),
            ("https://user:p@ss@h:8/v1?key=secret#x", "https://h:8/v1"),
            ("http://h?key=secret", "http://h"),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }
}
