//! Writing what other tools read: tables, HealthBench examples, PaperBench trees, promptfoo configurations.
//!
//! Each writes what its reader in this crate reads back with the same meaning, and lists the rest.

mod criteria;
mod csv;
mod healthbench;
mod paperbench;
mod promptfoo;

pub(crate) use csv::{write as csv, write_rubric as csv_rubric};
pub(crate) use healthbench::{ID_TAG, write as healthbench};
pub(crate) use paperbench::write as paperbench;
pub(crate) use promptfoo::write as promptfoo;
