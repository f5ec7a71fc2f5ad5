//! The answer nearly every server gives in OpenAI's chat format, read without building a tree of it.
//!
//! Whatever looks different in any way is left to the tolerant reading, which decides alone what is an error.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::{self, Said};
use super::openai_chat::{finish, written};
use crate::reply::{ChatReply, Usage};
use crate::transport::HttpAnswer;

/// A text that is taken from the answer as it stands, unless there are escapes in it.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    model: Option<Text<'a>>,
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    error: Option<IgnoredAny>,
    message: Message,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
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
    total_tokens: Option<u64>,
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
    let body: Body<'_> = serde_json::from_str(std::str::from_utf8(&answer.body).ok()?).ok()?;
    let choice = body.choices.into_iter().next().filter(|choice| choice.error.is_none())?;
    let counts = body.usage.unwrap_or_default();
    let input = counts.prompt_tokens.or(counts.input_tokens);
    let said =
        |text: Option<Text<'_>>| text.filter(|text| !text.0.is_empty()).map(|text| text.0.into_owned());
    Some(answer::reply(
        answer,
        Said {
            text: choice.message.content,
            finish: finish(choice.finish_reason.as_ref().map(|reason| &*reason.0)),
            refusal: choice.message.refusal.filter(|refusal| !refusal.is_empty()),
            usage: Usage {
                input,
                cached: counts
                    .prompt_tokens_details
                    .and_then(|details| details.cached_tokens)
                    .or(counts.prompt_cache_hit_tokens),
                output: written(
                    input,
                    counts.completion_tokens.or(counts.output_tokens),
                    counts.total_tokens,
                ),
            },
            model: said(body.model),
            id: said(body.id),
        },
    ))
}
