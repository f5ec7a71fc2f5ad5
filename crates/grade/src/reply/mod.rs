//! Parses judges' replies: tolerant of wrapping, strict about content.
//!
//! Prose and code fences around the JSON are ignored. Values are never guessed, rounded or clamped, and a reply that
//! could mean two different decisions is refused: an answer quoted by the judge may contain a fake one.

mod answer_score;
mod behaviour;
mod criterion;
mod find;
mod other_names;
mod pair;
mod probability;
mod questions;
mod reading;
mod results;
mod slips;

pub(crate) use answer_score::{parse_notes, read_answer_score};
pub(crate) use behaviour::read_behaviour;
pub(crate) use find::{ReplyShape, has_slips};
pub(crate) use other_names::{StatedDecision, refuse_contradiction};
pub(crate) use pair::read_pair;
pub(crate) use probability::{PROBABILITY_ADVICE, expected_decision};
pub(crate) use questions::read_questions;
pub(crate) use reading::ParsedReply;
pub(crate) use results::{BatchedReply, read_batched};

use assize_rubric::Outcome;

use crate::prompt::DecisionForm;

/// The one JSON object with this member in a reply.
pub(crate) fn find_object_with(text: &str, member: &'static str) -> Result<serde_json::Value, String> {
    find::find_reply_json(text, ReplyShape::With(member))
}

/// Parses a reply about one criterion. The error is worded for the judge and the user.
pub(crate) fn read_single(text: &str, form: DecisionForm) -> Result<ParsedReply<Outcome>, String> {
    let value = find::find_reply_json(text, ReplyShape::Single)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    criterion::parse_decision(object, form)
}
