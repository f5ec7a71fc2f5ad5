//! Writes a tree as a single-file scorecard.

use assize_records::UniqueIds;
use serde_json::{Value, json};

use super::{RequirementBranch, RequirementLeaf, RequirementNode, RequirementTree};
use crate::devai::prerequisites_value;
use crate::eval_file_builder::slug;
use crate::note::ConversionNotes;

/// Default pass threshold of a scorecard's rubric.
const DEFAULT_THRESHOLD: f64 = 0.8;

/// Name of the reviewer in these labels, because the tree does not say who graded it.
const REVIEWER: &str = "graded-tree";
/// Id of the case that the labels of a graded tree refer to.
const SUBMISSION_CASE_ID: &str = "submission";

/// Writes a tree as a scorecard: branches become rubrics, and leaves become benchmarks. Weights become shares
/// of 1. A rubric contains either rubrics or benchmarks, so a leaf beside branches is wrapped in a rubric. The
/// grades of a graded tree become labels of a single case.
pub(crate) fn scorecard_value(tree: &RequirementTree, notes: &mut ConversionNotes) -> Value {
    let mut writer = ScorecardWriter { codes: UniqueIds::default(), labels: Vec::new(), notes };
    let top = writer.write_rubric(&tree.root, 1.0);
    let labels = std::mem::take(&mut writer.labels);

    notes.add_remark(
        None,
        "evaluators",
        "every benchmark is judged by people (`manual_sme`) until it is given a prompt file and `llm_judge`",
    );

    if labels.is_empty() || top.is_none() {
        return json!({ "rubrics": top.into_iter().collect::<Vec<_>>() });
    }

    notes.add_remark(
        None,
        "scores",
        format!(
            "the scores of {} leaves became labels of the case `{SUBMISSION_CASE_ID}`; those of inner nodes are computed anew. \
             The file holds no answer that was graded, so the labels are bound to none: count them with \
             `--accept-unbound-labels`",
            labels.len()
        ),
    );
    let code = top.as_ref().map(|top| top["code"].clone()).unwrap_or_default();
    json!({
        "rubrics": top.into_iter().collect::<Vec<_>>(),
        "cases": [{ "id": SUBMISSION_CASE_ID, "benchmarks": [code] }],
        "labels": labels,
    })
}

struct ScorecardWriter<'n> {
    codes: UniqueIds,
    /// Labels from the leaves of a graded tree.
    labels: Vec<Value>,
    notes: &'n mut ConversionNotes,
}

impl ScorecardWriter<'_> {
    fn unique_code(&mut self, id: &str, text: &str) -> String {
        let usable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let wanted = match id {
            "" => slug(text, 4),
            id if id.chars().all(usable) => id.to_owned(),
            id => slug(id, 12),
        };
        let wanted = if wanted.is_empty() { "part".to_owned() } else { wanted };
        self.codes.take(&wanted)
    }

    fn write_rubric(&mut self, branch: &RequirementBranch, weight: f64) -> Option<Value> {
        let total: f64 = branch.parts.iter().map(RequirementNode::weight).sum();
        if branch.parts.is_empty() || total <= 0.0 {
            self.notes.add_loss(
                branch.line,
                format!("`{}`", branch.id),
                "skipped: nothing in it has a weight",
            );
            return None;
        }

        let code = self.unique_code(&branch.id, &branch.text);
        let mut rubric = json!({
            "code": code,
            "label": short_label(&branch.text),
            "weight": weight,
            "aggregation_method": "WEIGHTED_AVERAGE",
            "passing_threshold": branch.threshold.unwrap_or(DEFAULT_THRESHOLD),
        });
        if short_label(&branch.text) != branch.text {
            rubric["description"] = json!(branch.text);
        }

        let composite = branch.parts.iter().any(|part| matches!(part, RequirementNode::Branch(_)));
        let parts: Vec<Value> = branch
            .parts
            .iter()
            .filter_map(|part| {
                let share = part.weight() / total;
                match part {
                    RequirementNode::Branch(inner) => self.write_rubric(inner, share),
                    RequirementNode::Leaf(leaf) if composite => {
                        let id =
                            if leaf.id.is_empty() { String::new() } else { format!("{}-alone", leaf.id) };
                        let mut around = RequirementBranch::new(id, leaf.text.clone(), leaf.weight);
                        around
                            .parts
                            .push(RequirementNode::Leaf(RequirementLeaf { weight: 1.0, ..leaf.clone() }));

                        self.write_rubric(&around, share)
                    }
                    RequirementNode::Leaf(leaf) => Some(self.write_benchmark(leaf, share)),
                }
            })
            .collect();

        rubric[if composite { "sub_rubrics" } else { "benchmarks" }] = Value::Array(parts);
        Some(rubric)
    }

    fn write_benchmark(&mut self, leaf: &RequirementLeaf, weight: f64) -> Value {
        let code = self.unique_code(&leaf.id, &leaf.text);
        let mut benchmark = json!({
            "code": code,
            "label": short_label(&leaf.text),
            "concept": leaf.text,
            "weight": weight,
            "threshold": if leaf.hard { 1.0 } else { DEFAULT_THRESHOLD },
            "criticality": if leaf.hard { "hard_gate" } else { "threshold_gate" },
            "evaluator_type": "manual_sme",
            "inclusion_criteria": format!("Apply when the case is judged. Flag if this does not hold: {}", leaf.text),
            "exclusion_criteria": "Do not apply when the case leaves nothing to judge.",
        });

        if let Some(grade) = &leaf.grade {
            let outcome = match grade.score {
                1.0 => json!("pass"),
                0.0 => json!("fail"),
                score => json!(score),
            };
            // Only labels with a name count.
            let mut label = json!({
                "trace_id": SUBMISSION_CASE_ID, "benchmark_code": code, "outcome": outcome, "reviewer": REVIEWER,
            });
            if let Some(note) = &grade.note {
                label["note"] = json!(note);
            }

            self.labels.push(label);
        }

        if !leaf.bands.is_empty() {
            let texts: serde_json::Map<String, Value> =
                leaf.bands.iter().map(|(low, text)| (low.to_string(), json!(text))).collect();
            benchmark["scoring_scale"] = json!({"min_value": 0, "max_value": 10, "descriptions": texts, "normalization_formula": "x/10"});
        }

        if let Some(category) = &leaf.category {
            benchmark["x-category"] = json!(category);
        }
        if let Some(before) = prerequisites_value(leaf) {
            benchmark["x-prerequisites"] = before;
        }

        benchmark
    }
}

/// Returns the first line of a text, shortened to a label.
fn short_label(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let short: String = line.chars().take(100).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}
