//! Reports of stored runs as text for people.
//!
//! Pure functions from stored rows to strings: [`case_block`] shows one case, [`case_table`] many,
//! [`summary_block`] a whole run, and [`explain`] the arithmetic behind one case ([`explain_json`] returns it
//! as JSON). Nothing here scores on its own: every recomputed score comes from `assize-rubric`.
//!
//! Ids, reasons and quotes come from files and models. They never reach the terminal unchanged: control
//! characters, escape sequences and characters that reorder text are escaped.

#![warn(missing_docs)]

mod audit;
mod calibration;
mod calibration_json;
mod card_comparison;
mod card_markdown;
mod card_node;
mod card_run;
mod card_scores;
mod card_tree;
mod card_votes;
mod case_block;
mod case_table;
mod cells;
mod clean;
mod comparison;
mod comparison_markdown;
mod criterion;
mod criterion_change;
mod entry;
mod explain;
mod figures;
mod mark;
mod noise;
mod number;
mod page;
mod pairwise;
mod panel;
mod plan_cases;
mod probing;
mod raters;
mod repeated;
mod style;
mod summary;
mod table;
mod trend;
mod truncation;

pub use audit::injection_audit;
pub use calibration::calibration;
pub use calibration_json::calibration_json;
pub use card_comparison::card_comparison;
pub use card_markdown::{CardPage, card_markdown};
pub use card_node::{card_node, card_node_json};
pub use card_run::card_run_lines;
pub use card_scores::{card_scores, green_gate_bound};
pub use card_tree::{CardLine, card_totals, card_tree};
pub use case_block::{Show, case_block, stored_texts};
pub use case_table::case_table;
pub use clean::safe;
pub use comparison::{ComparisonLimits, comparison};
pub use comparison_markdown::comparison_markdown;
pub use criterion_change::criterion_change;
pub use explain::{explain, explain_json};
pub use noise::{noise, noise_json};
pub use number::{dollars, grouped};
pub use pairwise::{pairwise, pairwise_json, pairwise_markdown};
pub use plan_cases::plan_cases;
pub use probing::{probing, probing_json};
pub use raters::{agreement, agreement_json, orders, orders_json, repeats, repeats_json};
pub use style::Style;
pub use summary::{SummaryExtra, summary_block};
pub use trend::trend;
