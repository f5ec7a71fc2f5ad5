//! Eval files in, checked plans out.

#![warn(missing_docs)]

mod answers;
mod cases;
pub mod codes;
mod decode;
mod discover;
mod duration;
mod load;
mod model;
mod pattern;
mod schema;
mod tree;

pub use answers::load_answers;
pub use cases::{CaseIter, Cases};
pub use decode::{CaseLoadError, Environment};
pub use decode::{LoadedCardResults, LoadedScorecard, is_scorecard, load_card_results, load_scorecard};
pub use decode::{LoadedConfig, LoadedRubric, LoadedTargets, load_config, load_rubric, load_targets};
pub use decode::{LoadedPrices, ReadName, load_prices};
pub use discover::{Discovered, Undiscovered, find_suites};
pub use duration::parse_duration;
pub use load::{LoadOptions, LoadedSuite, load_suite};
pub use model::*;
pub use pattern::{PatternError, compile_pattern};
pub use schema::{SchemaFile, schemas};
