//! A tree of values with their spans, parsed from YAML or JSON.

mod depth;
mod json;
mod json_syntax;
mod node;
mod scalar;
mod yaml;
mod yaml_syntax;

pub(crate) use json::{Deferred, read_json, read_json_in, read_json_outline};
pub(crate) use node::{Data, Entry, Node};
pub(crate) use scalar::resolve;
pub(crate) use yaml::read_yaml;
