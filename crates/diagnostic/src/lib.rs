//! Source text, positions in it, diagnostics about it, and their rendering.
//!
//! A [`Diagnostic`] is plain data: a code, a severity, a title, labelled spans, help. Code that creates a
//! diagnostic does not format text. The modules in [`render`] do that, one for each output form. This crate
//! does not know what an eval file is.

#![warn(missing_docs)]

mod code;
mod diagnostic;
mod list;
mod name_pairs;
mod order;
pub mod render;
mod source;
mod source_id;
mod span;
mod suggest;

pub use code::DiagnosticCode;
pub use diagnostic::{Diagnostic, Severity, SpanLabel, SuggestedEdit, UnplacedDiagnostic};
pub use list::list_first;
pub use name_pairs::{NamePairError, parse_name_pairs};
pub use order::sort_diagnostics;
pub use source::{LineColumn, RowCells, SourceFile, SourceMap, cell_name};
pub use source_id::SourceId;
pub use span::{Span, SpannedValue};
pub use suggest::{did_you_mean, did_you_mean_name};

#[cfg(test)]
mod tests;
