//! The part of a request that is the same for all criteria of a task.

use super::block::format_block;
use crate::JudgeMaterial;

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
