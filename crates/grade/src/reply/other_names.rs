//! Members that repeat a decision under another common name.
//!
//! The prompts don't ask for them, and most replies have none. A member that agrees with the decision is fine;
//! if one disagrees, either could be meant.

use assize_rubric::{Outcome, UnitInterval, VerdictThresholds};
use serde_json::{Map, Value};

/// Common names of a decision, in lower case.
const DECISION_NAMES: [&str; 14] = [
    "outcome", "met", "satisfied", "passed", "pass", "passes", "verdict", "result", "decision", "judgment",
    "judgement", "rating", "grade", "score",
];

/// Common names of the opposite of a decision.
const OPPOSITE_NAMES: [&str; 6] = ["unmet", "fail", "fails", "failed", "failure", "automatic_fail"];

/// Words for a decision in favour.
const POSITIVE_WORDS: [&str; 11] =
    ["met", "pass", "passed", "passes", "yes", "true", "success", "satisfied", "correct", "positive", "ok"];

/// Words for a decision against.
const NEGATIVE_WORDS: [&str; 15] = [
    "unmet", "not_met", "fail", "failed", "fails", "failure", "no", "false", "unsatisfied", "not_satisfied",
    "incorrect", "negative", "not_passed", "reject", "rejected",
];

/// Words for a criterion that does not apply.
const NEUTRAL_WORDS: [&str; 4] = ["not_applicable", "n/a", "na", "inapplicable"];

/// The [`DECISION_NAMES`] whose numbers are scores. For the others, 1 and 0 mean true and false.
const SCORE_NAMES: [&str; 3] = ["rating", "grade", "score"];

/// A decision, in the form in which other members can contradict it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatedDecision {
    /// In favour or against; `None` for a score alone, or without a decision.
    passed: Option<bool>,
    /// The score as written.
    score: Option<f64>,
    /// The highest possible score. A higher number is on another scale.
    highest: f64,
    /// True if the criterion does not apply.
    is_neutral: bool,
}

impl StatedDecision {
    const NONE: Self = Self { passed: None, score: None, highest: f64::INFINITY, is_neutral: false };

    /// A decision on a criterion.
    pub(crate) fn from_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Met => Self::from_pass(true, None),
            Outcome::Unmet => Self::from_pass(false, None),
            Outcome::NotApplicable => Self { is_neutral: true, ..Self::NONE },
            Outcome::Scored(score) => {
                Self { score: Some(f64::from(score.get())), highest: 10.0, ..Self::NONE }
            }
            Outcome::Averaged(_) | Outcome::Ungraded => Self::NONE,
        }
    }

    /// A pass or a fail, with the score written next to it.
    pub(crate) const fn from_pass(passed: bool, score: Option<f64>) -> Self {
        Self { passed: Some(passed), score, ..Self::NONE }
    }

    /// A score from 0 to 1.
    pub(crate) const fn from_score(score: UnitInterval) -> Self {
        Self { score: Some(score.get()), highest: 1.0, ..Self::NONE }
    }

    /// Returns true if a member in favour, or against, contradicts the decision. It contradicts a score that is
    /// on the other side of the usual thresholds: failing what scores 0.8 is a contradiction.
    fn excludes(self, positive: bool) -> bool {
        match (self.passed, self.score.map(|score| score / self.highest)) {
            (Some(passed), _) => passed != positive,
            (None, Some(unit)) if positive => unit < VerdictThresholds::DEFAULT_BORDERLINE,
            (None, Some(unit)) => unit >= VerdictThresholds::DEFAULT_PASS,
            (None, None) => self.is_neutral,
        }
    }
}

/// Refuses a member under another common name, in any letter case, that contradicts the decision. `own` are the
/// members that the decision was read from. The error names both, worded for the judge and the user.
pub(crate) fn refuse_contradiction(
    object: &Map<String, Value>,
    own: &[&str],
    decision: StatedDecision,
) -> Result<(), String> {
    for (name, value) in object.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        let plain = name.trim().to_lowercase().replace(['-', ' '], "_");

        // The same name in other letter case.
        if let Some(known) = own.iter().find(|known| **known == plain) {
            if !value.is_null() && object.get(*known) != Some(value) {
                return Err(format!(
                    "\"{name}\" says something else than \"{known}\"; give only \"{known}\""
                ));
            }
        } else if says_otherwise(&plain, value, decision) {
            return Err(format!(
                "\"{name}\" contradicts \"{}\"; leave \"{name}\" out",
                own.first().unwrap_or(&"the decision")
            ));
        }
    }

    Ok(())
}

/// Returns true if a member of this name, in lower case, contradicts the decision.
fn says_otherwise(name: &str, value: &Value, decision: StatedDecision) -> bool {
    let is_opposite = OPPOSITE_NAMES.contains(&name);
    if !is_opposite && !DECISION_NAMES.contains(&name) {
        return false;
    }

    match value {
        Value::Bool(says) => decision.excludes(*says != is_opposite),
        Value::Number(number) => number.as_f64().is_some_and(|number| number_differs(name, number, decision)),
        Value::String(word) => {
            let word = word.trim().trim_end_matches('.').to_lowercase().replace(['-', ' '], "_");
            // `failed: yes` is against the answer, and so is `failed: failed`.
            let is_turned = is_opposite && ["yes", "no", "true", "false"].contains(&word.as_str());
            if POSITIVE_WORDS.contains(&word.as_str()) {
                decision.excludes(!is_turned)
            } else if NEGATIVE_WORDS.contains(&word.as_str()) {
                decision.excludes(is_turned)
            } else if NEUTRAL_WORDS.contains(&word.as_str()) {
                !decision.is_neutral
            } else {
                word.parse().is_ok_and(|number| number_differs(name, number, decision))
            }
        }
        // The member is an object with its own decision.
        Value::Object(members) => {
            members.iter().any(|(name, value)| says_otherwise(&name.trim().to_lowercase(), value, decision))
        }
        Value::Null | Value::Array(_) => false,
    }
}

/// Returns true if the number of a member contradicts the decision. A score is compared with the decision's score. If
/// the decision has none, the scale is unknown, and only a score of 0 can contradict.
fn number_differs(name: &str, number: f64, decision: StatedDecision) -> bool {
    let is_score = SCORE_NAMES.contains(&name);
    let is_opposite = OPPOSITE_NAMES.contains(&name);
    match decision.score {
        Some(score) if is_score => number <= decision.highest && (score - number).abs() > f64::EPSILON,
        _ if number == 0.0 => decision.excludes(is_opposite),
        _ if !is_score && (number - 1.0).abs() < f64::EPSILON => decision.excludes(!is_opposite),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_rubric::RawScore;

    fn contradicts(member: &str, decision: StatedDecision) -> bool {
        let value: Value = serde_json::from_str(&format!("{{{member}}}")).expect("JSON");
        refuse_contradiction(value.as_object().expect("an object"), &["outcome"], decision).is_err()
    }

    #[test]
    fn another_name_may_say_the_same_and_nothing_else() {
        let met = StatedDecision::from_outcome(&Outcome::Met);
        for other in [
            r#""met":false"#, r#""verdict":"fail""#, r#""Verdict":"FAILED""#, r#""fail":true"#,
            r#""failed":"yes""#, r#""automatic_fail":true"#, r#""result":{"passed":false}"#, r#""pass":0"#,
            r#""pass":"not met""#, r#""decision":"n/a""#, r#""Outcome":"unmet""#,
        ] {
            assert!(contradicts(other, met), "{other}");
        }
        for same in [
            r#""met":true"#, r#""verdict":"pass""#, r#""fail":false"#, r#""failed":"no""#,
            r#""result":"clear""#, r#""rating":4"#, r#""pass":1"#, r#""verdict":null"#, r#""confidence":0"#,
            r#""notes":"fail""#,
        ] {
            assert!(!contradicts(same, met), "{same}");
        }
    }

    #[test]
    fn a_score_is_contradicted_by_another_and_by_the_other_side() {
        let eight = StatedDecision::from_outcome(&Outcome::Scored(RawScore::new(8).expect("0 to 10")));
        for other in [r#""rating":2"#, r#""grade":"2""#, r#""passed":false"#, r#""verdict":"fail""#] {
            assert!(contradicts(other, eight), "{other}");
        }
        for same in [r#""rating":8"#, r#""passed":1"#, r#""grade":"good""#, r#""fail":0"#, r#""rating":80"#] {
            assert!(!contradicts(same, eight), "{same}");
        }
        let middle = StatedDecision::from_score(UnitInterval::new(0.7).expect("0 to 1"));
        assert!(!contradicts(r#""verdict":"fail""#, middle) && !contradicts(r#""verdict":"pass""#, middle));
        let neutral = StatedDecision::from_outcome(&Outcome::NotApplicable);
        assert!(contradicts(r#""met":true"#, neutral) && !contradicts(r#""verdict":"n/a""#, neutral));
    }
}
