//! Decoding of trees to checked values, collecting every diagnostic on the way.

mod answer_columns;
mod answer_table;
mod answers;
mod case;
mod case_collector;
mod cell_scanner;
mod common;
mod config;
pub(crate) mod context;
mod conversation;
mod dataset;
mod dataset_lines;
mod diagnostic_collector;
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
mod line_decoder;
mod lowered;
mod map_reader;
pub(crate) mod matrix;
mod messages;
mod preprocessors;
mod prices;
mod record_answers;
pub(crate) mod rubric;
mod scorecard;
mod second_shell;
mod sheet_rows;
pub(crate) mod suite;
mod targets;
#[cfg(test)]
mod testing;
pub(crate) mod trials;
mod vars;
mod workspace;

pub(crate) use answer_table::{AnswerTable, find_divider};
pub(crate) use answers::AnswerFormat;
pub(crate) use case_collector::{CaseCollector, CaseSource};
pub(crate) use context::{DecodeContext, LoadScope, load_context};
pub(crate) use dataset_lines::first_text;
pub(crate) use diagnostic_collector::DiagnosticCollector;
pub(crate) use external::collect_list as collect_cases;
pub(crate) use finish::finish_diagnostics;
pub use format::is_rubric_in_place_of_suite;
pub use interpolate::looks_like_secret;
pub(crate) use interpolate::{interpolate, interpolate_described, interpolate_settings};
pub(crate) use jsonl::{DatasetCases, PickedCases};
pub(crate) use map_reader::MapReader;
#[cfg(test)]
pub(crate) use map_reader::record;
pub(crate) use record_answers::{collect_records, find_format};
pub(crate) use sheet_rows::{collect_answer_sheet, load_answer_sheet};
pub(crate) use suite::SuiteDefaults;

pub use answer_columns::AnswerColumns;
pub use config::{LoadedConfig, find_config, load_config};
pub use diagnostic_collector::note_unset_variables;
pub use lowered::{LoweredLoss, LoweredSuite, LoweredTarget};
pub use matrix::{
    ASSERTION_TYPES, AssertionSupport, AssertionType, LOSS_WARNINGS, MATRIX_KEYS, MAX_MATRIX_CASES,
    MatrixKey, MatrixKeySupport, OPTION_KEYS, PROVIDER_KEYS, TEST_KEYS, lower_matrix, lower_matrix_text,
};
pub use prices::{LoadedPrices, ModelNameParser, load_prices};
pub use rubric::{
    LoadedRubric, load_rubric, load_rubric_with, read_rubric, read_rubric_file, read_rubric_file_with,
    read_rubric_with,
};
pub use scorecard::{
    LoadedCardResults, LoadedScorecard, is_scorecard, load_card_results, load_scorecard,
    load_scorecard_with_labels, looks_like_scorecard, read_scorecard, read_scorecard_text,
};
#[cfg(test)]
pub(crate) use targets::TYPED_TARGET_KEYS;
pub use targets::{LoadedTargets, is_secret_header, load_targets, model_hint, model_provider};
pub(crate) use targets::{mask_secrets, provider_names};
