//! Prompts of reviews.

use std::sync::LazyLock;

use assize_grade::{FenceSource, fence_texts};
use assize_lint::{InquiryCriterion, LintInquiry, LintRule, QuestionScope};
use assize_llm::{ChatRequest, JsonSchemaFormat, Part};
use serde_json::{Value, json};

use crate::prompt::{self, UnusableReply, hash_of, strict_object};

/// Version of the prompts; changes with every change of their text.
pub const PROMPT_VERSION: &str = "critic.v1";

const SYSTEM: &str = include_str!("../../prompts/critic.v1.system.md");
const FORM: &str = include_str!("../../prompts/critic.v1.form.md");
const REPAIR: &str = include_str!("../../prompts/critic.v1.repair.md");

/// Hash of the version and all prompt files, 16 hex digits. It does not include the questions of the rules.
pub fn prompt_hash() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| hash_of(PROMPT_VERSION, &[SYSTEM, FORM, REPAIR]));
    &HASH
}

/// Name of a criterion in questions and replies, from its index. The ids in the file are arbitrary text.
pub(super) fn key(index: usize) -> String {
    format!("c{}", index + 1)
}

/// The request with the questions of these rules about a rubric; `unusable` is the previous reply and its
/// problems.
pub(super) fn request(
    inquiry: &LintInquiry,
    rules: &[&LintRule],
    fences: &dyn FenceSource,
    unusable: Option<UnusableReply<'_>>,
) -> ChatRequest {
    let criteria: Vec<String> =
        inquiry.criteria.iter().enumerate().map(|(at, asked)| criterion(at, asked).to_string()).collect();
    let criteria = format!("[{}]", criteria.join(",\n "));
    let blocks = [
        ("question", inquiry.question.as_str()),
        ("expected outcome", inquiry.expected_outcome.as_str()),
        ("reference", inquiry.reference.as_str()),
        ("criteria", criteria.as_str()),
    ];

    let material = format!("Material\n\n{}", fence_texts(fences, &blocks));
    let mut questions = "Questions, about each criterion unless they say otherwise\n\n".to_owned();
    for (rule, question) in rules.iter().filter_map(|rule| Some((rule, rule.question()?))) {
        let only = match question.scope {
            QuestionScope::Bands => " Only about criteria with `ranges`.",
            _ => "",
        };
        questions.extend([rule.code.as_str(), ": ", question.text, only, "\n"]);
    }

    let content = vec![Part::Text(material.into()), Part::Text(format!("{questions}\n{FORM}").into())];
    prompt::request(SYSTEM, content, schema(inquiry, rules), (REPAIR, unusable), fences)
}

fn criterion(index: usize, asked: &InquiryCriterion) -> Value {
    let mut value = json!({
        "key": key(index), "text": asked.text, "weight": asked.weight, "required": asked.required,
    });
    if !asked.bands.is_empty() {
        let range = |(low, high, text): &(u8, u8, String)| json!({"from": low, "to": high, "text": text});
        value["ranges"] = asked.bands.iter().map(range).collect();
    }

    value
}

fn schema(inquiry: &LintInquiry, rules: &[&LintRule]) -> JsonSchemaFormat {
    let keys: Vec<Value> =
        (0..inquiry.criteria.len()).map(|at| json!(key(at))).chain([Value::Null]).collect();
    let codes: Vec<&str> = rules.iter().map(|rule| rule.code.as_str()).collect();
    let named = json!({"type": ["string", "null"], "enum": keys});
    let finding = strict_object(json!({
        "criterion": named, "other": named, "quote": {"type": ["string", "null"]}, "reason": {"type": "string"},
    }));
    let answer = strict_object(json!({
        "rule": {"type": "string", "enum": codes}, "findings": {"type": "array", "items": finding},
    }));

    JsonSchemaFormat {
        name: "rubric_review".into(),
        schema: strict_object(json!({"answers": {"type": "array", "items": answer}})).into(),
        strict: true,
    }
}
