//! promptfoo configurations: prompts, variables, and assertions of many types.

mod assertions;
mod config;
mod prompts;
mod variables;

pub(crate) use assertions::{PromptfooTestContext, convert_assertion};
pub(crate) use config::read_config;
pub(crate) use variables::escape_template;
