//! Parser for a reply that scores a whole answer.

use assize_rubric::Unit;
use serde_json::{Map, Value};

use super::find::{Shape, find};
use crate::Finding;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whole {
    pub(crate) score: Unit,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

/// Parses a reply. The error describes the defect for judge and user alike. Besides the requested form, the
/// lists that older prompts ask for are kept as findings.
pub(crate) fn read_whole(text: &str) -> Result<Whole, String> {
    let value = find(text, Shape::Single)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let score = object.get("score").ok_or("the JSON has no member \"score\"")?;
    let number = score.as_f64().ok_or_else(|| format!("\"score\" is {score}, not a number from 0 to 1"))?;
    let score = Unit::new(number).map_err(|_| format!("\"score\" is {number}; it must lie from 0 to 1"))?;
    let reason = ["reason", "reasoning"].iter().find_map(|key| object.get(*key)?.as_str());
    Ok(Whole {
        score,
        reason: reason.unwrap_or_default().to_owned(),
        evidence: texts(object, "evidence"),
        findings: findings(object),
    })
}

/// Findings in a judge's or a program's reply: its `hits` and `misses`, or its `assertions`.
pub(crate) fn findings(object: &Map<String, Value>) -> Vec<Finding> {
    let list = |key: &str, passed: bool| {
        texts(object, key).into_iter().map(move |text| Finding::new(passed, text, ""))
    };
    let mut found: Vec<Finding> = list("hits", true).chain(list("misses", false)).collect();
    for entry in object.get("assertions").and_then(Value::as_array).into_iter().flatten() {
        let text = entry.get("text").and_then(Value::as_str).unwrap_or_default();
        let evidence = entry.get("evidence").or_else(|| entry.get("reason")).and_then(Value::as_str);
        if let Some(passed) = entry.get("passed").and_then(Value::as_bool) {
            found.push(Finding::new(passed, text, evidence.unwrap_or_default()));
        }
    }
    found
}

fn texts(object: &Map<String, Value>, key: &str) -> Vec<String> {
    let list = object.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_taken_as_it_stands_or_not_at_all() {
        let whole = read_whole(
            r#"```json
            {"evidence": ["x"], "reason": "fine", "score": 0.73}
            ```"#,
        )
        .unwrap();
        assert_eq!((whole.score.get(), whole.reason.as_str()), (0.73, "fine"));
        let old = read_whole(r#"{"score": 1, "hits": ["a"], "misses": ["b"], "reasoning": "r"}"#).unwrap();
        assert_eq!(old.findings.iter().map(|one| one.passed).collect::<Vec<_>>(), [Some(true), Some(false)]);
        for bad in [
            r#"{"score": 7}"#,
            r#"{"score": -0.1}"#,
            r#"{"score": "0.5"}"#,
            r#"{"reason": "no score"}"#,
            "0.5",
            r#"{"score": 0.5} {"score": 0.6}"#,
        ] {
            assert!(read_whole(bad).is_err(), "{bad}");
        }
    }
}
