//! The prompt files of the current version, and their hash.

use std::sync::LazyLock;

use crate::text_hash::text_hasher;

/// Version of the prompts. Any change to a prompt file or to the construction of requests needs a new version.
pub const PROMPT_VERSION: &str = "rubric.v1";

pub(super) const SYSTEM: &str = include_str!("../../prompts/rubric.v1.system.md");
pub(super) const CHECKLIST: &str = include_str!("../../prompts/rubric.v1.checklist.md");
pub(super) const CONTRADICTION: &str = include_str!("../../prompts/rubric.v1.contradiction.md");
pub(super) const SCORE: &str = include_str!("../../prompts/rubric.v1.score.md");
pub(super) const BATCHED: &str = include_str!("../../prompts/rubric.v1.batched.md");
pub(super) const QUOTE: &str = include_str!("../../prompts/rubric.v1.quote.md");
pub(super) const REPAIR: &str = include_str!("../../prompts/rubric.v1.repair.md");

/// A short hash (16 hex digits of BLAKE3) of the version and every prompt file.
pub fn prompt_hash() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let texts = [PROMPT_VERSION, SYSTEM, CHECKLIST, CONTRADICTION, SCORE, BATCHED, QUOTE, REPAIR];
        text_hasher(&texts).finalize().to_hex()[..16].to_owned()
    });
    &HASH
}
