//! Editing of eval files byte by byte: unchanged parts keep their bytes, including comments, blank lines and
//! quotes.
//!
//! [`CaseFile`] puts values into the cases of a file, [`apply_changes`] applies changes at known offsets,
//! [`to_yaml`] and [`yaml_scalar`] write values as YAML that reads back as the same values.
//!
//! Design: `docs/design/lint.md`.

mod candidate_edit;
mod case_file;
mod change;
mod diff;
mod error;
mod layout;
mod tree_path;
mod yaml_text;

pub use case_file::{CaseFile, CaseLocation, ValueInsertion};
pub use change::{TextChange, apply_changes};
pub use diff::unified_diff;
pub use error::EditError;
pub use yaml_text::{to_yaml, yaml_scalar};
