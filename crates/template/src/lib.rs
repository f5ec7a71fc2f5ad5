//! Templates of prompts and requests: the part of nunjucks that minijinja has, with the values of JavaScript.

#![warn(missing_docs)]

mod limited_text;
mod limits;
mod render;
mod request;
mod script_values;
mod syntax;

pub use limits::{MAX_TAG_BYTES, MAX_TEMPLATE_BYTES, MAX_TEMPLATE_DEPTH};
pub use render::{TemplateWork, first_line, full_environment, has_markers, render_text, unclosed_marker};
pub use request::{RequestEscape, render_request};
pub use script_values::UNRESERVED;
pub use syntax::translate;
