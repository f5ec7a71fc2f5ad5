//! Reading what a judge replied: tolerant of wrapping, strict about content.
//!
//! Prose and code fences around the JSON are looked through. Values are never guessed, rounded or clamped, and where
//! two different decisions could be meant, none is taken: an answer quoted by the judge may contain a fake one.

mod behaviour;
mod decision;
mod find;
mod json;
mod pair;
mod probability;
mod results;
mod whole;

pub(crate) use behaviour::read_behaviour;
pub(crate) use decision::Decision;
pub(crate) use find::Shape;
pub(crate) use pair::read_pair;
pub(crate) use probability::{PROBABILITY_ADVICE, expected};
pub(crate) use results::{Results, read_batched};
pub(crate) use whole::{findings, read_whole};

use crate::prompt::Form;

/// The one JSON object with this member in a reply.
pub(crate) fn object_with(text: &str, member: &'static str) -> Result<serde_json::Value, String> {
    find::find(text, Shape::With(member))
}

/// Reads a reply about one criterion. The error says what is wrong with it, in words for judge and user alike.
pub(crate) fn read_single(text: &str, form: Form) -> Result<Decision, String> {
    let value = find::find(text, Shape::Single)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    decision::decision(object, form)
}
