//! Decoding of trees to checked values, collecting every diagnostic on the way.

mod answer_columns;
pub(crate) mod answer_table;
mod answers;
pub(crate) mod case;
mod case_collector;
pub(crate) mod common;
mod config;
pub(crate) mod context;
mod conversation;
mod dataset;
mod dataset_lines;
mod execution;
pub(crate) mod external;
pub(crate) mod file;
pub(crate) mod format;
pub(crate) mod grader;
mod graders;
mod ids;
pub(crate) mod interpolate;
pub(crate) mod jsonl;
mod line_decoder;
mod lowered;
mod messages;
mod preprocessors;
mod prices;
mod record_answers;
pub(crate) mod rubric;
mod second_shell;
pub(crate) mod sheet_rows;
pub(crate) mod suite;
pub(crate) mod suite_file;
pub(crate) mod targets;
pub(crate) mod trials;
mod vars;
mod workspace;

pub(crate) use answer_table::{AnswerFormat, AnswerTable, is_text_table};
pub use case_collector::CaseCollector;
pub(crate) use case_collector::CaseSource;
pub use context::{DecodeContext, LoadScope, TextFile, load_context, parent_folder, readable_roots};
pub(crate) use dataset_lines::first_text;
pub(crate) use external::collect_list as collect_cases;
pub(crate) use file::add_fault;
pub use format::is_rubric_in_place_of_suite;
pub use interpolate::looks_like_secret;
pub(crate) use interpolate::{interpolate, interpolate_described, interpolate_settings};
pub(crate) use jsonl::{DatasetCases, PickedCases};
pub(crate) use record_answers::{collect_records, find_format};
pub(crate) use sheet_rows::{collect_answer_sheet, load_answer_sheet};
pub(crate) use suite::SuiteDefaults;

pub use answer_columns::AnswerColumns;
pub use config::{LoadedConfig, find_config, load_config};
pub use lowered::{LoweredLoss, LoweredSuite, LoweredTarget};
pub use prices::{LoadedPrices, ModelNameParser, load_prices};
pub use rubric::{
    LoadedRubric, load_rubric, load_rubric_with, read_rubric, read_rubric_file, read_rubric_file_with,
    read_rubric_with,
};
pub(crate) use targets::mask_secrets;
pub use targets::{LoadedTargets, is_secret_header, load_targets, model_hint, model_provider};
