//! Wire formats, one file each: pure functions between this crate's types and the bytes a server speaks.

mod dialect;
mod format;
mod json;
mod openai_chat;

pub use dialect::Dialect;
pub use format::{HttpCall, KeyHeader, Wire};
pub use openai_chat::OpenAiChat;
