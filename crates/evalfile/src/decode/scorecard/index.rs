//! Decoder of the index: components and their named sets of weights.

use assize_diagnostic::{Diagnostic, Spanned};
use assize_rubric::Unit;

use super::draft::{Draft, IndexDraft, WeightSetDraft};
use super::rubric::{DEFAULT_LINE, list, rubric};
use super::words::{aggregation, code, default_taken, missing, threshold, weight_of};
use crate::codes;
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::tree::{Data, Entry, Node};

/// Name of the only weight set of an index that does not name it.
const ONLY_SET: &str = "default";

/// Decodes an index. `components` are codes or inline rubrics; weights are under `weights` (one set) or
/// `weight_sets` (several; `weight_set` names the active one, by default the first).
pub(super) fn index(cx: &mut Context, node: &Node, draft: &mut Draft) {
    let what = "an index";
    let Some(mut object) = Object::new(node, what, &mut cx.problems) else { return };
    object.entry("$schema");
    let code = code(cx, &mut object, what);
    let label = object.string("label", &mut cx.problems);
    let description = object.string("description", &mut cx.problems);
    let method = aggregation(cx, &mut object).unwrap_or_default();
    if object.value("passing_threshold").is_none() {
        default_taken(cx, object.head(), what, "passing_threshold", "0.80");
    }
    let line = threshold(cx, &mut object, "passing_threshold");
    let head = object.head();
    let entry = object.entry("components");
    if entry.is_none() {
        cx.problems.add(missing(head, what, "components", "components: [A, S]"));
    }
    let components = list(cx, entry, draft, rubric).unwrap_or_default();
    let mut sets = Vec::new();
    if let Some(entry) = object.one_of(&["weight_sets", "weights"], &mut cx.problems) {
        sets_of(cx, entry, &mut sets);
    } else {
        cx.problems.add(missing(head, what, "weights", "weights: {A: 0.6, S: 0.4}"));
    }
    let active = object.text("weight_set", &mut cx.problems);
    object.finish(&mut cx.problems);
    let Some(code) = code else { return };
    draft.indexes.push(IndexDraft {
        code,
        label: label.map(|label| label.value),
        description: description.map(|text| text.value),
        aggregation: method,
        threshold: line.map(|line| line.value).or(Unit::new(DEFAULT_LINE).ok()).unwrap_or(Unit::ONE),
        components,
        sets,
        active,
    });
}

fn sets_of(cx: &mut Context, entry: &Entry, sets: &mut Vec<WeightSetDraft>) {
    let Some(entries) = entry.value.as_map() else {
        cx.problems.add(wrong_type(&entry.value, &format!("`{}`", entry.key), "a map"));
        return;
    };
    if entries.is_empty() {
        cx.problems.add(
            Diagnostic::error(codes::BAD_WEIGHT_SET, "there are no weights", entry.key_span, "an empty map")
                .with_help("give each component a weight: `{A: 0.6, S: 0.4}`"),
        );
    }
    if entries.iter().all(|entry| matches!(entry.value.data, Data::Map(_))) {
        for set in entries {
            let weights = weights(cx, set.value.as_map().unwrap_or_default());
            sets.push(WeightSetDraft { name: set.key.clone(), span: set.key_span, weights });
        }
    } else {
        let weights = weights(cx, entries);
        sets.push(WeightSetDraft { name: ONLY_SET.to_owned(), span: entry.key_span, weights });
    }
}

fn weights(cx: &mut Context, entries: &[Entry]) -> Vec<(Spanned<String>, assize_rubric::Weight)> {
    let mut found = Vec::new();
    for entry in entries {
        if let Some(weight) = weight_of(cx, &entry.value, "weight") {
            found.push((Spanned::new(entry.key.clone(), entry.key_span), weight));
        }
    }
    found
}

/// Returns true if a map looks like an index.
pub(super) fn looks_like_index(node: &Node) -> bool {
    node.get("components").is_some()
}
