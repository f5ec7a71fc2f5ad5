//! Matrix files: prompts, providers and tests that are multiplied to cases, in promptfoo's spelling or AgentV's.
//!
//! The file is read into prompts, providers and tests; each combination is then written as a case of the `tests` format,
//! with the spans of this file, and decoded like one. So everything behind the decoder is the same for all formats.

#![warn(missing_docs)]

mod assertion_grader;
mod assertion_types;
mod assertion_values;
mod assertions;
mod authored;
mod built_in;
mod built_in_values;
mod choices;
mod code_part;
mod context_assertions;
mod expand;
mod extensions;
mod filters;
mod http_provider;
mod idle_keys;
mod include;
mod judged_assertions;
mod kept_case;
mod keys;
mod lower;
mod matrix_file;
mod matrix_test;
mod merge;
mod metrics;
mod nodes;
mod pending;
mod prompts;
mod providers;
mod read;
mod rest;
mod scoring;
mod selections;
mod spelling;
mod table;
mod template;
mod test_entries;
mod test_judges;
mod test_value;
mod value_files;
mod values;
mod variables;

pub use assertion_types::{ASSERTION_TYPES, AssertionSupport, AssertionType};
pub use expand::MAX_MATRIX_CASES;
pub use keys::{MATRIX_KEYS, MatrixKey, MatrixKeySupport, OPTION_KEYS, PROVIDER_KEYS, TEST_KEYS};
pub use lower::{LOSS_WARNINGS, lower_matrix, lower_matrix_text};
pub use read::load_matrix;
pub use spelling::is_matrix;
