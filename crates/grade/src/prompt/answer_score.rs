//! The prompt for scoring a whole answer.
//!
//! An author's prompt replaces the instructions, never the rules: the system message and the form of the reply
//! stay. Values of its variables are inserted in blocks, like all material.

use std::sync::LazyLock;

use assize_llm::{ChatMessage, JsonSchemaFormat, MessageRole, Part};
use assize_rubric::{Finding, ValueRange};
use serde_json::json;

use super::schema::{evidence_schema, reason_schema, reply_format};
use super::shared::{fill_variables, format_material};
use super::template::fill_template;
use crate::evidence::EvidenceIndex;
use crate::fence::draw_fence;
use crate::reply::{ParsedReply, read_answer_score};
use crate::single_question::SingleQuestion;
use crate::text_hash::text_hasher;
use crate::{AnswerScoreTask, FenceSource, SamplingOptions};

/// Version of these prompts. Any change to a prompt file or to the construction of requests needs a new
/// version.
pub const WHOLE_PROMPT_VERSION: &str = "whole.v1";

const SYSTEM: &str = include_str!("../../prompts/whole.v1.system.md");
const DEFAULT: &str = include_str!("../../prompts/whole.v1.default.md");
const FORM: &str = include_str!("../../prompts/whole.v1.form.md");
/// Form of the reply if the instructions have their own range.
const RANGE_FORM: &str = include_str!("../../prompts/whole.v1.range.md");
/// Instructions of a judge that combines the members of a composite.
pub const COMBINE_PROMPT: &str = include_str!("../../prompts/whole.v1.combine.md");

impl SingleQuestion for AnswerScoreTask {
    fn version(&self) -> &'static str {
        WHOLE_PROMPT_VERSION
    }

    /// A short hash (16 hex digits of BLAKE3) of the version, every prompt file and the author's
    /// instructions with their range.
    fn prompt_hash(&self) -> String {
        static FILES: LazyLock<blake3::Hasher> =
            LazyLock::new(|| text_hasher(&[WHOLE_PROMPT_VERSION, SYSTEM, DEFAULT, FORM]));

        let mut hasher = FILES.clone();
        hasher.update(self.instructions.as_deref().unwrap_or_default().as_bytes());
        if let Some(range) = self.range {
            hasher.update(range_form(range).as_bytes());
        }

        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// The messages of a call.
    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage> {
        let material = &self.material;
        let mut texts = vec![
            material.question.as_str(),
            material.answer.as_str(),
            material.expected_outcome.as_deref().unwrap_or_default(),
            material.reference.as_deref().unwrap_or_default(),
            material.file_changes.as_deref().unwrap_or_default(),
            material.tool_calls.as_deref().unwrap_or_default(),
        ];

        texts.extend(self.variables.iter().map(|(_, value)| value.as_str()));
        let fence = draw_fence(fences, &texts);
        let instructions = self.instructions.as_deref().unwrap_or(DEFAULT);
        let mut parts = match fill_variables(instructions, &self.variables, &fence) {
            Some(filled) => vec![filled],
            // Instructions without variables say how to judge, not how to present the material.
            None => {
                vec![
                    format_material(material, &fence),
                    format!("Instructions\n\n{}\n", instructions.trim_end()),
                ]
            }
        };

        let form = self.range.map_or_else(|| FORM.to_owned(), range_form);
        parts.push(format!("\n{form}"));
        parts.extend(repair);

        let content = parts.into_iter().map(|text| Part::Text(text.into())).collect();
        vec![ChatMessage::system(SYSTEM), ChatMessage { role: MessageRole::User, content }]
    }

    fn schema(&self) -> JsonSchemaFormat {
        let score = json!({ "type": "number" });
        let members = json!({ "evidence": evidence_schema(), "reason": reason_schema(), "score": score });
        reply_format("score", &members)
    }

    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String> {
        read_answer_score(text, self.range).map(ParsedReply::into_finding)
    }

    fn index(&self) -> EvidenceIndex {
        EvidenceIndex::new(&self.material)
    }

    fn sampling(&self) -> (u32, SamplingOptions) {
        (self.trial, self.sampling)
    }
}

/// Form of a reply with a score of this range.
fn range_form(range: ValueRange) -> String {
    let [low, high] = [range.low, range.high].map(|bound| bound.to_string());
    fill_template(RANGE_FORM, &[("low", &low), ("high", &high)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_inserted_literally_and_in_blocks() {
        let variables = [
            ("output".to_owned(), "cost: $1 $& {{ input }}".to_owned()),
            ("input".to_owned(), "q".to_owned()),
        ];
        let text = fill_variables("A {{output}} B {{ input }} C {{ other }}", &variables, "f").unwrap();
        assert_eq!(
            text,
            "A \n[[BEGIN output f]]\ncost: $1 $& {{ input }}\n[[END output f]]\n B \n[[BEGIN input f]]\nq\n[[END input f]]\n C {{ other }}"
        );
        assert_eq!(fill_variables("no {{ other }} variable {{", &variables, "f"), None);
    }
}
