//! The part of a request that all criteria of a task share.

use super::block::block;
use crate::Material;

/// The material, each text in a block; texts that are absent or blank are left out, but the question and the answer
/// are always there.
pub(crate) fn shared_part(material: &Material, fence: &str) -> String {
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
    let blocks =
        blocks.map(|(name, text)| text.map_or_else(String::new, |text| block(name, fence, text) + "\n"));
    format!("Material\n\n{}", blocks.concat())
}
