//! A tree of values with their spans, parsed from YAML or JSON.
//!
//! Design: `docs/design/files-and-errors.md`.

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

pub(crate) use json::{DeferredList, read_json, read_json_in, read_json_outline};
pub(crate) use node::{MapEntry, NodeValue, TreeNode};
pub(crate) use scalar::resolve_scalar;
pub(crate) use yaml::{YamlListReader, read_yaml, read_yaml_outline};
