//! promptfoo configurations: prompts, variables, and assertions of many types.

mod config;
mod record_assertions;
mod variables;

pub(crate) use config::{MatrixContent, read_config};
pub(crate) use record_assertions::{graders_of_records, question_name};
pub(crate) use variables::escape_template;
