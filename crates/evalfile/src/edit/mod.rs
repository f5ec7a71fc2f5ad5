//! Editing of eval files byte by byte: everything unchanged stays as it is, including comments, blank lines
//! and quotes.
//!
//! [`CaseFile`] puts values into the cases of a file, [`apply_changes`] applies changes at known offsets,
//! [`yaml`] and [`yaml_scalar`] write values as YAML that reads back as the same values.

mod case_file;
mod change;
mod diff;
mod error;
mod layout;
mod shape;
mod site;
mod yaml_text;

pub use case_file::{CaseFile, CaseSpot, Insertion};
pub use change::{Change, apply_changes};
pub use diff::unified_diff;
pub use error::EditError;
pub use yaml_text::{yaml, yaml_scalar};
