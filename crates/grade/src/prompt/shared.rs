//! The part of a request that is the same for all criteria of a task.

use serde_json::json;

use super::block::format_block;
use super::criteria::criterion_text;
use crate::{JudgeMaterial, RubricTask};

/// Names of the answer in instructions. Instructions that contain it replace the material.
const ANSWER_NAMES: [&str; 2] = ["output", "candidate_answer"];

/// Formats the material of a rubric with the author's instructions, if there are any. Each text that they name is
/// inserted in a block, so that the judge can't mistake it for a part of them.
pub(crate) fn format_instructed(task: &RubricTask, material: &JudgeMaterial, fence: &str) -> String {
    let Some(instructions) = &task.instructions else { return format_material(material, fence) };
    let criteria: Vec<_> = task.rubric.criteria().iter().map(criterion_text).collect();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let lines: Vec<String> = criteria.iter().map(|text| format!("- {text}")).collect();
    let values = [
        (["input", "question"], material.question.clone()),
        (ANSWER_NAMES, material.answer.clone()),
        (["expected_output", "reference_answer"], text(&material.reference)),
        (["criteria", "expected_outcome"], text(&material.expected_outcome)),
        (["file_changes", "file_changes"], text(&material.file_changes)),
        (["tool_calls", "tool_calls"], text(&material.tool_calls)),
        (["rubrics", "rubrics"], lines.join("\n")),
        (["rubrics_json", "rubrics_json"], json!(criteria).to_string()),
    ];
    let variables: Vec<(String, String)> = values
        .into_iter()
        .flat_map(|(names, value)| names.map(|name| (name.to_owned(), value.clone())))
        .collect();

    let shows_answer = variables.iter().any(|(name, value)| {
        let only = [(name.clone(), value.clone())];
        ANSWER_NAMES.contains(&name.as_str()) && fill_variables(instructions, &only, fence).is_some()
    });
    let filled = fill_variables(instructions, &variables, fence);
    let filled = filled.as_deref().unwrap_or(instructions).trim_end();
    let material = if shows_answer { String::new() } else { format_material(material, fence) };

    format!("{material}Instructions\n\n{filled}\n\n")
}

/// Formats the material, each text in a block. Absent and blank texts are omitted, except for the question and
/// the answer.
pub(crate) fn format_material(material: &JudgeMaterial, fence: &str) -> String {
    fn given(text: Option<&String>) -> Option<&str> {
        text.map(String::as_str).filter(|text| !text.trim().is_empty())
    }

    let blocks = [
        ("question", Some(material.question.as_str())),
        ("expected outcome", given(material.expected_outcome.as_ref())),
        ("reference", given(material.reference.as_ref())),
        ("answer", Some(material.answer.as_str())),
        ("file changes", given(material.file_changes.as_ref())),
        ("tool calls", given(material.tool_calls.as_ref())),
    ];

    let blocks = blocks
        .map(|(name, text)| text.map_or_else(String::new, |text| format_block(name, fence, text) + "\n"));
    format!("Material\n\n{}", blocks.concat())
}

/// Replaces each `{{ name }}` of a known variable in the template by its value in a block; unknown names stay
/// unchanged. Returns `None` if no known variable occurs. Makes one pass, so inserted values are never
/// scanned for placeholders.
pub(super) fn fill_variables(template: &str, variables: &[(String, String)], fence: &str) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    let mut any = false;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);

        let Some(end) = after.find("}}") else {
            rest = after;
            break;
        };
        let name = after[2..end].trim();
        match variables.iter().find(|(known, _)| known == name) {
            Some((_, value)) => {
                any = true;
                out.push('\n');
                out.push_str(&format_block(name, fence, value));
            }
            None => out.push_str(&after[..end + 2]),
        }

        rest = &after[end + 2..];
    }

    out.push_str(rest);
    any.then_some(out)
}
