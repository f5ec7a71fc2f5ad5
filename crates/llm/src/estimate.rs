//! Counting tokens before anything is sent, without a tokenizer.
//!
//! Every provider has its own tokenizers, and most are not published. So this is a high estimate: each character counts
//! by its kind, for about as many tokens as it has in the least economical of the usual vocabularies, times a factor
//! for providers whose tokenizers make more. The estimate for English prose is about a third too high, which is the
//! right side to err on for a limit.

use crate::request::{ChatRequest, Part};

/// Characters are counted in sixths of a token.
const PARTS_PER_TOKEN: u64 = 6;
/// Tokens around each message: roles and separators.
const PER_MESSAGE: u64 = 8;
/// Tokens that providers add before a conversation, and that they add to tell the model how to call a tool, for
/// a reply that follows a schema.
const ADDED_TOKENS: u64 = 32;
const ADDED_TOOL_TOKENS: u64 = 512;
/// Tokens of a picture of any size, in the most expensive of the usual encodings.
const PER_IMAGE: u64 = 1600;

/// Counts the tokens of one provider's models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenEstimator {
    percent: u64,
    /// Tokens that may be added before a conversation whose reply has a schema.
    added: u64,
}

impl Default for TokenEstimator {
    fn default() -> Self {
        Self { percent: 110, added: ADDED_TOOL_TOKENS }
    }
}

impl TokenEstimator {
    /// The estimator for a provider, by the name of its row.
    pub fn for_provider(provider: &str) -> Self {
        match provider {
            "openai" | "openai-responses" | "openai-embeddings" | "azure" | "azure-embeddings" => {
                Self { percent: 100, added: ADDED_TOKENS }
            }
            "anthropic" => Self { percent: 120, added: ADDED_TOOL_TOKENS },
            _ => Self::default(),
        }
    }

    /// Expected tokens of a text; a high estimate.
    pub fn text(self, text: &str) -> u64 {
        self.whole(text.chars().map(Self::weight).sum())
    }

    /// Expected tokens of a request: its messages and its schema.
    pub fn request(self, request: &ChatRequest) -> u64 {
        let mut tokens = 0u64;
        for message in &*request.messages {
            tokens += PER_MESSAGE;
            for part in &*message.content {
                tokens += match part {
                    Part::Text(text) => self.text(text),
                    Part::Image { .. } => PER_IMAGE,
                };
            }
        }

        tokens + request.schema.as_ref().map_or(0, |schema| self.text(schema.schema.json()))
    }

    /// Upper bound of the tokens of a request: no tokenizer makes more tokens of a text than it has bytes.
    /// Includes what a provider may add; pictures are estimated.
    pub fn most(self, request: &ChatRequest) -> u64 {
        let parts = request.messages.iter().flat_map(|message| &*message.content);
        let read: u64 = parts
            .map(|part| match part {
                Part::Text(text) => text.len() as u64,
                Part::Image { .. } => PER_IMAGE,
            })
            .sum();

        let schema = request.schema.as_ref().map_or(0, |schema| schema.schema.json().len() as u64);
        let frames = PER_MESSAGE * request.messages.len() as u64;
        let added = if request.schema.is_some() { self.added } else { ADDED_TOKENS };
        read + schema + frames + added
    }

    /// Weight of a character. [`Self::room`] converts tokens into the same unit.
    pub fn weight(c: char) -> u64 {
        match c {
            'a'..='z' | 'A'..='Z' | ' ' | '\n' | '\t' | '\r' => 2,
            '\0'..='\x7f' => 3,
            _ => match c.len_utf8() {
                2 => 4,
                3 => 8,
                _ => 16,
            },
        }
    }

    /// The total weight of characters that fits into this many tokens.
    pub fn room(self, tokens: u64) -> u64 {
        tokens.saturating_mul(PARTS_PER_TOKEN).saturating_mul(100) / self.percent
    }

    fn whole(self, parts: u64) -> u64 {
        parts.saturating_mul(self.percent).div_ceil(PARTS_PER_TOKEN * 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ChatMessage, JsonSchemaFormat};

    #[test]
    fn prose_is_a_third_of_a_token_per_letter_and_rare_scripts_more() {
        let openai = TokenEstimator::for_provider("openai");
        assert_eq!(openai.text(&"word ".repeat(60)), 100);
        assert_eq!(openai.text("12"), 1);
        assert_eq!(openai.text("漢字漢字漢字"), 8);
        assert!(openai.text("🦀") >= 2);
        assert!(
            TokenEstimator::for_provider("anthropic").text("some more words")
                > openai.text("some more words")
        );
    }

    #[test]
    fn a_request_has_no_more_tokens_than_bytes_and_what_is_added() {
        let mut request = ChatRequest::new(vec![ChatMessage::system("ab"), ChatMessage::user("漢字")]);
        let most = |request: &ChatRequest| {
            ["openai", "anthropic", "groq"].map(|provider| {
                let estimator = TokenEstimator::for_provider(provider);
                assert!(estimator.request(request) <= estimator.most(request));
                estimator.most(request)
            })
        };
        assert_eq!(most(&request), [2 + 6 + 2 * 8 + 32; 3]);
        request.schema = Some(JsonSchemaFormat {
            name: "x".into(),
            schema: serde_json::json!({"type": "object"}).into(),
            strict: true,
        });
        let without = 2 + 6 + 2 * 8 + 17;
        assert_eq!(most(&request), [without + 32, without + 512, without + 512]);
    }

    #[test]
    fn text_that_fits_is_not_estimated_above_its_room() {
        for provider in ["openai", "anthropic", "groq"] {
            let estimator = TokenEstimator::for_provider(provider);
            for tokens in [0, 1, 7, 100, 12_345] {
                let letters = usize::try_from(estimator.room(tokens) / 2).unwrap();
                assert!(estimator.text(&"x".repeat(letters)) <= tokens, "{provider} {tokens}");
            }
        }
    }
}
