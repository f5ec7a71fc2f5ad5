//! Parts for the readers of scorecards and of promptfoo's files: the state of a load, and the decoders of the parts
//! that all spellings share.

pub use crate::decode::case::{DecodedCase, decode_prepared_case};
pub use crate::decode::common::{
    check_id, decode_free_map, decode_keyword, decode_required_text, decode_spanned_tags, decode_tags,
    refuse_foreign_keys,
};
pub use crate::decode::external::find_matches;
pub use crate::decode::file::{FileOutline, read_source, read_tree};
pub use crate::decode::grader::{
    AssertionContext, decode_assertions, decode_transforms, is_text_check, missing_key, read_code,
    read_language,
};
pub use crate::decode::sheet_rows::{SourceRow, SourceTable, load_table, read_table_source};
pub use crate::decode::suite::{SuiteDefaults, decode_suite, default_name};
pub use crate::decode::suite_file::{
    SuiteWithCases, decode_suite_file, load_dataset, read_suite_outline, unknown_kind,
};
pub use crate::decode::targets::http_script::{RESPONSE_PARAMETERS, response_script};
pub use crate::decode::targets::{
    EMBEDDING_WORDS, IdleSetting, InlineTarget, InlineTargets, TYPED_TARGET_KEYS, agent_of_id,
    environment_references, is_other_tools_provider, is_provider, model_entry, provider_names,
    target_of_provider,
};
pub use crate::decode::trials::{MAX_TRIALS, strategy_names};
pub use crate::decode::{CaseCollector, DecodeContext, LoadScope, TextFile, load_context, parent_folder};
