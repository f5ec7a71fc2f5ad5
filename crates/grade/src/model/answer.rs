//! Turns a model's reply into a usable text, or into the kind of failure.

use assize_llm::{AskError, ChatReply, ErrorKind, ReplyDefect};
use assize_rubric::{UngradedKind, UngradedReason};

use crate::reply::PROBABILITY_ADVICE;
pub(super) use assize_limits::JUDGEMENT_BYTES as MAX_REPLY_BYTES;

/// The failure of a call without a reply.
pub(super) fn failure_of(error: &AskError) -> UngradedReason {
    let kind = match error.kind {
        // The judge gets no calls now, but will later.
        ErrorKind::Cancelled if error.retry_after.is_some() => {
            return UngradedReason::new(UngradedKind::Unavailable, error.message.as_str());
        }
        ErrorKind::ContentRefused => UngradedKind::Refusal,
        ErrorKind::Cancelled => UngradedKind::Cancelled,
        ErrorKind::NotCached => UngradedKind::NotJudged,
        ErrorKind::ContextLength => UngradedKind::ContextLength,
        ErrorKind::NoLogprobs => {
            return UngradedReason::new(UngradedKind::Probability, format!("{error}; {PROBABILITY_ADVICE}"));
        }
        _ => UngradedKind::Transport,
    };
    UngradedReason::new(kind, error.to_string())
}

/// The text of a reply that is complete and meant as an answer.
pub(super) fn reply_text(reply: &ChatReply) -> Result<&str, UngradedReason> {
    let (kind, message) = match reply.defect() {
        None if reply.text.len() > MAX_REPLY_BYTES => {
            let message = format!(
                "the reply is {} KiB long, and a judgement may have {} KiB; keep quotes and reason short",
                reply.text.len() >> 10,
                MAX_REPLY_BYTES >> 10
            );
            (UngradedKind::Malformed, message)
        }
        None => return Ok(&reply.text),
        Some(ReplyDefect::Refusal(words)) => {
            let words: String = words.chars().take(200).collect();
            (UngradedKind::Refusal, format!("the judge declined to answer: {words}"))
        }
        Some(ReplyDefect::Withheld) => {
            (UngradedKind::Refusal, "the judge's server withheld the reply (content filter)".to_owned())
        }
        Some(ReplyDefect::BrokenOff(word)) => {
            (UngradedKind::Truncated, format!("the judge's server broke the reply off ({word})"))
        }
        Some(ReplyDefect::CutOff) => {
            let limit = match reply.cut_at {
                Some(tokens) => format!("its limit of {tokens} tokens; `--max-output-tokens` sets another"),
                None => "the token limit of the server".to_owned(),
            };
            (UngradedKind::Truncated, format!("the reply was cut off at {limit}"))
        }
        Some(ReplyDefect::Empty) => (UngradedKind::Malformed, "the reply was empty".to_owned()),
    };

    Err(UngradedReason::new(kind, message))
}
