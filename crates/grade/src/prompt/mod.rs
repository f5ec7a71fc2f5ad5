//! The prompts of the model judge, and the form of its replies.
//!
//! A request is the system message (rules, always the same) and one user message in parts. Its first part holds
//! the material and is identical, byte for byte, for all criteria of a task, so that providers can cache it.
//! The criterion follows. Weights, gates and ids never appear.

mod answer_score;
mod behaviour;
mod block;
mod control;
mod criteria;
mod files;
mod hidden;
mod pair;
mod questions;
mod schema;
mod shared;
mod template;

pub use answer_score::{COMBINE_PROMPT, WHOLE_PROMPT_VERSION};
pub use behaviour::BEHAVIOUR_PROMPT_VERSION;
pub(crate) use block::format_block;
pub(crate) use criteria::{DecisionForm, PromptCriterion, batched_part, single_part};
pub use files::{PROMPT_VERSION, prompt_hash};
pub use pair::PAIR_PROMPT_VERSION;
#[cfg(test)]
pub(crate) use pair::PREFERENCE_VALUES;
pub use questions::QUESTIONS_PROMPT_VERSION;
pub(crate) use schema::{batched_schema, single_schema};
pub(crate) use shared::format_instructed;

use std::sync::{Arc, LazyLock};

use assize_llm::{ChatMessage, MessageRole, Part};

use crate::FenceSource;
use crate::fence::draw_fence;

/// Longest excerpt of an unusable reply in a repair, in characters.
const EXCERPT_CHARS: usize = 1500;

/// Longest list of problems in a repair, in characters.
const PROBLEM_CHARS: usize = 4000;

/// Size of the rules with which every call begins, in bytes.
pub(crate) const SYSTEM_BYTES: usize = files::SYSTEM.len();

/// The messages of one call.
pub(crate) fn messages(shared: &Arc<str>, question: String, repair: Option<String>) -> Arc<[ChatMessage]> {
    static SYSTEM: LazyLock<ChatMessage> = LazyLock::new(|| ChatMessage::system(files::SYSTEM));

    let (shared, question) = (Part::Text(Arc::clone(shared)), Part::Text(question.into()));
    let content = match repair {
        None => Arc::new([shared, question]) as Arc<[Part]>,
        Some(repair) => Arc::new([shared, question, Part::Text(repair.into())]),
    };
    Arc::new([SYSTEM.clone(), ChatMessage { role: MessageRole::User, content }])
}

/// The text that a repair adds to the question: the problem and the beginning of the unusable reply, both as
/// data.
///
/// They get their own fence, because the reply may contain the fence of the material, which its writer has
/// seen.
pub(crate) fn repair_part(fences: &dyn FenceSource, problem: &str, reply: &str) -> String {
    let problem: String = problem.chars().take(PROBLEM_CHARS).collect();
    let excerpt: String = reply.chars().take(EXCERPT_CHARS).collect();
    let fence = draw_fence(fences, &[&problem, &excerpt]);
    let shown = if excerpt.trim().is_empty() {
        String::new()
    } else {
        block::format_block("previous reply", &fence, &excerpt)
    };

    let problem = block::format_block("problem", &fence, &problem);
    format!(
        "\n{}",
        template::fill_template(files::REPAIR, &[("problem", problem.trim_end()), ("excerpt", &shown)])
    )
}
