//! What the model is told.

use std::sync::LazyLock;

use assize_grade::{FenceSource, fenced};
use assize_lint::{Asked, Inquiry, Rule, Scope};
use assize_llm::{ChatMessage, ChatRequest, JsonSchemaFormat, Part, Role};
use serde_json::{Value, json};

/// Version of the prompts: changed whenever a word of them is.
pub const PROMPT_VERSION: &str = "critic.v1";

const SYSTEM: &str = include_str!("../prompts/critic.v1.system.md");
const FORM: &str = include_str!("../prompts/critic.v1.form.md");
const REPAIR: &str = include_str!("../prompts/critic.v1.repair.md");

/// Most characters of a reply that are shown again with its problems.
const EXCERPT: usize = 6000;

/// Hash of all prompt files, 16 hex digits. The questions of the rules are not in it.
pub fn prompt_hash() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in [SYSTEM, FORM, REPAIR].join("\0").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    });
    &HASH
}

/// The name of a criterion in questions and answers, by its index. Ids of the file may hold anything.
pub(crate) fn key(index: usize) -> String {
    format!("c{}", index + 1)
}

/// The request that puts the questions of these rules about a rubric; `unusable` is the reply before and its problems.
pub(crate) fn request(
    inquiry: &Inquiry,
    rules: &[&Rule],
    fences: &dyn FenceSource,
    unusable: Option<(&str, &[String])>,
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
    let material = format!("Material\n\n{}", fenced(fences, &blocks));
    let mut questions = "Questions, about each criterion unless they say otherwise\n\n".to_owned();
    for (rule, question) in rules.iter().filter_map(|rule| Some((rule, rule.question()?))) {
        let only = match question.scope {
            Scope::Bands => " Only about criteria with `ranges`.",
            _ => "",
        };
        questions.extend([rule.code.as_str(), ": ", question.text, only, "\n"]);
    }
    let mut content = vec![Part::Text(material.into()), Part::Text(format!("{questions}\n{FORM}").into())];
    if let Some((reply, problems)) = unusable {
        let excerpt: String = reply.chars().take(EXCERPT).collect();
        let shown = fenced(fences, &[("problem", &problems.join("\n")), ("previous reply", &excerpt)]);
        content.push(Part::Text(format!("\n{REPAIR}\n{shown}").into()));
    }
    ChatRequest {
        schema: Some(schema(inquiry, rules)),
        temperature: Some(0.0),
        seed: Some(0),
        // Each rubric is another: there is no beginning to share.
        cache_prefix: false,
        ..ChatRequest::new(vec![
            ChatMessage::system(SYSTEM),
            ChatMessage { role: Role::User, content: content.into() },
        ])
    }
}

fn criterion(index: usize, asked: &Asked) -> Value {
    let mut value = json!({
        "key": key(index), "text": asked.text, "weight": asked.weight, "required": asked.required,
    });
    if !asked.bands.is_empty() {
        let range = |(low, high, text): &(u8, u8, String)| json!({"from": low, "to": high, "text": text});
        value["ranges"] = asked.bands.iter().map(range).collect();
    }
    value
}

fn schema(inquiry: &Inquiry, rules: &[&Rule]) -> JsonSchemaFormat {
    let strict = |properties: Value| {
        let required: Vec<&String> =
            properties.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let keys: Vec<Value> =
        (0..inquiry.criteria.len()).map(|at| json!(key(at))).chain([Value::Null]).collect();
    let codes: Vec<&str> = rules.iter().map(|rule| rule.code.as_str()).collect();
    let named = json!({"type": ["string", "null"], "enum": keys});
    let finding = strict(json!({
        "criterion": named, "other": named, "quote": {"type": ["string", "null"]}, "reason": {"type": "string"},
    }));
    let answer = strict(json!({
        "rule": {"type": "string", "enum": codes}, "findings": {"type": "array", "items": finding},
    }));
    JsonSchemaFormat {
        name: "rubric_review".into(),
        schema: strict(json!({"answers": {"type": "array", "items": answer}})).into(),
        strict: true,
    }
}
