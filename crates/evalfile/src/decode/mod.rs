//! Decoding of trees to checked values, collecting every diagnostic on the way.

mod answers;
mod case;
mod collect;
mod common;
mod config;
mod context;
mod conversation;
mod dataset;
mod decoded;
mod execution;
pub(crate) mod external;
pub(crate) mod file;
mod finish;
pub(crate) mod format;
pub(crate) mod grader;
mod graders;
mod ids;
mod interpolate;
pub(crate) mod jsonl;
mod lines;
mod messages;
mod object;
mod prices;
mod problems;
pub(crate) mod rubric;
mod scorecard;
pub(crate) mod suite;
mod targets;
#[cfg(test)]
mod testing;
pub(crate) mod trials;
mod vars;
mod workspace;

pub(crate) use collect::{Collector, Part};
pub(crate) use context::Context;
pub(crate) use external::collect_list as collect_cases;
pub(crate) use finish::finish;
pub(crate) use interpolate::interpolate;
pub(crate) use jsonl::DatasetCases;
pub(crate) use object::Object;
#[cfg(test)]
pub(crate) use object::record;
pub(crate) use problems::Problems;
pub(crate) use suite::SuiteDefaults;

pub use config::{LoadedConfig, load_config};
pub use context::Environment;
pub use jsonl::CaseLoadError;
pub use prices::{LoadedPrices, ReadName, load_prices};
pub use rubric::{LoadedRubric, load_rubric, read_rubric, read_rubric_file};
pub use scorecard::{
    LoadedCardResults, LoadedScorecard, is_scorecard, load_card_results, load_scorecard,
    looks_like_scorecard, read_scorecard,
};
pub(crate) use targets::provider_names;
pub use targets::{LoadedTargets, load_targets};
