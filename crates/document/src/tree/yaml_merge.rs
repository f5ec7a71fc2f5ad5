//! Merge keys of YAML: `<<: *base`.

use std::collections::HashSet;

use assize_diagnostic::Diagnostic;

use super::{MapEntry, NodeValue, TreeNode};
use crate::codes;
use crate::diagnostic_collector::DiagnosticCollector;

/// Adds the entries of merge keys (`<<: *base`) that the map does not have itself. If several merged maps have
/// a key, the first one wins.
pub(super) fn merge_maps(
    entries: &mut Vec<MapEntry>,
    merged: Vec<TreeNode>,
    problems: &mut DiagnosticCollector,
) {
    if merged.is_empty() {
        return;
    }

    let mut known: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merged {
        let place = node.use_span();
        let maps = match node.data {
            NodeValue::Map(_) => vec![node],
            NodeValue::Seq(items) if items.iter().all(|item| item.as_map().is_some()) => items,
            other => {
                let (place, found) = match &other {
                    NodeValue::Seq(items) => items
                        .iter()
                        .find(|item| item.as_map().is_none())
                        .map_or((place, "a list"), |item| (item.use_span(), item.type_name())),
                    _ => (place, TreeNode::new(place, other).type_name()),
                };

                Diagnostic::error(codes::MERGE_VALUE, "`<<` merges maps only")
                    .at(place, format!("found {found}"))
                    .with_help("write `<<: *anchor`, where the anchor is on a map")
                    .add_to(problems);
                continue;
            }
        };
        for map in maps {
            let NodeValue::Map(given) = map.data else { continue };
            for entry in given {
                if known.insert(entry.key.clone()) {
                    entries.push(entry);
                }
            }
        }
    }
}
