//! Writes one assertion as a grader of the `tests` format, key by key.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{
    MapEntry, MapReader, NodeValue, TreeNode, codes, number, parse_duration, string, wrong_type,
};
use assize_evalfile::reading::DecodeContext;
use assize_model::SimilarityMeasure;
use serde_json::{Map, Value, json};

use super::assertion_types::{AssertionSupport, AssertionType};
use super::assertions::{AssertionWriter, PassRule};
use super::built_in::built_in_code;
use super::metrics::METRIC_MARK;
use super::nodes::{MapNode, json_node, list_node, number_names, text_node};
use super::spelling::MatrixSpelling;
use super::test_judges::MeasuringModel;
use super::value_files::{read_value_file, schema_of};
use super::values::{always_reached, set_without_members, text_of, texts_of};

/// Default threshold of `g-eval`.
const G_EVAL_THRESHOLD: f64 = 0.7;
/// A negated assertion fails if its score reaches the threshold exactly, so the inverted score must be above
/// the inverted threshold by at least this much.
const ABOVE: f64 = 1e-6;
/// Maximum nesting depth of sets.
const MAX_SET_DEPTH: usize = 16;

/// Built-in code that can't decide without a `value`.
const COMPARING_CODE: [&str; 9] = [
    "finish-reason", "levenshtein", "rouge-n", "step-count", "tool-args-match", "tool-call-f1",
    "tool-sequence", "tool-used", "word-count",
];

/// Keys that only some types have. If reading an assertion stopped early because of its type, these keys are
/// not reported as unknown.
const KEYS_OF_TYPES: [&str; 7] =
    ["assert", "assertions", "budget", "config", "contextTransform", "context_transform", "prompt"];

/// An assertion while it is converted to a grader. A method that returns `None` has added a diagnostic.
pub(super) struct AssertionGrader<'a> {
    pub(super) writer: &'a AssertionWriter<'a>,
    pub(super) cx: &'a mut DecodeContext,
    /// The assertion, key by key.
    pub(super) object: MapReader<'a>,
    pub(super) kind: &'static AssertionType,
    pub(super) negated: bool,
    pub(super) span: Span,
    rule: PassRule,
    /// Number of sets around the assertion.
    depth: usize,
    /// The rendered `value`.
    pub(super) value: Option<TreeNode>,
    pub(super) threshold: Option<f64>,
    /// Name of the judge.
    pub(super) judge: Option<String>,
    /// Model that measures the answer, for example by embeddings.
    pub(super) model: Option<String>,
    /// The assertion's own prompt for the judge.
    pub(super) prompt: Option<&'a TreeNode>,
    /// The keys of the grader so far.
    pub(super) grader: MapNode,
}

impl<'a> AssertionGrader<'a> {
    pub(super) fn new(
        writer: &'a AssertionWriter<'a>,
        cx: &'a mut DecodeContext,
        object: MapReader<'a>,
        (kind, negated): (&'static AssertionType, bool),
        rule: PassRule,
        depth: usize,
    ) -> Self {
        let span = object.head();
        Self {
            writer,
            cx,
            object,
            kind,
            negated,
            span,
            rule,
            depth,
            value: None,
            threshold: None,
            judge: None,
            model: None,
            prompt: None,
            grader: MapNode::new(span),
        }
    }

    /// Reads the assertion and returns its grader.
    pub(super) fn write(mut self) -> Option<TreeNode> {
        self.object.entry("type");
        // Read all keys even after an error, so that all problems are reported. The caller drops a grader with
        // errors.
        self.value = self.object.entry("value").filter(|entry| !entry.value.is_null()).map(|entry| {
            let rendered = self.writer.render_node(self.cx, &entry.value);
            let rendered = rendered.unwrap_or_else(|| entry.value.clone());
            self.refuse_answer(&entry.value, &rendered);
            rendered
        });
        self.threshold = self.object.value("threshold").and_then(|node| self.read_threshold(node));

        self.check_threshold();
        self.write_common();
        self.judge = self.find_judge();
        self.model = MeasuringModel::asked_by(self.kind.support).and_then(|kind| {
            let settings = [self.object.value("provider"), self.writer.judge_setting];
            settings.into_iter().flatten().find_map(|node| kind.named(node, self.writer.judges))
        });
        if let Some(transform) = self.object.entry("transform").filter(|entry| !entry.value.is_null()) {
            self.grader.add("transform", transform.key_span, transform.value.clone());
        }
        let spelling = self.writer.spelling;
        let prompt = spelling.entry(&mut self.object, "rubricPrompt", &mut self.cx.problems);
        self.prompt = prompt.map(|entry| &entry.value);
        let written = self.write_kind();
        if written.is_none() {
            for key in KEYS_OF_TYPES {
                self.object.entry(key);
            }
        }

        self.warn_about_idle_keys();
        self.refuse_not();
        if spelling == MatrixSpelling::Snake {
            for entry in self.object.take_remaining() {
                let value = self.writer.render_node(self.cx, &entry.value)?;
                self.refuse_answer(&entry.value, &value);
                self.grader.add(&entry.key, entry.key_span, value);
            }
        }
        self.object.finish(&mut self.cx.problems);

        written.map(|()| self.grader.finish())
    }

    /// Refuses an answer to another test in what is run or read as a file.
    fn refuse_answer(&mut self, written: &TreeNode, rendered: &TreeNode) {
        let holds_answer = |text: &str| {
            let names = self.writer.templates.names_in(text).unwrap_or_default();
            names.intersection(self.writer.answers).next().cloned()
        };
        let Some(name) = (!self.writer.answers.is_empty())
            .then(|| texts_in(written).into_iter().find_map(holds_answer))
            .flatten()
        else {
            return;
        };
        let is_code = matches!(
            self.kind.support,
            AssertionSupport::JavaScript
                | AssertionSupport::Python
                | AssertionSupport::Ruby
                | AssertionSupport::SameKeys("code-grader")
        );
        let is_path = texts_in(rendered).iter().any(|text| text.trim_start().starts_with("file://"));
        let (title, help) = if is_code {
            ("an answer to another test can't be a part of code", format!("use `context.vars.{name}`"))
        } else if is_path {
            ("an answer to another test can't name a file", "write the path without it".to_owned())
        } else {
            return;
        };
        Diagnostic::error(codes::NOT_SUPPORTED, title)
            .at(written.use_span(), format!("`{name}` holds an answer"))
            .with_help(help)
            .add_to(&mut self.cx.problems);
    }

    /// Reads a threshold. If it is text with a unit, the error suggests the plain number.
    fn read_threshold(&mut self, node: &TreeNode) -> Option<f64> {
        if let Some((amount, unit)) = node.as_str().and_then(|text| self.amount_in(text)) {
            wrong_type(node, "`threshold`", "a number")
                .with_suggestion(format!("write the number of {unit}"), node.use_span(), amount.to_string())
                .add_to(&mut self.cx.problems);
            return None;
        }

        number(node, "threshold", &mut self.cx.problems).map(|threshold| threshold.value)
    }

    /// Parses a text with a unit. Returns the number, and the unit in which thresholds of this type are
    /// written.
    fn amount_in(&self, text: &str) -> Option<(f64, &'static str)> {
        match self.kind.support {
            AssertionSupport::Latency => {
                let written = text.to_ascii_lowercase().replace(' ', "");
                Some((parse_duration(&written)?.as_secs_f64() * 1000.0, "milliseconds"))
            }
            AssertionSupport::Cost => {
                let text = text.trim();
                let amount = text.strip_prefix('$').or_else(|| text.strip_suffix("USD"))?;
                Some((amount.trim().parse().ok().filter(|amount: &f64| amount.is_finite())?, "dollars"))
            }
            _ => None,
        }
    }

    /// Reports `not: true`. Negation is a prefix of the type, not a key.
    fn refuse_not(&mut self) {
        let Some(entry) = self.object.foreign("not") else { return };
        let help = match entry.value.data {
            NodeValue::Bool(false) => "remove it".to_owned(),
            _ if self.negated => "remove it: the type is negated by its prefix".to_owned(),
            _ => format!("write `type: not-{}` instead", self.kind.name),
        };
        Diagnostic::error(codes::UNKNOWN_KEY, "unknown key `not`")
            .at(entry.key_span, "an assertion has no such key")
            .with_help(help)
            .add_to(&mut self.cx.problems);
    }

    /// Reports a threshold that no score can reach, such as a percentage.
    fn check_threshold(&mut self) {
        let is_share = match self.kind.support {
            AssertionSupport::BuiltIn(name) => ["rouge-n", "tool-call-f1"].contains(&name),
            AssertionSupport::AnswerRelevance
            | AssertionSupport::Classifier
            | AssertionSupport::Context
            | AssertionSupport::Conversation
            | AssertionSupport::ScoredCriterion
            | AssertionSupport::Set
            | AssertionSupport::Similar(SimilarityMeasure::Cosine) => true,
            _ => false,
        };
        let Some(threshold) = self.threshold.filter(|line| is_share && !(0.0..=1.0).contains(line)) else {
            return;
        };

        let span = self.object.value("threshold").map_or(self.span, TreeNode::use_span);
        let title = format!("the `threshold` of `{}` must be between 0 and 1", self.full_name());
        let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, title).at(span, format!("found {threshold}"));
        self.cx.problems.add(match threshold {
            percent if percent > 10.0 && percent <= 100.0 => {
                diagnostic.with_suggestion("write the share", span, (percent / 100.0).to_string())
            }
            _ => diagnostic.with_help("scores are between 0 and 1"),
        });
    }

    /// Returns the type as files write it, with `not-`.
    pub(super) fn full_name(&self) -> String {
        if self.negated { format!("not-{}", self.kind.name) } else { self.kind.name.to_owned() }
    }

    /// Writes the name, the weight and the negation.
    fn write_common(&mut self) {
        let metric = self
            .object
            .first_of(&["metric", "name", "id"], &mut self.cx.problems)
            .filter(|entry| !entry.value.is_null());
        let metric = metric.and_then(|entry| {
            let text = string(&entry.value, &entry.key, &mut self.cx.problems)?;
            let rendered =
                self.writer.templates.render(self.cx, &text.value, text.span, self.writer.scope)?;
            (!rendered.trim().is_empty()).then(|| (entry.key_span, text_node(text.span, rendered.trim())))
        });
        match metric {
            Some((key, name)) => {
                self.grader.add(METRIC_MARK, key, name.clone());
                self.grader.add("name", key, name);
            }
            // Built-in types become scripts, so without a name all of them would be called `javascript`.
            // Members of a set keep the names that the decoder gives them, because names must be unique in a
            // set.
            None if self.depth == 0 && matches!(self.kind.support, AssertionSupport::BuiltIn(_)) => {
                let name = self.full_name();
                self.grader.add_text("name", name);
            }
            None => {}
        }

        if let Some(entry) = self.object.entry("weight").filter(|entry| !entry.value.is_null()) {
            self.grader.add("weight", entry.key_span, entry.value.clone());
        }
        let negate = self.object.boolean("negate", &mut self.cx.problems).filter(|flag| flag.value);
        if let Some(negate) = &negate
            && self.negated
        {
            Diagnostic::error(codes::BAD_MATRIX_PART, "the assertion is negated twice")
                .at(negate.span, "the type has the prefix `not-` already")
                .with_help(format!("remove `negate`, or write `type: {}`", self.kind.name))
                .add_to(&mut self.cx.problems);
        }
        if self.negated || negate.is_some() {
            self.grader.add_flag("negate", true);
        }

        if !matches!(
            self.kind.support,
            AssertionSupport::JavaScript
                | AssertionSupport::Python
                | AssertionSupport::Ruby
                | AssertionSupport::Conversation
                | AssertionSupport::Set
                | AssertionSupport::SameKeys(_)
        ) && let Some(config) = self.object.entry("config")
        {
            self.cx.problems.add(super::values::no_effect(config, "this type has no settings here"));
        }

        for key in ["description", "reason"] {
            self.object.entry(key);
        }
    }

    /// Returns the name of the judge: the assertion's own, else the test's.
    fn find_judge(&mut self) -> Option<String> {
        let of_test = self.writer.judge.map(str::to_owned);
        let entry = self
            .object
            .first_of(&["provider", "target"], &mut self.cx.problems)
            .filter(|entry| !entry.value.is_null());
        let Some(entry) = entry else { return of_test };
        if let Some(name) = entry.value.as_str() {
            return Some(name.trim().to_owned());
        }

        let own = self.writer.judges.iter().find(|(span, _)| *span == entry.value.span);
        own.map(|(_, name)| name.clone()).or(of_test)
    }

    fn write_kind(&mut self) -> Option<()> {
        match self.kind.support {
            AssertionSupport::Text | AssertionSupport::TextList => {
                self.grader.add_text("type", self.kind.name);
                if self.kind.support == AssertionSupport::TextList {
                    self.write_texts()?;
                } else {
                    self.add_value(text_of)?;
                }
                self.require(1.0);
            }
            AssertionSupport::Equals => {
                self.write_equals()?;
                self.require(1.0);
            }
            AssertionSupport::Json => {
                self.grader.add_text("type", self.kind.name);
                if let Some(value) = &self.value {
                    self.grader.add("schema", self.span, schema_of(self.cx, value)?);
                }
                self.require(1.0);
            }
            AssertionSupport::Latency | AssertionSupport::Cost => {
                let is_latency = self.kind.support == AssertionSupport::Latency;
                self.grader.add_text("type", self.kind.name);
                let budget = self.object.entry("budget");
                if let Some(entry) = budget {
                    self.grader.add("budget", entry.key_span, entry.value.clone());
                }
                let is_camel = self.writer.spelling == MatrixSpelling::Camel;
                if is_camel && !self.object.has("threshold") && budget.is_none() {
                    let help = if is_latency {
                        "write `threshold: 2000`, in milliseconds"
                    } else {
                        "write `threshold: 0.05`, in dollars"
                    };
                    return self.refuse_missing("threshold", help);
                }
                self.add_threshold(if is_latency { "threshold" } else { "budget" });
                self.require(1.0);
            }
            AssertionSupport::Criterion | AssertionSupport::Fact | AssertionSupport::ScoredCriterion => {
                self.write_judged()?;
                let is_scored = self.kind.support == AssertionSupport::ScoredCriterion;
                let threshold = if is_scored { self.threshold.unwrap_or(G_EVAL_THRESHOLD) } else { 1.0 };
                self.require(self.passing_line(threshold));
            }
            AssertionSupport::Sql => {
                self.write_sql()?;
                self.require(1.0);
            }
            AssertionSupport::Context => {
                self.write_context()?;
                self.require_share();
            }
            AssertionSupport::Conversation => {
                self.write_conversation()?;
                self.require_share();
            }
            AssertionSupport::Set => self.write_set()?,
            AssertionSupport::Skill => {
                self.write_skill()?;
                self.require(1.0);
            }
            AssertionSupport::SameKeys(name) => {
                self.grader.add_text("type", name);
                self.keep_values();
            }
            // Reported before anything else of the assertion was read.
            AssertionSupport::Refused(_) => return None,
            // These graders decide by themselves whether they pass.
            AssertionSupport::Similar(measure) => {
                self.write_similar(measure)?;
                self.require_verdict();
            }
            AssertionSupport::AnswerRelevance => {
                self.write_answer_relevance();
                self.require_verdict();
            }
            AssertionSupport::Moderation | AssertionSupport::Classifier => {
                self.write_labels()?;
                self.require_verdict();
            }
            AssertionSupport::SelectBest | AssertionSupport::MaxScore => {
                self.write_selection()?;
                self.require_verdict();
            }
            AssertionSupport::JavaScript
            | AssertionSupport::Python
            | AssertionSupport::Ruby
            | AssertionSupport::BuiltIn(_) => {
                self.write_script()?;
                self.require_verdict();
            }
        }

        Some(())
    }

    /// Returns true if the test fails when this assertion fails. An assertion of weight 0 only measures.
    fn must_pass(&mut self) -> bool {
        let is_metric = self.object.value("weight").is_some_and(|weight| {
            matches!(weight.data, NodeValue::Int(0))
                || matches!(weight.data, NodeValue::Float(zero) if zero == 0.0)
        });
        self.rule == PassRule::Each && !is_metric
    }

    /// Makes the test fail if the grader fails.
    fn require_verdict(&mut self) {
        if self.must_pass() {
            self.grader.add_flag("required", true);
        }
    }

    /// Returns the lowest score that passes. A negated assertion passes if its score before the inversion is
    /// below the threshold.
    pub(super) fn passing_line(&self, threshold: f64) -> f64 {
        if self.is_inverted() && threshold < 1.0 { 1.0 - threshold + ABOVE } else { threshold }
    }

    /// Returns true if the result is inverted, by `not-` or by `negate`.
    fn is_inverted(&self) -> bool {
        self.grader.has("negate")
    }

    /// Makes the test fail if the grader's score is below `line`.
    pub(super) fn require(&mut self, line: f64) {
        if line > 0.0 && self.must_pass() {
            self.grader.add_flag("required", true);
            self.grader.add_number("min_score", self.span, line.min(1.0));
        }
    }

    /// Adds the value that the answer is compared with.
    pub(super) fn add_value(&mut self, convert: impl Fn(&TreeNode) -> TreeNode) -> Option<()> {
        let value = self.read_value()?;
        self.grader.add("value", value.use_span(), convert(&value));
        Some(())
    }

    /// Adds the list of texts to search for.
    fn write_texts(&mut self) -> Option<()> {
        let value = self.read_value()?;
        let Some(texts) = texts_of(&value) else {
            return self.refuse_value(
                "has misplaced quotation marks",
                "can't be split at its commas",
                "put each text in quotation marks of its own, or write a list: `[one, another]`",
            );
        };
        self.grader.add("value", value.use_span(), texts);
        Some(())
    }

    /// Returns the value that the answer is compared with. If it names a file, returns the content of the file.
    fn read_value(&mut self) -> Option<TreeNode> {
        match &self.value {
            Some(value) => read_value_file(self.cx, value),
            None => self.refuse_missing_value(),
        }
    }

    pub(super) fn add_threshold(&mut self, key: &str) {
        if let Some(threshold) = self.threshold {
            self.grader.add_number(key, self.span, threshold);
        }
    }

    /// Adds the name of the judge.
    pub(super) fn add_judge(&mut self, key: &str) {
        if let Some(judge) = &self.judge {
            self.grader.add_text(key, judge.clone());
        }
    }

    /// Adds the name of the model that measures the answer.
    pub(super) fn add_model(&mut self, key: &str) {
        if let Some(model) = &self.model {
            self.grader.add_text(key, model.clone());
        }
    }

    pub(super) fn refuse_missing_value<T>(&mut self) -> Option<T> {
        let help = match self.kind.support {
            AssertionSupport::Criterion | AssertionSupport::ScoredCriterion => {
                "write what the answer has to do as `value`"
            }
            AssertionSupport::Fact => "write the fact that the answer must not contradict as `value`",
            _ => "write what to compare with as `value`",
        };
        self.refuse_missing("value", help)
    }

    fn refuse_missing<T>(&mut self, key: &str, help: &str) -> Option<T> {
        Diagnostic::error(codes::MISSING_SETTING, format!("`{}` needs `{key}`", self.full_name()))
            .at(self.span, format!("no `{key}` here"))
            .with_help(help)
            .reject_in(&mut self.cx.problems)
    }

    /// Reports a `value` in a form that the assertion does not accept.
    pub(super) fn refuse_value<T>(&mut self, must: &str, label: &'static str, help: &str) -> Option<T> {
        Diagnostic::error(codes::WRONG_TYPE, format!("the `value` of `{}` {must}", self.full_name()))
            .at(self.value.as_ref().map_or(self.span, TreeNode::use_span), label)
            .with_help(help)
            .reject_in(&mut self.cx.problems)
    }

    /// Warns that the judge does not get the prompt of the assertion or of its test.
    pub(super) fn warn_about_prompt(&mut self, label: &str, help: &str) {
        if let Some(prompt) = self.prompt.or(self.writer.rubric_prompt) {
            self.cx.problems.add(prompt_not_used(prompt, label, help));
        }
    }

    /// Writes a comparison of meaning.
    fn write_similar(&mut self, measure: SimilarityMeasure) -> Option<()> {
        self.grader.add_text("type", "similar");
        self.add_value(Clone::clone)?;
        self.grader.add_text("measure", measure.name());
        self.add_threshold("threshold");
        self.add_model("target");

        Some(())
    }

    /// Adds the values that were read from an assertion whose keys are the same as the grader's.
    fn keep_values(&mut self) {
        if let Some(value) = &self.value {
            self.grader.add("value", self.span, value.clone());
        }
        self.add_threshold("threshold");
        if matches!(self.kind.support, AssertionSupport::SameKeys("llm-grader" | "rubrics")) {
            self.add_judge("target");
        }
    }

    fn write_equals(&mut self) -> Option<()> {
        let value = self.read_value()?;
        match &value.data {
            NodeValue::Map(_) | NodeValue::Seq(_) => {
                self.grader.add_text("type", "is-json");
                let schema = json!({"const": value.to_json()});
                self.grader.add("schema", self.span, json_node(value.use_span(), &schema));
            }
            _ => {
                self.grader.add_text("type", "equals");
                self.grader.add("value", value.use_span(), text_of(&value));
            }
        }

        Some(())
    }

    fn write_set(&mut self) -> Option<()> {
        let found = self.object.first_of(&["assert", "assertions"], &mut self.cx.problems);
        let config = self.object.entry("config");
        let Some(entry) = found.filter(|entry| entry.value.as_seq().is_some_and(|items| !items.is_empty()))
        else {
            return self.cx.problems.reject(set_without_members(self.span, found));
        };
        if let Some(problem) = self.endless_set(entry) {
            return self.cx.problems.reject(problem);
        }
        if let Some(config) = config {
            self.cx.problems.add(super::values::no_effect(config, "a set has no settings here"));
        }

        if self.threshold == Some(0.0) {
            let span = self.object.value("threshold").map_or(self.span, TreeNode::use_span);
            self.cx.problems.add(always_reached("a set", span));
        }

        // With a threshold, the set as a whole decides, and its members only contribute to its score.
        let rule = if self.threshold.is_some() { PassRule::Mean } else { self.rule };
        let items = entry.value.as_seq().unwrap_or_default();
        let mut members: Vec<TreeNode> =
            items.iter().filter_map(|item| self.writer.grader(self.cx, item, rule, self.depth + 1)).collect();
        number_names(&mut members);
        self.grader.add_text("type", "composite");
        self.grader.add("assertions", entry.key_span, list_node(entry.value.use_span(), members));

        let mut aggregator = MapNode::new(self.span);
        aggregator.add_text("type", "weighted_average");
        self.grader.add("aggregator", self.span, aggregator.finish());
        match self.threshold {
            Some(threshold) if threshold > 0.0 => {
                let line = self.passing_line(threshold);
                self.require(line);
                self.grader.add_number("min_score", self.span, line.min(1.0));
            }
            // The members of a negated set must not fail the test themselves.
            None if self.is_inverted() => self.require_verdict(),
            _ => {}
        }

        Some(())
    }

    /// Returns the error that a set contains itself, or that sets are nested too deeply.
    fn endless_set(&self, entry: &MapEntry) -> Option<Diagnostic> {
        let is_same = |reference: &&TreeNode| {
            let template = self.writer.find_template(reference);
            let members = template.and_then(|set| set.get("assert").or_else(|| set.get("assertions")));
            members.is_some_and(|members| members.span == entry.value.span)
        };
        let mut references =
            entry.value.as_seq().unwrap_or_default().iter().filter_map(|item| item.get("$ref"));
        if let Some(reference) = references.find(is_same) {
            let name = reference.as_str().unwrap_or_default();
            let diagnostic = Diagnostic::error(codes::TEMPLATE_CYCLE, "a set contains itself")
                .at(reference.use_span(), format!("`{name}` leads back to this set"));
            return Some(diagnostic.with_help("remove this member"));
        }
        (self.depth >= MAX_SET_DEPTH).then(|| {
            Diagnostic::error(codes::TEMPLATE_DEPTH, "sets are nested too deeply")
                .at(entry.key_span, "too deep")
                .with_help(format!("nest at most {MAX_SET_DEPTH} sets, and let none lead back to itself"))
        })
    }

    fn write_script(&mut self) -> Option<()> {
        let language = match self.kind.support {
            AssertionSupport::Python => "python",
            AssertionSupport::Ruby => "ruby",
            _ => "javascript",
        };
        self.grader.add_text("type", language);
        let mut config = self
            .object
            .entry("config")
            .filter(|entry| !entry.value.is_null())
            .map_or_else(|| Value::Object(Map::new()), |entry| entry.value.to_json());

        let code = if let AssertionSupport::BuiltIn(name) = self.kind.support {
            self.refuse_redteam()?;
            let value = match &self.value {
                Some(value) => Some(read_value_file(self.cx, value)?),
                None => None,
            };
            match &value {
                Some(value) if name == "word-count" => self.check_word_count(value)?,
                // AgentV's assertions about tool calls use other keys instead of `value`.
                None if COMPARING_CODE.contains(&name) && self.writer.spelling == MatrixSpelling::Camel => {
                    return self.refuse_missing_value();
                }
                _ => {}
            }
            let value = value.map_or(Value::Null, |value| value.to_json());
            self.check_span_limits(&value)?;
            self.check_built_in_value(&value)?;
            let value = self.required_elements(value)?;
            // Negated, this must fail if any of the tools was used, not only if all were.
            let any = self.is_inverted() && name == "tool-used" && value.is_array();
            let threshold = self.object.value("threshold").map(TreeNode::to_json);
            config = json!({"value": value, "threshold": threshold});
            if any {
                config["any"] = Value::Bool(true);
            }
            text_node(self.span, built_in_code(name))
        } else {
            let Some(value) = self.value.take() else { return self.refuse_missing_value() };
            self.add_threshold("threshold");
            value
        };
        self.grader.add("value", code.use_span(), code);
        if config.as_object().is_some_and(|config| !config.is_empty()) {
            self.grader.add("config", self.span, json_node(self.span, &config));
        }

        Some(())
    }

    fn write_skill(&mut self) -> Option<()> {
        self.grader.add_text("type", "skill-trigger");
        let name =
            |value: &TreeNode| value.as_str().or_else(|| value.get("name")?.as_str()).map(str::to_owned);
        let other = self.value.as_ref().and_then(TreeNode::as_map).unwrap_or_default();
        if let Some(entry) = other.iter().find(|entry| entry.key != "name") {
            return Diagnostic::error(
                codes::NOT_SUPPORTED,
                format!("`{}` can't be used with `{}`", entry.key, self.full_name()),
            )
            .at(entry.key_span, "not supported")
            .with_help("name one skill; `not-skill-used` passes if it was not used")
            .reject_in(&mut self.cx.problems);
        }
        let Some(skill) = self.value.as_ref().and_then(name) else { return self.refuse_missing_value() };

        self.grader.add_text("skill", skill);
        Some(())
    }
}

/// Returns the warning that a judge does not get the prompt in the file.
pub(super) fn prompt_not_used(prompt: &TreeNode, label: &str, help: &str) -> Diagnostic {
    Diagnostic::warning(codes::READ_DIFFERENTLY, "the judge's own prompt is not used")
        .at(prompt.use_span(), label)
        .with_help(help)
}

/// Returns all texts of a node.
fn texts_in(node: &TreeNode) -> Vec<&str> {
    match &node.data {
        NodeValue::Str(text) => vec![text],
        NodeValue::Seq(items) => items.iter().flat_map(texts_in).collect(),
        NodeValue::Map(entries) => entries.iter().flat_map(|entry| texts_in(&entry.value)).collect(),
        _ => Vec::new(),
    }
}
