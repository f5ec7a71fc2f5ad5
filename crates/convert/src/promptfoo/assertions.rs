//! Conversion of single assertions: a grader for those with an equivalent, a note for the others.

use serde_json::{Map, Value, json};

use super::variables::{fill_variables, value_text};
use crate::eval_file_builder::slug;
use crate::note::ConversionNotes;

/// Default pass threshold of `g-eval`, as the tool documents it.
const G_EVAL_THRESHOLD: f64 = 0.7;

/// Context of an assertion.
pub(super) struct PromptfooTestContext<'a> {
    pub(super) vars: &'a Map<String, Value>,
    /// True if the test has a threshold of its own, so that its assertions are not gates.
    pub(super) scored: bool,
    /// Judge prompt of the configuration, if any.
    pub(super) judge_prompt: Option<&'a Value>,
    /// Name of the test, for notes.
    pub(super) case: &'a str,
}

/// Keys of an assertion that are read, whatever its type.
const ASSERTION_KEYS: [&str; 7] =
    ["type", "value", "threshold", "weight", "metric", "assert", "rubricPrompt"];

/// Converts an assertion to a grader. Returns `None` and adds a note if there is no equivalent.
pub(super) fn convert_assertion(
    assertion: &Value,
    line: usize,
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
    for key in map.keys().filter(|key| !ASSERTION_KEYS.contains(&key.as_str())) {
        notes.add_loss(line, &name, format!("`{key}` is not carried over"));
    }

    let value = fill_value(map.get("value"), &name, line, scene, notes)?;
    let threshold = map.get("threshold").and_then(Value::as_f64);
    let made = grader_body(kind, &value, threshold, map, line, &name, scene, notes)?;
    let mut grader = Map::new();
    grader.extend(made);

    if negate {
        grader.insert("negate".to_owned(), json!(true));
    }

    if let Some(weight) = map.get("weight").and_then(Value::as_f64) {
        if weight >= 0.0 {
            grader.insert("weight".to_owned(), json!(weight));
        } else {
            notes.add_loss(line, &name, "its weight is negative; it counts 1");
        }
    }

    let only_counts = map.get("weight").and_then(Value::as_f64) == Some(0.0);
    let judged_freely = grader.get("type").and_then(Value::as_str) == Some("llm-grader");
    if !scene.scored && !only_counts && !judged_freely {
        grader.insert("required".to_owned(), json!(true));
    }
    if let Some(metric) = map.get("metric") {
        grader.insert("x-metric".to_owned(), metric.clone());
    }

    Some(Value::Object(grader))
}

/// Returns the value with variables substituted; `None` if it is not available.
fn fill_value(
    value: Option<&Value>,
    name: &str,
    line: usize,
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
            notes.add_loss(line, name, format!("not carried over: its value is in `{text}`"));
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

type GraderMap = Map<String, Value>;

#[expect(clippy::too_many_arguments, reason = "one call, every argument a different fact")]
fn grader_body(
    kind: &str,
    value: &Value,
    threshold: Option<f64>,
    map: &Map<String, Value>,
    line: usize,
    name: &str,
    scene: &PromptfooTestContext<'_>,
    notes: &mut ConversionNotes,
) -> Option<GraderMap> {
    let made = |value: Value| value.as_object().cloned();
    let text = value.as_str().filter(|text| !text.trim().is_empty());
    let without_threshold = |notes: &mut ConversionNotes| {
        if let Some(threshold) = threshold {
            notes.add_loss(
                line,
                name,
                format!("its threshold {threshold} on the judge's score: a criterion is met or not"),
            );
        }
    };
    match kind {
        "llm-rubric" | "model-graded-closedqa" => {
            if let Some(text) = text {
                without_threshold(notes);

                if map.contains_key("rubricPrompt") || scene.judge_prompt.is_some() {
                    notes.add_loss(line, name, "the prompt of its judge (`rubricPrompt`): criteria are put to judges by the built-in one");
                }

                return made(
                    json!({"type": "rubrics", "criteria": [checklist_criterion(text, "correctness", scene)]}),
                );
            }

            let Some(prompt) = map.get("rubricPrompt").or(scene.judge_prompt) else {
                notes.add_loss(line, name, "not carried over: it has no value");
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

            let (prompt, unknown) = fill_variables(&texts.join("\n\n"), scene.vars);
            let unknown: Vec<String> = unknown.into_iter().filter(|name| name != "output").collect();
            if !unknown.is_empty() {
                notes.add_loss(line, name, format!("template parts stay as written: {}", unknown.join(", ")));
            }

            notes.add_loss(line, name, "has no criterion but a judge prompt of its own: kept as an `llm-grader`; the form of reply that it asks for is replaced, and the pass line decides");
            made(json!({"type": "llm-grader", "prompt": prompt}))
        }
        "factuality" => {
            let text = require_text(text, line, name, notes)?;
            without_threshold(notes);
            made(json!({"type": "rubrics", "criteria": [checklist_criterion(text, "contradiction", scene)]}))
        }
        "g-eval" => {
            let texts: Vec<&str> = match value {
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
                _ => text.into_iter().collect(),
            };
            if texts.is_empty() {
                notes.add_loss(line, name, "not carried over: it has no value");
                return None;
            }

            let criteria: Vec<Value> =
                texts.iter().enumerate().map(|(index, text)| scored_criterion(text, index)).collect();
            let line = threshold.unwrap_or(G_EVAL_THRESHOLD);
            let mut grader = json!({"type": "rubrics", "criteria": criteria});
            if line > 0.0 {
                grader["min_score"] = json!(line.min(1.0));
            }

            made(grader)
        }
        "equals" | "starts-with" | "contains" | "icontains" | "regex" => {
            if value.is_object() || value.is_array() {
                notes.add_loss(line, name, "not carried over: it compares with a value that is no text");
                return None;
            }

            let given = if value.is_null() { None } else { Some(value_text(value)) };
            let text = require_text(given.as_deref(), line, name, notes)?;
            made(json!({"type": kind, "value": text}))
        }
        "contains-any" | "contains-all" | "icontains-any" | "icontains-all" => {
            let values: Vec<String> = match value {
                Value::Array(items) => items.iter().map(value_text).collect(),
                Value::String(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
                _ => Vec::new(),
            };
            let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
            if values.is_empty() {
                notes.add_loss(line, name, "not carried over: it has no value");
                return None;
            }

            made(json!({"type": kind, "value": values}))
        }
        "is-json" => match value {
            Value::Object(_) => made(json!({"type": "is-json", "schema": value})),
            Value::Null => made(json!({"type": "is-json"})),
            _ => {
                notes.add_loss(line, name, "its schema is no map and was left out");
                made(json!({"type": "is-json"}))
            }
        },
        "latency" | "cost" => {
            let Some(threshold) = threshold.filter(|threshold| *threshold >= 0.0) else {
                notes.add_loss(line, name, "not carried over: it has no threshold");
                return None;
            };
            made(if kind == "latency" {
                json!({"type": "latency", "threshold": threshold})
            } else {
                json!({"type": "cost", "budget": threshold})
            })
        }
        "assert-set" => {
            let members = map.get("assert").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let inner = PromptfooTestContext { scored: true, ..*scene };
            let graders: Vec<Value> =
                members.iter().filter_map(|member| convert_assertion(member, line, &inner, notes)).collect();
            if graders.is_empty() {
                notes.add_loss(line, name, "not carried over: nothing in it is");
                return None;
            }

            // Without a threshold every member must pass.
            let line = threshold.filter(|line| *line > 0.0).unwrap_or(1.0).min(1.0);
            made(
                json!({"type": "composite", "assertions": graders, "aggregator": {"type": "weighted_average"}, "min_score": line}),
            )
        }
        "" => {
            notes.add_loss(line, name, "not carried over: it has no type");
            None
        }
        "javascript" | "python" | "ruby" | "webhook" => {
            notes.add_loss(line, name, "not carried over: a program; write it as a `code-grader`");
            None
        }
        other => {
            let why = match other {
                "similar" => "it needs embeddings",
                "answer-relevance" | "context-recall" | "context-relevance" | "context-faithfulness" => {
                    "its score is computed from generated questions or a given context; write what it is to ensure as criteria"
                }
                _ => "there is no such check here",
            };

            notes.add_loss(line, name, format!("not carried over: {why}"));
            None
        }
    }
}

fn require_text<'t>(
    text: Option<&'t str>,
    line: usize,
    name: &str,
    notes: &mut ConversionNotes,
) -> Option<&'t str> {
    if text.is_none() {
        notes.add_loss(line, name, "not carried over: it has no value");
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
