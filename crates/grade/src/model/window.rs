//! Whether a request is something the model can read, decided before it is sent.

use assize_llm::{ChatRequest, ModelCard};
use assize_rubric::{Truncate, UngradedKind};

use super::answer::Failure;

/// Tokens left for a reply that has no limit of its own: its frame, and each decision in it.
const REPLY: u64 = 200;
const DECISION: u64 = 300;

/// Tokens that a reply on so many decisions needs in the window beside the request.
pub(super) fn reply_tokens(request: &ChatRequest, decisions: usize) -> u64 {
    match request.max_output_tokens {
        Some(most) => u64::from(most),
        None => DECISION.saturating_mul(decisions as u64).saturating_add(REPLY),
    }
}

/// Refuses a request that is longer than the model can read, with its reply, by the estimate. `mode` is what is done to make
/// it fit, `None` where nothing can be.
pub(super) fn check(
    card: ModelCard,
    mode: Option<Truncate>,
    request: &ChatRequest,
    decisions: usize,
) -> Result<(), Failure> {
    let Some(limit) = card.context_tokens else { return Ok(()) };
    let input = card.estimator.request(request);
    let reply = reply_tokens(request, decisions);
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
