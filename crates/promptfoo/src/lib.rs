//! Matrix files: prompts, providers and tests whose combinations are cases, in promptfoo's spelling or AgentV's.
//!
//! There is no second model for these files. They are read into prompts, providers and tests; then each combination is
//! written as a case of the `tests` format (a `TreeNode` with the spans of this file) and decoded by the decoder of
//! that format. So diagnostics, limits, identities, linter and language server work as for any eval file, and a case of
//! a matrix can do nothing that a written case can't. Separate readers for the two spellings would duplicate everything
//! for a few renamed keys and one rule.
//!
//! The steps are:
//!
//! - `read` reads the top level, `tests`, `prompts` and `providers` read its parts. Both spellings of a key are
//!   accepted (`spelling`). The spelling of the file decides one rule: without a `threshold`, promptfoo's tests
//!   need every assertion to pass, AgentV's need the weighted mean.
//! - `merge` adds the default test, scenarios and included suites to each test.
//! - `expand` forms the combinations, and `pending` runs the code that writes variables and prompts.
//! - `template` renders the texts. Rendered texts are never rendered again: cases are decoded without the
//!   substitutions of the `tests` format, so text from a dataset can't become a template.
//! - `assertions` writes each assertion as a grader. "Every assertion must pass" is `required` on each grader
//!   and a case threshold of 0, so scoring and reports need no rule for matrix files.
//! - `lowered` keeps the cases as JSON for `convert`. `authored` and `extensions` convert tests to JSON and
//!   back for functions that may change them.
//!
//! Providers become targets that the suite defines. A provider that can't be run is an error of its target, which
//! affects only runs that use it.

#![warn(missing_docs)]

mod assertion_counter;
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
mod history;
mod http_provider;
mod idle_keys;
mod include;
mod judged_assertions;
mod kept_case;
mod keys;
mod lower;
mod made_size;
mod matrix_file;
mod matrix_test;
mod matrix_tests;
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
pub use keys::{
    EVALUATION_KEYS, MATRIX_KEYS, MatrixKey, MatrixKeySupport, OPTION_KEYS, PROVIDER_KEYS, TEST_KEYS,
};
pub use lower::{LOSS_WARNINGS, lower_matrix, lower_matrix_text};
pub use read::load_matrix;
pub use spelling::is_matrix;
