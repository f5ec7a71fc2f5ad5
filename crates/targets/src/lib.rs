//! Targets: models, commands, agents, recordings and given answers.
//!
//! Every kind of target implements [`Target`]. A failure is a [`TargetError`] and never an empty [`TargetAnswer`]. An
//! answer that is empty by [`TargetAnswer::is_blank`] is a failure too, unless the eval file itself contains it.
//!
//! Design: `docs/design/targets-and-agents.md`.

#![warn(missing_docs)]

mod answer;
mod batch;
mod command;
mod echo;
mod error;
mod fallback;
mod given;
mod health;
mod identity;
mod input;
mod limited_target;
mod messages;
mod mock;
mod model;
mod prompt;
mod recording;
mod replay;
mod reply;
mod retry;
mod scratch;
mod stream;
mod target;
mod trace_answer;
mod transcript;
mod turns;

pub use answer::TargetAnswer;
pub use assize_llm::BoxFuture;
pub use assize_rubric::{MessageRole, ToolCall};
pub use batch::BatchTarget;
pub use command::{CommandTarget, CommandTemplate};
pub use echo::EchoTarget;
pub use error::{TargetError, TargetErrorKind};
pub use fallback::FallbackTarget;
pub use given::given_answer;
pub use health::{HealthCheck, HealthCheckedTarget};
pub use input::{InputMessage, TargetInput, TargetInputPart, TurnInput};
pub use limited_target::LimitedTarget;
pub use mock::MockTarget;
pub use model::ModelTarget;
pub use prompt::{chat_messages, messages_json, prompt_or_messages, prompt_text};
pub use recording::{RecordingError, join_subagents, subagent_logs, take_subagents};
pub use replay::ReplayTarget;
pub use retry::RetryingTarget;
pub use target::{Target, TargetDescription, TargetKind};
pub use trace_answer::{traced_answer, traced_output};
pub use transcript::TranscriptTarget;
pub use turns::{is_question, turn_answers};

#[cfg(test)]
mod tests;
