//! Loading, checking and editing of eval files, rubric files, scorecards, targets and settings.

#![warn(missing_docs)]

mod agentv;
mod answers;
mod cases;
pub mod codes;
mod decode;
mod discover;
mod document;
mod duration;
mod edit;
mod file_ending;
mod hosts;
mod http_request;
mod identity;
mod load;
mod load_options;
mod loaded_suite;
mod model;
mod near_path;
mod pattern;
mod programs;
mod schema;
mod suite_file;
mod template;
mod tree;
mod write;

pub use agentv::{AGENTV_KEYS, AgentvKey, AgentvPlace, AgentvSupport};
pub use answers::{GivenAnswer, answers_file, load_answers, suite_from_answer};
pub use cases::{CaseIter, SuiteCases};
pub use decode::AnswerColumns;
pub use decode::{
    ASSERTION_TYPES, AssertionSupport, AssertionType, LOSS_WARNINGS, LoweredLoss, LoweredSuite,
    LoweredTarget, MATRIX_KEYS, MAX_MATRIX_CASES, MatrixKey, MatrixKeySupport, OPTION_KEYS, PROVIDER_KEYS,
    TEST_KEYS,
};
pub use decode::{
    LoadedCardResults, LoadedScorecard, is_scorecard, load_card_results, load_scorecard,
    load_scorecard_with_labels, looks_like_scorecard, read_scorecard, read_scorecard_text,
};
pub use decode::{
    LoadedConfig, LoadedRubric, LoadedTargets, find_config, load_config, load_rubric, load_rubric_with,
    load_targets, read_rubric, read_rubric_file, read_rubric_file_with, read_rubric_with,
};
pub use decode::{LoadedPrices, ModelNameParser, load_prices};
pub use decode::{
    is_rubric_in_place_of_suite, is_secret_header, looks_like_secret, model_hint, model_provider,
    note_unset_variables,
};
pub use decode::{lower_matrix, lower_matrix_text};
pub use discover::{DiscoveredFiles, DiscoveryError, find_suites, near_path_hint};
pub use document::ParsedDocument;
pub use duration::parse_duration;
pub use edit::{
    CaseFile, CaseLocation, EditError, TextChange, ValueInsertion, apply_changes, to_yaml, unified_diff,
    yaml_scalar,
};
pub use hosts::PYTHON_LOADER;
pub use http_request::{
    HttpTargetCase, HttpTargetReply, HttpTargetRequest, accepts_status, fixed_address, read_answer,
    write_request,
};
pub use load::{load_changed_suite, load_suite, read_suite};
pub use load_options::{CaseCheck, EnvironmentLookup, LoadOptions};
pub use loaded_suite::LoadedSuite;
pub use model::*;
pub use pattern::{PatternError, compile_pattern};
pub use programs::{LoadProgram, ProgramRunner};
pub use schema::{SchemaFile, schema_file_name, schema_folder, schemas};
pub use write::criterion_value;
