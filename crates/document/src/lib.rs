//! Documents of YAML and JSON: trees whose values know their places, readers of their maps, diagnostics with their
//! codes, and edits that leave the rest of a file unchanged.

#![warn(missing_docs)]

pub mod codes;
mod diagnostic_collector;
mod document;
mod duration;
mod edit;
mod file_ending;
mod finish;
mod map_reader;
mod near_path;
mod tree;

pub use diagnostic_collector::{DiagnosticCollector, note_unset_variables};
pub use document::ParsedDocument;
pub use duration::parse_duration;
pub use edit::{
    CaseFile, CaseLocation, EditError, TextChange, ValueInsertion, apply_changes, to_yaml, unified_diff,
    yaml_scalar,
};
pub use file_ending::{PROGRAM_ENDINGS, file_extension};
pub use finish::finish_diagnostics;
#[cfg(feature = "requested-keys")]
pub use map_reader::record;
pub use map_reader::{MapReader, check_not_blank, number, string, wrong_type};
pub use near_path::near_path;
pub use tree::{
    DeferredList, MapEntry, NodeValue, SyntaxFailure, TreeNode, ValueSize, YamlListReader, cut_text,
    read_json, read_json_in, read_json_outline, read_yaml, read_yaml_outline,
};
