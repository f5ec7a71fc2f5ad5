//! Substitution of `{{ name }}`: inserts the variables of a case into its texts.

use std::collections::{BTreeMap, BTreeSet};

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use assize_document::{MapEntry, NodeValue, TreeNode, codes};
use assize_limits::INSERTED_BYTES as MAX_INSERTED_BYTES;
use serde_json::Value;

use super::DecodeContext;

/// Keys of a case whose texts are templates, apart from its graders and turns.
const TEMPLATE_KEYS: [&str; 9] = [
    "criteria", "description", "expected_messages", "expected_outcome", "expected_output", "input",
    "input_files", "input_messages", "outcome",
];
/// Keys of a grader that hold programs, instructions to a judge, or names. They are not templates, because
/// values of a dataset must not reach a command line or a judge's instructions.
const NON_TEMPLATE_KEYS: [&str; 11] =
    ["command", "config", "cwd", "extends", "include", "judge", "name", "prompt", "script", "target", "type"];
/// Names that prompts and reports use themselves. They are not variables of the case.
const RESERVED_NAMES: [&str; 13] = [
    "answer", "candidate_answer", "criteria", "env", "expected_output", "file_changes", "input", "metadata",
    "output", "question", "reference_answer", "tool_calls", "workspace_path",
];

/// Substitutes `vars` in the texts of the case `node`. A reference to an unknown name is left unchanged, with
/// a warning if the case has variables.
pub(crate) fn fill_templates(cx: &mut DecodeContext, node: &mut TreeNode, vars: &BTreeMap<String, Value>) {
    if vars.is_empty() {
        return;
    }

    let mut filler = TemplateFiller::new(vars);
    let NodeValue::Map(entries) = &mut node.data else { return };
    for entry in entries {
        match entry.key.as_str() {
            "assertions" | "assert" | "evaluators" | "rubrics" => filler.fill_graders(&mut entry.value),
            "execution" => {
                let NodeValue::Map(entries) = &mut entry.value.data else { continue };
                for MapEntry { key, value, .. } in entries {
                    if matches!(key.as_str(), "assertions" | "assert" | "evaluators") {
                        filler.fill_graders(value);
                    }
                }
            }
            "turns" => {
                let NodeValue::Seq(turns) = &mut entry.value.data else { continue };
                for turn in turns {
                    let NodeValue::Map(entries) = &mut turn.data else { continue };
                    for MapEntry { key, value, .. } in entries {
                        if matches!(key.as_str(), "assertions" | "assert") {
                            filler.fill_graders(value);
                        } else {
                            filler.fill_texts(value, true);
                        }
                    }
                }
            }
            key if TEMPLATE_KEYS.contains(&key) => filler.fill_texts(&mut entry.value, true),
            _ => {}
        }
    }

    cx.problems.extend(filler.complaints);
}

/// Substitutes `vars` in the criterion texts of a rubric, like [`fill_templates`] in the texts of a case.
pub(crate) fn fill_rubric(cx: &mut DecodeContext, root: &mut TreeNode, vars: &BTreeMap<String, Value>) {
    let mut filler = TemplateFiller::new(vars);
    match &mut root.data {
        NodeValue::Map(entries) => {
            for entry in entries.iter_mut().filter(|entry| matches!(&*entry.key, "criteria" | "rubrics")) {
                filler.fill_texts(&mut entry.value, true);
            }
        }
        _ => filler.fill_texts(root, true),
    }

    cx.problems.extend(filler.complaints);
}

struct TemplateFiller<'v> {
    vars: &'v BTreeMap<String, Value>,
    /// Number of bytes that were inserted.
    inserted: usize,
    /// Names that were already reported.
    unknown: BTreeSet<String>,
    complaints: Vec<Diagnostic>,
}

impl<'v> TemplateFiller<'v> {
    fn new(vars: &'v BTreeMap<String, Value>) -> Self {
        Self { vars, inserted: 0, unknown: BTreeSet::new(), complaints: Vec::new() }
    }

    fn fill_graders(&mut self, list: &mut TreeNode) {
        let NodeValue::Seq(items) = &mut list.data else { return };
        for item in items {
            match &mut item.data {
                NodeValue::Map(entries) => {
                    for MapEntry { key, value, .. } in entries {
                        if matches!(key.as_str(), "assertions" | "assert" | "evaluators" | "rubrics") {
                            self.fill_graders(value);
                        } else if !NON_TEMPLATE_KEYS.contains(&key.as_str()) {
                            self.fill_texts(value, false);
                        }
                    }
                }
                _ => self.fill_texts(item, true),
            }
        }
    }

    fn fill_texts(&mut self, node: &mut TreeNode, warn: bool) {
        let place = node.use_span();
        match &mut node.data {
            NodeValue::Str(text) if text.contains("{{") => *text = self.fill_text(text, place, warn),
            NodeValue::Seq(items) => items.iter_mut().for_each(|item| self.fill_texts(item, warn)),
            NodeValue::Map(entries) => {
                for entry in entries.iter_mut() {
                    self.fill_texts(&mut entry.value, warn);
                }
            }
            _ => {}
        }
    }

    fn fill_text(&mut self, text: &str, place: Span, warn: bool) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            if self.inserted > MAX_INSERTED_BYTES {
                break;
            }

            let reference = &rest[at..];
            let environment = rest[..at].ends_with('$');
            let Some((whole, name)) = parse_template_reference(reference).filter(|_| !environment) else {
                self.check_closed(reference, environment, place);
                result.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
                continue;
            };

            result.push_str(&rest[..at]);

            if let Some(value) = lookup_variable(self.vars, name) {
                let value = variable_text(value);
                self.count_inserted(value.len(), place);
                result.push_str(&value);
            } else {
                result.push_str(whole);
                if warn && !RESERVED_NAMES.contains(&name.split('.').next().unwrap_or(name)) {
                    self.report_unknown_name(name, place);
                }
            }

            rest = &reference[whole.len()..];
        }

        result.push_str(rest);
        result
    }

    /// Counts the bytes of a value. Reports the value that exceeds the limit. No further values are inserted after it.
    fn count_inserted(&mut self, bytes: usize, place: Span) {
        self.inserted = self.inserted.saturating_add(bytes);
        if self.inserted > MAX_INSERTED_BYTES {
            let label = format!("more than {} MiB of values", MAX_INSERTED_BYTES / 1024 / 1024);
            self.complaints.push(
                Diagnostic::error(codes::LIMIT_REACHED, "variables make the texts too long")
                    .at(place, label)
                    .with_help("insert a long value only once, or shorten it"),
            );
        }
    }

    /// Reports a reference to a known variable that is not closed with `}}`.
    fn check_closed(&mut self, reference: &str, environment: bool, place: Span) {
        let inner = reference[2..].trim_start();
        let name = inner.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if environment || reference.contains("}}") || !self.vars.contains_key(name) {
            return;
        }

        let title = format!("the variable `{name}` is not inserted: `{{{{` is not closed");
        self.complaints.push(
            Diagnostic::warning(codes::UNKNOWN_VARIABLE, title)
                .at(place, "not replaced")
                .with_help(format!("write `{{{{ {name} }}}}`")),
        );
    }

    fn report_unknown_name(&mut self, name: &str, place: Span) {
        if !self.unknown.insert(name.to_owned()) {
            return;
        }

        let diagnostic =
            Diagnostic::warning(codes::UNKNOWN_VARIABLE, format!("the variable `{name}` has no value"))
                .at(place, "not replaced");
        self.complaints.push(match did_you_mean(name, self.vars.keys().map(String::as_str)) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
            None if self.vars.is_empty() => diagnostic.with_help("the case has no variables"),
            None => diagnostic.with_help(format!(
                "the case has {}",
                self.vars.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
            )),
        });
    }
}

/// Parses the reference `{{ a.b }}` at the beginning of `text`; returns it and its name.
fn parse_template_reference(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("{{")?;
    let end = inner.find("}}")?;
    let name = inner[..end].trim();
    let sound = name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    }) && name.starts_with(|c: char| c.is_alphabetic() || c == '_');

    sound.then_some((&text[..end + 4], name))
}

/// Returns the variable `a.b.0`: maps by key, lists by index.
fn lookup_variable<'v>(vars: &'v BTreeMap<String, Value>, name: &str) -> Option<&'v Value> {
    let mut parts = name.split('.');
    let mut value = vars.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Object(map) => map.get(part)?,
            Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }

    Some(value)
}

/// Returns a variable as text: strings unchanged, other values as JSON.
fn variable_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use assize_document::read_yaml;

    use super::*;
    use crate::tests::contexts::context;

    #[test]
    fn texts_are_filled_programs_and_prompts_are_not() {
        let text = "\
vars: {city: Oslo, person: {name: Ada, tags: [x, y]}}
criteria: About {{city}} and {{ person.name }} {{ person.tags.1 }} {{ person }}
input: '{{ citty }} ${{ city }} {{ 1 }}'
metadata: {note: '{{ city }}'}
assertions:
  - Mentions {{ city }}
  - {type: code-grader, command: 'x {{ city }}'}
  - {type: llm-grader, prompt: '{{ city }} {{ output }}'}
  - {type: contains, value: '{{ city }} {{ output }}'}
";
        let mut cx = context();
        let source = cx.sources.add("a.yaml", text);
        let mut node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        let vars: BTreeMap<String, Value> = match node.get("vars").expect("there").to_json() {
            Value::Object(map) => map.into_iter().collect(),
            other => panic!("{other}"),
        };
        fill_templates(&mut cx, &mut node, &vars);
        let at = |key: &str| node.get(key).and_then(TreeNode::as_str).unwrap_or_default().to_owned();
        assert_eq!(at("criteria"), "About Oslo and Ada y {\"name\":\"Ada\",\"tags\":[\"x\",\"y\"]}");
        assert_eq!(at("input"), "{{ citty }} ${{ city }} {{ 1 }}");
        assert_eq!(
            node.get("metadata").and_then(|m| m.get("note")).and_then(TreeNode::as_str),
            Some("{{ city }}")
        );
        let list = node.get("assertions").and_then(TreeNode::as_seq).expect("list");
        assert_eq!(list[0].as_str(), Some("Mentions Oslo"));
        assert_eq!(list[1].get("command").and_then(TreeNode::as_str), Some("x {{ city }}"));
        assert_eq!(list[2].get("prompt").and_then(TreeNode::as_str), Some("{{ city }} {{ output }}"));
        assert_eq!(list[3].get("value").and_then(TreeNode::as_str), Some("Oslo {{ output }}"));
        let found = cx.problems.into_vec();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].help, ["did you mean `city`?"]);
    }

    #[test]
    fn values_that_are_inserted_again_and_again_are_refused() {
        let mut cx = context();
        let text = format!("input: ['{}', '{{{{ a }}}}']", "{{ a }}".repeat(100_000));
        let source = cx.sources.add("a.yaml", text);
        let mut node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        let vars = BTreeMap::from([("a".to_owned(), Value::from("a".repeat(1024 * 1024)))]);
        fill_templates(&mut cx, &mut node, &vars);
        let problems = cx.problems.into_vec();
        assert_eq!(problems.iter().map(|found| found.code).collect::<Vec<_>>(), [codes::LIMIT_REACHED]);
    }

    #[test]
    fn a_value_is_not_read_again() {
        let mut cx = context();
        let source = cx.sources.add("a.yaml", "input: '{{ a }}'");
        let mut node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        let vars = BTreeMap::from([("a".into(), Value::from("{{ b }}")), ("b".into(), Value::from("no"))]);
        fill_templates(&mut cx, &mut node, &vars);
        assert_eq!(node.get("input").and_then(TreeNode::as_str), Some("{{ b }}"));
    }
}
