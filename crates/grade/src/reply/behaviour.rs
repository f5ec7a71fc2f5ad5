//! Parses a reply about one behaviour.

use assize_model::{Behaviour, ScoringScale};
use assize_rubric::{BenchmarkFinding, GraderFinding, JudgeConfidence, find_contradiction};
use serde_json::{Map, Number, Value};

use super::find::{ReplyShape, find_reply_json};
use super::{ParsedReply, StatedDecision, refuse_contradiction};

/// Members of a reply that decide.
const OWN_MEMBERS: [&str; 4] = ["pass", "score", "applies", "uncertain"];

/// Parses a reply. The error is worded for the judge and the user.
///
/// `pass` is required, and so is `applies` if the prompt asks for it. Without a `score`, a pass gets the highest and a
/// fail the lowest score of the scale. An uncertain judge has not passed anything.
pub(crate) fn read_behaviour(
    text: &str,
    behaviour: &Behaviour,
) -> Result<ParsedReply<GraderFinding>, String> {
    let value = find_reply_json(text, ReplyShape::Behaviour)?;
    let object = value.as_object().ok_or("the reply is not a JSON object")?;
    let applies = parse_boolean(object, "applies")?;
    let applies = match (&behaviour.applicability, applies) {
        (Some(_), applies) => applies.ok_or("the JSON has no member \"applies\"")?,
        // The scorecard says that it applies: a verdict on an output that it is not about would be a guess.
        (None, Some(false)) => {
            return Err(
                "\"applies\" is false, but the test applies to this output; decide \"pass\" and leave \
                        \"applies\" out"
                    .to_owned(),
            );
        }
        (None, _) => true,
    };
    let confidence = match object.get("confidence") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => parse_confidence_number(number),
        Some(word) => Some(match word.as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("high") => JudgeConfidence::High,
            Some("medium") => JudgeConfidence::Medium,
            Some("low") => JudgeConfidence::Low,
            _ => return Err(format!("\"confidence\" is {word}; it must be \"high\", \"medium\" or \"low\"")),
        }),
    };

    let finding = if applies {
        parse_finding(object, behaviour)?
    } else {
        BenchmarkFinding::from_judge_not_applicable(behaviour.scale.is_some())
    };

    Ok(ParsedReply { confidence, ..ParsedReply::new(finding, object) })
}

/// Reads a confidence that is given as a number, 0 to 1 or in percent, by thirds; `None` for any other number.
/// Confidence does not affect the decision, so no reply is refused for it.
fn parse_confidence_number(number: &Number) -> Option<JudgeConfidence> {
    let value = number.as_f64()?;
    let share = if value > 1.0 { value / 100.0 } else { value };

    match share {
        share if !(0.0..=1.0).contains(&share) => None,
        share if share >= 2.0 / 3.0 => Some(JudgeConfidence::High),
        share if share >= 1.0 / 3.0 => Some(JudgeConfidence::Medium),
        _ => Some(JudgeConfidence::Low),
    }
}

fn parse_finding(object: &Map<String, Value>, behaviour: &Behaviour) -> Result<GraderFinding, String> {
    let pass = parse_boolean(object, "pass")?.ok_or("the JSON has no member \"pass\"")?;
    let uncertain = parse_boolean(object, "uncertain")?.unwrap_or(false);
    let (low, high) = behaviour.scale.as_ref().map_or((0.0, 1.0), |scale| (scale.min, scale.max));
    let score =
        match object.get("score") {
            None | Some(Value::Null) => None,
            Some(score) => {
                let number = score.as_f64().filter(|number| (low..=high).contains(number));
                Some(number.ok_or_else(|| {
                    format!("\"score\" is {score}; it must be a number from {low} to {high}")
                })?)
            }
        };

    if pass && behaviour.has_critical_requirements() {
        let critical =
            parse_boolean(object, "critical_met")?.ok_or("the JSON has no member \"critical_met\"")?;
        if !critical {
            return Err("\"pass\" is true and \"critical_met\" is false: an output that breaks a critical \
                        requirement does not pass; correct one of the two"
                .to_owned());
        }
    }

    refuse_contradiction(object, &OWN_MEMBERS, StatedDecision::from_pass(pass, score))?;

    let scale = behaviour.scale.as_ref().map(ScoringScale::benchmark_scale);
    let finding = BenchmarkFinding::from_judge(pass, score, uncertain, scale);
    let unit = finding.score().filter(|_| score.is_some() && !uncertain);
    match unit.and_then(|unit| find_contradiction(pass, unit, behaviour.failure_limit, scale)) {
        Some(contradiction) => Err(format!(
            "\"pass\" is {pass} and \"score\" is {}: the output {contradiction}, which is a contradiction; correct \
             one of the two",
            object.get("score").unwrap_or(&Value::Null),
        )),
        None => Ok(finding),
    }
}

fn parse_boolean(object: &Map<String, Value>, name: &str) -> Result<Option<bool>, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(format!("\"{name}\" is {other}; it must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use assize_model::Applicability;
    use assize_rubric::{BenchmarkState, NormalisationFormula, UnitInterval};

    use super::*;

    fn behaviour() -> Behaviour {
        Behaviour {
            prompt: "p".into(),
            guidelines: Vec::new(),
            applicability: None,
            scale: None,
            pass_conditions: Vec::new(),
            failure_limit: UnitInterval::ONE,
        }
    }

    /// State, pass, the score as given, and the score from 0 to 1.
    type Found = (BenchmarkState, Option<bool>, Option<f64>, Option<f64>);

    fn decided(text: &str, behaviour: &Behaviour) -> Found {
        let finding = read_behaviour(text, behaviour).unwrap().decided;
        let found = finding.benchmark().unwrap();
        (found.state, found.pass, found.raw_score, finding.score().map(UnitInterval::get))
    }

    #[test]
    fn plain_replies_are_taken_and_uncertain_ones_never_pass() {
        let plain = behaviour();
        let passes = (BenchmarkState::Scored, Some(true), None, Some(1.0));
        assert_eq!(decided(r#"{"reason": "r", "pass": true}"#, &plain), passes);
        assert_eq!(
            decided("Sure:\n```json\n{\"pass\": false, \"score\": 0.5}\n```", &plain),
            (BenchmarkState::Scored, Some(false), Some(0.5), Some(0.5))
        );
        assert_eq!(
            decided(r#"{"pass": true, "uncertain": true, "confidence": "low"}"#, &plain),
            (BenchmarkState::Uncertain, Some(false), None, Some(0.0))
        );
    }

    #[test]
    fn a_confidence_in_numbers_is_read() {
        for (number, expected) in [
            ("0.9", Some(JudgeConfidence::High)),
            ("1", Some(JudgeConfidence::High)),
            ("50", Some(JudgeConfidence::Medium)),
            ("0.1", Some(JudgeConfidence::Low)),
            ("-3", None),
        ] {
            let reply = format!(r#"{{"reason": "r", "pass": true, "confidence": {number}}}"#);
            assert_eq!(read_behaviour(&reply, &behaviour()).unwrap().confidence, expected, "{number}");
        }
    }

    #[test]
    fn what_was_asked_for_must_be_there() {
        let mut asked = behaviour();
        asked.applicability = Some(Applicability { inclusion: "i".into(), exclusion: None });
        asked.scale = Some(ScoringScale {
            min: 1.0,
            max: 5.0,
            descriptions: Vec::new(),
            formula: NormalisationFormula::parse("(x-min)/(max-min)").unwrap(),
        });
        let nothing = (BenchmarkState::NotApplicable, None, None, None);
        assert_eq!(decided(r#"{"applies": false}"#, &asked), nothing);
        let full = (BenchmarkState::Scored, Some(true), Some(4.0), Some(0.75));
        assert_eq!(decided(r#"{"applies": true, "pass": true, "score": 4}"#, &asked), full);
        // The default mapping: a pass is the top of the scale, a fail the bottom.
        let minimal = (BenchmarkState::Scored, Some(true), None, Some(1.0));
        assert_eq!(decided(r#"{"applies": true, "pass": true, "reason": "r"}"#, &asked), minimal);
        let minimal = (BenchmarkState::Scored, Some(false), None, Some(0.0));
        assert_eq!(decided(r#"{"applies": true, "pass": false, "score": null}"#, &asked), minimal);
        for bad in [
            r#"{"pass": true, "score": 4}"#,
            r#"{"applies": true, "score": 4}"#,
            r#"{"applies": true, "pass": true, "score": 6}"#,
            r#"{"applies": "yes", "pass": true, "score": 4}"#,
        ] {
            assert!(read_behaviour(bad, &asked).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_verdict_and_a_score_that_exclude_each_other_are_refused() {
        let mut scaled = behaviour();
        scaled.scale = Some(ScoringScale {
            min: 0.0,
            max: 4.0,
            descriptions: Vec::new(),
            formula: NormalisationFormula::parse("x / max").unwrap(),
        });
        let mut gate = behaviour();
        gate.failure_limit = UnitInterval::new(0.9).unwrap();
        for (behaviour, pass, score, fits) in [
            (behaviour(), false, 1.0, false),
            (behaviour(), false, 0.999_999_999_9, false),
            (behaviour(), true, 0.0, false),
            (behaviour(), false, 0.95, true),
            (behaviour(), true, 0.2, false),
            (behaviour(), true, 0.5, true),
            (scaled.clone(), false, 4.0, false),
            (scaled.clone(), true, 0.0, false),
            (scaled.clone(), false, 3.0, true),
            (scaled, true, 1.0, true),
            (gate.clone(), false, 0.9, false),
            (gate.clone(), false, 0.8, true),
            (gate, true, 0.5, true),
        ] {
            let reply = format!(r#"{{"reason": "r", "pass": {pass}, "score": {score}}}"#);
            let read = read_behaviour(&reply, &behaviour);
            assert_eq!(read.is_ok(), fits, "{reply}");
            assert!(read.err().is_none_or(|error| error.contains("contradiction")), "{reply}");
        }
        let doubtful = r#"{"pass": true, "score": 0, "uncertain": true}"#;
        assert!(
            read_behaviour(doubtful, &behaviour()).is_ok(),
            "what is uncertain has no score to contradict"
        );
    }

    #[test]
    fn nothing_is_guessed() {
        for bad in [
            "",
            "pass",
            r#"{"pass": "true"}"#,
            r#"{"pass": 1}"#,
            r#"{"pass": true, "score": 1.2}"#,
            r#"{"pass": true, "confidence": "very"}"#,
            r#"{"pass": true, "uncertain": "no"}"#,
            r#"{"pass": true} {"pass": false}"#,
            r#"{"pass": true, "pass": false}"#,
            r#"{"pass": true, "applies": false}"#,
            r#"{"pass": true, "applies": "no"}"#,
            r#"{"pass": true, "passed": false}"#,
            r#"{"pass": true, "fail": true}"#,
            r#"{"pass": true, "verdict": "fail"}"#,
            r#"{"pass": true, "Pass": false}"#,
            r#"{"pass": true, "automatic_fail": true}"#,
            r#"{"pass": true, "Uncertain": true}"#,
            r#"{"pass": true, "score": 0.9, "rating": 0.2}"#,
        ] {
            assert!(read_behaviour(bad, &behaviour()).is_err(), "{bad}");
        }
    }
}
