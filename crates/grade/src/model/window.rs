//! Whether a request is something the model can read, decided before it is sent.

use assize_llm::{ChatRequest, ModelCard};
use assize_rubric::{Truncate, UngradedKind};

use super::answer::Failure;

/// Tokens of a long reply: its frame, and each decision in it.
const REPLY: u32 = 200;
const DECISION: u32 = 300;

/// Tokens of a long reply on so many decisions.
pub(super) fn long_reply(decisions: usize) -> u32 {
    DECISION.saturating_mul(u32::try_from(decisions).unwrap_or(u32::MAX)).saturating_add(REPLY)
}

/// Tokens that the reply to a request needs in the window beside it: those of a long one, or its limit.
pub(super) fn reply_tokens(card: ModelCard, request: &ChatRequest) -> u64 {
    let expected = request.expected_output.unwrap_or_else(|| long_reply(1));
    u64::from(card.max_output_tokens.map_or(expected, |most| most.min(expected)))
}

/// Refuses a request that is longer than the model can read, with its reply, by the estimate. `mode` is what is done to make
/// it fit, `None` where nothing can be.
pub(super) fn check(card: ModelCard, mode: Option<Truncate>, request: &ChatRequest) -> Result<(), Failure> {
    let Some(limit) = card.context_tokens else { return Ok(()) };
    let input = card.estimator.request(request);
    let reply = reply_tokens(card, request);
    if input.saturating_add(reply) <= limit {
        return Ok(());
    }
    let advice = match mode {
        None => "only the material of rubrics can be made to fit, by `truncate`".to_owned(),
        Some(Truncate::Never) => {
            "`truncate: head`, `tail` or `middle` leaves a part out, `truncate: chunk` judges the answer in parts"
                .to_owned()
        }
        Some(mode) => format!("`truncate: {}` can't make it fit", mode.name()),
    };
    let message = format!(
        "not sent: about {input} tokens and {reply} for the reply are more than the {limit} that the judge can read; \
         {advice}; `context_tokens` in `.assize/prices.yaml` or `--context-tokens` sets another limit"
    );
    Err(Failure::new(UngradedKind::ContextLength, message))
}
