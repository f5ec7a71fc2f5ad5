//! A tree of values that know where they stand, read from YAML or JSON.

mod json;
mod json_syntax;
mod node;
mod scalar;
mod yaml;
mod yaml_syntax;

pub(crate) use json::{read_json, read_json_in};
pub(crate) use node::{Data, Entry, Node};
pub(crate) use scalar::resolve;
pub(crate) use yaml::read_yaml;
