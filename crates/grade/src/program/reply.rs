//! Output of a grading program.

use assize_llm::UnambiguousJson;
use assize_llm::wire::{error_words, named_error};
use assize_rubric::{GraderNote, UnitInterval};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::check::to_unit_interval;
use crate::reply::{StatedDecision, parse_notes, refuse_contradiction};

/// Most characters of a program's text that are kept.
const MAX_SHOWN_CHARS: usize = 2000;

/// Decision of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramReply {
    /// The score, 0 to 1.
    pub score: UnitInterval,
    /// Its assertions, or its hits and misses.
    pub findings: Vec<GraderNote>,
    /// Its reason, if it gives one.
    pub reason: String,
    /// Anything else that it wants to store.
    pub details: Option<Value>,
}

/// Reads what a program printed: `{score, assertions: [{text, passed, evidence}], details}`, the older `{score,
/// hits, misses, reasoning, details}`, or AgentV's newest `{pass, score, reason, checks: [{text, pass, score,
/// reason}]}`. Without a score, the score is the mean of the checks, the share of passed assertions, or `pass`.
///
/// A score that is not a number from 0 to 1 is an error and is not clamped. So is a result that contradicts itself: a
/// duplicate key, a full score although no assertion passed, a zero score although all did, a verdict that the score
/// excludes. A result with an `error` is a failure of the program, even if it has a score.
pub(super) fn parse_program_reply(text: &str) -> Result<ProgramReply, String> {
    let shown = || {
        let begin: String = text.trim().chars().take(200).collect();
        if begin.is_empty() { "nothing".to_owned() } else { format!("`{begin}`") }
    };
    let UnambiguousJson(value) =
        serde_json::from_str(text.trim().trim_start_matches('\u{feff}')).map_err(|error| {
            match error.classify() {
                Category::Data => format!("the program printed {}: {error}", shown()),
                _ => format!("the program printed {} where one JSON object was expected", shown()),
            }
        })?;
    let Some(object) = value.as_object() else {
        return Err(format!("the program printed {} where a JSON object was expected", shown()));
    };
    if let Some(error) = named_error(object) {
        return Err(format!("the program reports an error: {}", shorten(&error_words(error))));
    }

    let findings = parse_notes(object);
    let counted = findings.iter().filter_map(|finding| finding.passed);
    let (passed, all) = counted.fold((0u32, 0u32), |(yes, all), one| (yes + u32::from(one), all + 1));
    let score = match object.get("score") {
        Some(Value::Null) | None if is_scored_list(object) => mean_of_checks(object)?,
        Some(Value::Null) | None if all > 0 => to_unit_interval(f64::from(passed) / f64::from(all)),
        Some(Value::Null) | None if object.get("pass").is_some_and(Value::is_boolean) => {
            to_unit_interval(if object["pass"] == true { 1.0 } else { 0.0 })
        }
        Some(Value::Null) | None => {
            return Err(
                "the program's result has no `score`, no `assertions` or `checks`, and no `pass`".to_owned()
            );
        }
        Some(score) => score
            .as_f64()
            .and_then(|number| UnitInterval::new(number).ok())
            .ok_or_else(|| format!("the program's `score` is {score}, not a number from 0 to 1"))?,
    };

    let is_contradiction = all > 0
        && (passed == 0 && score == UnitInterval::ONE || passed == all && score == UnitInterval::ZERO);
    if is_contradiction {
        return Err(format!(
            "the program's `score` is {}, and {passed} of {all} assertions passed, which is a contradiction",
            score.get()
        ));
    }

    refuse_contradiction(object, &["score"], StatedDecision::from_score(score))
        .map_err(|problem| format!("the program's result contradicts itself: {problem}"))?;
    refuse_failure(object, score)?;

    let reason = ["reasoning", "reason", "message"].iter().find_map(|key| object.get(*key)?.as_str());
    Ok(ProgramReply {
        score,
        findings,
        reason: reason.unwrap_or_default().to_owned(),
        details: object.get("details").filter(|details| !details.is_null()).cloned(),
    })
}

/// Returns true if a result has `checks`, one of them with its own score.
fn is_scored_list(object: &Map<String, Value>) -> bool {
    let checks = object.get("checks").and_then(Value::as_array);
    checks.is_some_and(|checks| checks.iter().any(|check| check.get("score").is_some()))
}

/// The mean score of `checks`. A check without a score counts 1 if it passed, otherwise 0.
fn mean_of_checks(object: &Map<String, Value>) -> Result<UnitInterval, String> {
    let checks = object.get("checks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut sum = 0.0;
    for check in checks {
        let score = match (check.get("score"), check.get("pass").and_then(Value::as_bool)) {
            (None, Some(passed)) => Some(if passed { 1.0 } else { 0.0 }),
            (score, _) => score.and_then(Value::as_f64).filter(|score| (0.0..=1.0).contains(score)),
        };
        sum += score
            .ok_or_else(|| format!("a check of the program's result has no score from 0 to 1: {check}"))?;
    }

    Ok(to_unit_interval(sum / checks.len() as f64))
}

/// The decision of a program that exited with 0 and printed no JSON object: nothing at all, `pass`, `ok`, or a number
/// from 0 to 1. `None` for any other text, because a program may well exit with 0 after it printed that it failed.
pub(super) fn word_reply(text: &str) -> Option<ProgramReply> {
    let text = text.trim().trim_start_matches('\u{feff}').trim();
    let score = match text.to_ascii_lowercase().as_str() {
        "" | "pass" | "ok" => UnitInterval::ONE,
        number => UnitInterval::new(number.parse().ok()?).ok()?,
    };

    Some(ProgramReply { score, ..exit_code_reply(text, 0) })
}

/// The decision of a program whose exit code is its grade. The text it printed is the only assertion.
pub(super) fn exit_code_reply(text: &str, exit_code: i32) -> ProgramReply {
    let passed = exit_code == 0;
    let text = text.trim();
    let shown = if text.is_empty() { format!("exit code {exit_code}") } else { shorten(text) };

    ProgramReply {
        score: to_unit_interval(if passed { 1.0 } else { 0.0 }),
        findings: vec![GraderNote::new(passed, shown, "")],
        reason: String::new(),
        details: None,
    }
}

/// Refuses a result that has a score and also says that the program failed.
fn refuse_failure(object: &Map<String, Value>, score: UnitInterval) -> Result<(), String> {
    const FAILED: [&str; 5] = ["error", "errored", "failed", "failure", "exception"];

    let is_false = |key: &str| object.get(key) == Some(&Value::Bool(false));
    let status = object.get("status").and_then(Value::as_str).map(str::to_lowercase);
    let key = if is_false("success") {
        "success"
    } else if is_false("ok") {
        "ok"
    } else if status.is_some_and(|word| FAILED.contains(&word.trim())) {
        "status"
    } else {
        return Ok(());
    };

    if score == UnitInterval::ZERO {
        return Ok(());
    }
    Err(format!(
        "the program's result contradicts itself: \"{key}\" says that it failed, and \"score\" is {}",
        score.get()
    ))
}

/// A program's explanation of its failure: the failed assertions of a result, or the end of its text.
pub(super) fn failure_reason(text: &str) -> String {
    shorten(failed_note(text).as_deref().unwrap_or(text).trim())
}

/// The first failed assertion of a result, or else its reason.
pub(super) fn failed_note(text: &str) -> Option<String> {
    let reply = parse_program_reply(text).ok()?;
    let failed = reply.findings.into_iter().filter(|note| note.passed == Some(false)).map(|note| note.text);

    failed.chain([reply.reason]).find(|text| !text.trim().is_empty())
}

/// The end of a long text, because checkers print their findings last.
fn shorten(text: &str) -> String {
    match text.char_indices().rev().nth(MAX_SHOWN_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("[cut] ...{}", text[at..].trim_start()),
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SHOWN_CHARS, exit_code_reply, failure_reason, parse_program_reply, word_reply};

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
        let newest = parse_program_reply(
            r#"{"pass": true, "reason": "fine", "checks": [{"text": "a", "pass": true, "reason": "x"}, {"text": "b", "pass": false, "score": 0.4, "reason": "y"}]}"#,
        )
        .unwrap();
        assert_eq!((newest.score.get(), newest.reason.as_str(), newest.findings.len()), (0.7, "fine", 2));
        assert_eq!(newest.findings[1].reason, "y");
        for (result, score) in [
            (r#"{"pass": false, "reason": "no"}"#, 0.0),
            (r#"{"pass": true}"#, 1.0),
            (
                r#"{"checks": [{"text": "a", "pass": true, "reason": ""}, {"text": "b", "pass": false, "reason": ""}]}"#,
                0.5,
            ),
        ] {
            assert_eq!(parse_program_reply(result).unwrap().score.get(), score, "{result}");
        }
        for same in [r#"{"score": 1, "error": null, "verdict": "pass"}"#, r#"{"score": 0.7, "pass": false}"#]
        {
            assert!(parse_program_reply(same).is_ok(), "{same}");
        }
    }

    #[test]
    fn anything_else_is_an_error_and_no_zero() {
        for bad in [
            "",
            "0.5",
            "ok",
            "[]",
            "{}",
            r#"{"score": 2}"#,
            r#"{"score": "1"}"#,
            r#"{"score": 1} x"#,
            r#"{"score": 0, "score": 1}"#,
            r#"{"assertions": [{"text": "a", "passed": false, "passed": true}]}"#,
            r#"{"score": 1, "assertions": [{"text": "a", "passed": false}]}"#,
            r#"{"score": 1, "hits": [], "misses": ["a"]}"#,
            r#"{"score": 0, "hits": ["a"]}"#,
            r#"{"score": 1, "error": "boom"}"#,
            r#"{"score": 1, "error": {"message": "boom"}}"#,
            r#"{"score": 1, "verdict": "fail"}"#,
            r#"{"score": 0.9, "pass": false}"#,
            r#"{"checks": [{"text": "a", "pass": true, "score": 3}]}"#,
            r#"{"score": 1, "checks": [{"text": "a", "pass": false}]}"#,
            r#"{"score": 0, "passed": true}"#,
            r#"{"score": 1, "success": false}"#,
            r#"{"score": 0.4, "ok": false}"#,
            r#"{"score": 1, "status": "Error"}"#,
        ] {
            assert!(parse_program_reply(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn words_and_numbers_are_read_and_nothing_else() {
        for (text, score) in [("", 1.0), ("pass\n", 1.0), ("OK", 1.0), ("0.25", 0.25), ("0", 0.0), ("1", 1.0)]
        {
            assert_eq!(word_reply(text).map(|reply| reply.score.get()), Some(score), "{text:?}");
        }
        for text in [
            "False", "FAIL", "fail", "not ok 1", "ok 1 - dose", "passed", "ERROR: cannot open reference.csv",
            "0 of 5 checks passed", "usage: check [-h]", "TypeError: x is not a function", "\u{1}\u{2}", "2",
            "-1", "nan", "inf", "false", "null", "{'score': 0}", "loaded\n{\"score\": 0}", "<html><body>502",
        ] {
            assert!(word_reply(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn an_exit_code_can_be_the_grade() {
        let failed = exit_code_reply("only 3 pages\n", 1);
        assert_eq!((failed.score.get(), failed.findings[0].text.as_str()), (0.0, "only 3 pages"));
        let silent = exit_code_reply("", 0);
        assert_eq!((silent.score.get(), silent.findings[0].text.as_str()), (1.0, "exit code 0"));
        let long = exit_code_reply(&format!("{}the end", "x".repeat(3 * MAX_SHOWN_CHARS)), 1);
        assert!(long.findings[0].text.ends_with("the end") && long.findings[0].text.len() < 3000);
    }

    #[test]
    fn the_reason_of_a_failure_is_that_of_its_result() {
        let result =
            r#"{"score": 0, "assertions": [{"text": "Evaluation failed: no file", "passed": false}]}"#;
        assert_eq!(failure_reason(result), "Evaluation failed: no file");
        assert_eq!(failure_reason(r#"{"score": 0, "reasoning": "broke"}"#), "broke");
        assert_eq!(failure_reason(" as it is \n"), "as it is");
    }
}
