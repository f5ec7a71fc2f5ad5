//! A tree of values with their spans, parsed from YAML or JSON.
//!
//! Eval files are not deserialized with serde, for these reasons:
//!
//! - All problems of a file are reported in one pass, each at its position. A deserializer stops at the first.
//! - Duplicate keys are errors. A map type would already have dropped one of them.
//! - Lists may mix strings and maps (a criterion may be either). serde reads such values through a buffer that
//!   has lost the positions.
//! - Aliases need a limit, because a small file can otherwise expand beyond memory.
//! - Unknown keys get a suggestion of the nearest known key.
//!
//! So both parsers build a `TreeNode`, in which every value and every key has a span, and the decoders walk
//! that tree. These invariants hold:
//!
//! - Spans are byte ranges of the original text, including its byte order mark, even where the parser was given
//!   a modified text (see `yaml` and `yaml_escapes`).
//! - Keys are unique in their map and keep the order of the file. Merge keys are resolved, and merged entries
//!   come last.
//! - Aliases are replaced by copies, whose total size is limited. A copy keeps the span of the anchored text
//!   and records where it was used in `used_at`.
//! - Nesting depth and the number of keys of a map are limited, so recursion over a tree is safe.

mod depth;
mod json;
mod json_syntax;
mod node;
mod scalar;
mod yaml;
mod yaml_escapes;
mod yaml_merge;
mod yaml_positions;
mod yaml_reader;
mod yaml_syntax;

pub use json::{DeferredList, read_json, read_json_in, read_json_outline};
pub(crate) use node::WEIGHED_TEXT_BYTES;
pub use node::{MapEntry, NodeValue, TreeNode, ValueSize};
pub(crate) use scalar::resolve_scalar;
pub use yaml::{YamlListReader, read_yaml, read_yaml_outline};
pub use yaml_reader::SyntaxFailure;
pub use yaml_syntax::cut_text;
