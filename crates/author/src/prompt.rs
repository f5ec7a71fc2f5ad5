//! Common parts of the requests for drafts and for reviews.

use assize_grade::{FenceSource, fence_texts};
use assize_llm::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};
use serde_json::{Value, json};

/// Most characters of an unusable reply that are repeated with its problems.
const MAX_EXCERPT_CHARS: usize = 6000;

/// An unusable reply and its problems.
pub(crate) type UnusableReply<'a> = (&'a str, &'a [String]);

/// Hash of a version and its prompt files: 16 hex digits of BLAKE3.
pub(crate) fn hash_of(version: &str, files: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in std::iter::once(&version).chain(files) {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }

    hasher.finalize().to_hex()[..16].to_owned()
}

/// A request with these parts, followed by an unusable reply and its problems, if there was one.
pub(crate) fn request(
    system: &'static str,
    mut content: Vec<Part>,
    schema: JsonSchemaFormat,
    repair: (&str, Option<UnusableReply<'_>>),
    fences: &dyn FenceSource,
) -> ChatRequest {
    if let (repair, Some((reply, problems))) = repair {
        let excerpt: String = reply.chars().take(MAX_EXCERPT_CHARS).collect();
        let shown = fence_texts(fences, &[("problem", &problems.join("\n")), ("previous reply", &excerpt)]);
        content.push(Part::Text(format!("\n{repair}\n{shown}").into()));
    }

    ChatRequest {
        schema: Some(schema),
        temperature: Some(0.0),
        seed: Some(0),
        // Each case and each rubric is different, so requests share no prefix.
        cache_prefix: false,
        ..ChatRequest::new(vec![
            ChatMessage::system(system),
            ChatMessage { role: MessageRole::User, content: content.into() },
        ])
    }
}

/// Schema of an object that has exactly these properties.
pub(crate) fn strict_object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(serde_json::Map::keys).collect();

    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
