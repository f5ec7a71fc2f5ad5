//! Navigation in the JSON Schemas that `assize schema` prints: the keys that are allowed at a position, their
//! descriptions, and the values that a key takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

/// Limit of references and alternatives followed within one place; a longer chain would be a cycle.
const MAX_REFERENCE_DEPTH: usize = 24;

static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> =
    LazyLock::new(|| assize_schema::schemas().into_iter().map(|file| (file.name, file.schema)).collect());

/// A place in a schema: every schema that describes it.
#[derive(Clone)]
pub(crate) struct SchemaPlace<'s> {
    document: &'s Value,
    nodes: Vec<&'s Value>,
}

/// A key that is allowed at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaKey {
    pub(crate) name: String,
    /// Description of the key.
    pub(crate) about: String,
    /// Values that the key takes, if they can be listed.
    pub(crate) words: Vec<String>,
    /// True if another spelling is preferred.
    pub(crate) deprecated: bool,
}

/// Scalars of the same map, by their keys.
pub(crate) type SiblingScalars = BTreeMap<String, String>;

impl SchemaPlace<'static> {
    /// Returns the root of a schema.
    pub(crate) fn root(schema: &str) -> Option<Self> {
        let document = SCHEMAS.get(schema)?;
        Some(Self { document, nodes: vec![document] })
    }
}

impl<'s> SchemaPlace<'s> {
    /// Returns the position below a key, for any siblings.
    pub(crate) fn child(&self, key: &str) -> Self {
        let mut nodes = Vec::new();
        for node in self.object_schemas(None) {
            if let Some(found) = node.get("properties").and_then(|all| all.get(key)) {
                nodes.push(found);
            } else if let Some(rest) = node.get("additionalProperties").filter(|rest| rest.is_object()) {
                nodes.push(rest);
            }
        }

        Self { document: self.document, nodes }
    }

    /// Returns the keys allowed in a map at this position that holds these scalars. For a list, these are the keys of
    /// its items.
    pub(crate) fn keys(&self, siblings: &SiblingScalars) -> Vec<SchemaKey> {
        let mut keys: BTreeMap<&str, SchemaKey> = BTreeMap::new();
        let mut order = Vec::new();
        for node in self.object_schemas(Some(siblings)) {
            for (name, schema) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let place = Self { document: self.document, nodes: vec![schema] };
                let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                let known = keys.entry(name).or_insert_with(|| {
                    order.push(name.as_str());
                    SchemaKey {
                        name: name.clone(),
                        about: String::new(),
                        words: Vec::new(),
                        deprecated: true,
                    }
                });

                // The description of the more specific schema wins.
                if !about.is_empty() {
                    about.clone_into(&mut known.about);
                }

                known.deprecated &= schema.get("deprecated") == Some(&Value::Bool(true));

                for word in place.values() {
                    if !known.words.contains(&word) {
                        known.words.push(word);
                    }
                }
            }
        }

        order.into_iter().filter_map(|name| keys.remove(name)).collect()
    }

    /// Returns the values allowed at this place, if they can be listed.
    pub(crate) fn values(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |value: &Value| {
            let word = match value {
                Value::String(word) => word.clone(),
                Value::Bool(word) => word.to_string(),
                _ => return,
            };
            if !words.contains(&word) {
                words.push(word);
            }
        };
        for node in self.expand_all(None) {
            if node.get("deprecated") == Some(&Value::Bool(true)) {
                continue;
            }

            node.get("enum").and_then(Value::as_array).into_iter().flatten().for_each(&mut add);
            node.get("const").into_iter().for_each(&mut add);
            node.get("examples").and_then(Value::as_array).into_iter().flatten().for_each(&mut add);

            let types = node.get("type").map_or(&[][..], |kind| match kind {
                Value::Array(kinds) => kinds.as_slice(),
                one => std::slice::from_ref(one),
            });
            if types.iter().any(|kind| kind == "boolean") {
                add(&Value::Bool(true));
                add(&Value::Bool(false));
            }
        }

        words
    }

    /// Returns the schemas of maps at this position, including maps that are items of lists.
    fn object_schemas(&self, siblings: Option<&SiblingScalars>) -> Vec<&'s Value> {
        let mut found = Vec::new();
        let mut waiting = self.expand_all(siblings);
        let mut deep = 0;
        while !waiting.is_empty() && deep < MAX_REFERENCE_DEPTH {
            deep += 1;
            let items: Vec<&Value> = waiting.iter().filter_map(|node| node.get("items")).collect();
            found.extend(waiting);
            waiting = Self { document: self.document, nodes: items }.expand_all(siblings);
        }

        found
    }

    /// Returns all schemas that apply at this position: references are resolved, alternatives are listed side by side,
    /// and conditions are decided by the siblings if they are known.
    fn expand_all(&self, siblings: Option<&SiblingScalars>) -> Vec<&'s Value> {
        let mut found: Vec<&'s Value> = Vec::new();
        let mut seen = BTreeSet::new();
        for node in &self.nodes {
            self.expand_node(node, siblings, 0, &mut seen, &mut found);
        }

        found
    }

    fn expand_node(
        &self,
        node: &'s Value,
        siblings: Option<&SiblingScalars>,
        depth: usize,
        seen: &mut BTreeSet<&'s str>,
        found: &mut Vec<&'s Value>,
    ) {
        if depth > MAX_REFERENCE_DEPTH {
            return;
        }

        found.push(node);

        if let Some(reference) = node.get("$ref").and_then(Value::as_str)
            && seen.insert(reference)
            && let Some(target) = reference.strip_prefix('#').and_then(|path| self.document.pointer(path))
        {
            self.expand_node(target, siblings, depth + 1, seen, found);
        }

        for list in ["anyOf", "oneOf", "allOf"] {
            for part in node.get(list).and_then(Value::as_array).into_iter().flatten() {
                self.expand_node(part, siblings, depth + 1, seen, found);
            }
        }

        if let Some(condition) = node.get("if") {
            let decided = siblings.map(|siblings| condition_holds(condition, siblings));
            for (branch, when) in [("then", true), ("else", false)] {
                if let Some(part) = node.get(branch).filter(|_| decided.is_none_or(|holds| holds == when)) {
                    self.expand_node(part, siblings, depth + 1, seen, found);
                }
            }
        }
    }
}

/// Returns true if a condition holds for a map, as far as its scalars show.
fn condition_holds(condition: &Value, siblings: &SiblingScalars) -> bool {
    let each = |list: &str| condition.get(list).and_then(Value::as_array);
    if each("anyOf").is_some_and(|list| !list.iter().any(|part| condition_holds(part, siblings)))
        || each("allOf").is_some_and(|list| !list.iter().all(|part| condition_holds(part, siblings)))
        || condition.get("not").is_some_and(|part| condition_holds(part, siblings))
    {
        return false;
    }

    let required = condition.get("required").and_then(Value::as_array).into_iter().flatten();
    if !required.filter_map(Value::as_str).all(|key| siblings.contains_key(key)) {
        return false;
    }

    let properties = condition.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.into_iter().all(|(key, schema)| {
        let Some(value) = siblings.get(key) else { return true };
        let is = |allowed: &Value| allowed.as_str() == Some(value);
        let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|all| all.iter().any(is));
        listed && schema.get("const").is_none_or(is)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schema: &str, path: &[&str], siblings: &[(&str, &str)]) -> Vec<String> {
        let siblings: SiblingScalars =
            siblings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut shape = SchemaPlace::root(schema).expect("known");
        for key in path {
            shape = shape.child(key);
        }
        shape.keys(&siblings).into_iter().map(|key| key.name).collect()
    }

    #[test]
    fn places_know_their_keys() {
        for (schema, path, expected) in [
            ("suite", &[][..], "tests"),
            ("suite", &["tests"], "expected_output"),
            ("suite", &["tests", "rubrics"], "score_ranges"),
            ("suite", &["execution"], "judge"),
            ("rubric-file", &["criteria"], "weight"),
            ("case", &["assertions"], "type"),
            ("scorecard", &["rubrics"], "passing_threshold"),
            ("scorecard", &["rubrics", "benchmarks"], "criticality"),
            ("scorecard-benchmark", &["evaluator_config"], "deterministic"),
            ("targets", &["targets"], "provider"),
            ("config", &[], "judge"),
            ("matrix", &["tests", "assert"], "metric"),
            ("matrix", &["scenarios", "tests", "assert"], "metric"),
            ("matrix", &["assert"], "metric"),
        ] {
            assert!(names(schema, path, &[]).iter().any(|name| name == expected), "{schema} {path:?}");
        }
        assert!(names("suite", &["no", "such"], &[]).is_empty());
    }

    #[test]
    fn what_stands_beside_a_key_decides() {
        let keys_of = |kind: &str| names("suite", &["tests", "assertions"], &[("type", kind)]);
        assert!(keys_of("rubrics").contains(&"criteria".to_owned()), "{:?}", keys_of("rubrics"));
        assert!(!keys_of("contains").contains(&"criteria".to_owned()));
        assert!(keys_of("contains").contains(&"value".to_owned()));
        assert!(keys_of("code-grader").contains(&"command".to_owned()));
    }

    #[test]
    fn words_and_meanings_come_along() {
        let top = SchemaPlace::root("scorecard-benchmark").expect("known");
        let keys = top.keys(&SiblingScalars::new());
        let key = |name: &str| keys.iter().find(|key| key.name == name).expect("known");
        assert_eq!(key("criticality").words, ["hard_gate", "threshold_gate", "improvement_signal"]);
        assert!(keys.iter().all(|key| !key.about.is_empty()), "{keys:?}");
        let gate = SchemaPlace::root("scorecard-rubric").expect("known").child("hard_gate");
        assert_eq!(gate.values(), ["true", "false"]);
        let types = SchemaPlace::root("matrix").expect("known").child("tests").child("assert").child("type");
        for name in ["javascript", "similar", "assert-set", "not-contains"] {
            assert!(types.values().iter().any(|word| word == name), "{name}: {:?}", types.values());
        }
        assert!(!types.values().iter().any(|word| word == "search-rubric"), "what is refused is not offered");
    }

    #[test]
    fn every_schema_can_be_walked() {
        for name in SCHEMAS.keys() {
            let mut waiting = vec![(SchemaPlace::root(name).expect("known"), 0)];
            while let Some((shape, depth)) = waiting.pop() {
                for key in shape.keys(&SiblingScalars::new()) {
                    if depth < 2 {
                        waiting.push((shape.child(&key.name), depth + 1));
                    }
                }
            }
        }
    }
}
