//! Decisions on several criteria in one reply.

use std::collections::HashMap;

use assize_rubric::Outcome;
use serde_json::{Map, Value};

use super::criterion::{excerpt_word, parse_decision};
use super::find::{ReplyShape, find_reply_json};
use super::{ParsedReply, StatedDecision, has_slips, refuse_contradiction};
use crate::prompt::{DecisionForm, PromptCriterion};

/// A reply to a batched call.
#[derive(Debug)]
pub(crate) struct BatchedReply {
    /// For each criterion in the call, in order: the decision, or the problem with it.
    pub(crate) each: Vec<Result<ParsedReply<Outcome>, String>>,
    /// Problems that belong to no criterion, such as unknown ids.
    pub(crate) strays: Vec<String>,
}

/// Parses a reply about several criteria. The error means that the whole reply is unusable.
pub(crate) fn read_batched(text: &str, asked: &[PromptCriterion<'_>]) -> Result<BatchedReply, String> {
    let value = find_reply_json(text, ReplyShape::Batched)?;
    let items = match &value {
        Value::Array(items) => items,
        Value::Object(object) => match object.get("results") {
            Some(Value::Array(items)) => items,
            _ => return Err("\"results\" must be a list".into()),
        },
        _ => return Err("the reply is not a JSON object".into()),
    };

    let positions: HashMap<&str, usize> =
        asked.iter().enumerate().map(|(position, asked)| (asked.handle.as_str(), position)).collect();
    let mut found: Vec<Option<Result<ParsedReply<Outcome>, String>>> = asked.iter().map(|_| None).collect();
    let mut strays = Vec::new();
    for item in items {
        let Some(object) = item.as_object() else {
            strays.push("an entry of \"results\" is not an object".to_owned());
            continue;
        };
        let Some(id) = object.get("id").and_then(Value::as_str) else {
            strays.push("an entry of \"results\" has no \"id\"".to_owned());
            continue;
        };
        let Some(&position) = positions.get(id) else {
            strays.push(format!("the id \"{}\" was not asked about", excerpt_word(id)));
            continue;
        };
        let slot = &mut found[position];

        // Even two equal entries are refused: a judge that repeats itself may have meant another criterion.
        *slot = Some(match slot {
            Some(_) => Err("the id occurs more than once".to_owned()),
            None => parse_decision(object, DecisionForm::for_criterion(asked[position].criterion)),
        });
    }

    let each: Vec<_> = found
        .into_iter()
        .map(|slot| slot.unwrap_or_else(|| Err("there is no entry for it".to_owned())))
        .collect();
    if let Value::Object(object) = &value {
        refuse_other_summary(object, &each)?;
    }

    // If the judge copies an answer into a string without escaping it, the answer can end the entry and begin another. In JSON
    // that had to be mended, entries with unknown ids are a sign of that.
    if !strays.is_empty() && has_slips(text) {
        return Err(
            "the JSON of the reply is broken, and it has entries that were not asked about".to_owned()
        );
    }

    strays.truncate(5);

    Ok(BatchedReply { each, strays })
}

/// Refuses an overall decision that contradicts the results: in favour although not all are met, or against
/// although none is unmet.
fn refuse_other_summary(
    object: &Map<String, Value>,
    each: &[Result<ParsedReply<Outcome>, String>],
) -> Result<(), String> {
    let decided: Vec<&Outcome> = each.iter().flatten().map(|reading| &reading.decided).collect();
    let summary = match decided.as_slice() {
        [only] => StatedDecision::from_outcome(only),
        several if several.iter().any(|outcome| **outcome == Outcome::Unmet) => {
            StatedDecision::from_pass(false, None)
        }
        several if several.iter().any(|outcome| **outcome == Outcome::Met) => {
            StatedDecision::from_pass(true, None)
        }
        _ => return Ok(()),
    };

    refuse_contradiction(object, &["results"], summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(outcome: Outcome) -> ParsedReply<Outcome> {
        ParsedReply { decided: outcome, reason: "r".into(), confidence: None, evidence: Vec::new() }
    }

    #[test]
    fn a_decision_beside_the_results_must_fit_them() {
        let met = [Outcome::Met, Outcome::Met].map(|outcome| Ok(reading(outcome)));
        let mixed = [Outcome::Met, Outcome::Unmet].map(|outcome| Ok(reading(outcome)));
        for (each, member, fits) in [
            (&met[..1], r#""outcome":"unmet""#, false),
            (&met[..1], r#""outcome":"met""#, true),
            (&met, r#""verdict":"fail""#, false),
            (&met, r#""passed":true"#, true),
            (&mixed, r#""verdict":"fail""#, true),
            (&mixed, r#""outcome":"met""#, false),
            (&mixed, r#""score":5"#, true),
        ] {
            let value: Value = serde_json::from_str(&format!(r#"{{"results":[],{member}}}"#)).expect("JSON");
            let object = value.as_object().expect("an object");
            assert_eq!(refuse_other_summary(object, each).is_ok(), fits, "{member}");
        }
    }
}
