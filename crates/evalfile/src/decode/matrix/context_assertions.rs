//! Assertions about the context of an answer, and about conversations.

use assize_diagnostic::Diagnostic;
use serde_json::Value;

use super::assertion_values::add_value;
use super::assertions::{AssertionParts, AssertionValues, AssertionWriter};
use super::nodes::{MapNode, json_node, list_node, text_node};
use super::values::text_of;
use crate::codes;
use crate::decode::map_reader::wrong_type;
use crate::decode::{DecodeContext, MapReader};
use crate::tree::{NodeValue, TreeNode};

/// Threshold of shares where none is written.
const THRESHOLD: f64 = 0.5;
/// Distance above a line that a share must not reach: more than any error of rounding, less than any share.
const ABOVE: f64 = 1e-6;
/// Number of messages that are looked at together where none is written.
const WINDOW: u64 = 5;

const RELEVANT: &str = "The answer is relevant to the conversation before it: it takes up what the user said";

/// Returns the score from which the assertion passes. A negated one passes if the share is below the threshold.
pub(super) fn context_line(assertion: &AssertionParts, parts: &AssertionValues<'_>) -> f64 {
    let threshold = parts.threshold.unwrap_or(THRESHOLD);
    if assertion.negated { 1.0 - threshold + ABOVE } else { threshold }
}

/// Adds the threshold of an assertion that is no gate: its own verdict goes by it all the same.
pub(super) fn add_line(grader: &mut MapNode, assertion: &AssertionParts, parts: &AssertionValues<'_>) {
    let line = context_line(assertion, parts);
    if line > 0.0 {
        grader.add_number("min_score", assertion.span, line.min(1.0));
    }
}

impl AssertionWriter<'_> {
    /// Writes `context-recall`, `context-relevance` or `context-faithfulness`.
    pub(super) fn write_context(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
    ) -> Option<()> {
        grader.add_text("type", assertion.kind.name);
        if assertion.kind.name == "context-recall" {
            add_value(cx, grader, assertion, parts, text_of)?;
        }

        let transform = self.spelling.entry(object, "contextTransform", &mut cx.problems);
        if let Some(transform) = transform.filter(|entry| !entry.value.is_null()) {
            grader.add("context_transform", transform.key_span, transform.value.clone());
        } else if let Some(context) = self.vars.get("context").filter(|context| !is_empty(context)) {
            grader.add("context", assertion.span, json_node(assertion.span, context));
        }
        self.add_query(grader);
        self.warn_about_prompt(cx, parts, "statements are put to judges by the built-in prompt");
        if let Some(judge) = &parts.judge {
            grader.add_text("judge", judge.clone());
        }

        Some(())
    }

    /// Writes `answer-relevance`.
    pub(super) fn write_answer_relevance(
        &self,
        cx: &mut DecodeContext,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
    ) {
        grader.add_text("type", assertion.kind.name);
        self.add_query(grader);
        self.warn_about_prompt(cx, parts, "questions are written by the built-in prompt");
        for (key, name) in [("judge", &parts.judge), ("embedding", &parts.model)] {
            if let Some(name) = name {
                grader.add_text(key, name.clone());
            }
        }
        if let Some(threshold) = parts.threshold {
            grader.add_number("threshold", assertion.span, threshold);
        }
    }

    /// Writes `conversation-relevance`: a criterion for the answer, or for each reply of `_conversation`.
    pub(super) fn write_conversation(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
    ) -> Option<()> {
        let window = match object.value("config") {
            Some(config) => read_window(cx, config)?,
            None => WINDOW,
        };
        let span = assertion.span;
        let messages = match self.vars.get("_conversation") {
            Some(Value::Array(messages)) => messages.as_slice(),
            _ => &[],
        };
        let texts = match messages {
            [] => vec![RELEVANT.to_owned()],
            messages => {
                let window = usize::try_from(window).unwrap_or(usize::MAX);
                (1..=messages.len()).map(|end| reply_text(&messages[..end], window)).collect()
            }
        };
        let criteria = texts.into_iter().map(|text| {
            let mut criterion = MapNode::new(span);
            criterion.add("outcome", span, text_node(span, text));
            criterion.finish()
        });
        grader.add_text("type", "rubrics");
        grader.add("criteria", span, list_node(span, criteria.collect()));
        self.warn_about_prompt(cx, parts, "criteria are put to judges by the built-in prompt");
        if let Some(judge) = &parts.judge {
            grader.add_text("judge", judge.clone());
        }

        Some(())
    }

    fn add_query(&self, grader: &mut MapNode) {
        if let Some(query) =
            self.vars.get("query").and_then(Value::as_str).filter(|query| !query.trim().is_empty())
        {
            grader.add_text("query", query);
        }
    }

    fn warn_about_prompt(&self, cx: &mut DecodeContext, parts: &AssertionValues<'_>, label: &str) {
        if let Some(prompt) = parts.prompt.or(self.rubric_prompt) {
            cx.problems.add(
                Diagnostic::warning(
                    codes::READ_DIFFERENTLY,
                    "the judge's own prompt is not used",
                    prompt.use_span(),
                    label,
                )
                .with_help("for a prompt of your own, use `llm-rubric` without `value`"),
            );
        }
    }
}

fn is_empty(context: &Value) -> bool {
    match context {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Reads `windowSize` of the settings of `conversation-relevance`.
fn read_window(cx: &mut DecodeContext, config: &TreeNode) -> Option<u64> {
    let Some(entries) = config.as_map() else {
        cx.problems.add(wrong_type(config, "`config` of `conversation-relevance`", "a map"));
        return None;
    };
    let mut window = WINDOW;
    for entry in entries {
        match (entry.key.as_str(), &entry.value.data) {
            ("windowSize" | "window_size", NodeValue::Int(size)) if *size > 0 => window = size.unsigned_abs(),
            ("windowSize" | "window_size", _) => {
                cx.problems.add(wrong_type(&entry.value, "`windowSize`", "a whole number from 1"));
                return None;
            }
            _ => cx.problems.add(super::tests::no_effect(entry, "`config` has `windowSize`")),
        }
    }

    Some(window)
}

/// Returns the criterion about the last reply of these messages.
fn reply_text(messages: &[Value], window: usize) -> String {
    let text = |message: &Value, key: &str| match message.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let shown: Vec<String> = messages[messages.len().saturating_sub(window)..]
        .iter()
        .map(|message| format!("User: {}\nAssistant: {}", text(message, "input"), text(message, "output")))
        .collect();

    format!(
        "The last reply of the assistant in this conversation, which is judged instead of the answer, is relevant: it takes up \
         what the user said before it.\n\n{}",
        shown.join("\n")
    )
}
