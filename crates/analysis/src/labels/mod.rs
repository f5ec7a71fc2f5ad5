//! Label files: human labels, and in tables of other tools also a judge's decisions.
//!
//! Three forms: label files of this program (JSON lines of [`assize_rubric::Label`], which scorecards read as
//! well), JSON lines of other tools, and CSV or TSV. [`Columns`] maps their columns. All of them become
//! [`Row`]s.

mod columns;
mod problem;
mod read;
mod row;
mod table;

pub use columns::{Columns, ColumnsError, Role, Values};
pub use problem::{LabelProblem, Place};
pub use read::{Reading, read_rows};
pub use row::{Judged, Row};
