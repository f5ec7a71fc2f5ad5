//! Converts a tree to cases with flat rubrics that give the same score.

use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

use super::{RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};
use crate::devai::prerequisites_value;
use crate::eval_file_builder::{EvalFileBuilder, slug};
use crate::note::ConversionNotes;

/// Writes a tree as cases: one for each branch that has an input, or one for the whole tree.
///
/// A weighted mean of weighted means is a single weighted mean. Each leaf gets the product of the shares on its
/// path, so for any decisions on the leaves the flat rubric has the same score as the tree.
pub(crate) fn flatten_tree(tree: &RequirementTree, notes: &mut ConversionNotes) -> EvalFileBuilder {
    let mut doc = EvalFileBuilder::with_name(&tree.name);
    let branches: Vec<&RequirementBranch> = tree
        .root
        .parts
        .iter()
        .filter_map(|part| match part {
            RequirementNode::Branch(branch) if branch.input.is_some() => Some(branch),
            _ => None,
        })
        .collect();

    if tree.graded > 0 {
        notes.add_remark(
            None,
            "scores",
            format!(
                "{} nodes carry a score, which belongs to a submission and not to the rubric; a scorecard keeps them",
                tree.graded
            ),
        );
    }

    if branches.is_empty() {
        notes.add_remark(
            None,
            "question",
            "the tree has no question; the text of its root is used as the input",
        );
        add_case(&mut doc, &tree.root, &tree.name, notes);
    }

    for branch in branches {
        let name = branch.id.clone();
        add_case(&mut doc, branch, &name, notes);
    }

    doc
}

fn add_case(doc: &mut EvalFileBuilder, branch: &RequirementBranch, name: &str, notes: &mut ConversionNotes) {
    let mut criteria = Vec::new();
    let mut ids = UniqueIds::default();
    let mut groups = 0;
    collect_leaves(branch, 1.0, &mut ids, &mut criteria, &mut groups, notes);

    if criteria.is_empty() {
        notes.add_loss(branch.line, format!("`{name}`"), "skipped: nothing in it is judged");
        return;
    }

    if groups > 0 {
        notes.add_loss(
            branch.line,
            format!("`{name}`"),
            format!("the texts and scores of {groups} groups are not converted; their weights are in those of the criteria"),
        );
    }

    let id = doc.unique_id(&slug(name, 8));
    let mut case = Map::new();
    case.insert("id".to_owned(), json!(id));
    case.insert("input".to_owned(), json!(branch.input.as_ref().unwrap_or(&branch.text)));

    if let Some(threshold) = branch.threshold {
        case.insert("threshold".to_owned(), json!(threshold));
    }

    case.insert("assertions".to_owned(), json!([{"type": "rubrics", "criteria": criteria}]));
    doc.cases.push(Value::Object(case));
}

fn collect_leaves(
    branch: &RequirementBranch,
    share: f64,
    ids: &mut UniqueIds,
    out: &mut Vec<Value>,
    groups: &mut usize,
    notes: &mut ConversionNotes,
) {
    let total: f64 = branch.parts.iter().map(RequirementNode::weight).sum();
    if total <= 0.0 {
        notes.add_loss(branch.line, format!("`{}`", branch.id), "skipped: nothing in it has a weight");
        return;
    }

    for part in &branch.parts {
        let share = share * part.weight() / total;
        match part {
            RequirementNode::Branch(inner) => {
                *groups += 1;
                collect_leaves(inner, share, ids, out, groups, notes);
            }
            RequirementNode::Leaf(leaf) => out.push(leaf_criterion(leaf, share, ids)),
        }
    }
}

fn leaf_criterion(leaf: &RequirementLeaf, weight: f64, ids: &mut UniqueIds) -> Value {
    let wish = if leaf.id.is_empty() { slug(&leaf.text, 4) } else { leaf.id.clone() };
    let mut criterion = json!({"id": ids.take(&wish), "outcome": leaf.text, "weight": weight});
    if leaf.bands.is_empty() {
        criterion["required"] = json!(leaf.hard);
    } else {
        let bands: Map<String, Value> =
            leaf.bands.iter().map(|(low, text)| (low.to_string(), json!(text))).collect();
        criterion["score_ranges"] = Value::Object(bands);

        if leaf.hard {
            criterion["required"] = json!(true);
        }
    }

    if let Some(category) = &leaf.category {
        criterion["x-category"] = json!(category);
    }
    if let Some(before) = prerequisites_value(leaf) {
        criterion["x-prerequisites"] = before;
    }

    criterion
}
