//! A tree of values with their spans, parsed from YAML or JSON.

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
pub use node::{MapEntry, NodeValue, TreeNode};
pub(crate) use scalar::resolve_scalar;
pub use yaml::{YamlListReader, read_yaml, read_yaml_outline};
pub use yaml_reader::SyntaxFailure;
