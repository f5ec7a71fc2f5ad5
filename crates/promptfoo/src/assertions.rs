//! Writes assertions of matrix files as graders of the `tests` format.

use std::collections::BTreeSet;

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, string, wrong_type};
use assize_evalfile::reading::DecodeContext;
use serde_json::{Map, Value};

use super::assertion_counter::AssertionCounter;
use super::assertion_grader::AssertionGrader;
use super::assertion_types::{ASSERTION_TYPES, AssertionSupport, resolve_assertion_type};
use super::nodes::{MapNode, text_node};
use super::spelling::{MatrixSpelling, head};
use super::template::{TemplateRenderer, TemplateScope};
use super::test_judges::JudgeNames;

/// When a test passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PassRule {
    /// When each of its assertions passes.
    Each,
    /// When the weighted mean reaches the threshold, and everything marked as required passes.
    Mean,
}

/// Writes the graders of a test.
pub(super) struct AssertionWriter<'a> {
    pub(super) spelling: MatrixSpelling,
    pub(super) templates: &'a TemplateRenderer,
    pub(super) scope: &'a TemplateScope,
    /// Variables of the test.
    pub(super) vars: &'a Map<String, Value>,
    /// Names of those that hold answers to other tests, or texts made of them.
    pub(super) answers: &'a BTreeSet<String>,
    /// Root of the file, which contains the templates that `$ref` refers to.
    pub(super) root: &'a TreeNode,
    /// Name of the test's judge, if it has one.
    pub(super) judge: Option<&'a str>,
    /// Setting of the test that defines its judge, and possibly models for embeddings, moderation and
    /// classification.
    pub(super) judge_setting: Option<&'a TreeNode>,
    /// The test's prompt for judges.
    pub(super) rubric_prompt: Option<&'a TreeNode>,
    /// Names of the judges that assertions define themselves, by the spans of the definitions.
    pub(super) judges: &'a JudgeNames,
    /// Counts the assertions of the file.
    pub(super) count: &'a AssertionCounter,
}

impl AssertionWriter<'_> {
    /// Returns the grader for an assertion. Returns `None` after adding a diagnostic.
    pub(super) fn grader(
        &self,
        cx: &mut DecodeContext,
        node: &TreeNode,
        rule: PassRule,
        depth: usize,
    ) -> Option<TreeNode> {
        if !self.count.take(cx, node.use_span()) {
            return None;
        }
        if let NodeValue::Str(text) = &node.data
            && self.spelling == MatrixSpelling::Snake
        {
            let text = self.templates.render(cx, text, node.use_span(), self.scope)?;
            return Some(text_node(node.use_span(), text));
        }

        let resolved = self.resolve_reference(cx, node)?;
        if !self.count.take_size(cx, &resolved, node.use_span()) {
            return None;
        }
        let node = &resolved;
        if node.as_map().is_none() {
            wrong_type(node, "an assertion", "a map with `type`")
                .with_help("write `- type: contains`, and below it `value: TEXT`")
                .add_to(&mut cx.problems);
            return None;
        }

        let Some(written) = node.get("type") else {
            return cx.problems.reject(missing_type(node));
        };
        let name = string(written, "type", &mut cx.problems)?;
        let lowered = name.value.trim().to_ascii_lowercase().replace('_', "-");
        let Some((kind, negated)) = resolve_assertion_type(&lowered) else {
            return self.other_type(cx, node, &name.value, written.use_span());
        };
        if let AssertionSupport::Refused(reason) = kind.support {
            return Diagnostic::error(
                codes::GRADER_NOT_OFFERED,
                format!("there is no assertion type `{}` here", name.value),
            )
            .at(name.span, "not supported")
            .with_help(reason)
            .reject_in(&mut cx.problems);
        }

        let before = cx.problems.error_count();
        let object = MapReader::new(node, "an assertion", &mut cx.problems)?;
        let grader = AssertionGrader::new(self, cx, object, (kind, negated), rule, depth).write();

        grader.filter(|_| cx.problems.error_count() == before)
    }

    /// Follows `$ref` to a template in the same file, and from there to others. Returns the assertion itself if
    /// it has no `$ref`.
    fn resolve_reference(&self, cx: &mut DecodeContext, node: &TreeNode) -> Option<TreeNode> {
        let mut resolved = node.clone();
        let mut followed: Vec<String> = Vec::new();
        while let Some(reference) = resolved.get("$ref").cloned() {
            let path = reference.as_str().unwrap_or_default().to_owned();
            let is_circle = followed.contains(&path);
            followed.push(path);
            if is_circle {
                Diagnostic::error(codes::TEMPLATE_CYCLE, "the `$ref`s of this assertion form a cycle")
                    .at(
                        node.get("$ref").unwrap_or(&reference).use_span(),
                        format!("`{}`", followed.join("` → `")),
                    )
                    .with_help("write `type` and `value` in one of these templates, in place of its `$ref`")
                    .add_to(&mut cx.problems);
                return None;
            }
            resolved = self.fill_from_template(cx, &resolved, &reference)?;
        }

        Some(resolved)
    }

    /// Returns the template that `$ref` refers to.
    pub(super) fn find_template(&self, reference: &TreeNode) -> Option<&TreeNode> {
        let path = reference.as_str()?.strip_prefix("#/")?;
        path.split('/').try_fold(self.root, |at, key| at.get(key))
    }

    /// Adds the keys of a template to an assertion, except keys that it already has. The `$ref` of the template
    /// replaces the assertion's.
    fn fill_from_template(
        &self,
        cx: &mut DecodeContext,
        node: &TreeNode,
        reference: &TreeNode,
    ) -> Option<TreeNode> {
        let found = self.find_template(reference);
        let Some(NodeValue::Map(template)) = found.map(|found| &found.data) else {
            return Diagnostic::error(codes::TEMPLATE_NOT_FOUND, "there is no such template in this file")
                .at(reference.use_span(), "names no map")
                .with_help("write it like `$ref: '#/assertionTemplates/NAME'`")
                .reject_in(&mut cx.problems);
        };

        let mut entries: Vec<MapEntry> =
            node.as_map().unwrap_or_default().iter().filter(|entry| entry.key != "$ref").cloned().collect();
        for entry in template {
            if !entries.iter().any(|own| own.key == entry.key) {
                entries.push(entry.clone());
            }
        }

        Some(TreeNode { data: NodeValue::Map(entries), ..*node })
    }

    /// Handles a type that is not built in. In AgentV's files it is the name of a custom grader; in promptfoo's
    /// it is an error.
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

        let diagnostic = Diagnostic::error(codes::UNKNOWN_GRADER, format!("unknown assertion type `{name}`"))
            .at(span, "not a type");
        // Never suggest the opposite of a name that begins like a negation.
        let is_negated = name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("not"));
        let prefix = if is_negated { "not-" } else { "" };
        let names: Vec<String> = ASSERTION_TYPES.iter().map(|row| format!("{prefix}{}", row.name)).collect();
        let near = did_you_mean(name, names.iter().map(String::as_str));
        cx.problems.add(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
                "use that type",
                span,
                near,
            ),
            None => diagnostic.with_help(
                "docs/promptfoo.md lists all types; promptfoo itself fails only when it reaches the assertion",
            ),
        });
        self.check_other_keys(cx, node, near.unwrap_or("javascript"));
        None
    }

    /// Reports misspelt keys of an assertion with an unknown type, as if it had the type `name`.
    fn check_other_keys(&self, cx: &mut DecodeContext, node: &TreeNode, name: &str) {
        let Some(kind) = resolve_assertion_type(name) else { return };
        let fork = cx.problems.fork();
        let known = std::mem::replace(&mut cx.problems, fork);
        if let Some(object) = MapReader::new(node, "an assertion", &mut cx.problems) {
            AssertionGrader::new(self, cx, object, kind, PassRule::Mean, 0).write();
        }
        let found = std::mem::replace(&mut cx.problems, known);
        let misspelt = |found: &Diagnostic| found.code == codes::UNKNOWN_KEY && found.suggestion.is_some();
        cx.problems.extend(found.into_vec().into_iter().filter(misspelt));
    }

    /// Renders all strings below a node.
    pub(super) fn render_node(&self, cx: &mut DecodeContext, node: &TreeNode) -> Option<TreeNode> {
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

/// Returns the error that an assertion has no `type`. If a key is a type, suggests that one.
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
        Diagnostic::error(codes::MISSING_TYPE, "an assertion has no type").at(span, "no `type` here");
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
