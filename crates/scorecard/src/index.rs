//! Decoder of the index: components and their named sets of weights.

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::{DecodeContext, missing_key};
use assize_rubric::{UnitInterval, composed_name};

use super::draft::{IndexDraft, ScorecardDraft, WeightSetDraft};
use super::rubric::{DEFAULT_THRESHOLD, decode_children, decode_scorecard_rubric};
use super::shared::{decode_aggregation, decode_code, decode_node_weight, decode_threshold, warn_of_default};

/// Name of the weight set of an index that has a single one without a name.
const DEFAULT_SET_NAME: &str = "default";

/// Decodes an index. `components` are codes or inline rubrics; weights are under `weights` (one set) or
/// `weight_sets` (several; `weight_set` names the active one, by default the first).
pub(super) fn decode_index(cx: &mut DecodeContext, node: &TreeNode, draft: &mut ScorecardDraft) {
    let what = "an index";
    let Some(mut object) = MapReader::new(node, what, &mut cx.problems) else { return };
    object.entry("$schema");

    let code = decode_code(cx, &mut object, what);
    let label = object.string("label", &mut cx.problems);
    let description = object.string("description", &mut cx.problems);
    let method = decode_aggregation(cx, &mut object).unwrap_or_default();

    if object.value("passing_threshold").is_none() {
        warn_of_default(cx, object.head(), what, "passing_threshold", "0.80");
    }

    let line = decode_threshold(cx, &mut object, "passing_threshold");
    let head = object.head();
    let entry = object.entry("components");
    if entry.is_none() {
        cx.problems.add(missing_key(head, what, "components", "components: [A, S]"));
    }

    let components = decode_children(cx, entry, draft, decode_scorecard_rubric).unwrap_or_default();
    let mut sets = Vec::new();
    if let Some(entry) = object.first_of(&["weight_sets", "weights"], &mut cx.problems) {
        decode_weight_sets(cx, entry, &mut sets);
    } else {
        cx.problems.add(missing_key(head, what, "weights", "weights: {A: 0.6, S: 0.4}"));
    }

    let active = object.text("weight_set", &mut cx.problems);
    let optional = object.boolean("optional", &mut cx.problems).is_some_and(|flag| flag.value);
    object.finish(&mut cx.problems);

    let Some(code) = code else { return };
    draft.indexes.push(IndexDraft {
        code,
        label: label.map(|label| label.value),
        description: description.map(|text| text.value),
        aggregation: method,
        threshold: line
            .map(|line| line.value)
            .or(UnitInterval::new(DEFAULT_THRESHOLD).ok())
            .unwrap_or(UnitInterval::ONE),
        optional,
        components,
        sets,
        active,
    });
}

fn decode_weight_sets(cx: &mut DecodeContext, entry: &MapEntry, sets: &mut Vec<WeightSetDraft>) {
    let Some(entries) = entry.value.as_map() else {
        cx.problems.add(wrong_type(&entry.value, &format!("`{}`", entry.key), "a map"));
        return;
    };
    if entries.is_empty() {
        Diagnostic::error(codes::BAD_WEIGHT_SET, "there are no weights")
            .at(entry.key_span, "an empty map")
            .with_help("give each component a weight: `{A: 0.6, S: 0.4}`")
            .add_to(&mut cx.problems);
    }

    if entries.iter().all(|entry| matches!(entry.value.data, NodeValue::Map(_))) {
        for set in entries {
            let weights = decode_set_weights(cx, set.value.as_map().unwrap_or_default());
            sets.push(WeightSetDraft { name: composed_name(set.key.clone()), span: set.key_span, weights });
        }
    } else {
        let weights = decode_set_weights(cx, entries);
        sets.push(WeightSetDraft { name: DEFAULT_SET_NAME.to_owned(), span: entry.key_span, weights });
    }
}

fn decode_set_weights(
    cx: &mut DecodeContext,
    entries: &[MapEntry],
) -> Vec<(SpannedValue<String>, assize_rubric::Weight)> {
    let named = |entry: &MapEntry| {
        let weight = decode_node_weight(cx, &entry.value, "weight")?;
        Some((SpannedValue::new(composed_name(entry.key.clone()), entry.key_span), weight))
    };
    entries.iter().filter_map(named).collect()
}

/// Returns true if a map looks like an index.
pub(super) fn looks_like_index(node: &TreeNode) -> bool {
    node.get("components").is_some()
}
