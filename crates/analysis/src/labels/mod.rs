//! Files of labels: what people said, and beside it, in tables of other tools, what a judge said.
//!
//! Three forms: labels files of this program (JSON lines of [`assize_rubric::Label`], which scorecards
//! read as well), JSON lines of others, and CSV or TSV. [`Columns`] says which column holds what. All of
//! them become [`Row`]s.

mod columns;
mod problem;
mod read;
mod row;
mod table;

pub use columns::{Columns, ColumnsError, Role, Values};
pub use problem::{LabelProblem, Place};
pub use read::{Reading, read_rows};
pub use row::{Judged, Row};
