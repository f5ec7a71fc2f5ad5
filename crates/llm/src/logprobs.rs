//! Reads log-probabilities, and tokens written to a prompt cache, from a reply's body.
//!
//! They are large and few callers need them, so they are read on demand. Each format keeps them in a different place,
//! which identifies the format.

use serde_json::Value;

use crate::reply::ChatReply;

/// One token of a reply and how likely it was.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of its probability; at most 0.
    pub logprob: f64,
    /// The likeliest tokens at this position, usually with the chosen one among them, in the server's order.
    pub alternatives: Vec<TokenAlternative>,
}

/// A token that could have been at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenAlternative {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of its probability; at most 0.
    pub logprob: f64,
}

/// Fields of `usage` for the tokens written to a cache, in Anthropic's, Bedrock's and OpenAI's formats.
const CACHE_WRITTEN: [&str; 4] = [
    "/cache_creation_input_tokens",
    "/cacheWriteInputTokens",
    "/prompt_tokens_details/cache_write_tokens",
    "/input_tokens_details/cache_write_tokens",
];

impl ChatReply {
    /// The log-probabilities of the reply's visible tokens, in order; `None` if the server sent none. If one
    /// token has no usable number, all are dropped: a gap would shift the rest.
    pub fn logprobs(&self) -> Option<Vec<TokenLogprob>> {
        let body: Value = serde_json::from_str(&self.raw).ok()?;
        let tokens = openai_chat(&body)
            .or_else(|| openai_responses(&body))
            .or_else(|| gemini(&body))
            .or_else(|| list(body.get("logprobs")?))?;
        (!tokens.is_empty()).then_some(tokens)
    }

    /// Tokens of the input that were written to the provider's prompt cache, which costs extra at Anthropic,
    /// on Bedrock and with OpenAI's newer models. They are part of `usage.input`. `None` if not reported.
    pub fn cache_written(&self) -> Option<u64> {
        // Reading the body again is worth it only if it has such a field.
        let is_named = |place: &str| place.rsplit('/').next().is_some_and(|name| self.raw.contains(name));
        if !CACHE_WRITTEN.into_iter().any(is_named) {
            return None;
        }

        let body: Value = serde_json::from_str(&self.raw).ok()?;
        let usage = body.get("usage")?;
        CACHE_WRITTEN.iter().find_map(|place| usage.pointer(place)?.as_u64())
    }
}

fn openai_chat(body: &Value) -> Option<Vec<TokenLogprob>> {
    let logprobs = body.pointer("/choices/0/logprobs")?;
    logprobs.get("content").and_then(list).or_else(|| columns(logprobs))
}

/// The older form, which some servers such as Together's still use: separate lists of tokens, their
/// log-probabilities and their alternatives.
fn columns(logprobs: &Value) -> Option<Vec<TokenLogprob>> {
    let tokens = logprobs.get("tokens")?.as_array()?;
    let numbers = logprobs.get("token_logprobs")?.as_array()?;
    let tops = logprobs.get("top_logprobs").and_then(Value::as_array);

    if tokens.len() != numbers.len() {
        return None;
    }

    let read = |(at, (token, number)): (usize, (&Value, &Value))| {
        let top = tops.and_then(|tops| tops.get(at)).and_then(Value::as_object);
        let alternatives = top.into_iter().flatten();
        let alternatives = alternatives.filter_map(|(token, number)| {
            Some(TokenAlternative { token: token.clone(), logprob: logarithm(number)? })
        });
        Some(TokenLogprob {
            token: token.as_str()?.to_owned(),
            logprob: logarithm(number)?,
            alternatives: alternatives.collect(),
        })
    };
    tokens.iter().zip(numbers).enumerate().map(read).collect()
}

fn openai_responses(body: &Value) -> Option<Vec<TokenLogprob>> {
    let parts = body
        .get("output")?
        .as_array()?
        .iter()
        .filter(|item| item["type"] == "message")
        .filter_map(|item| item["content"].as_array())
        .flatten()
        .filter(|part| part["type"] == "output_text");

    let lists: Option<Vec<_>> = parts.map(|part| list(part.get("logprobs")?)).collect();
    Some(lists?.into_iter().flatten().collect())
}

/// Gemini keeps chosen tokens and alternatives in two lists of the same length.
fn gemini(body: &Value) -> Option<Vec<TokenLogprob>> {
    let result = body.pointer("/candidates/0/logprobsResult")?;
    let tops = result.get("topCandidates").and_then(Value::as_array);
    result
        .get("chosenCandidates")?
        .as_array()?
        .iter()
        .enumerate()
        .map(|(position, chosen)| {
            let (token, logprob) = entry(chosen, "logProbability")?;
            let alternatives = tops
                .and_then(|tops| tops.get(position)?.get("candidates")?.as_array())
                .map(|candidates| alternatives(candidates, "logProbability"))
                .unwrap_or_default();
            Some(TokenLogprob { token, logprob, alternatives })
        })
        .collect()
}

/// OpenAI's list of tokens, which Ollama has as well.
fn list(tokens: &Value) -> Option<Vec<TokenLogprob>> {
    tokens
        .as_array()?
        .iter()
        .map(|item| {
            let (token, logprob) = entry(item, "logprob")?;
            let alternatives = item
                .get("top_logprobs")
                .and_then(Value::as_array)
                .map(|top| alternatives(top, "logprob"))
                .unwrap_or_default();
            Some(TokenLogprob { token, logprob, alternatives })
        })
        .collect()
}

fn alternatives(items: &[Value], name: &str) -> Vec<TokenAlternative> {
    let read = |item| entry(item, name).map(|(token, logprob)| TokenAlternative { token, logprob });
    items.iter().filter_map(read).collect()
}

fn entry(item: &Value, name: &str) -> Option<(String, f64)> {
    Some((item.get("token")?.as_str()?.to_owned(), logarithm(item.get(name)?)?))
}

/// A probability is at most 1. Rounding may lift its logarithm slightly above 0.
fn logarithm(number: &Value) -> Option<f64> {
    number.as_f64().filter(|number| *number <= 1e-3).map(|number| number.min(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::FinishReason;

    fn reply(raw: &str) -> ChatReply {
        ChatReply { raw: raw.to_owned(), ..ChatReply::new(String::new(), FinishReason::Stop) }
    }

    fn expected() -> Vec<TokenLogprob> {
        let alternative = |token: &str, logprob| TokenAlternative { token: token.into(), logprob };
        vec![
            TokenLogprob { token: "un".into(), logprob: 0.0, alternatives: Vec::new() },
            TokenLogprob {
                token: "met".into(),
                logprob: -0.25,
                alternatives: vec![alternative("met", -0.25), alternative("known", -1.5)],
            },
        ]
    }

    #[test]
    fn every_format_gives_the_same_tokens() {
        let list = r#"[{"token":"un","logprob":0.0,"bytes":[117,110],"top_logprobs":[]},
            {"token":"met","logprob":-0.25,"bytes":null,"top_logprobs":
            [{"token":"met","logprob":-0.25},{"token":"known","logprob":-1.5}]}]"#;
        for raw in [
            format!(r#"{{"choices":[{{"logprobs":{{"content":{list},"refusal":null}}}}]}}"#),
            format!(
                r#"{{"output":[{{"type":"reasoning"}},{{"type":"message","content":[{{"type":"output_text","text":"unmet",
                "logprobs":{list}}}]}}]}}"#
            ),
            format!(r#"{{"message":{{"content":"unmet"}},"logprobs":{list}}}"#),
            r#"{"choices":[{"logprobs":{"tokens":["un","met"],"token_ids":[1,2],"token_logprobs":[0.0,-0.25],
                "top_logprobs":[{},{"met":-0.25,"known":-1.5}]}}]}"#
                .to_owned(),
            r#"{"candidates":[{"logprobsResult":{
                "chosenCandidates":[{"token":"un","tokenId":1,"logProbability":0},
                    {"token":"met","tokenId":2,"logProbability":-0.25}],
                "topCandidates":[{"candidates":[]},{"candidates":[
                    {"token":"met","tokenId":2,"logProbability":-0.25},
                    {"token":"known","tokenId":3,"logProbability":-1.5}]}]}}]}"#
                .to_owned(),
        ] {
            assert_eq!(reply(&raw).logprobs(), Some(expected()), "{raw}");
        }
    }

    #[test]
    fn none_is_not_an_empty_list_and_a_gap_spoils_all() {
        for raw in [
            "",
            "{}",
            r#"{"choices":[{"logprobs":null}]}"#,
            r#"{"choices":[{"logprobs":{"content":[]}}]}"#,
            r#"{"choices":[{"logprobs":{"content":null}}]}"#,
            r#"{"choices":[{"logprobs":{"tokens":["a","b"],"token_logprobs":[-0.1]}}]}"#,
            r#"{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[null]}}]}"#,
            r#"{"choices":[{"logprobs":{"tokens":[],"token_logprobs":[]}}]}"#,
            r#"{"logprobs":[{"token":"a","logprob":-0.1},{"token":"b"}]}"#,
            r#"{"logprobs":[{"token":"a","logprob":0.7}]}"#,
        ] {
            assert_eq!(reply(raw).logprobs(), None, "{raw}");
        }
    }

    #[test]
    fn tokens_written_to_the_cache_are_read() {
        assert_eq!(reply(r#"{"usage":{"cache_creation_input_tokens":7}}"#).cache_written(), Some(7));
        assert_eq!(reply(r#"{"usage":{"cacheWriteInputTokens":9}}"#).cache_written(), Some(9));
        for details in ["prompt_tokens_details", "input_tokens_details"] {
            let body = format!(r#"{{"usage":{{"{details}":{{"cache_write_tokens":5}}}}}}"#);
            assert_eq!(reply(&body).cache_written(), Some(5));
        }
        assert_eq!(reply(r#"{"usage":{}}"#).cache_written(), None);
    }
}
