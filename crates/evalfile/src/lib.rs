//! Loading of rubric files, targets, settings and answers, and the decoders of eval files in the native formats.

#![warn(missing_docs)]

mod agentv;
mod answers;
mod cases;
mod decode;
mod load_options;
mod loaded_suite;
pub mod reading;
mod write;

pub use agentv::{AGENTV_KEYS, AgentvKey, AgentvPlace, AgentvSupport};
pub use answers::{GivenAnswer, answers_file, load_answers, suite_from_answer};
pub use cases::{CaseIter, SuiteCases};
pub use decode::AnswerColumns;
pub use decode::{
    LoadedConfig, LoadedRubric, LoadedTargets, find_config, load_config, load_rubric, load_rubric_with,
    load_targets, read_rubric, read_rubric_file, read_rubric_file_with, read_rubric_with,
};
pub use decode::{LoadedPrices, ModelNameParser, load_prices};
pub use decode::{LoweredLoss, LoweredSuite, LoweredTarget};
pub use decode::{
    is_rubric_in_place_of_suite, is_secret_header, looks_like_secret, model_hint, model_provider,
    readable_roots,
};
pub use load_options::{CaseCheck, EnvironmentLookup, FileEnvironment, LoadOptions, ReadTotals};
pub use loaded_suite::LoadedSuite;
pub use write::criterion_value;

pub use assize_table::TextEncoding;

#[cfg(test)]
mod tests;
