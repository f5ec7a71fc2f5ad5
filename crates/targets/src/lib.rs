//! Targets: models, commands, agents, recordings and given answers.
//!
//! Every kind of target implements [`Target`]. A failure is a [`TargetError`] and never an empty [`Answer`];
//! an empty answer that the target returned is an answer.

mod answer;
mod batch;
mod command;
mod error;
mod fallback;
mod given;
mod health;
mod input;
mod limited;
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
mod traced;
mod transcript;
mod turns;

pub use answer::Answer;
pub use assize_llm::BoxFuture;
pub use assize_rubric::{Role, ToolCall};
pub use batch::BatchTarget;
pub use command::{CommandTarget, CommandTemplate};
pub use error::{TargetError, TargetErrorKind};
pub use fallback::FallbackTarget;
pub use given::{GivenTarget, given_answer};
pub use health::{HealthCheck, HealthChecked};
pub use input::{InputMessage, InputPart, TargetInput, TurnInput};
pub use limited::Limited;
pub use mock::MockTarget;
pub use model::ModelTarget;
pub use prompt::{chat_messages, messages_json, prompt_text};
pub use recording::RecordingError;
pub use replay::ReplayTarget;
pub use retry::Retrying;
pub use target::{Target, TargetDescription, TargetKind};
pub use traced::{traced_answer, traced_output};
pub use transcript::TranscriptTarget;
pub use turns::{is_question, turn_answers};
