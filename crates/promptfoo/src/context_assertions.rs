//! Assertions about the context of an answer, and about conversations.

use assize_document::{NodeValue, TreeNode, wrong_type};
use assize_evalfile::reading::DecodeContext;
use serde_json::Value;

use super::assertion_grader::AssertionGrader;
use super::nodes::{MapNode, json_node, list_node, text_node};
use super::values::text_of;

/// Default threshold.
const THRESHOLD: f64 = 0.5;
/// Default number of messages in a window.
const WINDOW: u64 = 5;

const PROMPT_HELP: &str = "for a prompt of your own, use `llm-rubric` without `value`";

const RELEVANT: &str = "The answer is relevant to the conversation before it: it takes up what the user said";

impl AssertionGrader<'_> {
    /// Makes the test fail if the score is on the wrong side of the threshold. The grader also gets this
    /// minimum if the mean decides about the test, because it determines the grader's own verdict.
    pub(super) fn require_share(&mut self) {
        let threshold = self.threshold.unwrap_or(THRESHOLD);
        let line = self.passing_line(threshold);
        self.require(line);
        if line > 0.0 {
            self.grader.add_number("min_score", self.span, line.min(1.0));
        }
    }

    /// Writes `context-recall`, `context-relevance` or `context-faithfulness`.
    pub(super) fn write_context(&mut self) -> Option<()> {
        self.grader.add_text("type", self.kind.name);
        if self.kind.name == "context-recall" {
            self.add_value(text_of)?;
        }

        let transform =
            self.writer.spelling.entry(&mut self.object, "contextTransform", &mut self.cx.problems);
        if let Some(transform) = transform.filter(|entry| !entry.value.is_null()) {
            self.grader.add("context_transform", transform.key_span, transform.value.clone());
        } else if let Some(context) = self.writer.vars.get("context").filter(|context| !is_empty(context)) {
            self.grader.add("context", self.span, json_node(self.span, context));
        }
        self.add_query();
        self.warn_about_prompt("statements are sent to judges with the built-in prompt", PROMPT_HELP);
        self.add_judge("judge");

        Some(())
    }

    /// Writes `answer-relevance`.
    pub(super) fn write_answer_relevance(&mut self) {
        self.grader.add_text("type", self.kind.name);
        self.add_query();
        self.warn_about_prompt("questions are written by the built-in prompt", PROMPT_HELP);
        self.add_judge("judge");
        self.add_model("embedding");
        self.add_threshold("threshold");
    }

    /// Writes `conversation-relevance`: a criterion about the answer, or about each reply in `_conversation`.
    pub(super) fn write_conversation(&mut self) -> Option<()> {
        let window = match self.object.value("config") {
            Some(config) => read_window(self.cx, config)?,
            None => WINDOW,
        };
        let span = self.span;
        let messages = match self.writer.vars.get("_conversation") {
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
        self.grader.add_text("type", "rubrics");
        self.grader.add("criteria", span, list_node(span, criteria.collect()));
        self.warn_about_prompt("criteria are sent to judges with the built-in prompt", PROMPT_HELP);
        self.add_judge("judge");

        Some(())
    }

    fn add_query(&mut self) {
        let query = self.writer.vars.get("query").and_then(Value::as_str);
        if let Some(query) = query.filter(|query| !query.trim().is_empty()) {
            self.grader.add_text("query", query);
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

/// Reads `windowSize` in the settings of `conversation-relevance`.
fn read_window(cx: &mut DecodeContext, config: &TreeNode) -> Option<u64> {
    let Some(entries) = config.as_map() else {
        return cx.problems.reject(wrong_type(config, "`config` of `conversation-relevance`", "a map"));
    };
    let mut window = WINDOW;
    for entry in entries {
        match (entry.key.as_str(), &entry.value.data) {
            ("windowSize" | "window_size", NodeValue::Int(size)) if *size > 0 => window = size.unsigned_abs(),
            ("windowSize" | "window_size", _) => {
                return cx.problems.reject(wrong_type(&entry.value, "`windowSize`", "a whole number from 1"));
            }
            _ => cx.problems.add(super::values::no_effect(entry, "`config` has `windowSize`")),
        }
    }

    Some(window)
}

/// Returns the text of the criterion about the last reply of these messages.
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
