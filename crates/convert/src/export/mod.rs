//! Exporters for other tools: tables, HealthBench examples, PaperBench trees, promptfoo configurations.
//!
//! The corresponding reader of this crate reads an exporter's output back with the same meaning. Parts that can't be
//! written are noted.

mod criteria;
mod csv;
mod healthbench;
mod paperbench;
mod promptfoo;
mod settings;

pub(crate) use csv::{write as csv, write_rubric as csv_rubric};
pub(crate) use healthbench::{ID_TAG, write as healthbench};
pub(crate) use paperbench::write as paperbench;
pub(crate) use promptfoo::write as promptfoo;
pub(crate) use settings::note_own_keys;
