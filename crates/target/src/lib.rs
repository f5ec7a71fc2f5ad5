//! Getting the answer to judge: from a model, from a command, or from what is already there.
//!
//! Every kind of target implements [`Target`]. A failure is a [`TargetError`] and never an empty [`Answer`];
//! an answer that is empty because the target said nothing is an answer.

mod answer;
mod command;
mod error;
mod given;
mod input;
mod messages;
mod model;
mod prompt;
mod reply;
mod retry;
mod scratch;
mod target;
mod template;

pub use answer::{Answer, ToolCall};
pub use assize_llm::{BoxFuture, Role};
pub use command::{CommandTarget, CommandTemplate};
pub use error::{TargetError, TargetErrorKind};
pub use given::{GivenTarget, given_answer};
pub use input::{InputMessage, InputPart, TargetInput};
pub use model::ModelTarget;
pub use prompt::{chat_messages, prompt_text};
pub use retry::Retrying;
pub use target::{Target, TargetDescription, TargetKind};
