//! Reading what a judge replied: tolerant of wrapping, strict about content.
//!
//! Prose and code fences around the JSON are looked through. Values are never guessed, rounded or clamped, and where
//! two different decisions could be meant, none is taken: an answer quoted by the judge may contain a fake one.

mod answer_score;
mod behaviour;
mod criterion;
mod find;
mod json;
mod pair;
mod probability;
mod reading;
mod results;

pub(crate) use answer_score::{findings, read_answer_score};
pub(crate) use behaviour::read_behaviour;
pub(crate) use find::Shape;
pub(crate) use pair::read_pair;
pub(crate) use probability::{PROBABILITY_ADVICE, expected};
pub(crate) use reading::Reading;
pub(crate) use results::{Results, read_batched};

use assize_rubric::Outcome;

use crate::prompt::Form;

/// The one JSON object with this member in a reply.
pub(crate) fn object_with(text: &str, member: &'static str) -> Result<serde_json::Value, String> {
    find::find(text, Shape::With(member))
}

/// Reads a reply about one criterion. The error says what is wrong with it, in words for judge and user alike.
pub(crate) fn read_single(text: &str, form: Form) -> Result<Reading<Outcome>, String> {
    let value = find::find(text, Shape::Single)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    criterion::decision(object, form)
}
