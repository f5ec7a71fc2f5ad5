//! Conversion of single assertions: a grader for those with an equivalent, a note for the others.

use std::fmt::Display;

use serde_json::{Map, Value, json};

use super::variables::{fill_variables, value_text};
use crate::eval_file_builder::slug;
use crate::note::ConversionNotes;

/// Default pass threshold of `g-eval`, as the tool documents it.
const G_EVAL_THRESHOLD: f64 = 0.7;

/// Context of an assertion.
pub(crate) struct PromptfooTestContext<'a> {
    pub(crate) vars: &'a Map<String, Value>,
    /// True if the test has a threshold of its own, so that its assertions are not gates.
    pub(crate) scored: bool,
    /// Judge prompt of the configuration, if any.
    pub(crate) judge_prompt: Option<&'a Value>,
    /// Name of the test, for notes.
    pub(crate) case: &'a str,
}

/// Keys of an assertion that are read, whatever its type.
const ASSERTION_KEYS: [&str; 7] =
    ["type", "value", "threshold", "weight", "metric", "assert", "rubricPrompt"];

/// Types of assertions that are code in both formats.
const CODE: [&str; 2] = ["javascript", "python"];

/// Converts an assertion to a grader. Returns `None` and adds a note if there is no equivalent.
pub(crate) fn convert_assertion(
    assertion: &Value,
    line: Option<usize>,
    scene: &PromptfooTestContext<'_>,
    notes: &mut ConversionNotes,
) -> Option<Value> {
    let Some(map) = assertion.as_object() else {
        notes.add_loss(line, format!("assertion of `{}`", scene.case), "is not a map");
        return None;
    };
    let written = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let (kind, negate) = written.strip_prefix("not-").map_or((written, false), |kind| (kind, true));
    let name = format!("`{written}` of `{}`", scene.case);
    let is_read = |key: &str| ASSERTION_KEYS.contains(&key) || (key == "config" && CODE.contains(&kind));
    for key in map.keys().filter(|key| !is_read(key)) {
        notes.add_loss(line, &name, format!("`{key}` is not converted"));
    }

    for key in ["threshold", "weight"] {
        if map.get(key).is_some_and(|value| !value.is_null() && !value.is_number()) {
            notes.add_loss(line, &name, format!("its `{key}` is not a number and is not converted"));
        }
    }

    let value = match map.get("value") {
        // Eval files name files of code in the same way.
        Some(Value::String(text)) if CODE.contains(&kind) && text.starts_with("file://") => json!(text),
        given => fill_value(given, &name, line, scene, notes)?,
    };
    let threshold = map.get("threshold").and_then(Value::as_f64);
    let assertion = AssertionConverter { kind, value: &value, threshold, map, line, name: &name, scene };
    let mut grader = assertion.convert(notes)?;

    if negate {
        grader["negate"] = json!(true);
    }

    if let Some(weight) = map.get("weight").and_then(Value::as_f64) {
        if weight >= 0.0 {
            grader["weight"] = json!(weight);
        } else {
            notes.add_loss(line, &name, "its weight is negative; 1 is used");
        }
    }

    let only_counts = map.get("weight").and_then(Value::as_f64) == Some(0.0);
    let judged_freely = grader.get("type").and_then(Value::as_str) == Some("llm-grader");
    if !scene.scored && !only_counts && !judged_freely {
        grader["required"] = json!(true);
    }
    if let Some(metric) = map.get("metric") {
        grader["x-metric"] = metric.clone();
    }

    Some(grader)
}

/// Returns the value with variables substituted; `None` if it is not available.
fn fill_value(
    value: Option<&Value>,
    name: &str,
    line: Option<usize>,
    scene: &PromptfooTestContext<'_>,
    notes: &mut ConversionNotes,
) -> Option<Value> {
    let mut fill = |text: &str| {
        let (text, unknown) = fill_variables(text, scene.vars);
        if !unknown.is_empty() {
            notes.add_loss(line, name, format!("template parts stay as written: {}", unknown.join(", ")));
        }
        text
    };
    match value {
        None => Some(Value::Null),
        Some(Value::String(text)) if text.starts_with("file://") => {
            notes.add_loss(line, name, format!("not converted: its value is in `{text}`"));
            None
        }
        Some(Value::String(text)) => Some(json!(fill(text))),
        Some(Value::Array(items)) => Some(
            items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.clone(), |text| json!(fill(text))))
                .collect(),
        ),
        Some(other) => Some(other.clone()),
    }
}

/// An assertion whose grader is made.
struct AssertionConverter<'a> {
    /// Type without a leading `not-`.
    kind: &'a str,
    value: &'a Value,
    threshold: Option<f64>,
    map: &'a Map<String, Value>,
    line: Option<usize>,
    /// Name for notes.
    name: &'a str,
    scene: &'a PromptfooTestContext<'a>,
}

impl AssertionConverter<'_> {
    /// Returns the grader without weight and gate. Returns `None` and adds a note if there is no equivalent.
    fn convert(&self, notes: &mut ConversionNotes) -> Option<Value> {
        match self.kind {
            "llm-rubric" | "model-graded-closedqa" => match self.text() {
                Some(text) => Some(self.convert_criterion(text, notes)),
                None => self.convert_judge_prompt(notes),
            },
            "factuality" => {
                let text = require_text(self.text(), self.line, self.name, notes)?;
                self.note_threshold(notes);
                Some(
                    json!({"type": "rubrics", "criteria": [checklist_criterion(text, "contradiction", self.scene)]}),
                )
            }
            "g-eval" => self.convert_scored_criteria(notes),
            "equals" | "starts-with" | "contains" | "icontains" | "regex" => self.convert_text_check(notes),
            "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
                self.convert_list_check(notes)
            }
            "is-json" => Some(match self.value {
                Value::Object(_) => json!({"type": "is-json", "schema": self.value}),
                Value::Null => json!({"type": "is-json"}),
                _ => {
                    self.note_loss("its schema is not a map and was skipped", notes);
                    json!({"type": "is-json"})
                }
            }),
            "latency" | "cost" => {
                let Some(threshold) = self.threshold.filter(|threshold| *threshold >= 0.0) else {
                    self.note_loss("not converted: it has no threshold", notes);
                    return None;
                };
                let key = if self.kind == "latency" { "threshold" } else { "budget" };
                Some(json!({"type": self.kind, key: threshold}))
            }
            "similar" => match self.value {
                Value::String(_) | Value::Array(_) => Some(
                    json!({"type": "similar", "value": self.value, "threshold": self.threshold.unwrap_or(0.75)}),
                ),
                _ => {
                    self.note_loss("not converted: it has no value", notes);
                    None
                }
            },
            "javascript" | "python" => self.convert_code(notes),
            "assert-set" => self.convert_set(notes),
            _ => {
                self.note_unsupported(notes);
                None
            }
        }
    }

    fn text(&self) -> Option<&str> {
        self.value.as_str().filter(|text| !text.trim().is_empty())
    }

    fn note_loss(&self, says: impl Display, notes: &mut ConversionNotes) {
        notes.add_loss(self.line, self.name, says);
    }

    fn note_threshold(&self, notes: &mut ConversionNotes) {
        if let Some(threshold) = self.threshold {
            self.note_loss(
                format!("its threshold {threshold} on the judge's score: a criterion is met or not"),
                notes,
            );
        }
    }

    fn convert_criterion(&self, text: &str, notes: &mut ConversionNotes) -> Value {
        self.note_threshold(notes);

        if self.map.contains_key("rubricPrompt") || self.scene.judge_prompt.is_some() {
            self.note_loss(
                "the prompt of its judge (`rubricPrompt`): criteria are put to judges by the built-in one",
                notes,
            );
        }

        json!({"type": "rubrics", "criteria": [checklist_criterion(text, "correctness", self.scene)]})
    }

    /// Converts an assertion that has no criterion but a judge prompt.
    fn convert_judge_prompt(&self, notes: &mut ConversionNotes) -> Option<Value> {
        let Some(prompt) = self.map.get("rubricPrompt").or(self.scene.judge_prompt) else {
            self.note_loss("not converted: it has no value", notes);
            return None;
        };
        let texts: Vec<String> = match prompt {
            Value::Array(messages) => messages
                .iter()
                .filter(|message| message.get("role").and_then(Value::as_str) == Some("system"))
                .filter_map(|message| message.get("content").and_then(Value::as_str).map(str::to_owned))
                .collect(),
            other => vec![value_text(other)],
        };

        let (prompt, unknown) = fill_variables(&texts.join("\n\n"), self.scene.vars);
        let unknown: Vec<String> = unknown.into_iter().filter(|name| name != "output").collect();
        if !unknown.is_empty() {
            self.note_loss(format!("template parts stay as written: {}", unknown.join(", ")), notes);
        }

        self.note_loss("has no criterion but a judge prompt of its own: kept as an `llm-grader`; the form of reply that it asks for is replaced, and the pass threshold decides", notes);
        Some(json!({"type": "llm-grader", "prompt": prompt}))
    }

    fn convert_scored_criteria(&self, notes: &mut ConversionNotes) -> Option<Value> {
        let texts: Vec<&str> = match self.value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => self.text().into_iter().collect(),
        };
        if texts.is_empty() {
            self.note_loss("not converted: it has no value", notes);
            return None;
        }

        let criteria: Vec<Value> =
            texts.iter().enumerate().map(|(index, text)| scored_criterion(text, index)).collect();
        let line = self.threshold.unwrap_or(G_EVAL_THRESHOLD);
        let mut grader = json!({"type": "rubrics", "criteria": criteria});
        if line > 0.0 {
            grader["min_score"] = json!(line.min(1.0));
        }

        Some(grader)
    }

    fn convert_text_check(&self, notes: &mut ConversionNotes) -> Option<Value> {
        if self.value.is_object() || self.value.is_array() {
            self.note_loss("not converted: it compares with a value that is no text", notes);
            return None;
        }

        let given = if self.value.is_null() { None } else { Some(value_text(self.value)) };
        let text = require_text(given.as_deref(), self.line, self.name, notes)?;
        Some(json!({"type": self.kind, "value": text}))
    }

    fn convert_list_check(&self, notes: &mut ConversionNotes) -> Option<Value> {
        let values: Vec<String> = match self.value {
            Value::Array(items) => items.iter().map(value_text).collect(),
            Value::String(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
            _ => Vec::new(),
        };
        let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            self.note_loss("not converted: it has no value", notes);
            return None;
        }

        Some(json!({"type": self.kind, "value": values}))
    }

    /// Keeps code: eval files run it with the same arguments.
    fn convert_code(&self, notes: &mut ConversionNotes) -> Option<Value> {
        let text = require_text(self.text(), self.line, self.name, notes)?;
        let mut grader = json!({"type": self.kind, "value": text});
        if let Some(threshold) = self.threshold {
            grader["threshold"] = json!(threshold);
        }
        if let Some(config) = self.map.get("config") {
            grader["config"] = config.clone();
        }

        Some(grader)
    }

    fn convert_set(&self, notes: &mut ConversionNotes) -> Option<Value> {
        let members = self.map.get("assert").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let inner = PromptfooTestContext { scored: true, ..*self.scene };
        let graders: Vec<Value> =
            members.iter().filter_map(|member| convert_assertion(member, self.line, &inner, notes)).collect();
        if graders.is_empty() {
            self.note_loss("not converted: nothing in it is", notes);
            return None;
        }

        // Without a threshold every member must pass.
        let line = self.threshold.filter(|line| *line > 0.0).unwrap_or(1.0).min(1.0);
        Some(
            json!({"type": "composite", "assertions": graders, "aggregator": {"type": "weighted_average"}, "min_score": line}),
        )
    }

    fn note_unsupported(&self, notes: &mut ConversionNotes) {
        let why = match self.kind {
            "" => "it has no type",
            "ruby" | "webhook" => "a program; write it as a `code-grader`",
            "answer-relevance" | "context-recall" | "context-relevance" | "context-faithfulness" => {
                "its score is computed from generated questions or a given context; write what it is to ensure as criteria"
            }
            _ => "there is no such check here",
        };

        self.note_loss(format!("not converted: {why}"), notes);
    }
}

fn require_text<'t>(
    text: Option<&'t str>,
    line: Option<usize>,
    name: &str,
    notes: &mut ConversionNotes,
) -> Option<&'t str> {
    if text.is_none() {
        notes.add_loss(line, name, "not converted: it has no value");
    }
    text
}

/// Returns a checklist criterion. If the test has a threshold of its own, only the score counts and the
/// criterion is not a gate.
fn checklist_criterion(text: &str, operator: &str, scene: &PromptfooTestContext<'_>) -> Value {
    let text = text.trim();
    let required = !scene.scored;
    let mut criterion =
        json!({"id": criterion_id(text, 0), "outcome": text, "weight": 1.0, "required": required});
    if operator != "correctness" {
        criterion["operator"] = json!(operator);
    }

    criterion
}

/// Returns a criterion with the scale of `g-eval`: an integer from 0 to 10.
fn scored_criterion(text: &str, index: usize) -> Value {
    json!({
        "id": criterion_id(text, index),
        "outcome": text.trim(),
        "weight": 1.0,
        "score_ranges": [
            {"score_range": [0, 3], "outcome": "The answer fails this"},
            {"score_range": [4, 6], "outcome": "The answer does this in part, with clear shortcomings"},
            {"score_range": [7, 10], "outcome": "The answer does this, 10 without any shortcoming"},
        ],
    })
}

fn criterion_id(text: &str, index: usize) -> String {
    let slug = slug(text, 4);
    match (slug.is_empty(), index) {
        (true, _) => format!("criterion-{}", index + 1),
        (false, 0) => slug,
        (false, _) => format!("{slug}-{}", index + 1),
    }
}
