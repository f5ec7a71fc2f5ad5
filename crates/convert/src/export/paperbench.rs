//! A PaperBench tree: requirements with weights, and leaves that are met or not.

use serde_json::{Value, json};

use crate::note::{ConversionNotes, lost_names};
use crate::tree::{RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};

/// Writes a tree as indented JSON.
pub(crate) fn write(tree: &RequirementTree, notes: &mut ConversionNotes) -> String {
    let mut writer = PaperBenchWriter { notes, uncategorised: 0 };
    let value = writer.branch(&tree.root);
    let uncategorised = writer.uncategorised;
    if uncategorised > 0 {
        notes.add_remark(
            None,
            "categories",
            format!("{uncategorised} leaves have no `task_category`; PaperBench's own judge needs one of its three"),
        );
    }

    format!("{value:#}\n")
}

struct PaperBenchWriter<'n> {
    notes: &'n mut ConversionNotes,
    uncategorised: usize,
}

impl PaperBenchWriter<'_> {
    fn branch(&mut self, branch: &RequirementBranch) -> Value {
        if let Some(threshold) = branch.threshold {
            self.notes.add_loss(
                branch.line,
                format!("`{}`", branch.id),
                format!("its pass threshold {threshold}: a tree has scores and no thresholds"),
            );
        }

        let parts: Vec<Value> = branch
            .parts
            .iter()
            .map(|part| match part {
                RequirementNode::Branch(inner) => self.branch(inner),
                RequirementNode::Leaf(leaf) => self.leaf(leaf),
            })
            .collect();
        node_value(&branch.id, &branch.text, branch.weight, parts, None)
    }

    fn leaf(&mut self, leaf: &RequirementLeaf) -> Value {
        let lost = lost_names([
            ("that failing it fails everything above", leaf.hard),
            ("its score ranges (it is met or not)", !leaf.bands.is_empty()),
            ("its prerequisites", !leaf.prerequisites.is_empty()),
        ]);

        if !lost.is_empty() {
            self.notes.add_loss(
                leaf.line,
                format!("`{}`", leaf.id),
                format!("not converted: {}", lost.join(", ")),
            );
        }

        self.uncategorised += usize::from(leaf.category.is_none());
        node_value(&leaf.id, &leaf.text, leaf.weight, Vec::new(), leaf.category.as_deref())
    }
}

fn node_value(id: &str, text: &str, weight: f64, parts: Vec<Value>, category: Option<&str>) -> Value {
    json!({
        "id": id,
        "requirements": text,
        "weight": weight_value(weight),
        "sub_tasks": parts,
        "task_category": category,
        "finegrained_task_category": null,
    })
}

/// Returns a weight as an integer if it is whole, as in the trees of the benchmark.
fn weight_value(weight: f64) -> Value {
    let near = weight.round();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a small whole number")]
    if near.to_bits() == weight.to_bits() && near.abs() < 1e9 { json!(near as i64) } else { json!(weight) }
}
