//! Builders of schemas: values, and maps with their keys.

use serde_json::{Map, Value, json};

/// Schema of a value.
#[derive(Debug, Clone)]
pub(super) struct ValueSchema(pub(super) Value);

impl ValueSchema {
    /// Adds a keyword.
    pub(super) fn with_keyword(mut self, keyword: &str, value: Value) -> Self {
        if let Value::Object(map) = &mut self.0 {
            map.insert(keyword.to_owned(), value);
        }
        self
    }

    /// Also accepts null.
    fn or_null(self) -> Self {
        match self.0.get("type") {
            // An `enum` rejects null, whatever its type.
            Some(Value::String(kind)) if self.0.get("enum").is_none() => {
                let kinds = json!([kind, "null"]);
                self.with_keyword("type", kinds)
            }
            _ => any_of([self, ValueSchema(json!({ "type": "null" }))]),
        }
    }
}

/// Returns the shape of any value.
pub(super) fn anything() -> ValueSchema {
    ValueSchema(json!({}))
}

/// Returns the shape of a text, which may be empty.
pub(super) fn string() -> ValueSchema {
    ValueSchema(json!({ "type": "string" }))
}

/// Returns the shape of a text that is not blank.
pub(super) fn text() -> ValueSchema {
    ValueSchema(json!({ "type": "string", "pattern": "\\S" }))
}

/// Returns the shape of a text that is not empty, but may be blank.
pub(super) fn filled() -> ValueSchema {
    string().with_keyword("minLength", json!(1))
}

/// Returns the shape of a boolean.
pub(super) fn boolean() -> ValueSchema {
    ValueSchema(json!({ "type": "boolean" }))
}

/// Returns the shape of a number.
pub(super) fn number() -> ValueSchema {
    ValueSchema(json!({ "type": "number" }))
}

/// Returns the shape of a number of `low` or more.
pub(super) fn at_least(low: f64) -> ValueSchema {
    number().with_keyword("minimum", json!(low))
}

/// Returns the shape of a number above `low`.
pub(super) fn above(low: f64) -> ValueSchema {
    number().with_keyword("exclusiveMinimum", json!(low))
}

/// Returns the shape of a number from 0 to 1.
pub(super) fn unit() -> ValueSchema {
    at_least(0.0).with_keyword("maximum", json!(1.0))
}

/// Returns the shape of an integer from `low`, without an upper bound.
pub(super) fn count(low: i64) -> ValueSchema {
    ValueSchema(json!({ "type": "integer", "minimum": low }))
}

/// Returns the shape of an integer from `low` to `high`.
pub(super) fn integer(low: i64, high: i64) -> ValueSchema {
    count(low).with_keyword("maximum", json!(high))
}

/// Returns the shape of a map of arbitrary data.
pub(super) fn any_map() -> ValueSchema {
    ValueSchema(json!({ "type": "object" }))
}

/// Returns the shape of one of several words. Decoders treat `-` and `_` as equal, so both are included.
pub(super) fn word(words: &[&str]) -> ValueSchema {
    let twins: Vec<String> = words.iter().filter_map(|word| other_spelling(word)).collect();
    let listed = ValueSchema(json!({ "enum": words }));
    if twins.is_empty() {
        return listed;
    }

    any_of([listed, ValueSchema(json!({ "enum": twins, "deprecated": true }))])
}

/// Returns the spelling of a word with the other separator.
pub(super) fn other_spelling(word: &str) -> Option<String> {
    match (word.contains('-'), word.contains('_')) {
        (true, _) => Some(word.replace('-', "_")),
        (_, true) => Some(word.replace('_', "-")),
        _ => None,
    }
}

/// Returns the shape of a non-empty list.
pub(super) fn list(item: ValueSchema) -> ValueSchema {
    ValueSchema(json!({ "type": "array", "items": item.0, "minItems": 1 }))
}

/// Returns the shape of a list, which may be empty.
pub(super) fn list_or_none(item: ValueSchema) -> ValueSchema {
    ValueSchema(json!({ "type": "array", "items": item.0 }))
}

/// Returns the shape of a list of texts, or one text.
pub(super) fn texts() -> ValueSchema {
    any_of([string(), list_or_none(string())])
}

/// Returns the shape of a map from names to values of one shape.
pub(super) fn map_of(value: ValueSchema) -> ValueSchema {
    ValueSchema(json!({ "type": "object", "additionalProperties": value.0 }))
}

/// Returns the shape of a value of any of several shapes.
pub(super) fn any_of<const N: usize>(shapes: [ValueSchema; N]) -> ValueSchema {
    ValueSchema(json!({ "anyOf": Vec::from(shapes.map(|shape| shape.0)) }))
}

/// Returns a reference to the shape of a name.
pub(super) fn reference(name: &str) -> ValueSchema {
    ValueSchema(json!({ "$ref": format!("#/$defs/{name}") }))
}

/// Schema of a map with known keys.
#[derive(Debug, Clone)]
pub(super) struct MapSchema {
    /// Decoder's name for the map.
    pub(super) what: &'static str,
    about: &'static str,
    /// Keys and their shapes.
    pub(super) properties: Map<String, Value>,
    needed: Vec<&'static str>,
    rules: Vec<Value>,
    open: bool,
}

impl MapSchema {
    /// Creates the schema of a map with the decoder's name `what` and the description `about`.
    pub(super) fn new(what: &'static str, about: &'static str) -> Self {
        Self { what, about, properties: Map::new(), needed: Vec::new(), rules: Vec::new(), open: false }
    }

    fn insert(&mut self, name: &str, shape: ValueSchema, about: &str) {
        let described = shape.with_keyword("description", json!(about));
        self.properties.insert(name.to_owned(), described.0);
    }

    /// Adds an optional key, which may be empty.
    pub(super) fn optional_key(mut self, name: &'static str, shape: ValueSchema, about: &str) -> Self {
        self.insert(name, shape.or_null(), about);
        self
    }

    /// Adds an optional key, which must not be empty.
    pub(super) fn non_null_key(mut self, name: &'static str, shape: ValueSchema, about: &str) -> Self {
        self.insert(name, shape, about);
        self
    }

    /// Adds a required key.
    pub(super) fn required_key(mut self, name: &'static str, shape: ValueSchema, about: &str) -> Self {
        self.insert(name, shape, about);
        self.needed.push(name);
        self
    }

    /// Adds an alternative spelling of a key, which is accepted but not suggested.
    pub(super) fn older_key(mut self, name: &str, present: &str) -> Self {
        let shape = self.properties.get(present).cloned().unwrap_or_else(|| json!({}));
        let shape = ValueSchema(shape).with_keyword("deprecated", json!(true));
        self.insert(name, shape, &format!("Another spelling of `{present}`."));
        self
    }

    /// Adds an optional key in camelCase, which is also accepted in snake_case.
    pub(super) fn camel_key(self, name: &'static str, shape: ValueSchema, about: &str) -> Self {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        self.optional_key(name, shape, about).older_key(&snake, name)
    }

    /// Requires at least one of these keys.
    pub(super) fn one_of(mut self, keys: &[&str]) -> Self {
        let ways: Vec<Value> = keys.iter().map(|key| json!({ "required": [key] })).collect();
        self.rules.push(json!({ "anyOf": ways }));
        self
    }

    /// Forbids any two of these keys together.
    pub(super) fn not_both(mut self, keys: &[&str]) -> Self {
        for (at, first) in keys.iter().enumerate() {
            for second in &keys[at + 1..] {
                self.rules.push(json!({ "not": { "required": [first, second] } }));
            }
        }
        self
    }

    /// Adds a rule.
    pub(super) fn rule(mut self, rule: Value) -> Self {
        self.rules.push(rule);
        self
    }

    /// Accepts keys that are not listed.
    pub(super) fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Adds all keys of `other`.
    pub(super) fn merge(mut self, other: &Self) -> Self {
        self.properties.extend(other.properties.clone());
        self.rules.extend(other.rules.clone());
        self
    }

    /// Returns the map as a schema.
    pub(super) fn to_schema(&self) -> ValueSchema {
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

        ValueSchema(Value::Object(schema))
    }
}
