//! What the model is told.

use std::sync::LazyLock;

use assize_grade::{FenceSource, fenced};
use assize_llm::{ChatMessage, ChatRequest, JsonSchemaFormat, Part, Role};
use serde_json::{Value, json};

use crate::{Brief, Form};

/// Version of the prompts: changed whenever a word of them is.
pub const PROMPT_VERSION: &str = "draft.v1";

const SYSTEM: &str = include_str!("../prompts/draft.v1.system.md");
const CHECKLIST: &str = include_str!("../prompts/draft.v1.checklist.md");
const RANGES: &str = include_str!("../prompts/draft.v1.ranges.md");
const REPAIR: &str = include_str!("../prompts/draft.v1.repair.md");

/// Most characters of a reply that are shown again with its problems.
const EXCERPT: usize = 6000;

/// Hash of all prompt files, 16 hex digits.
pub fn prompt_hash() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in [SYSTEM, CHECKLIST, RANGES, REPAIR].join("\0").bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{hash:016x}")
    });
    &HASH
}

/// The request for a draft; `unusable` is the reply before and its problems.
pub(crate) fn request(
    brief: &Brief,
    fences: &dyn FenceSource,
    unusable: Option<(&str, &[String])>,
) -> ChatRequest {
    let mut blocks = vec![
        ("question", brief.question.as_str()),
        ("expected outcome", brief.expected_outcome.as_str()),
        ("reference", brief.reference.as_deref().unwrap_or_default()),
    ];
    blocks.extend(brief.samples.iter().map(|sample| ("sample answer", sample.as_str())));
    let material = format!("Material\n\n{}", fenced(fences, &blocks));
    let form = match brief.form {
        Form::Checklist => CHECKLIST,
        Form::Ranges => RANGES,
    };
    let mut content = vec![Part::Text(material.into()), Part::Text(form.into())];
    if let Some((reply, problems)) = unusable {
        let excerpt: String = reply.chars().take(EXCERPT).collect();
        let shown = fenced(fences, &[("problem", &problems.join("\n")), ("previous reply", &excerpt)]);
        content.push(Part::Text(format!("\n{REPAIR}\n{shown}").into()));
    }
    ChatRequest {
        schema: Some(schema(brief.form)),
        temperature: Some(0.0),
        seed: Some(0),
        // Each case has a question of its own: there is no beginning to share.
        cache_prefix: false,
        ..ChatRequest::new(vec![
            ChatMessage::system(SYSTEM),
            ChatMessage { role: Role::User, content: content.into() },
        ])
    }
}

fn schema(form: Form) -> JsonSchemaFormat {
    let strict = |properties: Value| {
        let required: Vec<&String> =
            properties.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let (text, number) = (json!({"type": "string"}), json!({"type": "number"}));
    let integer = json!({"type": "integer"});
    let criterion = match form {
        Form::Checklist => {
            strict(json!({"id": text, "text": text, "weight": number, "required": {"type": "boolean"}}))
        }
        Form::Ranges => {
            let range = strict(json!({"low": integer, "high": integer, "text": text}));
            strict(
                json!({"id": text, "text": text, "weight": number, "minimum": {"type": ["integer", "null"]},
                "ranges": {"type": "array", "items": range}}),
            )
        }
    };
    JsonSchemaFormat {
        name: "rubric_draft".into(),
        schema: strict(json!({"criteria": {"type": "array", "items": criterion}})).into(),
        strict: true,
    }
}
