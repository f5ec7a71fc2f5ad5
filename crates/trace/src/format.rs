//! Log formats, their names, and their detection.

use std::str::FromStr;

use serde_json::Value;

/// A log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogFormat {
    /// Claude Code: session files, and the output of `--output-format json` and `stream-json`.
    ClaudeCode,
    /// Codex: session rollouts, and the output of `exec --json`.
    Codex,
    /// Copilot CLI: the events of a session.
    Copilot,
    /// Gemini CLI: the output of `--output-format json` and `stream-json`, session files, and saved conversations.
    Gemini,
    /// OpenCode: the output of `run --format json`, and exported sessions.
    OpenCode,
    /// Pi: the output of `--mode json`, and session files.
    Pi,
    /// OpenTelemetry traces in OTLP/JSON with the attributes for generative AI.
    OpenTelemetry,
}

/// No format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown log format `{0}`; the formats are {known}", known = LogFormat::names())]
pub struct UnknownLogFormat(pub String);

assize_rubric::named_variants!(LogFormat {
    ClaudeCode = "claude-code", Codex = "codex", Copilot = "copilot", Gemini = "gemini",
    OpenCode = "opencode", Pi = "pi", OpenTelemetry = "otel",
});

impl LogFormat {
    fn names() -> String {
        Self::NAMES.join(", ")
    }

    /// Detects the format of a record; most logs identify themselves in their first record.
    pub(crate) fn detect(record: &Value) -> Option<Self> {
        let has = |key: &str| record.get(key).is_some();
        if has("resourceSpans") || has("resource_spans") {
            return Some(Self::OpenTelemetry);
        }

        let kind = record.get("type").and_then(Value::as_str);
        let Some(kind) = kind else {
            return match () {
                // An exported session of OpenCode, the single object of Gemini, its session files and saved
                // conversations, or the head of an old rollout.
                () if has("info") && has("messages") => Some(Self::OpenCode),
                () if has("response") && has("stats") => Some(Self::Gemini),
                () if ["projectHash", "history", "clientHistory", "parts"].into_iter().any(has) => {
                    Some(Self::Gemini)
                }
                () if has("instructions") && has("timestamp") => Some(Self::Codex),
                () => None,
            };
        };

        let begins = |parts: &[&str]| parts.iter().any(|part| kind.starts_with(part));
        let marks = [
            (
                Self::Codex,
                matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context")
                    || begins(&["thread.", "turn.", "item."]),
            ),
            (Self::Copilot, kind == "user.message" || begins(&["session.", "assistant."])),
            (
                Self::OpenCode,
                matches!(kind, "step_start" | "step_finish" | "text" | "tool_use") && has("part"),
            ),
            (
                Self::Pi,
                match kind {
                    "session" => has("version") && has("cwd"),
                    "agent_start" | "agent_end" | "message_start" | "message_update" | "message_end" => true,
                    "message" => has("message"),
                    _ => begins(&["tool_execution_"]),
                },
            ),
            (
                Self::Gemini,
                match kind {
                    "init" => has("session_id"),
                    "tool_use" => has("tool_name"),
                    "gemini" => has("content"),
                    "message" => has("role") && has("content") && has("timestamp"),
                    _ => false,
                },
            ),
            (
                Self::ClaudeCode,
                match kind {
                    "system" => record.get("subtype").is_some_and(|subtype| subtype == "init"),
                    "result" => has("session_id") && has("is_error"),
                    "user" | "assistant" => has("message"),
                    "summary" => has("leafUuid"),
                    "file-history-snapshot" | "queue-operation" => true,
                    _ => false,
                },
            ),
        ];
        marks.into_iter().find(|(_, is)| *is).map(|(format, _)| format)
    }
}

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(name: &str) -> Result<Self, UnknownLogFormat> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let same = match name.as_str() {
            "claude" => "claude-code",
            "codex-cli" => "codex",
            "copilot-cli" => "copilot",
            "gemini-cli" => "gemini",
            "pi-cli" | "pi-coding-agent" => "pi",
            "opentelemetry" | "otlp" => "otel",
            other => other,
        };
        Self::from_name(same).ok_or(UnknownLogFormat(name))
    }
}
