//! Targets as a targets file describes them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use assize_script::Script;

use super::{FilePosition, ShownCommand, UnsupportedFeature};

/// A target of a targets file. `use_target` is already resolved, so `kind` belongs to the target that runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSpec {
    /// Name that suites refer to; unique in its file.
    pub name: String,
    /// Position in the file.
    pub place: FilePosition,
    /// Kind of target, with its settings.
    pub kind: TargetSpecKind,
    /// Names that `use_target` led through, nearest first; empty without `use_target`.
    pub uses: Vec<String>,
    /// Judge of this target's answers (`grader_target`), as written. A target's name, a model name or
    /// `offline`; the run checks that there is such a judge.
    pub grader_target: Option<String>,
    /// Number of worker slots (`workers`), 1 to 50.
    pub workers: Option<usize>,
    /// Retries of failed attempts.
    pub retry: RetrySpec,
    /// Targets of the same file that are tried in order if this one gives no answer (`fallback_targets`).
    pub fallbacks: Vec<String>,
    /// Check that the target is available, before its first case.
    pub health: Option<HealthSpec>,
    /// Environment variables that its settings name, set or not.
    pub variables: Vec<SettingVariable>,
    /// Unset environment variables that the target needs. A run that uses the target must refuse to start. Other runs
    /// are not affected.
    pub missing_variables: Vec<MissingVariable>,
    /// Errors in its settings, reported as warnings. A run that uses the target must refuse to start.
    pub errors: Vec<TargetSettingError>,
    /// Parts that are decoded and checked but can't be run yet. A run that uses the target must refuse to
    /// start.
    pub unbuilt: Vec<UnsupportedFeature>,
    /// Settings that are decoded and checked but have no effect; a run that uses the target warns about them.
    pub without_effect: Vec<UnsupportedFeature>,
}

/// An environment variable that a setting of a target names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingVariable {
    /// Key of the setting in the entry of the target, such as `base_url`.
    pub setting: String,
    /// Name of the variable.
    pub variable: String,
    /// Position of the value that names it.
    pub place: FilePosition,
}

impl TargetSpec {
    /// Returns the reasons why a run cannot use this target, one sentence each; empty when it can.
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

        reasons.extend(
            self.errors
                .iter()
                .map(|error| format!("{}: target `{}`: {}", error.place, self.name, error.title)),
        );
        reasons.extend(self.unbuilt.iter().map(|unbuilt| {
            format!(
                "{}: target `{}` needs {}, which is not supported yet",
                unbuilt.place, self.name, unbuilt.feature
            )
        }));
        reasons
    }
}

/// Kind of target.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetSpecKind {
    /// A model behind a server.
    Model(ModelTargetSpec),
    /// A command. Agents are commands too.
    Command(CommandTargetSpec),
    /// A server that accepts requests of any form.
    Http(HttpTargetSpec),
    /// The question itself as the answer.
    Echo,
    /// Recorded answers or sessions.
    Recording(RecordingSpec),
    /// A fixed answer to every case.
    Mock(MockTargetSpec),
    /// A kind that cannot be run yet; `unbuilt` of the target has the details.
    Unbuilt {
        /// Provider, in its preferred spelling.
        provider: &'static str,
    },
    /// Unknown, because a variable it depends on is not set (see `missing_variables`) or because of an error
    /// that has been reported.
    Undetermined,
}

/// A model as a target.
#[derive(Clone, PartialEq)]
pub struct ModelTargetSpec {
    /// Provider, such as `openai`, `openai-compatible` or `anthropic`.
    pub provider: &'static str,
    /// Model as its server names it.
    pub model: String,
    /// Base URL of the server's API; `None` for the provider's default.
    pub base_url: Option<String>,
    /// API key; `None` for the provider's default.
    pub api_key: Option<SecretText>,
    /// Sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// Limit of the tokens of an answer, at least 1.
    pub max_output_tokens: Option<u32>,
    /// Maximum number of input and output tokens of one call, at least 1.
    pub context_tokens: Option<u64>,
    /// Version of the API, if the provider has several (Azure).
    pub api_version: Option<String>,
    /// Values that replace environment variables: the region of Bedrock, the project and the location of
    /// Vertex.
    pub variables: Vec<(&'static str, String)>,
}

impl fmt::Debug for ModelTargetSpec {
    /// Omits the parts of an address that may be secret: credentials and the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelTargetSpec")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url.as_deref().map(without_credentials))
            .field("api_key", &self.api_key)
            .field("temperature", &self.temperature)
            .field("seed", &self.seed)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("context_tokens", &self.context_tokens)
            .field("api_version", &self.api_version)
            .field("variables", &self.variables)
            .finish()
    }
}

/// Returns an address without user, password, query and fragment, because each of them may hold a secret.
pub fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let host_ends = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_ends);
    let host = host.rsplit('@').next().unwrap_or_default();

    format!("{scheme}://{host}{path}")
}

/// A command as a target.
#[derive(Clone, PartialEq)]
pub struct CommandTargetSpec {
    /// Command line, with placeholders such as `{PROMPT}` and `{OUTPUT_FILE}`.
    pub template: CommandText,
    /// True if values of environment variables are part of the template; it is not shown then.
    pub holds_variables: bool,
    /// Format of one attached file in `{FILES}`, with `{path}` and `{basename}`.
    pub files_format: Option<String>,
    /// Standard input of the command, with the same placeholders.
    pub stdin: Option<String>,
    /// Log format of its output, if it prints its actions: one of [`SESSION_FORMATS`].
    pub stream: Option<String>,
    /// True if it is run once for all cases and prints lines with their ids.
    pub batch: bool,
    /// Working directory. For an agent: an absolute path, resolved against the folder of the targets file. For
    /// any other command: the path as written, possibly relative to the folder of the eval file.
    pub cwd: Option<PathBuf>,
    /// True if it runs in the folder of the eval file; false for agents.
    pub beside_suite: bool,
    /// Time limit of one run; more than zero.
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

/// A server as a target, with requests of any form. Strings are templates that can use `prompt`, `messages`,
/// `env` and the variables of a test.
#[derive(Clone, PartialEq)]
pub struct HttpTargetSpec {
    /// Address. Its host is the same for all cases.
    pub url: String,
    /// Method, in capital letters.
    pub method: &'static str,
    /// Headers in the order of the file.
    pub headers: Vec<(String, String)>,
    /// Parameters that are added to the address.
    pub query: Vec<(String, String)>,
    /// Body of the request.
    pub body: Option<HttpBody>,
    /// Script that finds the answer in the body of the response; without it, the body is the answer.
    pub response: Option<Script>,
    /// Script that decides which statuses are a success; 200 to 299 without it.
    pub status: Option<Script>,
    /// Values of the environment variables that the templates name.
    pub environment: BTreeMap<String, SecretText>,
    /// Time limit of one request; more than zero.
    pub timeout: Option<Duration>,
}

impl fmt::Debug for HttpTargetSpec {
    /// Omits everything that may hold secrets: credentials and query of the address, headers, body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTargetSpec")
            .field("url", &without_credentials(&self.url))
            .field("method", &self.method)
            .field("environment", &self.environment)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Body of a request, with templates.
#[derive(Debug, Clone, PartialEq)]
pub enum HttpBody {
    /// JSON with templates in its texts.
    Json(serde_json::Value),
    /// A template whose result is JSON.
    JsonText(String),
    /// Fields of a form.
    Form(serde_json::Map<String, serde_json::Value>),
    /// A template whose result is any other text.
    Text(String),
}

/// Formats of agents' logs that targets files may name.
pub const SESSION_FORMATS: [&str; 7] =
    ["claude-code", "codex", "copilot", "gemini", "opencode", "pi", "otel"];

/// Recorded answers as a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingSpec {
    /// Content of the recording.
    pub kind: RecordingKind,
    /// Absolute path of the file or folder. Written relative to the folder of the targets file.
    pub path: PathBuf,
}

/// Content of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingKind {
    /// Sessions of agents, as their logs.
    Sessions {
        /// Log format, one of [`SESSION_FORMATS`]; `None` to detect it.
        format: Option<&'static str>,
    },
    /// Lines with the answers of cases.
    Answers {
        /// Target whose answers count; `None` for all lines.
        source: Option<String>,
    },
}

/// A fixed answer to every case, as a target.
#[derive(Debug, Clone, PartialEq)]
pub struct MockTargetSpec {
    /// Answer: a text, messages, or any other value. `None` only when it fails.
    pub response: Option<serde_json::Value>,
    /// Minimum delay before the answer.
    pub shortest: Duration,
    /// Maximum delay before the answer, not less than the minimum.
    pub longest: Duration,
    /// Error message to fail with instead of answering.
    pub fail: Option<String>,
}

/// Check that a target is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthSpec {
    /// A server answers a GET with success.
    Http {
        /// Address of the server.
        url: String,
        /// Time limit.
        timeout: Option<Duration>,
    },
    /// A command succeeds.
    Command {
        /// Command to run.
        command: CommandText,
        /// Working directory as written, possibly relative to the folder of the eval file.
        cwd: Option<PathBuf>,
        /// Time limit.
        timeout: Option<Duration>,
    },
}

/// A command line of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandText {
    /// A script for the shell; not blank.
    Shell(String),
    /// A program and its arguments; at least the program.
    Argv(Vec<String>),
}

impl CommandText {
    /// The command for messages.
    pub fn shown(&self) -> ShownCommand<'_> {
        ShownCommand::new(match self {
            Self::Shell(script) => std::slice::from_ref(script),
            Self::Argv(words) => words,
        })
    }
}

/// Retries of failed attempts; `None` leaves the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RetrySpec {
    /// Maximum number of attempts after the first.
    pub max_retries: Option<u32>,
    /// Base delay before the first retry.
    pub initial_delay: Option<Duration>,
    /// Maximum delay.
    pub max_delay: Option<Duration>,
}

impl RetrySpec {
    /// Returns these settings, with absent ones taken from `other`.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            max_retries: self.max_retries.or(other.max_retries),
            initial_delay: self.initial_delay.or(other.initial_delay),
            max_delay: self.max_delay.or(other.max_delay),
        }
    }
}

/// An error in the settings of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetSettingError {
    /// Title of its diagnostic.
    pub title: String,
    /// Position in the file.
    pub place: FilePosition,
}

/// An environment variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// Name of the variable.
    pub name: String,
    /// Key of the target that refers to it.
    pub setting: String,
    /// Position of the reference.
    pub place: FilePosition,
}

/// A secret text. It has no `Display`, and its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret text.
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
