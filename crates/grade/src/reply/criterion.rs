//! Parses the decision about one criterion from a JSON object.

use assize_rubric::{Outcome, RawScore};
use serde_json::{Map, Value};

use super::{ParsedReply, StatedDecision, refuse_contradiction};
use crate::prompt::DecisionForm;

/// Parses the decision in an object. The error is worded for the judge and the user.
pub(super) fn parse_decision(
    object: &Map<String, Value>,
    form: DecisionForm,
) -> Result<ParsedReply<Outcome>, String> {
    let (member, other) = if form.score { ("score", "outcome") } else { ("outcome", "score") };
    if object.contains_key(other) {
        return Err(format!("\"{other}\" is not asked for here, only \"{member}\""));
    }

    let value = object.get(member).ok_or_else(|| format!("\"{member}\" is missing"))?;
    let outcome = if form.score {
        parse_score(value, form.may_not_apply)
    } else {
        parse_outcome(value, form.may_not_apply)
    }?;
    refuse_contradiction(object, &[member], StatedDecision::from_outcome(&outcome))?;

    let reason = match object.get("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => reason.trim().to_owned(),
        Some(Value::String(_)) => return Err("\"reason\" is empty".into()),
        Some(other) => return Err(format!("\"reason\" must be a string, not {}", json_kind(other))),
        None => return Err("\"reason\" is missing".into()),
    };

    let evidence = match object.get("evidence") {
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| format!("\"evidence\" must hold strings, not {}", json_kind(item)))
            })
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .filter(|quote| !quote.trim().is_empty())
            .collect(),
        Some(other) => {
            return Err(format!("\"evidence\" must be a list of strings, not {}", json_kind(other)));
        }
        None => return Err("\"evidence\" is missing".into()),
    };
    Ok(ParsedReply { decided: outcome, reason, confidence: None, evidence })
}

fn parse_outcome(value: &Value, may_not_apply: bool) -> Result<Outcome, String> {
    let expected =
        if may_not_apply { "\"met\", \"unmet\" or \"not_applicable\"" } else { "\"met\" or \"unmet\"" };
    let Some(word) = value.as_str() else {
        return Err(format!("\"outcome\" must be {expected}, not {}", json_kind(value)));
    };
    match word.trim().to_ascii_lowercase().as_str() {
        "met" => Ok(Outcome::Met),
        "unmet" => Ok(Outcome::Unmet),
        "not_applicable" if may_not_apply => Ok(Outcome::NotApplicable),
        _ => Err(format!("\"outcome\" must be {expected}, not \"{}\"", excerpt_word(word))),
    }
}

fn parse_score(value: &Value, may_not_apply: bool) -> Result<Outcome, String> {
    let number = match value {
        Value::Number(number) => number,
        Value::String(word) if may_not_apply && word.trim().eq_ignore_ascii_case("not_applicable") => {
            return Ok(Outcome::NotApplicable);
        }
        other => {
            return Err(format!("\"score\" must be a whole number from 0 to 10, not {}", json_kind(other)));
        }
    };
    // 7.0 is an integer in JSON; 7.5 is not, and rounding it would be a guess.
    number
        .as_u64()
        .or_else(|| {
            number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=10.0).contains(n)).map(|n| n as u64)
        })
        .and_then(|n| u8::try_from(n).ok())
        .and_then(|n| RawScore::new(n).ok())
        .map(Outcome::Scored)
        .ok_or_else(|| format!("\"score\" must be a whole number from 0 to 10, not {number}"))
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Excerpt of an unexpected word in a reply, for an error message.
pub(super) fn excerpt_word(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, score: bool, may_not_apply: bool) -> Result<Outcome, String> {
        let value: Value = serde_json::from_str(json).unwrap();
        parse_decision(value.as_object().unwrap(), DecisionForm { score, may_not_apply })
            .map(|reading| reading.decided)
    }

    fn with(member: &str) -> String {
        format!(r#"{{"evidence":["q",""],"reason":"r",{member}}}"#)
    }

    #[test]
    fn valid_decisions() {
        let seven = Outcome::Scored(RawScore::new(7).unwrap());
        assert_eq!(read(&with(r#""outcome":"Met""#), false, false), Ok(Outcome::Met));
        assert_eq!(read(&with(r#""outcome":"unmet""#), false, true), Ok(Outcome::Unmet));
        assert_eq!(read(&with(r#""outcome":"not_applicable""#), false, true), Ok(Outcome::NotApplicable));
        assert_eq!(read(&with(r#""score":7"#), true, false), Ok(seven));
        assert_eq!(read(&with(r#""score":7.0"#), true, false), Ok(seven));
        assert_eq!(read(&with(r#""score":"not_applicable""#), true, true), Ok(Outcome::NotApplicable));
        assert_eq!(read(&with(r#""score":0,"extra":1"#), true, false), Ok(Outcome::Scored(RawScore::MIN)));
    }

    #[test]
    fn nothing_is_clamped_rounded_or_guessed() {
        for member in [
            r#""score":11"#, r#""score":-1"#, r#""score":7.5"#, r#""score":"7""#, r#""score":null"#,
            r#""score":true"#, r#""score":1e300"#, r#""score":-0.5"#, r#""score":[7]"#,
            r#""score":"not_applicable""#, r#""outcome":"met""#, r#""score":7,"outcome":"met""#,
            r#""score":18446744073709551615"#, r#""score":256"#, r#""score":8,"rating":2"#,
        ] {
            assert!(read(&with(member), true, false).is_err(), "{member}");
        }
        for member in [
            r#""outcome":true"#, r#""outcome":1"#, r#""outcome":"pass""#, r#""outcome":"mostly met""#,
            r#""outcome":"""#, r#""outcome":"not_applicable""#, r#""outcome":null"#, r#""score":10"#,
            r#""satisfied":true"#, r#""outcome":"met","met":false"#, r#""outcome":"met","verdict":"fail""#,
        ] {
            assert!(read(&with(member), false, false).is_err(), "{member}");
        }
    }

    #[test]
    fn reason_and_evidence_are_needed() {
        for json in [
            r#"{"reason":"r","outcome":"met"}"#,
            r#"{"evidence":[],"outcome":"met"}"#,
            r#"{"evidence":[],"reason":" ","outcome":"met"}"#,
            r#"{"evidence":"q","reason":"r","outcome":"met"}"#,
            r#"{"evidence":[1],"reason":"r","outcome":"met"}"#,
            r#"{"evidence":[],"reason":["r"],"outcome":"met"}"#,
        ] {
            assert!(read(json, false, false).is_err(), "{json}");
        }
    }
}
