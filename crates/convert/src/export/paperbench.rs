//! A PaperBench tree: requirements with weights, down to leaves that are met or not.

use serde_json::{Value, json};

use crate::note::Notes;
use crate::tree::{Branch, Leaf, Part, Tree};

/// Writes a tree as indented JSON.
pub(crate) fn write(tree: &Tree, notes: &mut Notes) -> String {
    let mut writer = Writer { notes, uncategorised: 0 };
    let value = writer.branch(&tree.root);
    let uncategorised = writer.uncategorised;
    if uncategorised > 0 {
        notes.tell(
            None,
            "categories",
            format!("{uncategorised} leaves have no `task_category`; PaperBench's own judge wants one of its three"),
        );
    }
    format!("{value:#}\n")
}

struct Writer<'n> {
    notes: &'n mut Notes,
    uncategorised: usize,
}

impl Writer<'_> {
    fn branch(&mut self, branch: &Branch) -> Value {
        if let Some(threshold) = branch.threshold {
            self.notes.lost(
                branch.line,
                format!("`{}`", branch.id),
                format!("its pass line {threshold}: a tree has scores and no lines"),
            );
        }
        let parts: Vec<Value> = branch
            .parts
            .iter()
            .map(|part| match part {
                Part::Branch(inner) => self.branch(inner),
                Part::Leaf(leaf) => self.leaf(leaf),
            })
            .collect();
        node(&branch.id, &branch.text, branch.weight, parts, None)
    }

    fn leaf(&mut self, leaf: &Leaf) -> Value {
        let mut lost = Vec::new();
        if leaf.hard {
            lost.push("that failing it fails everything above");
        }
        if !leaf.bands.is_empty() {
            lost.push("its score ranges (it is met or not)");
        }
        if !leaf.prerequisites.is_empty() {
            lost.push("its prerequisites");
        }
        if !lost.is_empty() {
            self.notes.lost(
                leaf.line,
                format!("`{}`", leaf.id),
                format!("not carried over: {}", lost.join(", ")),
            );
        }
        self.uncategorised += usize::from(leaf.category.is_none());
        node(&leaf.id, &leaf.text, leaf.weight, Vec::new(), leaf.category.as_deref())
    }
}

fn node(id: &str, text: &str, weight: f64, parts: Vec<Value>, category: Option<&str>) -> Value {
    json!({
        "id": id,
        "requirements": text,
        "weight": whole(weight),
        "sub_tasks": parts,
        "task_category": category,
        "finegrained_task_category": null,
    })
}

/// Returns a weight as an integer where it is whole, as the trees of the benchmark are written.
fn whole(weight: f64) -> Value {
    let near = weight.round();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a small whole number")]
    if near.to_bits() == weight.to_bits() && near.abs() < 1e9 { json!(near as i64) } else { json!(weight) }
}
