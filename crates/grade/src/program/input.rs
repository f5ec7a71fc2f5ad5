//! The JSON object that a grading program reads from stdin.

use std::fs;
use std::path::{Path, PathBuf};

use assize_rubric::{Tokens, ToolCall};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::contract::ContractForm;
use super::messages::program_messages;
use super::trace::{token_usage, trace, trace_events};

/// Larger output messages go through a file, because many programs read stdin slowly.
const MAX_INLINE_BYTES: usize = 50_000;

/// One answer with its case and its trace. The object for the program has the keys of both versions of the
/// contract, so programs for either run unchanged.
///
/// Unknown values have no key: readers that check types accept an absent key, but not null.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgramInput {
    /// The question, as text (`question`).
    pub question: String,
    /// Description of a good answer (`criteria`, `expected_outcome`).
    pub expected_outcome: Option<String>,
    /// The answer's text (`candidate_answer`).
    pub answer: String,
    /// An example of a good answer, as text (`reference_answer`).
    pub reference: Option<String>,
    /// The input messages (`input`, `input_messages`).
    pub input: Vec<Value>,
    /// The expected messages (`expected_output`, `expected_messages`).
    pub expected: Vec<Value>,
    /// The output messages (`output`, `output_messages`).
    pub output: Vec<Value>,
    /// Absolute paths of attached files (`input_files`).
    pub input_files: Vec<String>,
    /// The tool calls, for their metrics (`trace`, `trace_summary`); `None` if unknown.
    pub calls: Option<Vec<ToolCall>>,
    /// Number of model calls.
    pub model_calls: Option<u64>,
    /// Tokens spent (`token_usage`).
    pub tokens: Tokens,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Time in milliseconds.
    pub duration_ms: Option<u64>,
    /// File changes, as a diff.
    pub file_changes: Option<String>,
    /// The target's workspace (`workspace_path`), while it exists.
    pub workspace: Option<PathBuf>,
    /// Metadata of the case.
    pub metadata: Map<String, Value>,
    /// Settings of the grader.
    pub config: Map<String, Value>,
    /// Results of the members, for a program that combines them (`results`).
    pub results: Option<Value>,
    /// True if `output` is first sent as the answer's text, as in AgentV's newest contract. A program that
    /// refuses that gets the messages instead.
    pub output_as_text: bool,
}

impl ProgramInput {
    /// Builds the object for stdin, and the folder for output that is too large for it.
    pub(super) fn build_payload(
        &self,
        scratch: &Path,
        form: ContractForm,
    ) -> Result<(Value, Option<TempDir>), String> {
        let output = program_messages(&self.output, form);
        let input = program_messages(&self.input, form);
        let expected = program_messages(&self.expected, form);
        let criteria = self.expected_outcome.clone().unwrap_or_default();
        let usage = token_usage(self.tokens);
        let mut payload = json!({
            "question": self.question,
            "criteria": criteria,
            "expected_outcome": criteria,
            "candidate_answer": self.answer,
            "input": input,
            "input_messages": input,
            "expected_output": expected,
            "expected_messages": expected,
            "input_files": self.input_files,
            "guideline_files": [],
            "metadata": self.metadata,
        });

        let calls = self.calls.as_deref();
        let known = [
            ("reference_answer", self.reference.clone().map(Value::from)),
            ("trace", calls.map(|calls| trace(calls, self.model_calls))),
            ("trace_summary", calls.map(|calls| trace_summary(calls, self))),
            ("token_usage", usage),
            ("cost_usd", self.cost_usd.map(Value::from)),
            ("duration_ms", self.duration_ms.map(Value::from)),
            ("file_changes", self.file_changes.clone().map(Value::from)),
            ("workspace_path", self.workspace.as_ref().map(|path| path.to_string_lossy().into())),
            ("config", (!self.config.is_empty()).then(|| Value::Object(self.config.clone()))),
            ("results", self.results.clone()),
        ];
        for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            payload[key] = value;
        }

        if form.output_as_text {
            if let Some(calls) = calls {
                payload["trace"]["events"] = trace_events(calls);
                payload["trace"]["messages"] = output.clone();
            }
            payload["output"] = self.answer.clone().into();
            payload["messages"] = output;
            // Programs of this contract refuse keys that it no longer has.
            if let Some(object) = payload.as_object_mut() {
                object.remove("reference_answer");
            }
            return Ok((payload, None));
        }

        let text = output.to_string();
        if text.len() <= MAX_INLINE_BYTES {
            payload["output_messages"] = output.clone();
            payload["output"] = output;
            return Ok((payload, None));
        }

        let problem = |error: std::io::Error| format!("can't write the output for the program: {error}");
        let folder = assize_process::private_folder("assize-grader-", scratch).map_err(problem)?;
        let path = folder.path().join("output.json");
        fs::write(&path, text).map_err(problem)?;
        payload["output_path"] = Value::String(path.display().to_string());

        Ok((payload, Some(folder)))
    }
}

/// The metrics with tokens, cost and time, in the older version of the contract.
fn trace_summary(calls: &[ToolCall], input: &ProgramInput) -> Value {
    let mut summary = trace(calls, input.model_calls);
    let known = [
        ("token_usage", token_usage(input.tokens)),
        ("cost_usd", input.cost_usd.map(Value::from)),
        ("duration_ms", input.duration_ms.map(Value::from)),
    ];
    for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        summary[key] = value;
    }

    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generations_find_their_keys_and_large_output_its_file() {
        let scratch = tempfile::tempdir().unwrap();
        let mut input = ProgramInput {
            answer: "a".into(),
            output: vec![json!({"role": "assistant", "content": "a"})],
            ..ProgramInput::default()
        };
        let (payload, large) = input.build_payload(scratch.path(), ContractForm::default()).unwrap();
        assert!(large.is_none());
        assert_eq!(payload["output"], payload["output_messages"]);
        assert_eq!(payload["candidate_answer"], "a");
        input.output = vec![json!({"role": "assistant", "content": "x".repeat(60_000)})];
        let (payload, large) = input.build_payload(scratch.path(), ContractForm::default()).unwrap();
        assert!(large.is_some());
        assert_eq!(payload.get("output"), None);
        let text = fs::read_to_string(payload["output_path"].as_str().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap(), input.output);
    }

    #[test]
    fn what_is_not_known_has_no_key() {
        let (payload, _) =
            ProgramInput::default().build_payload(Path::new(""), ContractForm::default()).unwrap();
        let object = payload.as_object().unwrap();
        assert!(object.values().all(|value| !value.is_null()), "{payload}");
        for key in ["reference_answer", "trace", "trace_summary", "token_usage", "output_path", "config"] {
            assert!(!object.contains_key(key), "{key}");
        }

        assert_eq!(payload["criteria"], "");
        assert_eq!(payload["output"], json!([]));
    }

    #[test]
    fn the_trace_has_the_shapes_of_both_generations() {
        let call = |failed| ToolCall {
            name: "search".into(),
            input: Value::Null,
            output: None,
            duration: Some(std::time::Duration::from_millis(5)),
            failed,
        };
        let input = ProgramInput {
            calls: Some(vec![call(None), call(Some(true))]),
            model_calls: Some(3),
            tokens: Tokens { input: Some(7), cached: None, output: Some(2) },
            cost_usd: Some(0.5),
            ..ProgramInput::default()
        };
        let (payload, _) = input.build_payload(Path::new(""), ContractForm::default()).unwrap();
        let trace = json!({
            "event_count": 2, "tool_calls": {"search": 2}, "error_count": 1, "llm_call_count": 3,
            "tool_durations": {"search": [5.0, 5.0]},
            "tool_names": ["search"], "tool_calls_by_name": {"search": 2},
        });
        assert_eq!(payload["trace"], trace);
        let mut summary = trace;
        summary["token_usage"] = json!({"input": 7, "output": 2});
        summary["cost_usd"] = json!(0.5);
        assert_eq!(payload["trace_summary"], summary);
        assert_eq!(payload["token_usage"], summary["token_usage"]);
    }

    #[test]
    fn output_is_text_for_programs_that_want_it() {
        let input = ProgramInput {
            answer: "a".into(),
            reference: Some("b".into()),
            output: vec![json!({"role": "assistant", "content": "a"})],
            calls: Some(vec![ToolCall {
                name: "ls".into(),
                input: json!({}),
                output: None,
                duration: None,
                failed: Some(false),
            }]),
            ..ProgramInput::default()
        };
        let form = ContractForm { output_as_text: true, ..ContractForm::default() };
        let (payload, _) = input.build_payload(Path::new(""), form).unwrap();
        assert_eq!((&payload["output"], &payload["messages"]), (&json!("a"), &json!(input.output)));
        assert_eq!(payload["trace"]["messages"], payload["messages"]);
        assert_eq!(payload.get("reference_answer"), None);
        let event = json!({"event_id": "event-0", "ordinal": 0, "type": "tool_call",
            "tool": {"name": "ls", "input": {}, "status": "ok"}});
        assert_eq!(payload["trace"]["events"], json!([event]));
    }
}
