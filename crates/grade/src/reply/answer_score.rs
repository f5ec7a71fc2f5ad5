//! Parses a reply that scores a whole answer.

use assize_rubric::{GraderFinding, GraderNote, UnitInterval, ValueRange};
use serde_json::{Map, Value};

use super::find::{ReplyShape, find_reply_json};
use super::reading::string_list;
use super::{ParsedReply, StatedDecision, refuse_contradiction};

/// Parses a reply. The error is worded for the judge and the user. Lists that older prompts ask for are kept as
/// findings. A score in a range other than 0 to 1 is mapped to that range.
pub(crate) fn read_answer_score(
    text: &str,
    range: Option<ValueRange>,
) -> Result<ParsedReply<GraderFinding>, String> {
    let ValueRange { low, high } = range.unwrap_or(ValueRange { low: 0.0, high: 1.0 });
    let value = find_reply_json(text, ReplyShape::Single)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let score = object.get("score").ok_or("the JSON has no member \"score\"")?;
    let number =
        score.as_f64().ok_or_else(|| format!("\"score\" is {score}, not a number from {low} to {high}"))?;
    let score = UnitInterval::new((number - low) / (high - low))
        .map_err(|_| format!("\"score\" is {number}; it must lie from {low} to {high}"))?;
    refuse_contradiction(object, &["score"], StatedDecision::from_score(score))?;

    let reason = ["reason", "reasoning"].iter().find_map(|key| object.get(*key)?.as_str());
    let finding = GraderFinding::new(Some(score), parse_notes(object));

    Ok(ParsedReply { reason: reason.unwrap_or_default().to_owned(), ..ParsedReply::new(finding, object) })
}

/// Findings in a judge's or a program's reply: its `hits` and `misses`, or its `assertions` or `checks`.
pub(crate) fn parse_notes(object: &Map<String, Value>) -> Vec<GraderNote> {
    let list = |key: &str, passed: bool| {
        string_list(object, key).into_iter().map(move |text| GraderNote::new(passed, text, ""))
    };
    let mut found: Vec<GraderNote> = list("hits", true).chain(list("misses", false)).collect();
    let entries = ["assertions", "checks"].iter().filter_map(|key| object.get(*key)?.as_array()).flatten();
    for entry in entries {
        let text = entry.get("text").and_then(Value::as_str).unwrap_or_default();
        let evidence = entry.get("evidence").or_else(|| entry.get("reason")).and_then(Value::as_str);
        let passed = entry.get("passed").or_else(|| entry.get("pass"));
        if let Some(passed) = passed.and_then(Value::as_bool) {
            found.push(GraderNote::new(passed, text, evidence.unwrap_or_default()));
        }
    }

    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_taken_as_it_stands_or_not_at_all() {
        let whole = read_answer_score(
            r#"```json
            {"evidence": ["x"], "reason": "fine", "score": 0.73}
            ```"#,
            None,
        )
        .unwrap();
        assert_eq!((whole.decided.score(), whole.reason.as_str()), (UnitInterval::new(0.73).ok(), "fine"));
        let old =
            read_answer_score(r#"{"score": 1, "hits": ["a"], "misses": ["b"], "reasoning": "r"}"#, None)
                .unwrap();
        assert_eq!(
            old.decided.notes.iter().map(|one| one.passed).collect::<Vec<_>>(),
            [Some(true), Some(false)]
        );
        for bad in [
            r#"{"score": 7}"#, r#"{"score": -0.1}"#, r#"{"score": "0.5"}"#, r#"{"reason": "no score"}"#,
            "0.5", r#"{"score": 0.5} {"score": 0.6}"#,
        ] {
            assert!(read_answer_score(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_score_of_another_range_is_mapped_to_0_to_1() {
        let read = |score: &str| {
            let range = ValueRange { low: 1.0, high: 5.0 };
            read_answer_score(&format!(r#"{{"reason": "r", "score": {score}}}"#), Some(range))
        };
        let score = |text: &str| read(text).unwrap().decided.score().map(UnitInterval::get);
        assert_eq!(["1", "4", "5"].map(score), [Some(0.0), Some(0.75), Some(1.0)]);
        assert_eq!(read("0.5").unwrap_err(), "\"score\" is 0.5; it must lie from 1 to 5");
    }
}
