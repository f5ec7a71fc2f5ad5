//! Output of a grading program.

use assize_rubric::{GraderNote, UnitInterval};
use serde_json::Value;

use crate::check::to_unit_interval;
use crate::reply::parse_notes;

/// Decision of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramReply {
    /// The score, 0 to 1.
    pub score: UnitInterval,
    /// Its assertions, or its hits and misses.
    pub findings: Vec<GraderNote>,
    /// Its reason, if it gives one.
    pub reason: String,
    /// Anything else it wants to be kept.
    pub details: Option<Value>,
}

/// Reads what a program printed: `{score, assertions: [{text, passed, evidence}], details}` or the
/// older `{score, hits, misses, reasoning, details}`. Without a score it is the share of assertions
/// that passed. A score that is no number from 0 to 1 is an error and is not bent into one.
pub(super) fn parse_program_reply(text: &str) -> Result<ProgramReply, String> {
    let shown = || {
        let begin: String = text.trim().chars().take(200).collect();
        if begin.is_empty() { "nothing".to_owned() } else { format!("`{begin}`") }
    };
    let value: Value = serde_json::from_str(text.trim().trim_start_matches('\u{feff}'))
        .map_err(|_| format!("the program printed {} where one JSON object was expected", shown()))?;
    let Some(object) = value.as_object() else {
        return Err(format!("the program printed {} where a JSON object was expected", shown()));
    };
    let findings = parse_notes(object);
    let counted = findings.iter().filter_map(|finding| finding.passed);
    let (passed, all) = counted.fold((0u32, 0u32), |(yes, all), one| (yes + u32::from(one), all + 1));
    let score = match object.get("score") {
        Some(Value::Null) | None if all > 0 => to_unit_interval(f64::from(passed) / f64::from(all)),
        Some(Value::Null) | None => {
            return Err("the program's result has no `score` and no `assertions`".to_owned());
        }
        Some(score) => score
            .as_f64()
            .and_then(|number| UnitInterval::new(number).ok())
            .ok_or_else(|| format!("the program's `score` is {score}, not a number from 0 to 1"))?,
    };

    let reason = ["reasoning", "reason", "message"].iter().find_map(|key| object.get(*key)?.as_str());
    Ok(ProgramReply {
        score,
        findings,
        reason: reason.unwrap_or_default().to_owned(),
        details: object.get("details").filter(|details| !details.is_null()).cloned(),
    })
}

#[cfg(test)]
mod tests {
    use super::parse_program_reply;

    #[test]
    fn both_generations_are_read() {
        let old =
            parse_program_reply(r#"{"score": 0.5, "hits": ["a"], "misses": ["b"], "reasoning": "half"}"#)
                .unwrap();
        assert_eq!((old.score.get(), old.reason.as_str(), old.findings.len()), (0.5, "half", 2));
        let new = parse_program_reply(
            r#"{"assertions": [{"text": "a", "passed": true, "evidence": "x"}, {"text": "b", "passed": false}]}"#,
        );
        let new = new.unwrap();
        assert_eq!((new.score.get(), new.findings[0].reason.as_str()), (0.5, "x"));
    }

    #[test]
    fn anything_else_is_an_error_and_no_zero() {
        for bad in ["", "0.5", "ok", "[]", "{}", r#"{"score": 2}"#, r#"{"score": "1"}"#, r#"{"score": 1} x"#]
        {
            assert!(parse_program_reply(bad).is_err(), "{bad}");
        }
    }
}
