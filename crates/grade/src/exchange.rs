//! Conventions of all exchanges with a model, including the judge: fences around untrusted text, and parsing of
//! replies.

use assize_llm::ChatReply;
use serde_json::Value;

use crate::FenceSource;
use crate::fence::draw_fence;
use crate::model::reply_text;
use crate::prompt::format_block;
use crate::reply::find_object_with;

/// Formats untrusted texts, each in a named block, with a fence that occurs in none of them. Blank texts are
/// left out.
pub fn fence_texts(source: &dyn FenceSource, texts: &[(&str, &str)]) -> String {
    let all: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
    let fence = draw_fence(source, &all);
    let given = texts.iter().filter(|(_, text)| !text.trim().is_empty());
    let blocks: Vec<String> = given.map(|(name, text)| format_block(name, &fence, text)).collect();
    blocks.iter().flat_map(|block| [block.as_str(), "\n"]).collect()
}

/// The one JSON object with this member in a reply, ignoring wrapping. The error describes the problem:
/// refused, withheld, cut off, empty, not JSON, ambiguous.
pub fn find_reply_object(reply: &ChatReply, member: &'static str) -> Result<Value, String> {
    reply_text(reply).and_then(|text| find_object_with(text, member))
}
