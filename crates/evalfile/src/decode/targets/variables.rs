//! Expands `${{ NAME }}` in settings. Unset variables are allowed here: they only matter to runs that need the
//! setting.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{DiagnosticCollector, MapEntry, NodeValue, TreeNode, codes};

use super::provider::is_http_provider;
use crate::load_options::EnvironmentLookup;

/// A map with expanded variables.
pub(crate) struct ExpandedMap {
    /// The expanded map. An entry that needs an unset variable is null.
    pub(crate) node: TreeNode,
    /// Variables that are not set.
    pub(crate) unset: Vec<UnsetVariable>,
    /// Variables that occur in values of the map, set or not.
    pub(crate) used: Vec<UsedVariable>,
}

/// A variable that a value of the map names.
pub(crate) struct UsedVariable {
    /// Key of the map.
    pub(crate) setting: String,
    pub(crate) variable: String,
    pub(crate) span: Span,
}

/// A variable that is not set.
pub(crate) struct UnsetVariable {
    pub(crate) name: String,
    /// Key of the map that needs it.
    pub(crate) key: String,
    pub(crate) span: Span,
}

impl ExpandedMap {
    /// Returns true if a key has no value only because a variable is not set.
    pub(crate) fn is_unset(&self, key: &str) -> bool {
        self.unset.iter().any(|unset| unset.key == key)
    }

    /// Returns true if the value of a key came from the environment. Messages must not quote it.
    pub(crate) fn depends_on_variable(&self, key: &str) -> bool {
        self.used.iter().any(|used| used.setting == key)
    }
}

/// Expands the variables of a map. The values of `typed` keys may become numbers and booleans. All others stay
/// strings, so that an API key that consists of digits is not read as a number.
pub(crate) fn expand_variables(
    node: &TreeNode,
    typed: &[&str],
    environment: &EnvironmentLookup,
    problems: &mut DiagnosticCollector,
) -> ExpandedMap {
    let mut unset = Vec::new();
    let mut used = Vec::new();
    let Some(entries) = node.as_map() else {
        return ExpandedMap { node: node.clone(), unset, used };
    };
    // Requests are templates, which have their own syntax for environment variables.
    let has_templates = node.get("provider").and_then(TreeNode::as_str).is_some_and(is_http_provider);
    let mut filled = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut filler =
            VariableExpander { environment, problems, has_templates, names: Vec::new(), used: Vec::new() };
        let mut value = filler.node(&entry.value, typed.contains(&entry.key.as_str()));
        if !filler.names.is_empty() {
            value.data = NodeValue::Null;
        }
        used.extend(filler.used.into_iter().map(|(variable, span)| UsedVariable {
            setting: entry.key.clone(),
            variable,
            span,
        }));

        let names = filler.names;
        unset.extend(names.into_iter().map(|(name, span)| UnsetVariable {
            name,
            key: entry.key.clone(),
            span,
        }));

        filled.push(MapEntry { key: entry.key.clone(), key_span: entry.key_span, value });
    }

    let node = TreeNode { span: node.span, used_at: node.used_at, data: NodeValue::Map(filled) };
    ExpandedMap { node, unset, used }
}

struct VariableExpander<'a> {
    environment: &'a EnvironmentLookup,
    problems: &'a mut DiagnosticCollector,
    /// True if strings may be templates that refer to environment variables.
    has_templates: bool,
    /// Variables that are not set.
    names: Vec<(String, Span)>,
    /// Variables that occur, set or not.
    used: Vec<(String, Span)>,
}

impl VariableExpander<'_> {
    fn node(&mut self, node: &TreeNode, typed: bool) -> TreeNode {
        let data = match &node.data {
            NodeValue::Str(text) if text.contains("${{") => {
                let filled = self.text(text, node.use_span());
                if typed && filled != *text { parse_scalar_value(filled) } else { NodeValue::Str(filled) }
            }
            NodeValue::Str(text)
                if !self.has_templates && (text.contains("{{ env.") || text.contains("{{env.")) =>
            {
                Diagnostic::error(codes::BAD_VARIABLE, "`{{ env.NAME }}` is not filled in here")
                    .at(node.use_span(), "written as in another version")
                    .with_help("write `${{ NAME }}`")
                    .add_to(self.problems);
                node.data.clone()
            }
            NodeValue::Seq(items) => {
                NodeValue::Seq(items.iter().map(|item| self.node(item, typed)).collect())
            }
            NodeValue::Map(entries) => NodeValue::Map(
                entries
                    .iter()
                    .map(|entry| MapEntry {
                        key: entry.key.clone(),
                        key_span: entry.key_span,
                        value: self.node(&entry.value, typed),
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        TreeNode { span: node.span, used_at: node.used_at, data }
    }

    /// Expands `${{ NAME }}` and `${{ NAME:-default }}`; `$${{` escapes `${{`. An empty variable counts as not
    /// set, because an empty text is neither a key nor a model nor an address.
    fn text(&mut self, text: &str, span: Span) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${{") {
            if rest[..at].ends_with('$') {
                out.push_str(&rest[..at - 1]);
                out.push_str("${{");
                rest = &rest[at + 3..];
                continue;
            }

            out.push_str(&rest[..at]);
            let inside = &rest[at + 3..];
            let Some(end) = inside.find("}}") else {
                self.complain(span, "it has no closing `}}`");
                rest = &rest[at..];
                break;
            };
            let written = &rest[at..at + 3 + end + 2];

            rest = &inside[end + 2..];
            let (name, default) = match inside[..end].split_once(":-") {
                Some((name, default)) => (name.trim(), Some(default.trim())),
                None => (inside[..end].trim(), None),
            };
            if !is_name(name) {
                self.complain(span, "write the name of an environment variable between the braces");
                out.push_str(written);
                continue;
            }

            self.used.push((name.to_owned(), span));

            match (self.environment)(name).filter(|value| !value.trim().is_empty()) {
                Some(value) => {
                    self.problems.hide(&value, &format!("${{{{ {name} }}}}"), span);
                    out.push_str(&value);
                }
                None => match default {
                    Some(default) => out.push_str(default),
                    None => self.names.push((name.to_owned(), span)),
                },
            }
        }

        out.push_str(rest);
        out
    }

    fn complain(&mut self, span: Span, why: &str) {
        Diagnostic::error(codes::BAD_VARIABLE, "malformed variable")
            .at(span, why)
            .with_help("write `${{ NAME }}`, or `$${{` for the characters themselves")
            .add_to(self.problems);
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn parse_scalar_value(text: String) -> NodeValue {
    match text.trim() {
        "true" => return NodeValue::Bool(true),
        "false" => return NodeValue::Bool(false),
        word => {
            if let Ok(value) = word.parse() {
                return NodeValue::Int(value);
            }
            if let Ok(value) = word.parse::<f64>()
                && value.is_finite()
            {
                return NodeValue::Float(value);
            }
        }
    }
    NodeValue::Str(text)
}
