//! Label files: people's labels and, in tables of other tools, also a judge's decisions.
//!
//! There are three forms: label files of this program (JSON lines of [`assize_rubric::Label`], which
//! scorecards read as well), JSON lines of other tools, and CSV or TSV. [`ColumnMapping`] maps the columns of
//! the latter two. All of them become [`LabelRow`]s.

mod columns;
mod problem;
mod reader;
mod row;
mod table;

pub use columns::{ColumnMapping, ColumnRole, OutcomeSpellings};
pub use problem::{LabelLocation, LabelProblem, describe_problems};
pub use reader::{LabelReadOptions, label_files, read_rows};
pub use row::{LabelRow, TableDecision};
pub use table::{TableRow, read_table};
