//! Assertions that a judge decides.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, TreeNode, codes};
use serde_json::{Value, json};

use super::assertion_grader::AssertionGrader;
use super::assertion_types::AssertionSupport;
use super::nodes::{MapNode, json_node, list_node, text_node};
use super::spelling::MatrixSpelling;
use super::value_files::read_value_file;

impl AssertionGrader<'_> {
    /// Writes an assertion that a judge decides.
    pub(super) fn write_judged(&mut self) -> Option<()> {
        self.add_judge("target");

        // `prompt` is AgentV's; promptfoo uses its prompt for a judge if there is no criterion.
        let prompt = self.object.entry("prompt").filter(|entry| !entry.value.is_null());
        let prompt = prompt.map(|entry| &entry.value);
        let own = prompt.or(self.prompt).or(self.writer.rubric_prompt);
        let value = match &self.value {
            Some(value) => Some(read_value_file(self.cx, value)?),
            None => None,
        };
        // Only `llm-rubric` can do without a criterion, if there is a prompt. In AgentV's files, the test itself may
        // have the criterion.
        let needs_value =
            self.kind.name != "llm-rubric" || own.is_none() && self.writer.spelling == MatrixSpelling::Camel;
        if value.is_none() && prompt.is_none() && needs_value {
            return self.refuse_missing_value();
        }
        if let (Some(prompt), true) = (own, prompt.is_some() || value.is_none()) {
            let span = prompt.use_span();
            self.grader.add_text("type", "llm-grader");
            self.grader.add("prompt", span, text_node(span, prompt_text(prompt)));
            return Some(());
        }

        self.warn_about_prompt(
            "criteria are sent to judges with the built-in prompt",
            "say what matters in the criterion",
        );
        if self.threshold.is_some() && self.kind.support != AssertionSupport::ScoredCriterion {
            Diagnostic::warning(
                codes::READ_DIFFERENTLY,
                format!("the `threshold` of `{}` has no effect", self.kind.name),
            )
            .at(self.span, "a criterion is met or not, without a score between")
            .with_help("use `g-eval` for a score with a threshold")
            .add_to(&mut self.cx.problems);
        }

        let Some(value) = value else {
            self.grader.add_text("type", "llm-grader");
            return Some(());
        };
        self.grader.add_text("type", "rubrics");
        let criteria = self.criteria_of(&value)?;
        self.grader.add("criteria", value.use_span(), criteria);

        Some(())
    }

    /// Returns the criteria in a `value`.
    fn criteria_of(&mut self, value: &TreeNode) -> Option<TreeNode> {
        let span = value.use_span();
        let texts: Vec<&TreeNode> = match &value.data {
            NodeValue::Seq(items) => items.iter().collect(),
            _ => vec![value],
        };

        let mut criteria = Vec::new();
        for text in texts {
            let written = match &text.data {
                NodeValue::Str(written) => written.trim().to_owned(),
                // A goal of a trajectory, or AgentV's criteria with ids, weights and score ranges.
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
                return self.refuse_missing_value();
            }

            let mut criterion = MapNode::new(text.use_span());
            criterion.add("outcome", text.use_span(), text_node(text.use_span(), written));
            match self.kind.support {
                AssertionSupport::Fact => criterion.add_text("operator", "contradiction"),
                AssertionSupport::ScoredCriterion => {
                    criterion.add("score_ranges", span, score_ranges(span));
                }
                _ => {}
            }
            criteria.push(criterion.finish());
        }

        Some(list_node(span, criteria))
    }
}

/// The score ranges of `g-eval`.
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

/// Returns the text of a judge's prompt. The texts of a list of messages are joined.
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
