//! Values of assertions that are maps or lists.

use assize_diagnostic::Diagnostic;
use assize_document::{NodeValue, TreeNode, codes, wrong_type};
use serde_json::Value;

use super::assertion_grader::AssertionGrader;
use super::assertion_types::AssertionSupport;
use super::value_files::read_value_file;

/// Keys in the `value` of `is-sql`, with the keys of the grader.
const SQL_KEYS: [(&str, &str); 3] = [
    ("databaseType", "database_type"),
    ("allowedTables", "allowed_tables"),
    ("allowedColumns", "allowed_columns"),
];

/// Keys in the `value` of assertions about spans, and those that are required.
const SPAN_KEYS: [(&str, &[&str], &[&str]); 3] = [
    ("trace-error-spans", &["max_count", "max_percentage", "pattern"], &[]),
    ("trace-span-count", &["max", "min", "pattern"], &["pattern"]),
    ("trace-span-duration", &["max", "pattern", "percentile"], &["max"]),
];

impl AssertionGrader<'_> {
    /// Writes `is-sql` or `contains-sql`.
    pub(super) fn write_sql(&mut self) -> Option<()> {
        self.grader.add_text("type", self.kind.name);
        let Some(value) = &self.value else { return Some(()) };
        let value = read_value_file(self.cx, value)?;
        let Some(entries) = value.as_map() else {
            let key = format!("`value` of `{}`", self.full_name());
            return self.cx.problems.reject(wrong_type(&value, &key, "a map"));
        };
        for entry in entries.iter().filter(|entry| !entry.value.is_null()) {
            let known = SQL_KEYS.iter().find(|(camel, snake)| entry.key == *camel || entry.key == *snake);
            if let Some((_, key)) = known {
                self.grader.add(key, entry.key_span, entry.value.clone());
            } else {
                let reason = "`value` has `databaseType`, `allowedTables` and `allowedColumns`";
                self.cx.problems.add(super::values::no_effect(entry, reason));
            }
        }

        Some(())
    }

    /// Checks the limits of an assertion about spans. Without a limit it could never fail.
    pub(super) fn check_span_limits(&mut self, value: &Value) -> Option<()> {
        let Some((name, keys, needed)) = SPAN_KEYS.iter().find(|row| row.0 == self.kind.name) else {
            return Some(());
        };
        let is_valid = |(key, limit): (&String, &Value)| {
            keys.contains(&key.as_str())
                && if key == "pattern" { limit.is_string() } else { limit.is_number() }
        };
        let fits = match value {
            Value::Object(map) => map.iter().all(is_valid) && needed.iter().all(|key| map.contains_key(*key)),
            Value::Number(_) | Value::Null => needed.is_empty(),
            _ => false,
        };
        if fits {
            return Some(());
        }

        let needs = needed.first().map_or(String::new(), |key| format!(", of which it needs `{key}`"));
        let keys = keys.join("`, `");
        let help = format!("`{name}` takes `{keys}`{needs}; `pattern` is a text, the others are numbers");
        self.refuse_value("must be a map of limits", "can't be used", &help)
    }

    /// Returns the `value` of an assertion about XML as a list of paths. Any other value is returned unchanged.
    pub(super) fn required_elements(&mut self, value: Value) -> Option<Value> {
        if !matches!(self.kind.name, "is-xml" | "contains-xml") || value.is_null() {
            return Some(value);
        }

        let listed = match &value {
            Value::Object(map) if map.len() == 1 => map.get("requiredElements").unwrap_or(&value),
            other => other,
        };
        let paths: Option<Vec<&str>> = match listed {
            Value::String(text) => Some(text.split(',').map(str::trim).collect()),
            Value::Array(items) => items.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let is_name =
            |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '/');
        let is_path = |path: &&str| path.split('.').all(is_name);
        if let Some(paths) = paths.filter(|paths| !paths.is_empty() && paths.iter().all(is_path)) {
            return Some(Value::from(paths));
        }

        let help = "write paths from the outer element, such as `[order.id, order.total]`, or `requiredElements: [order.id]`";
        self.refuse_value("must name elements", "no paths of elements", help)
    }

    /// Checks the number of words in `word-count`. With a wrong value it would always pass or always fail.
    pub(super) fn check_word_count(&mut self, value: &TreeNode) -> Option<()> {
        let count = |node: &TreeNode| match &node.data {
            NodeValue::Int(count) => Some(*count as f64),
            NodeValue::Float(count) => Some(*count),
            NodeValue::Str(text) => text.trim().parse().ok(),
            _ => None,
        };
        let before = self.cx.problems.error_count();
        if value.as_map().is_none() {
            if count(value).is_none() {
                wrong_type(value, "the `value` of `word-count`", "a number, or a map with `min` and `max`")
                    .with_help("write `value: 50`, or `value: {min: 20, max: 50}`")
                    .add_to(&mut self.cx.problems);
            }
            return (self.cx.problems.error_count() == before).then_some(());
        }

        for entry in value.as_map().unwrap_or_default() {
            let (key, bound) = (entry.key.as_str(), &entry.value);
            if !["min", "max"].contains(&key) {
                let title = format!("the `value` of `word-count` has no key `{key}`");
                Diagnostic::error(codes::UNKNOWN_KEY, title)
                    .at(entry.key_span, "unknown key")
                    .with_help("write `min`, `max` or both")
                    .add_to(&mut self.cx.problems);
            } else if !bound.is_null() && count(bound).is_none() {
                self.cx.problems.add(wrong_type(bound, &format!("`{key}`"), "a number of words"));
            }
        }
        if self.cx.problems.error_count() > before {
            return None;
        }

        let span = value.use_span();
        let problem = match ["min", "max"].map(|key| value.get(key).and_then(count)) {
            [None, None] => ("`word-count` has no limit", "neither `min` nor `max`"),
            [Some(min), Some(max)] if min > max => {
                ("no answer has this many words", "`min` is more than `max`")
            }
            _ => return Some(()),
        };
        let help = "write `value: {min: 20, max: 50}`, or one of the two";
        self.cx
            .problems
            .add(Diagnostic::error(codes::OUT_OF_RANGE, problem.0).at(span, problem.1).with_help(help));
        None
    }

    /// Reports `guardrails` with the purpose `redteam`. There promptfoo inverts the result: the assertion
    /// passes if the guardrail flags the answer.
    pub(super) fn refuse_redteam(&mut self) -> Option<()> {
        let purpose = self.object.value("config").and_then(|config| config.get("purpose")?.as_str());
        if self.kind.name != "guardrails" || purpose != Some("redteam") {
            return Some(());
        }
        Diagnostic::error(codes::NOT_SUPPORTED, "`purpose: redteam` is not supported")
            .at(self.span, "this assertion")
            .with_help("write `not-guardrails` where the prompt has to be blocked")
            .reject_in(&mut self.cx.problems)
    }

    /// Writes `moderation` or `classifier`.
    pub(super) fn write_labels(&mut self) -> Option<()> {
        let is_classifier = self.kind.support == AssertionSupport::Classifier;
        self.grader.add_text("type", self.kind.name);
        if let Some(value) = &self.value {
            let value = read_value_file(self.cx, value)?;
            self.grader.add("value", value.use_span(), value);
        }
        if is_classifier {
            self.add_threshold("threshold");
        }
        self.add_model("target");
        if is_classifier && self.model.is_none() {
            return Diagnostic::error(codes::MISSING_SETTING, format!("`{}` has no model", self.full_name()))
                .at(self.span, "no `provider` that classifies")
                .with_help("name one, such as `provider: huggingface:text-classification:OWNER/MODEL`")
                .reject_in(&mut self.cx.problems);
        }

        Some(())
    }
}
