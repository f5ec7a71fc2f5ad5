//! The prompt that asks for questions to which the answer would be an answer.

use assize_llm::{ChatMessage, JsonSchemaFormat, MessageRole, Part};
use assize_rubric::Finding;
use serde_json::json;

use super::block::format_block;
use super::schema::reply_format;
use super::template::fill_template;
use crate::evidence::EvidenceIndex;
use crate::fence::draw_fence;
use crate::reply::{ParsedReply, read_questions};
use crate::single_question::SingleQuestion;
use crate::text_hash::text_hasher;
use crate::{FenceSource, QuestionsTask, SamplingOptions};

/// Version of these prompts. Any change to a prompt file or to the construction of requests needs a new
/// version.
pub const QUESTIONS_PROMPT_VERSION: &str = "questions.v1";

const SYSTEM: &str = include_str!("../../prompts/questions.v1.system.md");
const FORM: &str = include_str!("../../prompts/questions.v1.form.md");

impl SingleQuestion for QuestionsTask {
    fn version(&self) -> &'static str {
        QUESTIONS_PROMPT_VERSION
    }

    /// A short hash (16 hex digits of BLAKE3) of the version, every prompt file and the number of questions.
    fn prompt_hash(&self) -> String {
        let mut hasher = text_hasher(&[QUESTIONS_PROMPT_VERSION, SYSTEM, FORM]);
        hasher.update(&self.count.to_le_bytes());

        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Builds the messages of a call. The original question is not shown.
    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        let answer = self.material.answer.as_str();
        let block = format_block("answer", &draw_fence(fences, &[answer]), answer);
        let form = fill_template(FORM, &[("count", &self.count.to_string())]);
        let parts = [Some(block), Some(format!("\n{form}")), repair];
        let content = parts.into_iter().flatten().map(|text| Part::Text(text.into())).collect();
        vec![ChatMessage::system(SYSTEM), ChatMessage { role: MessageRole::User, content }]
    }

    fn schema(&self) -> JsonSchemaFormat {
        reply_format("questions", &json!({ "questions": { "type": "array", "items": { "type": "string" } } }))
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_questions(text, self.count).map(ParsedReply::into_finding)
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::new(&self.material)
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}
