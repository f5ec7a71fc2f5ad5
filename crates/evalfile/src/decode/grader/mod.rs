//! Decoders of graders. One file per family of graders; `list` decodes a whole list, `object` the keys common
//! to all graders.

mod assertion_context;
mod code;
mod common_keys;
mod composite;
mod context;
mod custom;
mod foreign_types;
mod grader_type;
mod include;
mod json;
mod labels;
mod list;
mod llm;
mod metrics;
mod names;
mod object;
mod pairwise;
mod panel;
mod prompt;
mod resolve_type;
mod rubrics;
mod script;
mod selection;
mod shared;
mod similar;
mod sql;
mod temperature;
mod template_cache;
mod text;
mod trajectory;

pub use assertion_context::AssertionContext;
pub use grader_type::is_text_check;
pub use list::decode_assertions;
pub(crate) use names::distinct_names;
pub(crate) use panel::{PanelUse, decode_panel};
pub(crate) use prompt::decode_command;
pub(crate) use rubrics::{
    decode_evidence, decode_inline_rubrics, decode_judging, decode_truncate, grader_from_outcome,
};
pub use script::{decode_transforms, read_code, read_language};
pub(crate) use selection::refuse_selection;
pub use shared::missing_key;
pub(crate) use shared::{decode_choice, decode_duration};
pub(crate) use template_cache::TemplateCache;
