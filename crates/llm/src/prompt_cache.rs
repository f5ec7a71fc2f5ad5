//! Models that cache the beginning of a prompt only where it is marked, and the least length that they cache.
//!
//! Such a model charges for what a marked request writes to its cache, so a mark helps only where another request will
//! find it. All others cache by themselves, or not at all.

/// Bytes from which providers usually cache a prefix: about 1,024 tokens.
pub const USUAL_CACHED_BYTES: usize = 1024 * BYTES_PER_TOKEN;

const BYTES_PER_TOKEN: usize = 4;

/// Claude models that cache from another length on than the usual 1,024 tokens: a part of their name with `-` for `.`,
/// and the tokens, as Anthropic's documentation of prompt caching listed them in autumn 2026.
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

/// Claude models on Bedrock that refuse a mark, being older than its prompt cache.
const UNMARKED: [&str; 6] =
    ["claude-v2", "claude-instant", "3-opus", "3-sonnet", "3-haiku", "3-5-sonnet-20240620"];

/// Bytes from which a prefix is cached by a model that caches only what is marked and charges for every call that marks
/// and finds nothing; `None` for all others.
pub fn cached_prefix_bytes(provider: &str, model: &str) -> Option<usize> {
    let model = model.to_ascii_lowercase().replace('.', "-");
    let named = |part: &str| model.contains(part);
    let marked = match provider {
        "anthropic" => true,
        "bedrock" => named("claude") && !UNMARKED.iter().any(|part| named(part)),
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
        ] {
            assert_eq!(
                cached_prefix_bytes(provider, model),
                tokens.map(|tokens: usize| tokens * 4),
                "{model}"
            );
        }
    }
}
