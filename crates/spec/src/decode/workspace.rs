//! `workspace`: the folder a target works in. Checked at its first level and kept as written: what
//! is inside belongs to whoever prepares the folder.

use serde_json::Value;

use super::common::{one_word, unbuilt};
use super::object::wrong_type;
use super::{Context, Object};
use crate::model::Unbuilt;
use crate::tree::{Data, Entry};

/// Reads `workspace` of a suite or case: a map, or the path of a YAML file with such a map.
pub(crate) fn workspace(
    cx: &mut Context,
    object: &mut Object<'_>,
    missing: &mut Vec<Unbuilt>,
) -> Option<Value> {
    let entry = object.entry("workspace").filter(|entry| !entry.value.is_null())?;
    missing.push(unbuilt(cx, "a prepared folder to work in (`workspace`)", entry.key_span));
    check(cx, entry);
    Some(entry.value.to_json())
}

fn check(cx: &mut Context, entry: &Entry) {
    let node = &entry.value;
    match &node.data {
        Data::Str(path) => {
            cx.find(path, node.place());
        }
        Data::Map(_) => {
            let Some(mut object) = Object::new(node, "`workspace`", &mut cx.problems) else { return };
            object.text("template", &mut cx.problems);
            object.text("path", &mut cx.problems);
            if let Some(node) = object.value("isolation") {
                one_word(cx, node, "isolation", &[("shared", ()), ("per_test", ())]);
            }
            if let Some(node) = object.value("mode") {
                one_word(cx, node, "mode", &[("pooled", ()), ("temp", ()), ("static", ())]);
            }
            for key in ["hooks", "docker", "env"] {
                if let Some(node) = object.value(key).filter(|node| node.as_map().is_none()) {
                    cx.problems.add(wrong_type(node, &format!("`{key}`"), "a map"));
                }
            }
            if let Some(node) = object.value("repos") {
                match node.as_seq() {
                    Some(items) => {
                        for item in items.iter().filter(|item| item.as_map().is_none()) {
                            cx.problems.add(wrong_type(item, "a repository of `repos`", "a map"));
                        }
                    }
                    None => cx.problems.add(wrong_type(node, "`repos`", "a list")),
                }
            }
            object.finish(&mut cx.problems);
        }
        _ => cx.problems.add(wrong_type(node, "`workspace`", "a map or the path of a YAML file")),
    }
}
