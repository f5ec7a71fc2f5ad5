//! Models that cache the beginning of a prompt only if it is marked, and the shortest prefix that they cache.
//!
//! Such a model charges for writing a marked prefix to its cache, so a mark pays off only if another request will read
//! it. OpenAI's models from GPT-5.6 on also need a mark: without one, they cache up to the end of the last message,
//! which no other request repeats. All other models cache by themselves, or not at all.

use crate::output_limit::family_version;
use crate::request::{ChatMessage, ChatRequest, MessageRole, Part};

/// Whether a request marks the first part of its last message: more parts follow, others share that beginning, and it is
/// long enough to be cached.
pub(crate) fn marks_first_part(provider: &str, request: &ChatRequest) -> bool {
    let Some(least) = cached_prefix_bytes(provider, &request.model).filter(|_| request.cache_prefix) else {
        return false;
    };
    let Some((last, before)) = request.messages.split_last() else { return false };
    let bytes = |part: &Part| match part {
        Part::Text(text) => text.len(),
        // A picture may have as many tokens as the shortest cached prefix.
        Part::Image { .. } => USUAL_CACHED_BYTES,
    };
    let before = before.iter().flat_map(|message: &ChatMessage| &*message.content);
    // Formats leave empty parts out.
    let is_whole = last.content.iter().all(|part| bytes(part) > 0);
    let has_more = last.content.len() > 1 && last.role == MessageRole::User;
    is_whole && has_more && before.chain(last.content.first()).map(bytes).sum::<usize>() >= least
}

/// Providers usually cache a prefix from this many bytes on: about 1,024 tokens.
pub const USUAL_CACHED_BYTES: usize = 1024 * BYTES_PER_TOKEN;

const BYTES_PER_TOKEN: usize = 4;

/// Claude models whose shortest cached prefix is not the usual 1,024 tokens: a part of their name, with `-` for
/// `.`, and the tokens, as in Anthropic's documentation of prompt caching in autumn 2026.
const CLAUDE: [(&str, usize); 10] = [
    ("opus-5", 512),
    ("fable-5", 512),
    ("mythos-5", 512),
    ("opus-4-7", 2048),
    ("opus-4-6", 4096),
    ("opus-4-5", 4096),
    ("haiku-4-5", 4096),
    ("haiku-3-5", 2048),
    ("3-5-haiku", 2048),
    ("3-haiku", 2048),
];

/// Claude models on Bedrock that refuse a mark, because they are older than its prompt cache.
const UNMARKED: [&str; 6] =
    ["claude-v2", "claude-instant", "3-opus", "3-sonnet", "3-haiku", "3-5-sonnet-20240620"];

/// The shortest cached prefix in bytes, for models that cache only marked prefixes and charge for each mark without a
/// cache hit; `None` for all others.
pub fn cached_prefix_bytes(provider: &str, model: &str) -> Option<usize> {
    let model = model.to_ascii_lowercase().replace('.', "-");
    let named = |part: &str| model.contains(part);
    let marked = match provider {
        "anthropic" => true,
        "bedrock" => named("claude") && !UNMARKED.iter().any(|part| named(part)),
        "openai" | "openai-responses" => family_version(&model, "gpt-").is_some_and(|version| version >= 5.6),
        _ => false,
    };

    let tokens = CLAUDE.iter().find(|(part, _)| named(part)).map(|(_, tokens)| tokens * BYTES_PER_TOKEN);
    marked.then(|| tokens.unwrap_or(USUAL_CACHED_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_depends_on_the_model() {
        for (provider, model, tokens) in [
            ("anthropic", "claude-sonnet-4-5-20250929", Some(1024)),
            ("anthropic", "claude-opus-4-1", Some(1024)),
            ("anthropic", "claude-opus-4.6", Some(4096)),
            ("anthropic", "claude-haiku-4-5", Some(4096)),
            ("anthropic", "claude-3-5-haiku-latest", Some(2048)),
            ("anthropic", "claude-opus-5", Some(512)),
            ("anthropic", "someone-elses", Some(1024)),
            ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(1024)),
            ("bedrock", "global.anthropic.claude-haiku-4-5-20251001-v1:0", Some(4096)),
            ("bedrock", "anthropic.claude-3-5-haiku-20241022-v1:0", Some(2048)),
            ("bedrock", "anthropic.claude-3-haiku-20240307-v1:0", None),
            ("bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0", None),
            ("bedrock", "amazon.nova-pro-v1:0", None),
            ("bedrock", "us.deepseek.r1-v1:0", None),
            ("openai", "gpt-4o", None),
            ("openai", "gpt-5.1", None),
            ("openai", "gpt-5.6-mini", Some(1024)),
            ("openai-responses", "gpt-6.2", Some(1024)),
            ("openrouter", "openai/gpt-5.6", None),
        ] {
            assert_eq!(
                cached_prefix_bytes(provider, model),
                tokens.map(|tokens: usize| tokens * 4),
                "{model}"
            );
        }
    }
}
