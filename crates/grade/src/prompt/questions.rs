//! The prompt that asks for questions to which the answer would be an answer.

use assize_llm::{ChatMessage, JsonSchemaFormat, MessageRole, Part};
use serde_json::json;

use super::block::format_block;
use super::template::fill_template;
use crate::fence::draw_fence;
use crate::text_hash::text_hasher;
use crate::{FenceSource, QuestionsTask};

/// Version of these prompts. Any change to a prompt file or to the construction of requests needs a new
/// version.
pub const QUESTIONS_PROMPT_VERSION: &str = "questions.v1";

const SYSTEM: &str = include_str!("../../prompts/questions.v1.system.md");
const FORM: &str = include_str!("../../prompts/questions.v1.form.md");

/// A short hash (16 hex digits of BLAKE3) of the version, every prompt file and the number of questions.
pub(crate) fn questions_hash(count: u32) -> String {
    let mut hasher = text_hasher(&[QUESTIONS_PROMPT_VERSION, SYSTEM, FORM]);
    hasher.update(&count.to_le_bytes());

    hasher.finalize().to_hex()[..16].to_owned()
}

/// JSON schema of a reply.
pub(crate) fn questions_schema() -> JsonSchemaFormat {
    let schema = json!({
        "type": "object",
        "properties": { "questions": { "type": "array", "items": { "type": "string" } } },
        "required": ["questions"],
        "additionalProperties": false,
    });
    JsonSchemaFormat { name: "questions".into(), schema: schema.into(), strict: true }
}

/// Builds the messages of a call. The original question is not shown.
pub(crate) fn questions_messages(
    task: &QuestionsTask,
    fences: &dyn FenceSource,
    repair: Option<String>,
) -> Vec<ChatMessage> {
    let answer = task.material.answer.as_str();
    let block = format_block("answer", &draw_fence(fences, &[answer]), answer);
    let form = fill_template(FORM, &[("count", &task.count.to_string())]);
    let parts = [Some(block), Some(format!("\n{form}")), repair];
    let content = parts.into_iter().flatten().map(|text| Part::Text(text.into())).collect();
    vec![ChatMessage::system(SYSTEM), ChatMessage { role: MessageRole::User, content }]
}
