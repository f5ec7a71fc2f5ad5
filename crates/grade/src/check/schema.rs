//! JSON Schema: the keywords that say something about one document (draft 2020-12 and its elders).
//!
//! A keyword that is not known here would be ignored by the standard; here it is refused, because a
//! schema that silently demands less than it says is worse than none.

use assize_evalfile::compile_pattern;
use serde_json::{Map, Value};

use super::arguments::same;

/// Schemas nested in one another, at most; a reference to itself ends here.
const MAX_DEPTH: usize = 64;

const CHECKED: &[&str] = &[
    "$ref",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "contains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords that explain and check nothing; `format` is one of them by the standard's own default.
const REMARKS: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
];

/// Why a schema can't be used; `None` for a sound one.
pub fn schema_problem(schema: &Value) -> Option<String> {
    look_at(schema, schema, "#").err()
}

fn look_at(root: &Value, schema: &Value, at: &str) -> Result<(), String> {
    let Some(map) = schema.as_object() else {
        return if schema.is_boolean() {
            Ok(())
        } else {
            Err(format!("{at} is neither a map nor true or false"))
        };
    };
    for (key, value) in map {
        let here = format!("{at}/{key}");
        match key.as_str() {
            "$ref" => {
                resolve(root, value)?;
            }
            "pattern" => {
                let text = value.as_str().ok_or_else(|| format!("{here} is not a text"))?;
                compile_pattern(text, "u").map_err(|error| format!("{here}: {error}"))?;
            }
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                let parts = value.as_object().ok_or_else(|| format!("{here} is not a map"))?;
                for (name, part) in parts {
                    if key == "patternProperties" {
                        compile_pattern(name, "u").map_err(|error| format!("{here}: {error}"))?;
                    }
                    look_at(root, part, &format!("{here}/{name}"))?;
                }
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let parts = value.as_array().ok_or_else(|| format!("{here} is not a list"))?;
                for (index, part) in parts.iter().enumerate() {
                    look_at(root, part, &format!("{here}/{index}"))?;
                }
            }
            "items" if value.is_array() => {
                for (index, part) in value.as_array().into_iter().flatten().enumerate() {
                    look_at(root, part, &format!("{here}/{index}"))?;
                }
            }
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => {
                look_at(root, value, &here)?;
            }
            key if CHECKED.contains(&key) || REMARKS.contains(&key) || key.starts_with("x-") => {}
            _ => {
                return Err(format!(
                    "{here}: this keyword is not checked here; remove it or use a code grader"
                ));
            }
        }
    }
    Ok(())
}

/// Where a document breaks a schema, a sentence each. The error says why the schema can't be used.
pub(super) fn violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    if let Some(problem) = schema_problem(schema) {
        return Err(format!("the schema can't be used: {problem}"));
    }
    let mut checker = Checker { root: schema, found: Vec::new() };
    checker.check(schema, value, "$", 0)?;
    Ok(checker.found)
}

fn resolve<'a>(root: &'a Value, reference: &Value) -> Result<&'a Value, String> {
    let text = reference.as_str().unwrap_or_default();
    let target = text.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    target.ok_or_else(|| format!("`$ref: {text}` leads nowhere inside the schema"))
}

struct Checker<'a> {
    root: &'a Value,
    found: Vec<String>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("the schema refers to itself without end".to_owned());
        }
        let Some(map) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                self.found.push(format!("{at} must not be there"));
            }
            return Ok(());
        };
        if let Some(reference) = map.get("$ref") {
            self.check(resolve(self.root, reference)?, value, at, depth + 1)?;
        }
        self.plain(map, value, at);
        match value {
            Value::Object(object) => self.object(map, object, at, depth)?,
            Value::Array(items) => self.array(map, items, at, depth)?,
            Value::String(text) => self.text(map, text, at)?,
            Value::Number(number) => self.number(map, number.as_f64().unwrap_or(f64::NAN), at),
            _ => {}
        }
        self.logic(map, value, at, depth)
    }

    /// Whether a value keeps a part of the schema, without a complaint if not.
    fn keeps(&self, schema: &'a Value, value: &Value, depth: usize) -> Result<bool, String> {
        let mut inner = Checker { root: self.root, found: Vec::new() };
        inner.check(schema, value, "$", depth + 1)?;
        Ok(inner.found.is_empty())
    }

    fn plain(&mut self, map: &Map<String, Value>, value: &Value, at: &str) {
        if let Some(types) = map.get("type") {
            let names: Vec<&str> = match types {
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is_of_type(value, name)) {
                self.found.push(format!("{at} is not of type {}", names.join(" or ")));
            }
        }
        if let Some(allowed) = map.get("enum").and_then(Value::as_array)
            && !allowed.iter().any(|one| same(one, value))
        {
            self.found.push(format!("{at} is none of the allowed values"));
        }
        if let Some(wanted) = map.get("const")
            && !same(wanted, value)
        {
            self.found.push(format!("{at} is not {wanted}"));
        }
    }

    fn object(
        &mut self,
        map: &'a Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        for name in
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !object.contains_key(name) {
                self.found.push(format!("{at} has no `{name}`"));
            }
        }
        self.size(map, "Properties", object.len(), at, "members");
        let properties = map.get("properties").and_then(Value::as_object);
        let patterns = map.get("patternProperties").and_then(Value::as_object);
        for (name, member) in object {
            let here = format!("{at}.{name}");
            let mut known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                known = true;
                self.check(schema, member, &here, depth + 1)?;
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if compile_pattern(pattern, "u").map_err(|error| error.to_string())?.is_match(name) {
                    known = true;
                    self.check(schema, member, &here, depth + 1)?;
                }
            }
            match map.get("additionalProperties") {
                Some(Value::Bool(false)) if !known => {
                    self.found.push(format!("{at} has an unknown member `{name}`"));
                }
                Some(schema) if !known => self.check(schema, member, &here, depth + 1)?,
                _ => {}
            }
            if let Some(schema) = map.get("propertyNames")
                && !self.keeps(schema, &Value::String(name.clone()), depth)?
            {
                self.found.push(format!("{at} has a member whose name `{name}` is not allowed"));
            }
        }
        Ok(())
    }

    fn array(
        &mut self,
        map: &'a Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        self.size(map, "Items", items.len(), at, "items");
        let first = map.get("prefixItems").or_else(|| map.get("items").filter(|items| items.is_array()));
        let first: &[Value] = first.and_then(Value::as_array).map_or(&[], Vec::as_slice);
        let rest = map.get("items").filter(|items| !items.is_array());
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.check(schema, item, &format!("{at}[{index}]"), depth + 1)?;
            }
        }
        if let Some(schema) = map.get("contains") {
            let mut any = false;
            for item in items {
                any = any || self.keeps(schema, item, depth)?;
            }
            if !any {
                self.found.push(format!("{at} has no item of the kind it must contain"));
            }
        }
        let twice = |(index, item): (usize, &Value)| items[..index].iter().any(|other| same(other, item));
        if map.get("uniqueItems") == Some(&Value::Bool(true)) && items.iter().enumerate().any(twice) {
            self.found.push(format!("{at} has an item twice"));
        }
        Ok(())
    }

    fn text(&mut self, map: &Map<String, Value>, text: &str, at: &str) -> Result<(), String> {
        self.size(map, "Length", text.chars().count(), at, "characters");
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
            && !compile_pattern(pattern, "u").map_err(|error| error.to_string())?.is_match(text)
        {
            self.found.push(format!("{at} does not match /{pattern}/"));
        }
        Ok(())
    }

    fn number(&mut self, map: &Map<String, Value>, number: f64, at: &str) {
        type Keeps = fn(f64, f64) -> bool;
        let rules: [(&str, Keeps, &str); 5] = [
            ("minimum", |n, limit| n >= limit, "below"),
            ("maximum", |n, limit| n <= limit, "above"),
            ("exclusiveMinimum", |n, limit| n > limit, "not above"),
            ("exclusiveMaximum", |n, limit| n < limit, "not below"),
            (
                "multipleOf",
                |n, step| step > 0.0 && ((n / step).round() * step - n).abs() < 1e-9,
                "no multiple of",
            ),
        ];
        for (key, keeps, word) in rules {
            if let Some(limit) = map.get(key).and_then(Value::as_f64)
                && !keeps(number, limit)
            {
                self.found.push(format!("{at} is {word} {limit}"));
            }
        }
    }

    fn size(&mut self, map: &Map<String, Value>, what: &str, size: usize, at: &str, unit: &str) {
        let limit = |prefix: &str| map.get(&format!("{prefix}{what}")).and_then(Value::as_u64);
        if let Some(least) = limit("min").filter(|least| (size as u64) < *least) {
            self.found.push(format!("{at} has {size} {unit}, fewer than {least}"));
        }
        if let Some(most) = limit("max").filter(|most| size as u64 > *most) {
            self.found.push(format!("{at} has {size} {unit}, more than {most}"));
        }
    }

    fn logic(
        &mut self,
        map: &'a Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        let list = |key: &str| map.get(key).and_then(Value::as_array).map(Vec::as_slice);
        for schema in list("allOf").unwrap_or_default() {
            self.check(schema, value, at, depth + 1)?;
        }
        for (key, one) in [("anyOf", false), ("oneOf", true)] {
            let Some(parts) = list(key) else { continue };
            let mut kept = 0;
            for schema in parts {
                kept += usize::from(self.keeps(schema, value, depth)?);
            }
            if kept == 0 || one && kept > 1 {
                let wanted = if one { "exactly one" } else { "one" };
                self.found.push(format!("{at} fits {kept} of the {} forms, not {wanted}", parts.len()));
            }
        }
        if let Some(schema) = map.get("not")
            && self.keeps(schema, value, depth)?
        {
            self.found.push(format!("{at} has the very form it must not have"));
        }
        if let Some(condition) = map.get("if") {
            let branch = if self.keeps(condition, value, depth)? { "then" } else { "else" };
            if let Some(schema) = map.get(branch) {
                self.check(schema, value, at, depth + 1)?;
            }
        }
        Ok(())
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("integer", Value::Number(number)) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("null", Value::Null) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_are_held_to_their_schema() {
        let schema = json!({
            "type": "object",
            "required": ["id", "lines"],
            "additionalProperties": false,
            "properties": {
                "id": {"type": "string", "pattern": "^A-\\d+$", "maxLength": 6},
                "total": {"type": ["number", "null"], "minimum": 0, "multipleOf": 0.01},
                "lines": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/$defs/line"}},
                "state": {"enum": ["open", "paid"]},
                "who": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "$defs": {"line": {"type": "integer", "exclusiveMinimum": 0}},
        });
        let bad = |value: Value| violations(&schema, &value).unwrap();
        assert!(
            bad(json!({"id": "A-1", "lines": [1, 2], "total": 1.25, "state": "open", "who": 3})).is_empty()
        );
        for (value, word) in [
            (json!([]), "type object"),
            (json!({"lines": [1]}), "no `id`"),
            (json!({"id": "B", "lines": [1]}), "match"),
            (json!({"id": "A-123456", "lines": [1]}), "more than 6"),
            (json!({"id": "A-1", "lines": []}), "fewer than 1"),
            (json!({"id": "A-1", "lines": [0]}), "not above 0"),
            (json!({"id": "A-1", "lines": [1, 1.0]}), "twice"),
            (json!({"id": "A-1", "lines": [1], "total": -1}), "below 0"),
            (json!({"id": "A-1", "lines": [1], "total": 0.001}), "multiple"),
            (json!({"id": "A-1", "lines": [1], "state": "lost"}), "allowed values"),
            (json!({"id": "A-1", "lines": [1], "who": true}), "0 of the 2"),
            (json!({"id": "A-1", "lines": [1], "x": 1}), "unknown member `x`"),
        ] {
            let found = bad(value.clone());
            assert!(found.iter().any(|line| line.contains(word)), "{value}: {found:?}");
        }
    }

    #[test]
    fn an_unusable_schema_is_refused() {
        for schema in [
            json!({"unevaluatedProperties": false}),
            json!({"$ref": "#/nowhere"}),
            json!({"$ref": "https://example.com/a.json"}),
            json!({"pattern": "(?=a)"}),
            json!({"properties": {"a": 5}}),
        ] {
            assert!(schema_problem(&schema).is_some(), "{schema}");
        }
        let endless = json!({"$ref": "#"});
        assert!(violations(&endless, &json!(1)).is_err());
        assert_eq!(schema_problem(&json!(true)), None);
    }
}
