//! Assertions that a judge decides.

use assize_diagnostic::{Diagnostic, Span};
use serde_json::{Value, json};

use super::assertion_types::AssertionSupport;
use super::assertion_values::read_value_file;
use super::assertions::{AssertionParts, AssertionValues, AssertionWriter, missing_value};
use super::nodes::{MapNode, json_node, list_node, text_node};
use crate::codes;
use crate::decode::{DecodeContext, MapReader};
use crate::tree::{NodeValue, TreeNode};

impl AssertionWriter<'_> {
    /// Writes an assertion that a judge decides.
    pub(super) fn write_judged(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
    ) -> Option<()> {
        if let Some(judge) = &parts.judge {
            grader.add_text("target", judge.clone());
        }

        // AgentV's prompt of a judge, or promptfoo's where there is no criterion beside it.
        let prompt = object.entry("prompt").filter(|entry| !entry.value.is_null()).map(|entry| &entry.value);
        let own = prompt.or(parts.prompt).or(self.rubric_prompt);
        let value = match &parts.value {
            Some(value) => Some(read_value_file(cx, value)?),
            None => None,
        };
        if let (Some(prompt), true) = (own, prompt.is_some() || value.is_none()) {
            grader.add_text("type", "llm-grader");
            grader.add("prompt", prompt.use_span(), text_node(prompt.use_span(), prompt_text(prompt)));
            return Some(());
        }

        if let Some(prompt) = parts.prompt.or(self.rubric_prompt) {
            cx.problems.add(
                Diagnostic::warning(
                    codes::READ_DIFFERENTLY,
                    "the judge's own prompt is not used",
                    prompt.use_span(),
                    "criteria are put to judges by the built-in prompt",
                )
                .with_help("say what matters in the criterion"),
            );
        }
        if parts.threshold.is_some() && assertion.kind.support != AssertionSupport::ScoredCriterion {
            cx.problems.add(
                Diagnostic::warning(
                    codes::READ_DIFFERENTLY,
                    format!("the `threshold` of `{}` has no effect", assertion.kind.name),
                    assertion.span,
                    "a criterion is met or not, without a score between",
                )
                .with_help("use `g-eval` for a score with a threshold"),
            );
        }

        let Some(value) = value else {
            grader.add_text("type", "llm-grader");
            return Some(());
        };
        grader.add_text("type", "rubrics");
        let criteria = criteria_of(cx, &value, assertion)?;
        grader.add("criteria", value.use_span(), criteria);

        Some(())
    }
}

/// Returns the criteria of an assertion that a judge decides.
fn criteria_of(cx: &mut DecodeContext, value: &TreeNode, assertion: &AssertionParts) -> Option<TreeNode> {
    let span = value.use_span();
    let texts: Vec<&TreeNode> = match &value.data {
        NodeValue::Seq(items) => items.iter().collect(),
        _ => vec![value],
    };

    let mut criteria = Vec::new();
    for text in texts {
        let written = match &text.data {
            NodeValue::Str(written) => written.trim().to_owned(),
            // AgentV's criteria with ids, weights and score ranges; and goals of trajectories.
            NodeValue::Map(_) => match text.get("goal").and_then(TreeNode::as_str) {
                Some(goal) => format!("Reaches this goal: {goal}"),
                None if text.get("outcome").is_some() || text.get("score_ranges").is_some() => {
                    criteria.push(text.clone());
                    continue;
                }
                None => text.to_json().to_string(),
            },
            _ => text.to_json().to_string(),
        };
        if written.is_empty() {
            cx.problems.add(missing_value(assertion));
            return None;
        }

        let mut criterion = MapNode::new(text.use_span());
        criterion.add("outcome", text.use_span(), text_node(text.use_span(), written));
        match assertion.kind.support {
            AssertionSupport::Fact => criterion.add_text("operator", "contradiction"),
            AssertionSupport::ScoredCriterion => criterion.add("score_ranges", span, score_ranges(span)),
            _ => {}
        }
        criteria.push(criterion.finish());
    }

    Some(list_node(span, criteria))
}

/// The scale of `g-eval`.
fn score_ranges(span: Span) -> TreeNode {
    json_node(
        span,
        &json!([
            {"score_range": [0, 3], "outcome": "The answer fails this"},
            {"score_range": [4, 6], "outcome": "The answer does this in part, with clear shortcomings"},
            {"score_range": [7, 10], "outcome": "The answer does this, 10 without any shortcoming"},
        ]),
    )
}

/// Returns the text of a judge's prompt: a text, or the texts of a list of messages.
fn prompt_text(node: &TreeNode) -> String {
    match &node.data {
        NodeValue::Str(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(messages)) => message_texts(&messages),
            _ => text.clone(),
        },
        _ => match node.to_json() {
            Value::Array(messages) => message_texts(&messages),
            other => other.to_string(),
        },
    }
}

fn message_texts(messages: &[Value]) -> String {
    let texts = messages.iter().filter_map(|message| message.get("content").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n\n")
}
