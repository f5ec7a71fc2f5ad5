//! Assertions of matrix files as graders of the `tests` format.

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use serde_json::{Map, Value, json};

use super::assertion_types::{ASSERTION_TYPES, AssertionSupport, AssertionType, resolve_assertion_type};
use super::assertion_values::{
    add_value, check_span_limits, read_value_file, refuse_redteam, schema_of, write_labels, write_sql,
};
use super::built_in::built_in_code;
use super::context_assertions::{add_line, context_line};
use super::metrics::METRIC_MARK;
use super::nodes::{MapNode, json_node, list_node, number_names, text_node};
use super::selections::write_selection;
use super::spelling::{MatrixSpelling, head};
use super::template::{TemplateRenderer, TemplateScope};
use super::test_judges::{JudgeNames, MeasuringModel};
use super::values::{set_without_members, text_of, texts_of};
use crate::codes;
use crate::decode::map_reader::{number, string, wrong_type};
use crate::decode::{DecodeContext, MapReader};
use crate::model::SimilarityMeasure;
use crate::tree::{MapEntry, NodeValue, TreeNode};

/// Default threshold of `g-eval`.
const G_EVAL_THRESHOLD: f64 = 0.7;
/// Maximum depth of sets in sets.
const MAX_SET_DEPTH: usize = 16;

/// Keys that only some types have: they are not unknown where a type could not be read to its end.
const KEYS_OF_TYPES: [&str; 7] =
    ["assert", "assertions", "budget", "config", "contextTransform", "context_transform", "prompt"];

/// Rule by which the assertions of a test make it pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PassRule {
    /// Each of them must pass.
    Each,
    /// The weighted mean decides, and what is marked as required.
    Mean,
}

/// Returns true for an assertion of weight 0, which only measures.
fn is_metric(object: &mut MapReader<'_>) -> bool {
    object.value("weight").is_some_and(|weight| {
        matches!(weight.data, NodeValue::Int(0))
            || matches!(weight.data, NodeValue::Float(zero) if zero == 0.0)
    })
}

/// Writer of the graders of a test.
pub(super) struct AssertionWriter<'a> {
    pub(super) spelling: MatrixSpelling,
    pub(super) templates: &'a TemplateRenderer,
    pub(super) scope: &'a TemplateScope,
    /// Variables of the test.
    pub(super) vars: &'a Map<String, Value>,
    /// Templates that `$ref` may name: the root of the file.
    pub(super) root: &'a TreeNode,
    /// Name of the judge of the test, if it names one.
    pub(super) judge: Option<&'a str>,
    /// Setting of the test that names its judge, and perhaps models for embeddings, moderation or classification.
    pub(super) judge_setting: Option<&'a TreeNode>,
    /// Prompt of the judge that the test names.
    pub(super) rubric_prompt: Option<&'a TreeNode>,
    /// Names of judges that assertions define themselves, by the place of the definition.
    pub(super) judges: &'a JudgeNames,
}

impl AssertionWriter<'_> {
    /// Returns the grader of an assertion. Returns `None` after adding a diagnostic.
    pub(super) fn grader(
        &self,
        cx: &mut DecodeContext,
        node: &TreeNode,
        rule: PassRule,
        depth: usize,
    ) -> Option<TreeNode> {
        if let NodeValue::Str(text) = &node.data
            && self.spelling == MatrixSpelling::Snake
        {
            let text = self.templates.render(cx, text, node.use_span(), self.scope)?;
            return Some(text_node(node.use_span(), text));
        }

        let resolved = self.resolve_reference(cx, node)?;
        let node = &resolved;
        if node.as_map().is_none() {
            cx.problems.add(
                wrong_type(node, "an assertion", "a map with `type`")
                    .with_help("write `- type: contains`, and below it `value: TEXT`"),
            );
            return None;
        }

        let Some(written) = node.get("type") else {
            cx.problems.add(missing_type(node));
            return None;
        };
        let name = string(written, "type", &mut cx.problems)?;
        let lowered = name.value.trim().to_ascii_lowercase().replace('_', "-");
        let Some((kind, negated)) = resolve_assertion_type(&lowered) else {
            return self.other_type(cx, node, &name.value, written.use_span());
        };
        if let AssertionSupport::Refused(reason) = kind.support {
            cx.problems.add(
                Diagnostic::error(
                    codes::GRADER_NOT_OFFERED,
                    format!("there is no assertion type `{}` here", name.value),
                    name.span,
                    "not supported",
                )
                .with_help(reason),
            );
            return None;
        }

        let before = cx.problems.error_count();
        let object = MapReader::new(node, "an assertion", &mut cx.problems)?;
        let assertion = AssertionParts { kind, negated, span: head(node), rule, depth };
        let grader = self.write(cx, object, &assertion);

        grader.filter(|_| cx.problems.error_count() == before)
    }

    /// Follows `$ref` to a template of the same file. Returns the assertion itself if it has none.
    fn resolve_reference(&self, cx: &mut DecodeContext, node: &TreeNode) -> Option<TreeNode> {
        let Some(reference) = node.get("$ref") else { return Some(node.clone()) };
        let path = reference.as_str().and_then(|path| path.strip_prefix("#/")).unwrap_or_default();
        let found = path.split('/').try_fold(self.root, |at, key| at.get(key));
        let Some(NodeValue::Map(template)) = found.map(|found| &found.data) else {
            cx.problems.add(
                Diagnostic::error(
                    codes::TEMPLATE_NOT_FOUND,
                    "there is no such template in this file",
                    reference.use_span(),
                    "names no map",
                )
                .with_help("write it like `$ref: '#/assertionTemplates/NAME'`"),
            );
            return None;
        };

        let mut entries: Vec<MapEntry> =
            node.as_map().unwrap_or_default().iter().filter(|entry| entry.key != "$ref").cloned().collect();
        for entry in template {
            if !entries.iter().any(|own| own.key == entry.key) && entry.key != "$ref" {
                entries.push(entry.clone());
            }
        }

        Some(TreeNode { data: NodeValue::Map(entries), ..*node })
    }

    /// A type that is no built-in one: in AgentV's files the name of a file with a grader.
    fn other_type(
        &self,
        cx: &mut DecodeContext,
        node: &TreeNode,
        name: &str,
        span: Span,
    ) -> Option<TreeNode> {
        if self.spelling == MatrixSpelling::Snake {
            let mut grader = MapNode::new(head(node));
            for entry in node.as_map().unwrap_or_default() {
                let key = if entry.key == "metric" { "name" } else { entry.key.as_str() };
                grader.add(key, entry.key_span, entry.value.clone());
            }
            return Some(grader.finish());
        }

        let diagnostic = Diagnostic::error(
            codes::UNKNOWN_GRADER,
            format!("unknown assertion type `{name}`"),
            span,
            "not a type",
        );
        let names = ASSERTION_TYPES.iter().map(|row| row.name);
        let near = did_you_mean(name, names);
        cx.problems.add(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
                "use that type",
                span,
                near,
            ),
            None => diagnostic.with_help(
                "the page on promptfoo lists all types; the tool itself fails only when it reaches the assertion",
            ),
        });
        self.check_other_keys(cx, node, near.unwrap_or("javascript"));
        None
    }

    /// Reports misspelt keys of an assertion whose type is not known, as if it were of the type `name`.
    fn check_other_keys(&self, cx: &mut DecodeContext, node: &TreeNode, name: &str) {
        let Some((kind, negated)) = resolve_assertion_type(name) else { return };
        let fork = cx.problems.fork();
        let known = std::mem::replace(&mut cx.problems, fork);
        let assertion = AssertionParts { kind, negated, span: head(node), rule: PassRule::Mean, depth: 0 };
        if let Some(object) = MapReader::new(node, "an assertion", &mut cx.problems) {
            self.write(cx, object, &assertion);
        }
        let found = std::mem::replace(&mut cx.problems, known);
        for diagnostic in found.into_vec() {
            if diagnostic.code == codes::UNKNOWN_KEY && diagnostic.suggestion.is_some() {
                cx.problems.add(diagnostic);
            }
        }
    }

    fn write(
        &self,
        cx: &mut DecodeContext,
        mut object: MapReader<'_>,
        assertion: &AssertionParts,
    ) -> Option<TreeNode> {
        let mut grader = MapNode::new(assertion.span);
        object.entry("type");
        // What is wrong with one key hides nothing about the others: the caller drops a grader with errors.
        let value = object
            .entry("value")
            .filter(|entry| !entry.value.is_null())
            .map(|entry| self.render_node(cx, &entry.value).unwrap_or_else(|| entry.value.clone()));
        let threshold = object
            .value("threshold")
            .and_then(|node| number(node, "threshold", &mut cx.problems))
            .map(|threshold| threshold.value);

        self.write_common(cx, &mut object, &mut grader, assertion);
        let judge = self.judge_of(cx, &mut object);
        let model = MeasuringModel::asked_by(assertion.kind.support).and_then(|kind| {
            let settings = [object.value("provider"), self.judge_setting];
            settings.into_iter().flatten().find_map(|node| kind.named(node, self.judges))
        });
        if let Some(transform) = object.entry("transform").filter(|entry| !entry.value.is_null()) {
            grader.add("transform", transform.key_span, transform.value.clone());
        }
        let prompt =
            self.spelling.entry(&mut object, "rubricPrompt", &mut cx.problems).map(|entry| &entry.value);
        let parts = AssertionValues { value, threshold, judge, model, prompt };
        let written = self.write_kind(cx, &mut object, &mut grader, assertion, parts);
        if written.is_none() {
            for key in KEYS_OF_TYPES {
                object.entry(key);
            }
        }

        if self.spelling == MatrixSpelling::Snake {
            for entry in object.take_remaining() {
                let value = self.render_node(cx, &entry.value)?;
                grader.add(&entry.key, entry.key_span, value);
            }
        }
        object.finish(&mut cx.problems);

        written.map(|()| grader.finish())
    }

    /// Writes name, weight and negation. A weight of 0 makes a metric that can't fail.
    fn write_common(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
    ) {
        let metric = object
            .first_of(&["metric", "name", "id"], &mut cx.problems)
            .filter(|entry| !entry.value.is_null());
        let metric = metric.and_then(|entry| {
            let text = string(&entry.value, &entry.key, &mut cx.problems)?;
            let rendered = self.templates.render(cx, &text.value, text.span, self.scope)?;
            (!rendered.trim().is_empty()).then(|| (entry.key_span, text_node(text.span, rendered.trim())))
        });
        match metric {
            Some((key, name)) => {
                grader.add(METRIC_MARK, key, name.clone());
                grader.add("name", key, name);
            }
            // Types that are scripts of our own would all be called `javascript`. Members of a set keep what the
            // decoder calls them, since no two of them may have one name.
            None if assertion.depth == 0
                && matches!(assertion.kind.support, AssertionSupport::BuiltIn(_)) =>
            {
                grader.add_text("name", assertion.full_name());
            }
            None => {}
        }

        if let Some(entry) = object.entry("weight").filter(|entry| !entry.value.is_null()) {
            grader.add("weight", entry.key_span, entry.value.clone());
        }
        let negate = object.boolean("negate", &mut cx.problems).is_some_and(|flag| flag.value);
        if assertion.negated != negate {
            grader.add_flag("negate", true);
        }

        if !matches!(
            assertion.kind.support,
            AssertionSupport::JavaScript
                | AssertionSupport::Python
                | AssertionSupport::Ruby
                | AssertionSupport::Conversation
                | AssertionSupport::Set
                | AssertionSupport::SameKeys(_)
        ) && let Some(config) = object.entry("config")
        {
            cx.problems.add(super::tests::no_effect(config, "this type has no settings here"));
        }

        for key in ["description", "reason"] {
            object.entry(key);
        }
    }

    /// Returns the name of the judge: the assertion's own, else that of the test.
    fn judge_of(&self, cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<String> {
        let entry =
            object.first_of(&["provider", "target"], &mut cx.problems).filter(|entry| !entry.value.is_null());
        let Some(entry) = entry else { return self.judge.map(str::to_owned) };
        if let Some(name) = entry.value.as_str() {
            return Some(name.trim().to_owned());
        }

        let own = self.judges.iter().find(|(span, _)| *span == entry.value.span);
        own.map(|(_, name)| name.clone()).or_else(|| self.judge.map(str::to_owned))
    }

    fn write_kind(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: AssertionValues<'_>,
    ) -> Option<()> {
        let (span, kind) = (assertion.span, assertion.kind);
        let must_pass = assertion.rule == PassRule::Each && !is_metric(object);
        let gate = |grader: &mut MapNode, line: f64| {
            if must_pass && line > 0.0 {
                grader.add_flag("required", true);
                grader.add_number("min_score", span, line.min(1.0));
            }
        };

        match kind.support {
            AssertionSupport::Text | AssertionSupport::TextList => {
                grader.add_text("type", kind.name);
                let convert = if kind.support == AssertionSupport::Text { text_of } else { texts_of };
                add_value(cx, grader, assertion, &parts, convert)?;
                gate(grader, 1.0);
            }
            AssertionSupport::Equals => {
                Self::write_equals(cx, grader, assertion, &parts)?;
                gate(grader, 1.0);
            }
            AssertionSupport::Json => {
                grader.add_text("type", "is-json");
                if let Some(value) = &parts.value {
                    grader.add("schema", span, schema_of(cx, value)?);
                }
                gate(grader, 1.0);
            }
            AssertionSupport::Latency | AssertionSupport::Cost => {
                let key = if kind.support == AssertionSupport::Latency { "threshold" } else { "budget" };
                grader.add_text("type", kind.name);
                if let Some(entry) = object.entry("budget") {
                    grader.add("budget", entry.key_span, entry.value.clone());
                }
                if let Some(limit) = parts.threshold {
                    grader.add_number(key, span, limit);
                }
                gate(grader, 1.0);
            }
            AssertionSupport::Criterion | AssertionSupport::Fact | AssertionSupport::ScoredCriterion => {
                self.write_judged(cx, object, grader, assertion, &parts)?;
                let line = match kind.support {
                    AssertionSupport::ScoredCriterion => parts.threshold.unwrap_or(G_EVAL_THRESHOLD),
                    _ => 1.0,
                };
                gate(grader, line);
            }
            AssertionSupport::Sql => {
                write_sql(cx, grader, assertion, &parts)?;
                gate(grader, 1.0);
            }
            AssertionSupport::Context | AssertionSupport::Conversation => {
                match kind.support {
                    AssertionSupport::Context => self.write_context(cx, object, grader, assertion, &parts)?,
                    _ => self.write_conversation(cx, object, grader, assertion, &parts)?,
                }
                gate(grader, context_line(assertion, &parts));
                add_line(grader, assertion, &parts);
            }
            AssertionSupport::Set => self.write_set(cx, object, grader, assertion, &parts, &gate)?,
            // These say for themselves if they pass.
            AssertionSupport::Similar(_)
            | AssertionSupport::AnswerRelevance
            | AssertionSupport::Moderation
            | AssertionSupport::Classifier
            | AssertionSupport::SelectBest
            | AssertionSupport::MaxScore
            | AssertionSupport::JavaScript
            | AssertionSupport::Python
            | AssertionSupport::Ruby
            | AssertionSupport::BuiltIn(_) => {
                self.write_own_verdict(cx, object, grader, assertion, parts)?;
                if must_pass {
                    grader.add_flag("required", true);
                }
            }
            AssertionSupport::Skill => {
                write_skill(cx, grader, assertion, &parts)?;
                gate(grader, 1.0);
            }
            AssertionSupport::SameKeys(name) => {
                grader.add_text("type", name);
                Self::keep_values(grader, assertion, &parts);
            }
            // Refused before anything else of it was read.
            AssertionSupport::Refused(_) => return None,
        }

        Some(())
    }

    /// Writes an assertion that says for itself if it passes.
    fn write_own_verdict(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: AssertionValues<'_>,
    ) -> Option<()> {
        match assertion.kind.support {
            AssertionSupport::Similar(measure) => Self::write_similar(cx, grader, assertion, &parts, measure),
            AssertionSupport::AnswerRelevance => {
                self.write_answer_relevance(cx, grader, assertion, &parts);
                Some(())
            }
            AssertionSupport::Moderation | AssertionSupport::Classifier => {
                write_labels(cx, grader, assertion, &parts)
            }
            AssertionSupport::SelectBest | AssertionSupport::MaxScore => {
                write_selection(cx, grader, assertion, &parts)
            }
            _ => Self::write_script(cx, object, grader, assertion, parts),
        }
    }

    /// Writes a comparison of meaning.
    fn write_similar(
        cx: &mut DecodeContext,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
        measure: SimilarityMeasure,
    ) -> Option<()> {
        grader.add_text("type", "similar");
        add_value(cx, grader, assertion, parts, Clone::clone)?;
        grader.add_text("measure", measure.name());
        if let Some(threshold) = parts.threshold {
            grader.add_number("threshold", assertion.span, threshold);
        }
        if let Some(model) = &parts.model {
            grader.add_text("target", model.clone());
        }

        Some(())
    }

    /// Keeps what was read of an assertion whose keys are those of a grader.
    fn keep_values(grader: &mut MapNode, assertion: &AssertionParts, parts: &AssertionValues<'_>) {
        if let Some(value) = &parts.value {
            grader.add("value", assertion.span, value.clone());
        }
        if let Some(threshold) = parts.threshold {
            grader.add_number("threshold", assertion.span, threshold);
        }
        let judged = matches!(assertion.kind.support, AssertionSupport::SameKeys("llm-grader" | "rubrics"));
        if let Some(judge) = parts.judge.as_ref().filter(|_| judged) {
            grader.add_text("target", judge.clone());
        }
    }

    fn write_equals(
        cx: &mut DecodeContext,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
    ) -> Option<()> {
        let value = if let Some(value) = &parts.value {
            read_value_file(cx, value)?
        } else {
            cx.problems.add(missing_value(assertion));
            return None;
        };
        match &value.data {
            NodeValue::Map(_) | NodeValue::Seq(_) => {
                grader.add_text("type", "is-json");
                let schema = json!({"const": value.to_json()});
                grader.add("schema", assertion.span, json_node(value.use_span(), &schema));
            }
            _ => {
                grader.add_text("type", "equals");
                grader.add("value", value.use_span(), text_of(&value));
            }
        }

        Some(())
    }

    fn write_set(
        &self,
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: &AssertionValues<'_>,
        gate: &impl Fn(&mut MapNode, f64),
    ) -> Option<()> {
        let found = object.first_of(&["assert", "assertions"], &mut cx.problems);
        let config = object.entry("config");
        let Some(entry) = found.filter(|entry| entry.value.as_seq().is_some_and(|items| !items.is_empty()))
        else {
            cx.problems.add(set_without_members(assertion.span, found));
            return None;
        };
        if assertion.depth >= MAX_SET_DEPTH {
            cx.problems.add(
                Diagnostic::error(
                    codes::TEMPLATE_DEPTH,
                    "sets are nested too deeply",
                    entry.key_span,
                    "too deep",
                )
                .with_help(format!("nest at most {MAX_SET_DEPTH} sets")),
            );
            return None;
        }
        if let Some(config) = config {
            cx.problems.add(super::tests::no_effect(config, "a set has no settings here"));
        }

        // With a threshold, the members only make the score of the set.
        let rule = if parts.threshold.is_some() { PassRule::Mean } else { assertion.rule };
        let items = entry.value.as_seq().unwrap_or_default();
        let mut members: Vec<TreeNode> =
            items.iter().filter_map(|item| self.grader(cx, item, rule, assertion.depth + 1)).collect();
        number_names(&mut members);
        grader.add_text("type", "composite");
        grader.add("assertions", entry.key_span, list_node(entry.value.use_span(), members));

        let mut aggregator = MapNode::new(assertion.span);
        aggregator.add_text("type", "weighted_average");
        grader.add("aggregator", assertion.span, aggregator.finish());
        if let Some(threshold) = parts.threshold.filter(|line| *line > 0.0) {
            gate(grader, threshold);
            grader.add_number("min_score", assertion.span, threshold);
        }

        Some(())
    }

    fn write_script(
        cx: &mut DecodeContext,
        object: &mut MapReader<'_>,
        grader: &mut MapNode,
        assertion: &AssertionParts,
        parts: AssertionValues<'_>,
    ) -> Option<()> {
        let language = match assertion.kind.support {
            AssertionSupport::Python => "python",
            AssertionSupport::Ruby => "ruby",
            _ => "javascript",
        };
        grader.add_text("type", language);
        let mut config = object
            .entry("config")
            .filter(|entry| !entry.value.is_null())
            .map_or_else(|| Value::Object(Map::new()), |entry| entry.value.to_json());

        let code = if let AssertionSupport::BuiltIn(name) = assertion.kind.support {
            refuse_redteam(cx, object, assertion)?;
            let value = match &parts.value {
                Some(value) => read_value_file(cx, value)?.to_json(),
                None => Value::Null,
            };
            check_span_limits(cx, assertion, &value)?;
            config = json!({"value": value, "threshold": parts.threshold});
            text_node(assertion.span, built_in_code(name))
        } else {
            let Some(value) = parts.value else {
                cx.problems.add(missing_value(assertion));
                return None;
            };
            if let Some(threshold) = parts.threshold {
                grader.add_number("threshold", assertion.span, threshold);
            }
            value
        };
        grader.add("value", code.use_span(), code);
        if config.as_object().is_some_and(|config| !config.is_empty()) {
            grader.add("config", assertion.span, json_node(assertion.span, &config));
        }

        Some(())
    }

    /// Renders the texts below a node.
    fn render_node(&self, cx: &mut DecodeContext, node: &TreeNode) -> Option<TreeNode> {
        let data = match &node.data {
            NodeValue::Str(text) => {
                NodeValue::Str(self.templates.render(cx, text, node.use_span(), self.scope)?)
            }
            NodeValue::Seq(items) => NodeValue::Seq(
                items.iter().map(|item| self.render_node(cx, item)).collect::<Option<Vec<_>>>()?,
            ),
            NodeValue::Map(entries) => NodeValue::Map(
                entries
                    .iter()
                    .map(|entry| {
                        Some(MapEntry { value: self.render_node(cx, &entry.value)?, ..entry.clone() })
                    })
                    .collect::<Option<Vec<_>>>()?,
            ),
            other => other.clone(),
        };

        Some(TreeNode { data, ..*node })
    }
}

/// An assertion that is being written.
pub(super) struct AssertionParts {
    pub(super) kind: &'static AssertionType,
    pub(super) negated: bool,
    pub(super) span: Span,
    rule: PassRule,
    depth: usize,
}

impl AssertionParts {
    pub(super) fn full_name(&self) -> String {
        if self.negated { format!("not-{}", self.kind.name) } else { self.kind.name.to_owned() }
    }
}

/// Values of an assertion.
pub(super) struct AssertionValues<'a> {
    pub(super) value: Option<TreeNode>,
    pub(super) threshold: Option<f64>,
    pub(super) judge: Option<String>,
    /// Model that measures the answer.
    pub(super) model: Option<String>,
    pub(super) prompt: Option<&'a TreeNode>,
}

/// Returns the error that an assertion has no `type`; the type may stand as a key.
fn missing_type(node: &TreeNode) -> Diagnostic {
    let entries = node.as_map().unwrap_or_default();
    let is_type = |key: &str| resolve_assertion_type(&key.to_ascii_lowercase().replace('_', "-")).is_some();
    let known_keys = ["type", "value", "threshold", "weight", "metric", "provider", "transform", "config"];
    let by_key = entries.iter().find(|entry| is_type(&entry.key));
    let misspelt = entries.iter().find(|entry| {
        !known_keys.contains(&entry.key.as_str()) && did_you_mean(&entry.key, ["type"]).is_some()
    });

    let span = by_key.or(misspelt).map_or_else(|| head(node), |entry| entry.key_span);
    let diagnostic =
        Diagnostic::error(codes::MISSING_TYPE, "an assertion has no type", span, "no `type` here");
    match (by_key, misspelt) {
        (Some(entry), _) => diagnostic.with_help(format!(
            "write the type as a value: `- type: {}`, and below it `value: ...`",
            entry.key
        )),
        (None, Some(_)) => {
            diagnostic.with_help("did you mean `type`?").with_suggestion("rename the key", span, "type")
        }
        (None, None) if entries.iter().all(|entry| entry.key == "value") => {
            diagnostic.with_help("write `value` below the `type` of its assertion, without a `-` of its own")
        }
        (None, None) => diagnostic.with_help("add `type:`, such as `contains` or `llm-rubric`"),
    }
}

pub(super) fn missing_value(assertion: &AssertionParts) -> Diagnostic {
    Diagnostic::error(
        codes::MISSING_SETTING,
        format!("`{}` needs `value`", assertion.full_name()),
        assertion.span,
        "no `value` here",
    )
    .with_help("write what to compare with as `value`")
}

fn write_skill(
    cx: &mut DecodeContext,
    grader: &mut MapNode,
    assertion: &AssertionParts,
    parts: &AssertionValues<'_>,
) -> Option<()> {
    grader.add_text("type", "skill-trigger");
    let Some(skill) = parts.value.as_ref().and_then(name_of_skill) else {
        cx.problems.add(missing_value(assertion));
        return None;
    };

    grader.add_text("skill", skill);
    Some(())
}

fn name_of_skill(value: &TreeNode) -> Option<&str> {
    value.as_str().or_else(|| value.get("name")?.as_str())
}
