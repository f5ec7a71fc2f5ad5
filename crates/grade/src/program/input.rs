//! The JSON object that a grading program reads from stdin.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Output messages larger than this go through a file: many programs read stdin slowly.
const MAX_INLINE_BYTES: usize = 50_000;

/// One answer with its case and its trace. The object that a program reads has the keys of both versions of
/// the contract, so that a program for either runs unchanged.
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
    pub output: Value,
    /// Paths of attached files (`input_files`).
    pub input_files: Vec<String>,
    /// Metrics of the tool calls (`trace`, `trace_summary`); null if unknown.
    pub trace: Value,
    /// `{input, output, cached}`; null if unknown.
    pub token_usage: Value,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
    /// Time in milliseconds.
    pub duration_ms: Option<u64>,
    /// File changes, as a diff.
    pub file_changes: Option<String>,
    /// The target's workspace (`workspace_path`), as long as it exists.
    pub workspace: Option<PathBuf>,
    /// Metadata of the case.
    pub metadata: Map<String, Value>,
    /// Settings of the grader.
    pub config: Map<String, Value>,
    /// Results of the members, for a program that combines them (`results`).
    pub results: Option<Value>,
}

impl ProgramInput {
    /// Builds the object for stdin, and the folder of the output that was too large for it.
    pub(super) fn build_payload(&self, scratch: &Path) -> Result<(Value, Option<TempDir>), String> {
        let mut output = self.output.clone();
        let mut output_path = Value::Null;
        let mut large = None;
        let text = output.to_string();
        if text.len() > MAX_INLINE_BYTES {
            let problem = |error: std::io::Error| format!("can't write the output for the program: {error}");
            let folder =
                tempfile::Builder::new().prefix("assize-grader-").tempdir_in(scratch).map_err(problem)?;
            let path = folder.path().join("output.json");
            fs::write(&path, text).map_err(problem)?;
            output = Value::Null;
            output_path = Value::String(path.display().to_string());

            large = Some(folder);
        }

        let mut payload = json!({
            "question": self.question,
            "criteria": self.expected_outcome,
            "expected_outcome": self.expected_outcome,
            "candidate_answer": self.answer,
            "reference_answer": self.reference,
            "input": self.input,
            "input_messages": self.input,
            "expected_output": self.expected,
            "expected_messages": self.expected,
            "output": output,
            "output_messages": output,
            "output_path": output_path,
            "input_files": self.input_files,
            "guideline_files": [],
            "trace": self.trace,
            "trace_summary": self.trace,
            "token_usage": self.token_usage,
            "cost_usd": self.cost_usd,
            "duration_ms": self.duration_ms,
            "start_time": null,
            "end_time": null,
            "file_changes": self.file_changes,
            "workspace_path": self.workspace.as_ref().map(|path| path.to_string_lossy()),
            "metadata": self.metadata,
            "config": if self.config.is_empty() { Value::Null } else { Value::Object(self.config.clone()) },
        });
        if let Some(results) = &self.results {
            payload["results"] = results.clone();
        }

        Ok((payload, large))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generations_find_their_keys_and_large_output_its_file() {
        let scratch = tempfile::tempdir().unwrap();
        let mut input = ProgramInput {
            answer: "a".into(),
            output: json!([{"role": "assistant", "content": "a"}]),
            ..ProgramInput::default()
        };
        let (payload, large) = input.build_payload(scratch.path()).unwrap();
        assert!(large.is_none());
        assert_eq!(payload["output"], payload["output_messages"]);
        assert_eq!(payload["candidate_answer"], "a");
        input.output = json!([{"role": "assistant", "content": "x".repeat(60_000)}]);
        let (payload, large) = input.build_payload(scratch.path()).unwrap();
        assert!(large.is_some());
        assert_eq!(payload["output"], Value::Null);
        let text = fs::read_to_string(payload["output_path"].as_str().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), input.output);
    }
}
