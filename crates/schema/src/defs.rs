//! Schema definitions by name, and the document of each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::shape::{MapSchema, ValueSchema};

/// All definitions by name.
#[derive(Debug, Default)]
pub(super) struct SchemaDefinitions {
    pub(super) shapes: BTreeMap<&'static str, Value>,
    /// Definitions of maps, each with the decoder's name for it.
    pub(super) maps: Vec<(&'static str, MapSchema)>,
}

impl SchemaDefinitions {
    /// Adds a shape.
    pub(super) fn add_shape(&mut self, name: &'static str, shape: ValueSchema) {
        self.shapes.insert(name, shape.0);
    }

    /// Adds a map.
    pub(super) fn add_keys(&mut self, name: &'static str, keys: MapSchema) {
        self.add_shape(name, keys.to_schema());
        self.maps.push((name, keys));
    }

    /// Returns a document with one definition at its root, and the definitions it refers to, directly or not.
    pub(super) fn build_document(&self, name: &str, title: &str) -> Value {
        let mut reached = BTreeSet::new();
        let mut ways: Vec<&str> = vec![name];
        while let Some(at) = ways.pop() {
            if let Some((known, shape)) = self.shapes.get_key_value(at)
                && reached.insert(*known)
            {
                collect_references(shape, &mut ways);
            }
        }

        let beside: Map<String, Value> =
            reached.iter().map(|name| ((*name).to_owned(), self.shapes[name].clone())).collect();
        json!({
            "$schema": DIALECT,
            "$id": format!("urn:assize:schema:{name}"),
            "title": title,
            "$ref": format!("#/$defs/{name}"),
            "$defs": beside,
        })
    }
}

/// The dialect of all schemas.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Collects the names that a schema refers to.
fn collect_references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => found.push(name),
                    _ => collect_references(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}
