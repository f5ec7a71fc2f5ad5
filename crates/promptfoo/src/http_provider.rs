//! Providers of matrix files that are HTTP servers: `http`, or a URL as the id.

use std::collections::BTreeMap;

use assize_diagnostic::Span;
use assize_document::{NodeValue, TreeNode};
use assize_evalfile::reading::IdleSetting;
use assize_model::without_credentials;

use super::nodes::{MapNode, text_node};

/// Keys of `config`, with the equivalent key of a target.
const CONFIG_KEYS: [(&str, &str); 9] = [
    ("url", "url"),
    ("method", "method"),
    ("headers", "headers"),
    ("queryParams", "query"),
    ("body", "body"),
    ("transformResponse", "response"),
    ("responseParser", "response"),
    ("validateStatus", "status"),
    ("maxRetries", "max_retries"),
];

/// Keys of `config` that do not affect the answer.
const IDLE_KEYS: [&str; 5] = ["tokenEstimation", "maxConcurrency", "useHttps", "stateful", "inputs"];

/// Returns true if an id means an HTTP server.
pub(super) fn is_http_id(id: &str) -> bool {
    matches!(id, "http" | "https") || id.starts_with("http://") || id.starts_with("https://")
}

/// Returns the name of such a provider in results: the URL without parts that may be secret.
pub(super) fn shown_id(id: &str) -> String {
    if id.contains("://") { without_credentials(id) } else { id.to_owned() }
}

/// Adds the settings of a server to the entry of its target. `body` is the body if it was read from a file.
pub(super) fn add_http_settings(
    entry: &mut MapNode,
    id: &str,
    settings: Option<&TreeNode>,
    span: Span,
    problems: &mut Vec<String>,
    idle: &mut Vec<IdleSetting>,
) {
    entry.add_text("provider", "http");
    let mut environment = BTreeMap::new();
    let config = settings.and_then(|settings| settings.get("config"));
    for part in config.and_then(TreeNode::as_map).unwrap_or_default() {
        let key = part.key.as_str();
        if key == "request" {
            match part.value.as_str().and_then(|text| RawRequest::parse(text, config)) {
                Some(raw) => raw.add_to(entry, part.value.use_span(), &mut environment),
                None => problems.push("`request` in its `config` is not an HTTP request".to_owned()),
            }
        } else if let Some((_, own)) = CONFIG_KEYS.iter().find(|row| row.0 == key) {
            let is_script = matches!(*own, "response" | "status");
            if is_script && part.value.as_str().is_some_and(|text| text.trim().starts_with("file://")) {
                // Read separately, because the entry of a target can't refer to files.
                continue;
            }
            if !is_script {
                note_environment(&part.value, &mut environment);
            }
            entry.add(own, part.key_span, escaped(&part.value));
        } else if IDLE_KEYS.contains(&key) {
            idle.push(IdleSetting { key: part.key.clone(), near: None, span: part.key_span });
        } else {
            problems.push(format!("`{key}` in its `config` is not supported here"));
        }
    }
    if id.contains("://") {
        let url = text_node(span, id);
        note_environment(&url, &mut environment);
        entry.add("url", span, escaped(&url));
    }

    let mut variables = MapNode::new(span);
    for ((name, has_default), place) in environment {
        let written = if has_default { format!("${{{{ {name}:- }}}}") } else { format!("${{{{ {name} }}}}") };
        variables.add(&name, place, text_node(place, written));
    }
    entry.add("env", span, variables.finish());
}

/// Returns a value with `${{` escaped, so that it does not become a reference of targets files.
fn escaped(node: &TreeNode) -> TreeNode {
    let data = match &node.data {
        NodeValue::Str(text) => NodeValue::Str(text.replace("${{", "$${{")),
        NodeValue::Seq(items) => NodeValue::Seq(items.iter().map(escaped).collect()),
        NodeValue::Map(entries) => NodeValue::Map(
            entries
                .iter()
                .cloned()
                .map(|mut entry| {
                    entry.value = escaped(&entry.value);
                    entry
                })
                .collect(),
        ),
        other => other.clone(),
    };

    TreeNode { data, ..*node }
}

/// Collects the environment variables that the templates in a value refer to, each with whether there is a
/// default, and the first place.
fn note_environment(node: &TreeNode, into: &mut BTreeMap<(String, bool), Span>) {
    match &node.data {
        NodeValue::Str(text) => note_in_text(text, node.use_span(), into),
        NodeValue::Seq(items) => items.iter().for_each(|item| note_environment(item, into)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| note_environment(&entry.value, into)),
        _ => {}
    }
}

fn note_in_text(text: &str, place: Span, into: &mut BTreeMap<(String, bool), Span>) {
    for template in text.split("{{").skip(1).chain(text.split("{%").skip(1)) {
        let inside = template.split(['}', '%']).next().unwrap_or(template);
        for (at, _) in inside.match_indices("env.") {
            if inside[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.') {
                continue;
            }
            let name: String = inside[at + "env.".len()..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            if !name.is_empty() {
                let has_default = inside.contains("default") || inside.contains(" or ");
                into.entry((name, has_default)).or_insert(place);
            }
        }
    }
}

/// A request written as text: a line with method and path, headers, an empty line, the body.
struct RawRequest {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl RawRequest {
    fn parse(text: &str, config: Option<&TreeNode>) -> Option<Self> {
        let text = text.replace("\r\n", "\n");
        let (head, body) = text.trim_start().split_once("\n\n").unwrap_or((text.trim(), ""));
        let mut lines = head.lines();
        let first = lines.next()?.trim();
        let (method, rest) = first.split_once(' ')?;
        // The path may be a template, which may contain blanks.
        let path = rest.rsplit_once(" HTTP/").map_or(rest, |(path, _)| path).trim();
        let mut headers = Vec::new();
        let mut host = None;
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let (name, value) = line.split_once(':')?;
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            match name.to_ascii_lowercase().as_str() {
                "host" => host = Some(value),
                "content-length" | "connection" | "accept-encoding" => {}
                _ => headers.push((name, value)),
            }
        }

        let url = if path.contains("://") {
            path.to_owned()
        } else {
            let plain = config
                .and_then(|config| config.get("useHttps"))
                .is_some_and(|node| matches!(node.data, NodeValue::Bool(false)));
            format!("{}://{}{path}", if plain { "http" } else { "https" }, host?)
        };
        Some(Self { method: method.to_owned(), url, headers, body: body.trim_end().to_owned() })
    }

    fn add_to(self, entry: &mut MapNode, span: Span, environment: &mut BTreeMap<(String, bool), Span>) {
        let mut headers = MapNode::new(span);
        for (name, value) in self.headers {
            headers.add(&name, span, text_node(span, value));
        }
        let mut parts = vec![
            ("method", text_node(span, self.method)),
            ("url", text_node(span, self.url)),
            ("headers", headers.finish()),
        ];
        if !self.body.is_empty() {
            parts.push(("body", text_node(span, self.body)));
        }
        for (key, value) in parts {
            note_environment(&value, environment);
            entry.add(key, span, escaped(&value));
        }
    }
}
