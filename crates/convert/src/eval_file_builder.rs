//! Builder of an eval file in the `tests` format, which all importers write.

use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

/// Cases and their common settings, in the spelling of the `tests` format.
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

    /// Creates a builder with cases, whose ids must be unique.
    pub(crate) fn with_cases(head: Map<String, Value>, cases: Vec<Value>) -> Self {
        Self { head, cases, ..Self::default() }
    }

    /// Returns a case id that is not taken yet.
    pub(crate) fn unique_id(&mut self, wanted: &str) -> String {
        self.ids.take(wanted)
    }

    /// Returns the document as a single value, as people would write it: a threshold that all cases share is
    /// written once, whole numbers have no fraction, and defaults are omitted.
    pub(crate) fn into_value(mut self) -> Value {
        self.share_threshold();
        let mut map = self.head;
        map.insert("tests".to_owned(), Value::Array(self.cases));
        let mut value = Value::Object(map);
        simplify_settings(&mut value);

        value
    }

    /// If all cases have the same threshold, moves it to the suite.
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

/// Settings that are numbers. Whole numbers are written without a fraction.
const NUMERIC_SETTINGS: [&str; 5] = ["weight", "threshold", "borderline", "min_score", "budget"];
/// Keys whose values are the user's own data.
const USER_DATA: [&str; 9] =
    ["vars", "metadata", "input", "output", "expected_output", "schema", "config", "value", "default"];

/// Writes settings as people do: whole numbers without a fraction, and without the defaults that the `tests`
/// format has for criteria and graders.
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
            // `required: false` disables the gate that a minimum implies.
            "required" => value != false || has_minimum,
            _ => true,
        });
    }

    for (key, inner) in map.iter_mut() {
        // `min_score: 1` of a criterion is ambiguous, and must keep its fraction.
        let is_ambiguous = is_criterion && key == "min_score";
        if NUMERIC_SETTINGS.contains(&key.as_str()) && !is_ambiguous {
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

/// Returns true if a text contains template markers. They must be escaped, because templates are filled in when
/// an eval file is read.
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
