//! The answer nearly every server gives in OpenAI's chat format, read without building a tree of it.
//!
//! Whatever looks different in any way is left to the tolerant reading, which decides alone what is an error.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::{self, Said};
use super::openai_chat::finish;
use crate::reply::{ChatReply, Usage};
use crate::transport::HttpAnswer;

#[derive(Deserialize)]
struct Body {
    id: Option<String>,
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice {
    error: Option<IgnoredAny>,
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    input_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    output_tokens: Option<u64>,
    prompt_cache_hit_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

/// The reply in a good answer of the usual shape; `None` for anything else.
pub(super) fn read(answer: &HttpAnswer) -> Option<ChatReply> {
    if !(200..300).contains(&answer.status) {
        return None;
    }
    let body: Body = serde_json::from_str(std::str::from_utf8(&answer.body).ok()?).ok()?;
    let choice = body.choices.into_iter().next().filter(|choice| choice.error.is_none())?;
    let counts = body.usage.unwrap_or_default();
    let said = |text: Option<String>| text.filter(|text| !text.is_empty());
    Some(answer::reply(
        answer,
        Said {
            text: choice.message.content,
            finish: finish(choice.finish_reason.as_deref()),
            refusal: said(choice.message.refusal),
            usage: Usage {
                input: counts.prompt_tokens.or(counts.input_tokens),
                cached: counts
                    .prompt_tokens_details
                    .and_then(|details| details.cached_tokens)
                    .or(counts.prompt_cache_hit_tokens),
                output: counts.completion_tokens.or(counts.output_tokens),
            },
            model: said(body.model),
            id: said(body.id),
        },
    ))
}
