//! From what came back to what it means: a usable text, or the failure it stands for.

use assize_llm::{AskError, ChatReply, ErrorKind, FinishReason};
use assize_rubric::{UngradedKind, UngradedReason};

use crate::reply::PROBABILITY_ADVICE;

/// Bytes of a reply that may be a judgement; a reply on a hundred criteria has a few thousand.
pub(super) const MOST_REPLY: usize = 256 << 10;

/// Reason a criterion has no decision yet.
#[derive(Debug, Clone)]
pub(super) struct JudgeFailure {
    pub(super) kind: UngradedKind,
    pub(super) message: String,
}

impl From<JudgeFailure> for UngradedReason {
    fn from(failure: JudgeFailure) -> Self {
        Self { kind: failure.kind, message: failure.message }
    }
}

impl JudgeFailure {
    pub(super) fn new(kind: UngradedKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The failure of a call that brought no reply.
    pub(super) fn from_error(error: &AskError) -> Self {
        let kind = match error.kind {
            ErrorKind::ContentRefused => UngradedKind::Refusal,
            ErrorKind::Cancelled => UngradedKind::Cancelled,
            ErrorKind::NotCached => UngradedKind::NotJudged,
            ErrorKind::ContextLength => UngradedKind::ContextLength,
            ErrorKind::NoLogprobs => {
                return Self::new(UngradedKind::Probability, format!("{error}; {PROBABILITY_ADVICE}"));
            }
            _ => UngradedKind::Transport,
        };
        Self::new(kind, error.to_string())
    }
}

/// The text of a reply that is whole and meant as an answer.
pub(super) fn reply_text(reply: &ChatReply) -> Result<&str, JudgeFailure> {
    if let Some(refusal) = reply.refusal.as_deref().filter(|words| !words.trim().is_empty()) {
        let words: String = refusal.trim().chars().take(200).collect();
        return Err(JudgeFailure::new(
            UngradedKind::Refusal,
            format!("the judge declined to answer: {words}"),
        ));
    }
    match reply.finish {
        FinishReason::ContentFilter => Err(JudgeFailure::new(
            UngradedKind::Refusal,
            "the judge's server withheld the reply (content filter)",
        )),
        FinishReason::Other(ref word) if reply.finish.is_broken_off() => Err(JudgeFailure::new(
            UngradedKind::Truncated,
            format!("the judge's server ended the reply early ({word})"),
        )),
        // A reply that ran into the limit may look whole and still lack what came after.
        FinishReason::Length => {
            let limit = match reply.cut_at {
                Some(tokens) => format!("its limit of {tokens} tokens"),
                None => "the token limit".to_owned(),
            };
            Err(JudgeFailure::new(
                UngradedKind::Truncated,
                format!("the reply was cut off at {limit}; keep quotes and reason short"),
            ))
        }
        _ if reply.text.len() > MOST_REPLY => Err(JudgeFailure::new(
            UngradedKind::Malformed,
            format!(
                "the reply is {} KiB long, and a judgement may have {} KiB; keep quotes and reason short",
                reply.text.len() >> 10,
                MOST_REPLY >> 10
            ),
        )),
        _ if reply.text.trim().is_empty() => {
            Err(JudgeFailure::new(UngradedKind::Malformed, "the reply was empty"))
        }
        _ => Ok(&reply.text),
    }
}
