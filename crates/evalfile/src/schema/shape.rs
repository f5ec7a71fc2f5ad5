//! The words in which schemas are written down: values, and maps with their keys.

use serde_json::{Map, Value, json};

/// The shape of a value: a JSON Schema.
#[derive(Debug, Clone)]
pub(super) struct Shape(pub(super) Value);

impl Shape {
    /// The shape with one more keyword.
    pub(super) fn with(mut self, keyword: &str, value: Value) -> Self {
        if let Value::Object(map) = &mut self.0 {
            map.insert(keyword.to_owned(), value);
        }
        self
    }

    /// The shape or nothing at all.
    fn or_null(self) -> Self {
        match self.0.get("type") {
            // What is listed one by one is refused by its list, whatever its type.
            Some(Value::String(kind)) if self.0.get("enum").is_none() => {
                let kinds = json!([kind, "null"]);
                self.with("type", kinds)
            }
            _ => any_of([self, Shape(json!({ "type": "null" }))]),
        }
    }
}

/// Any value.
pub(super) fn anything() -> Shape {
    Shape(json!({}))
}

/// A text, which may be empty.
pub(super) fn string() -> Shape {
    Shape(json!({ "type": "string" }))
}

/// A text with something in it.
pub(super) fn text() -> Shape {
    Shape(json!({ "type": "string", "pattern": "\\S" }))
}

/// True or false.
pub(super) fn boolean() -> Shape {
    Shape(json!({ "type": "boolean" }))
}

/// A number.
pub(super) fn number() -> Shape {
    Shape(json!({ "type": "number" }))
}

/// A number, `low` or more.
pub(super) fn at_least(low: f64) -> Shape {
    number().with("minimum", json!(low))
}

/// A number above `low`.
pub(super) fn above(low: f64) -> Shape {
    number().with("exclusiveMinimum", json!(low))
}

/// A number from 0 to 1.
pub(super) fn unit() -> Shape {
    at_least(0.0).with("maximum", json!(1.0))
}

/// A whole number from `low`, with no end worth telling.
pub(super) fn count(low: i64) -> Shape {
    Shape(json!({ "type": "integer", "minimum": low }))
}

/// A whole number from `low` to `high`.
pub(super) fn whole(low: i64, high: i64) -> Shape {
    count(low).with("maximum", json!(high))
}

/// A map that is kept as it is.
pub(super) fn free() -> Shape {
    Shape(json!({ "type": "object" }))
}

/// One of several words. Readers take `-` for `_` and the other way round, so both are there.
pub(super) fn word(words: &[&str]) -> Shape {
    let twins: Vec<String> = words.iter().filter_map(|word| twin(word)).collect();
    let listed = Shape(json!({ "enum": words }));
    if twins.is_empty() {
        return listed;
    }
    any_of([listed, Shape(json!({ "enum": twins, "deprecated": true }))])
}

/// The spelling of a word with the other kind of joint.
pub(super) fn twin(word: &str) -> Option<String> {
    match (word.contains('-'), word.contains('_')) {
        (true, _) => Some(word.replace('-', "_")),
        (_, true) => Some(word.replace('_', "-")),
        _ => None,
    }
}

/// A list of at least one.
pub(super) fn list(of: Shape) -> Shape {
    Shape(json!({ "type": "array", "items": of.0, "minItems": 1 }))
}

/// A list, which may be empty.
pub(super) fn list_or_none(of: Shape) -> Shape {
    Shape(json!({ "type": "array", "items": of.0 }))
}

/// A list of texts, or one text.
pub(super) fn texts() -> Shape {
    any_of([string(), list_or_none(string())])
}

/// A map from names to values of one shape.
pub(super) fn map_of(of: Shape) -> Shape {
    Shape(json!({ "type": "object", "additionalProperties": of.0 }))
}

/// A value of any of several shapes.
pub(super) fn any_of<const N: usize>(shapes: [Shape; N]) -> Shape {
    Shape(json!({ "anyOf": Vec::from(shapes.map(|shape| shape.0)) }))
}

/// The shape of that name.
pub(super) fn like(name: &str) -> Shape {
    Shape(json!({ "$ref": format!("#/$defs/{name}") }))
}

/// A map with known keys.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    /// What its reader calls it.
    pub(super) what: &'static str,
    about: &'static str,
    /// The keys and their shapes.
    pub(super) properties: Map<String, Value>,
    needed: Vec<&'static str>,
    rules: Vec<Value>,
    open: bool,
}

impl Keys {
    /// A map that its reader calls `what`, and what it is about.
    pub(super) fn of(what: &'static str, about: &'static str) -> Self {
        Self { what, about, properties: Map::new(), needed: Vec::new(), rules: Vec::new(), open: false }
    }

    fn put(&mut self, name: &str, shape: Shape, about: &str) {
        let described = shape.with("description", json!(about));
        self.properties.insert(name.to_owned(), described.0);
    }

    /// A key that may be left out, or left empty.
    pub(super) fn key(mut self, name: &'static str, shape: Shape, about: &str) -> Self {
        self.put(name, shape.or_null(), about);
        self
    }

    /// A key that may be left out but not left empty.
    pub(super) fn filled(mut self, name: &'static str, shape: Shape, about: &str) -> Self {
        self.put(name, shape, about);
        self
    }

    /// A key that must be there.
    pub(super) fn needed(mut self, name: &'static str, shape: Shape, about: &str) -> Self {
        self.put(name, shape, about);
        self.needed.push(name);
        self
    }

    /// Another spelling of a key: read, and not offered.
    pub(super) fn older(mut self, name: &'static str, present: &str) -> Self {
        let shape = self.properties.get(present).cloned().unwrap_or_else(|| json!({}));
        let shape = Shape(shape).with("deprecated", json!(true));
        self.put(name, shape, &format!("Another spelling of `{present}`."));
        self
    }

    /// At least one of these keys must be there.
    pub(super) fn one_of(mut self, keys: &[&str]) -> Self {
        let ways: Vec<Value> = keys.iter().map(|key| json!({ "required": [key] })).collect();
        self.rules.push(json!({ "anyOf": ways }));
        self
    }

    /// Not two of these keys at once.
    pub(super) fn not_both(mut self, keys: &[&str]) -> Self {
        for (at, first) in keys.iter().enumerate() {
            for second in &keys[at + 1..] {
                self.rules.push(json!({ "not": { "required": [first, second] } }));
            }
        }
        self
    }

    /// A rule of its own.
    pub(super) fn rule(mut self, rule: Value) -> Self {
        self.rules.push(rule);
        self
    }

    /// Keys that are not listed belong to somebody else.
    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// All keys that `other` has.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.properties.extend(other.properties.clone());
        self.rules.extend(other.rules.clone());
        self
    }

    /// The map as a schema.
    pub(super) fn shape(&self) -> Shape {
        let mut schema = Map::new();
        schema.insert("title".to_owned(), json!(self.what));
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("description".to_owned(), json!(self.about));
        schema.insert("properties".to_owned(), Value::Object(self.properties.clone()));
        if !self.open {
            schema.insert("patternProperties".to_owned(), json!({ "^x-": {} }));
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
        if !self.needed.is_empty() {
            schema.insert("required".to_owned(), json!(self.needed));
        }
        if !self.rules.is_empty() {
            schema.insert("allOf".to_owned(), Value::Array(self.rules.clone()));
        }
        Shape(Value::Object(schema))
    }
}
