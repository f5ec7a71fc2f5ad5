//! Builder of an eval file of format 2, the output of all importers.

use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

/// Cases and their common settings, in the spelling of format 2.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvalFileBuilder {
    pub(crate) head: Map<String, Value>,
    pub(crate) cases: Vec<Value>,
    ids: UniqueIds,
}

impl EvalFileBuilder {
    pub(crate) fn with_name(name: &str) -> Self {
        let mut head = Map::new();
        head.insert("name".to_owned(), json!(name));
        Self { head, ..Self::default() }
    }

    /// Creates a builder that holds cases, whose ids differ.
    pub(crate) fn with_cases(head: Map<String, Value>, cases: Vec<Value>) -> Self {
        Self { head, cases, ..Self::default() }
    }

    /// Returns a case id that is not taken yet.
    pub(crate) fn unique_id(&mut self, wish: &str) -> String {
        self.ids.take(wish)
    }

    /// Returns the document as one value, as people would write it: a threshold of all cases once, whole numbers as such, and no
    /// defaults.
    pub(crate) fn into_value(mut self) -> Value {
        self.share_threshold();
        let mut map = self.head;
        map.insert("tests".to_owned(), Value::Array(self.cases));
        let mut value = Value::Object(map);
        simplify_settings(&mut value);

        value
    }

    /// Makes a threshold that all cases have one of the suite.
    fn share_threshold(&mut self) {
        let Some(threshold) = self.cases.first().and_then(|case| case.get("threshold")).cloned() else {
            return;
        };
        let is_shared = self.cases.iter().all(|case| case.get("threshold") == Some(&threshold));
        let has_own = ["threshold", "execution"].iter().any(|key| {
            self.head.get(*key).is_some_and(|value| !value.is_object() || value.get("threshold").is_some())
        });
        if self.cases.len() < 2 || !is_shared || has_own {
            return;
        }

        for case in self.cases.iter_mut().filter_map(Value::as_object_mut) {
            case.remove("threshold");
        }
        let execution = self.head.entry("execution").or_insert_with(|| json!({}));
        execution["threshold"] = threshold;
    }
}

/// Settings that are numbers, written without a fraction where they have none.
const NUMBERS: [&str; 5] = ["weight", "threshold", "borderline", "min_score", "budget"];
/// Keys whose values are the user's own data.
const USER_DATA: [&str; 9] =
    ["vars", "metadata", "input", "output", "expected_output", "schema", "config", "value", "default"];

/// Writes settings as people do: whole numbers as such, and no defaults of criteria and graders of the `tests` format.
pub(crate) fn simplify_settings(value: &mut Value) {
    let map = match value {
        Value::Array(items) => return items.iter_mut().for_each(simplify_settings),
        Value::Object(map) => map,
        _ => return,
    };

    let is_criterion = map.contains_key("outcome");
    if is_criterion || map.contains_key("type") {
        let has_minimum = map.contains_key("min_score");
        map.retain(|key, value| match key.as_str() {
            "weight" => value.as_f64() != Some(1.0),
            "negate" => value != false,
            // It disables the gate of a minimum.
            "required" => value != false || has_minimum,
            _ => true,
        });
    }

    for (key, inner) in map.iter_mut() {
        // Of a criterion, `min_score: 1` is ambiguous.
        let is_ambiguous = is_criterion && key == "min_score";
        if NUMBERS.contains(&key.as_str()) && !is_ambiguous {
            let whole = inner.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
            if let Some(whole) = whole {
                *inner = json!(whole as i64);
            }
        }
        if !USER_DATA.contains(&key.as_str()) {
            simplify_settings(inner);
        }
    }
}

/// Returns the first words of a text as an id.
pub(crate) fn slug(text: &str, words: usize) -> String {
    let parts: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .take(words)
        .collect();
    parts.join("-").chars().take(60).collect()
}

/// Returns true if a text contains template markers, which must be escaped: templates are filled in when an
/// eval file is read.
pub(crate) fn has_template(text: &str) -> bool {
    text.contains("{{") || text.contains("${{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_people_do() {
        let criteria = json!([
            {"id": "a", "outcome": "A", "weight": 1.0, "required": false},
            {"id": "b", "outcome": "B", "weight": 2.0, "min_score": 1.0, "required": false},
        ]);
        let grader =
            json!({"type": "latency", "threshold": 3000.0, "weight": 1.0, "negate": false, "min_score": 1.0});
        let data = json!({"weight": 1.0, "list": [{"type": "x", "weight": 1.0}]});
        let case = |threshold: f64| json!({"id": "c", "vars": data, "threshold": threshold, "assertions": [grader, {"type": "rubrics", "criteria": criteria}]});
        let written =
            |cases: Vec<Value>| EvalFileBuilder { cases, ..EvalFileBuilder::with_name("n") }.into_value();

        let shared = written(vec![case(0.0), case(0.0)]);
        assert_eq!(shared["execution"], json!({"threshold": 0}));
        assert_eq!(shared["tests"][1].get("threshold"), None);
        assert_eq!(
            shared["tests"][0]["assertions"],
            json!([
                {"type": "latency", "threshold": 3000, "min_score": 1},
                {"type": "rubrics", "criteria": [
                    {"id": "a", "outcome": "A"},
                    {"id": "b", "outcome": "B", "weight": 2, "min_score": 1.0, "required": false},
                ]},
            ])
        );
        assert_eq!(shared["tests"][0]["vars"], data, "the user's own data stay");

        let differing = written(vec![case(0.0), case(0.5)]);
        assert_eq!((&differing["tests"][0]["threshold"], differing.get("execution")), (&json!(0), None));
    }
}
