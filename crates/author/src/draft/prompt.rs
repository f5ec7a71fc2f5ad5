//! Prompts of drafts.

use std::sync::LazyLock;

use assize_grade::{FenceSource, fence_texts};
use assize_llm::{ChatRequest, JsonSchemaFormat, Part};
use serde_json::json;

use super::{DraftBrief, RubricForm};
use crate::prompt::{self, UnusableReply, hash_of, strict_object};

/// Version of the prompts; changes with every change of their text.
pub const PROMPT_VERSION: &str = "draft.v1";

const SYSTEM: &str = include_str!("../../prompts/draft.v1.system.md");
const CHECKLIST: &str = include_str!("../../prompts/draft.v1.checklist.md");
const RANGES: &str = include_str!("../../prompts/draft.v1.ranges.md");
const REPAIR: &str = include_str!("../../prompts/draft.v1.repair.md");

/// Hash of the version and all prompt files, 16 hex digits.
pub fn prompt_hash() -> &'static str {
    static HASH: LazyLock<String> =
        LazyLock::new(|| hash_of(PROMPT_VERSION, &[SYSTEM, CHECKLIST, RANGES, REPAIR]));
    &HASH
}

/// The request for a draft; `unusable` is the previous reply and its problems.
pub(super) fn request(
    brief: &DraftBrief,
    fences: &dyn FenceSource,
    unusable: Option<UnusableReply<'_>>,
) -> ChatRequest {
    let mut blocks = vec![
        ("question", brief.question.as_str()),
        ("expected outcome", brief.expected_outcome.as_str()),
        ("reference", brief.reference.as_deref().unwrap_or_default()),
    ];
    blocks.extend(brief.samples.iter().map(|sample| ("sample answer", sample.as_str())));

    let material = format!("Material\n\n{}", fence_texts(fences, &blocks));
    let form = match brief.form {
        RubricForm::Checklist => CHECKLIST,
        RubricForm::Ranges => RANGES,
    };

    let content = vec![Part::Text(material.into()), Part::Text(form.into())];
    prompt::request(SYSTEM, content, schema(brief.form), (REPAIR, unusable), fences)
}

fn schema(form: RubricForm) -> JsonSchemaFormat {
    let (text, number) = (json!({"type": "string"}), json!({"type": "number"}));
    let integer = json!({"type": "integer"});
    let criterion = match form {
        RubricForm::Checklist => strict_object(
            json!({"id": text, "text": text, "weight": number, "required": {"type": "boolean"}}),
        ),
        RubricForm::Ranges => {
            let range = strict_object(json!({"low": integer, "high": integer, "text": text}));
            strict_object(
                json!({"id": text, "text": text, "weight": number, "minimum": {"type": ["integer", "null"]},
                "ranges": {"type": "array", "items": range}}),
            )
        }
    };
    JsonSchemaFormat {
        name: "rubric_draft".into(),
        schema: strict_object(json!({"criteria": {"type": "array", "items": criterion}})).into(),
        strict: true,
    }
}
