//! PaperBench rubric trees: requirements with whole-number weights, and leaves of three categories.

use std::collections::BTreeMap;

use assize_document::ParsedDocument;
use serde_json::Value;

use crate::note::ConversionNotes;
use crate::tree::{LeafGrade, RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};

/// Maximum depth of a tree. Published trees have nine levels.
const MAX_DEPTH: usize = 64;

/// Reads a tree. If it is graded, its leaves keep their grades.
pub(crate) fn read_tree(
    document: &ParsedDocument,
    name: &str,
    notes: &mut ConversionNotes,
) -> RequirementTree {
    let value = document.value();
    let mut reader = PaperBenchReader { document, notes, ids: BTreeMap::new(), graded: 0 };
    let root = match reader.part(&value, String::new(), 0) {
        Some(RequirementNode::Branch(branch)) => branch,
        Some(leaf) => {
            let mut branch = RequirementBranch::new("root", name, 1.0);
            branch.parts.push(leaf);
            branch
        }
        None => RequirementBranch::new("root", name, 1.0),
    };

    let graded = reader.graded;
    RequirementTree { name: name.to_owned(), root, graded }
}

struct PaperBenchReader<'d, 'n> {
    document: &'d ParsedDocument,
    notes: &'n mut ConversionNotes,
    /// Ids so far, with the lines of their first use.
    ids: BTreeMap<String, usize>,
    graded: usize,
}

impl PaperBenchReader<'_, '_> {
    fn part(&mut self, node: &Value, pointer: String, depth: usize) -> Option<RequirementNode> {
        let line = self.document.line(&pointer);
        let id = node.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let text = node.get("requirements").and_then(Value::as_str).unwrap_or_default();

        if depth > MAX_DEPTH {
            self.notes.add_loss(line, format!("node `{id}`"), "skipped: the tree is too deep");
            return None;
        }

        if let Some(first) = self.ids.get(&id).filter(|_| !id.is_empty()) {
            let what = format!("its id is also on line {first}; a number was added");
            self.notes.add_loss(line, format!("node `{id}`"), what);
        } else {
            self.ids.insert(id.clone(), line);
        }

        let Some(weight) = node.get("weight").and_then(Value::as_f64).filter(|weight| *weight >= 0.0) else {
            self.notes.add_loss(line, format!("node `{id}`"), "skipped: its weight is missing or negative");
            return None;
        };

        if text.trim().is_empty() {
            self.notes.add_loss(line, format!("node `{id}`"), "skipped: it has no text");
            return None;
        }

        self.graded += usize::from(node.get("score").is_some_and(|score| !score.is_null()));
        let children = node.get("sub_tasks").and_then(Value::as_array).filter(|list| !list.is_empty());
        let Some(children) = children else {
            let mut leaf = RequirementLeaf::new(id, text, weight);
            leaf.line = Some(line);

            let category = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
            leaf.category = category("finegrained_task_category").or_else(|| category("task_category"));
            leaf.category = category("task_category").or(leaf.category);
            leaf.grade = self.grade(node, line);

            return Some(RequirementNode::Leaf(leaf));
        };

        let mut branch = RequirementBranch::new(id, text, weight);
        branch.line = Some(line);

        for (index, child) in children.iter().enumerate() {
            branch.parts.extend(self.part(child, format!("{pointer}/sub_tasks/{index}"), depth + 1));
        }

        Some(RequirementNode::Branch(branch))
    }

    /// Returns the grade of a leaf, unless its grader marked it as invalid.
    fn grade(&mut self, node: &Value, line: usize) -> Option<LeafGrade> {
        let score = node.get("score").filter(|score| !score.is_null())?;
        let id = node.get("id").and_then(Value::as_str).unwrap_or_default();
        let valid = node.get("valid_score").and_then(Value::as_bool).unwrap_or(true);
        let Some(score) = score.as_f64().filter(|score| valid && (0.0..=1.0).contains(score)) else {
            let what = if valid {
                "its score is not a number from 0 to 1"
            } else {
                "its score is marked as not valid"
            };
            self.notes.add_loss(line, format!("node `{id}`"), format!("{what}, so it counts as ungraded"));
            return None;
        };

        let note =
            node.get("explanation").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        Some(LeafGrade { score, note: note.map(str::to_owned) })
    }
}
