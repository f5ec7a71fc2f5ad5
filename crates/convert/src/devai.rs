//! DevAI tasks: a request to a coding agent, with requirements that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::note::ConversionNotes;
use crate::tree::{RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};

/// Reads tasks from JSON objects, given with their line numbers. Each task becomes a rubric, and each
/// requirement a criterion.
pub(crate) fn read_tasks(
    lines: &[(usize, Value)],
    name: &str,
    notes: &mut ConversionNotes,
) -> RequirementTree {
    let mut root = RequirementBranch::new("tasks", name, 1.0);
    for (line, task) in lines {
        let title =
            task.get("name").and_then(Value::as_str).map_or_else(|| format!("line-{line}"), str::to_owned);
        let requirements = task.get("requirements").and_then(Value::as_array);
        let Some(requirements) = requirements.filter(|items| !items.is_empty()) else {
            notes.add_loss(*line, format!("task `{title}`"), "skipped: it has no requirements");
            continue;
        };
        let mut branch = RequirementBranch::new(title.clone(), title.clone(), 1.0);
        branch.line = Some(*line);
        branch.input = task.get("query").and_then(Value::as_str).map(str::to_owned);
        note_cycles(requirements, *line, &title, notes);

        for (index, requirement) in requirements.iter().enumerate() {
            let id = requirement.get("requirement_id").map_or_else(|| index.to_string(), number_or_text);
            let Some(text) = requirement.get("criteria").and_then(Value::as_str) else {
                notes.add_loss(*line, format!("requirement {id} of `{title}`"), "skipped: it has no text");
                continue;
            };
            let mut leaf = RequirementLeaf::new(format!("r{id}"), text, 1.0);
            leaf.category = requirement.get("category").and_then(Value::as_str).map(str::to_owned);

            let before = requirement.get("prerequisites").and_then(Value::as_array);
            leaf.prerequisites =
                before.into_iter().flatten().map(|value| format!("r{}", number_or_text(value))).collect();

            if !leaf.prerequisites.is_empty() {
                notes.add_loss(
                    *line,
                    format!("requirement {id} of `{title}`"),
                    format!(
                        "counts only if {} hold: kept as `x-prerequisites`, not enforced",
                        leaf.prerequisites.join(", ")
                    ),
                );
            }

            branch.parts.push(RequirementNode::Leaf(leaf));
        }

        if let Some(preferences) =
            task.get("preferences").and_then(Value::as_array).filter(|list| !list.is_empty())
        {
            notes.add_loss(
                *line,
                format!("task `{title}`"),
                format!("{} preferences are not judged and were skipped", preferences.len()),
            );
        }

        root.parts.push(RequirementNode::Branch(branch));
    }

    RequirementTree { name: name.to_owned(), root, graded: 0 }
}

fn number_or_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds notes about requirements that depend on themselves.
fn note_cycles(requirements: &[Value], line: usize, title: &str, notes: &mut ConversionNotes) {
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for requirement in requirements {
        let id = requirement.get("requirement_id").map(number_or_text).unwrap_or_default();
        let before = requirement.get("prerequisites").and_then(Value::as_array);
        let before = before.into_iter().flatten().map(number_or_text).collect();
        if needs.insert(id.clone(), before).is_some() {
            notes.add_loss(line, format!("requirement {id} of `{title}`"), "the id occurs twice in its task");
        }
    }

    for id in needs.keys() {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = needs[id].iter().collect();
        while let Some(before) = next.pop() {
            if before == id {
                notes.add_loss(line, format!("requirement {id} of `{title}`"), "is its own prerequisite");
                break;
            }
            if seen.insert(before) {
                next.extend(needs.get(before).into_iter().flatten());
            }
        }
    }
}

/// Returns the metadata value that records the prerequisites of a requirement.
pub(crate) fn prerequisites_value(leaf: &RequirementLeaf) -> Option<Value> {
    (!leaf.prerequisites.is_empty()).then(|| json!(leaf.prerequisites))
}
