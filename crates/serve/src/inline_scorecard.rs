//! Scorecards in requests: one JSON value with the texts of its prompts, and checks for keys that such a scorecard must
//! not contain.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::Severity;
use assize_model::Scorecard;
use assize_scorecard::read_scorecard_text;
use serde_json::{Map, Value};

use crate::decode::{child, type_name};
use crate::inline_rubric::{PlacedText, describe, refuse_paths, too_large};
use crate::options::RequestLimits;
use crate::problem::RequestProblem;

/// File name for the text; its extension gives the syntax.
const FILE: &str = "scorecard.json";
/// Pointer to the scorecard in the request.
const POINTER: &str = "/scorecard";

/// A scorecard of a request, as text.
#[derive(Debug, Clone)]
pub(crate) struct InlineScorecard {
    value: Value,
    text: String,
    prompts: BTreeMap<String, String>,
}

impl InlineScorecard {
    /// A scorecard from the value at `/scorecard` of the request.
    ///
    /// # Errors
    /// With every part that a request must not contain.
    pub(crate) fn new(
        mut content: Map<String, Value>,
        limits: &RequestLimits,
    ) -> Result<Self, Vec<RequestProblem>> {
        let mut problems = Vec::new();
        let prompts = match content.remove("prompts") {
            None => BTreeMap::new(),
            Some(Value::Object(texts)) => read_prompts(texts, &mut problems),
            Some(other) => {
                let message = format!("expected an object of texts, found {}", type_name(&other));
                problems.push(RequestProblem::new(child(POINTER, "prompts"), message));
                BTreeMap::new()
            }
        };
        for key in ["cases", "labels"].into_iter().filter(|key| content.contains_key(*key)) {
            let message = format!("a scorecard in a request has no `{key}`; send the cases as `samples`");
            problems.push(RequestProblem::new(child(POINTER, key), message));
        }

        let value = Value::Object(content);
        let text = value.to_string();
        let bytes = text.len() + prompts.values().map(String::len).sum::<usize>();
        if bytes > limits.rubric_bytes {
            return Err(vec![too_large(POINTER, bytes, limits)]);
        }

        refuse_paths(&value, POINTER, &mut problems);
        if problems.is_empty() { Ok(Self { value, text, prompts }) } else { Err(problems) }
    }

    /// Hash of everything that is decoded.
    pub(crate) fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let texts = self.prompts.iter().flat_map(|(name, text)| [name, text]);
        for text in [FILE, &self.text].into_iter().chain(texts.map(String::as_str)) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }

        hasher.finalize()
    }

    /// Decodes the scorecard. Warnings are ignored.
    ///
    /// # Errors
    /// With every problem and its position in the request.
    pub(crate) fn decode(&self, limits: &RequestLimits) -> Result<Arc<Scorecard>, Vec<RequestProblem>> {
        let loaded = read_scorecard_text(Path::new(FILE), &self.text, &self.prompts);
        let mut placed = PlacedText::default();
        placed.write(&self.value, POINTER.to_owned());
        let errors = loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let problems: Vec<RequestProblem> = errors
            .map(|found| {
                let span = found.primary.span;
                let message = describe(found, found.help.iter());
                let file = loaded.sources.file(span.source).path();
                if file == Path::new(FILE) {
                    return RequestProblem::new(placed.pointer(span.start).unwrap_or(POINTER), message);
                }

                let at = loaded.sources.position(span);
                let message = format!("line {}, column {}: {message}", at.line, at.column);
                let prompts = child(POINTER, "prompts");
                RequestProblem::new(child(&prompts, &file.to_string_lossy()), message)
            })
            .collect();
        let Some(scorecard) = loaded.scorecard.filter(|_| problems.is_empty()) else { return Err(problems) };

        let benchmarks = scorecard.benchmarks.len();
        let limit = limits.criteria.min(limits.calls_per_sample);
        if benchmarks > limit {
            let message = format!("{benchmarks} benchmarks; at most {limit} are allowed");
            return Err(vec![RequestProblem::new(POINTER, message)]);
        }

        Ok(Arc::new(scorecard))
    }
}

fn read_prompts(texts: Map<String, Value>, problems: &mut Vec<RequestProblem>) -> BTreeMap<String, String> {
    let mut prompts = BTreeMap::new();
    for (name, text) in texts {
        match text {
            Value::String(text) => drop(prompts.insert(name, text)),
            other => {
                let message = format!("expected a text, found {}", type_name(&other));
                problems.push(RequestProblem::new(child(&child(POINTER, "prompts"), &name), message));
            }
        }
    }

    prompts
}
