//! Interface of questions with one decision. They are implemented beside their prompts.

use assize_llm::{ChatMessage, JsonSchemaFormat};
use assize_rubric::{Finding, UngradedReason};

use crate::evidence::EvidenceIndex;
use crate::reply::ParsedReply;
use crate::{FenceSource, SamplingOptions};

/// A question with one decision.
pub(crate) trait SingleQuestion: Sync {
    /// Version of its prompts.
    fn version(&self) -> &'static str;

    /// Hash of the whole prompt except the material.
    fn prompt_hash(&self) -> String;

    /// The messages of a call. After an unusable reply, `repair` describes the problem.
    fn messages(&self, fences: &dyn FenceSource, repair: Option<String>) -> Vec<ChatMessage>;

    /// The JSON schema of a reply.
    fn schema(&self) -> JsonSchemaFormat;

    /// Reads a reply; the error describes the problem.
    fn read(&self, text: &str) -> Result<ParsedReply<Finding>, String>;

    /// Refuses a decision that lacks a quote which it needs.
    fn check_evidence(&self, _: &ParsedReply<Finding>) -> Result<(), UngradedReason> {
        Ok(())
    }

    /// Index of the texts that may be quoted.
    fn index(&self) -> EvidenceIndex;

    /// The trial of the case, and the options of the calls.
    fn sampling(&self) -> (u32, SamplingOptions);
}
