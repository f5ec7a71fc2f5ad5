//! Checks, before a request is sent, that it fits the model's context window.

use assize_llm::{ChatRequest, ModelCard};
use assize_rubric::{TruncationMode, UngradedKind, UngradedReason, grouped};

/// Estimated tokens of a long reply: the frame, and each decision.
const REPLY_FRAME_TOKENS: u32 = 200;
const DECISION_TOKENS: u32 = 300;

/// Estimated tokens of a long reply with this many decisions.
pub(super) fn long_reply_tokens(decisions: usize) -> u32 {
    DECISION_TOKENS
        .saturating_mul(u32::try_from(decisions).unwrap_or(u32::MAX))
        .saturating_add(REPLY_FRAME_TOKENS)
}

/// Tokens that the reply to a request takes in the context window: the length of a long reply, or the output limit if
/// that is lower.
pub(super) fn reply_tokens(card: ModelCard, request: &ChatRequest) -> u64 {
    let expected = request.expected_output.unwrap_or_else(|| long_reply_tokens(1));
    u64::from(card.max_output_tokens.map_or(expected, |most| most.min(expected)))
}

/// Refuses a request whose estimated tokens, with its reply, exceed the context window. `mode` is the
/// truncation already applied; `None` if the request can't be truncated.
pub(super) fn check_window(
    card: ModelCard,
    mode: Option<TruncationMode>,
    request: &ChatRequest,
) -> Result<(), UngradedReason> {
    let Some(limit) = card.context_tokens else { return Ok(()) };
    let input = card.estimator.request(request);
    let reply = reply_tokens(card, request);
    if input.saturating_add(reply) <= limit {
        return Ok(());
    }

    let advice = match mode {
        None => "only the material of rubrics can be made to fit, by `truncate`".to_owned(),
        Some(TruncationMode::Never) => {
            "`truncate: head`, `tail` or `middle` removes a part, `truncate: chunk` judges the answer in parts"
                .to_owned()
        }
        Some(mode) => format!("`truncate: {}` can't make it fit", mode.name()),
    };

    let message = format!(
        "not sent: about {} tokens plus {} for the reply exceed the judge's context window of {}; {advice}; set another limit with `context_tokens` in `.assize/prices.yaml` or `--context-tokens`",
        grouped(input),
        grouped(reply),
        grouped(limit)
    );
    Err(UngradedReason::new(UngradedKind::ContextLength, message))
}
