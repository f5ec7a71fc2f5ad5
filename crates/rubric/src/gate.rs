//! Conditions that fail a case whatever its score.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Outcome, RawScore, UnitInterval, at_least};

/// Minimum that a criterion must reach for the case to pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// `required`: the criterion must be met.
    Met,
    /// `required` on a criterion with score ranges but no minimum: its score must reach the pass threshold.
    PassLine,
    /// `required_min_score`: the raw score must be at least this.
    MinRaw(RawScore),
    /// `min_score`: the score, 0 to 1, must be at least this.
    MinValue(UnitInterval),
}

/// State of a gate once outcomes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// The condition holds.
    Passed,
    /// The condition does not hold: the case fails.
    Failed,
    /// The criterion is ungraded, and its outcome could still fail the gate.
    Open,
    /// The criterion does not apply, so the gate is ignored.
    NotApplicable,
}

impl Gate {
    /// Returns the text of the condition in records and output.
    pub fn rule(self) -> Cow<'static, str> {
        match self {
            Self::Met => "required".into(),
            Self::PassLine => "required (score ≥ pass threshold)".into(),
            Self::MinRaw(raw) => format!("required_min_score {}", raw.get()).into(),
            Self::MinValue(minimum) => format!("min_score {}", minimum.get()).into(),
        }
    }

    /// Returns the state of the gate for an outcome. `pass_line` is the pass threshold, with which
    /// [`Gate::PassLine`] compares.
    pub fn evaluate(self, outcome: Outcome, pass_line: UnitInterval) -> GateState {
        let minimum = match self {
            Self::Met => 1.0,
            Self::PassLine => pass_line.get(),
            Self::MinRaw(raw) => raw.value(),
            Self::MinValue(minimum) => minimum.get(),
        };
        match outcome {
            Outcome::NotApplicable => GateState::NotApplicable,
            // Every outcome reaches a minimum of 0, so an ungraded criterion can't fail this gate.
            Outcome::Ungraded if at_least(0.0, minimum) => GateState::Passed,
            Outcome::Ungraded => GateState::Open,
            Outcome::Met | Outcome::Unmet | Outcome::Scored(_) | Outcome::Averaged(_) => {
                match outcome.value() {
                    Some(value) if at_least(value, minimum) => GateState::Passed,
                    _ => GateState::Failed,
                }
            }
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass_line() -> UnitInterval {
        UnitInterval::new(0.8).expect("in range")
    }

    fn scored(raw: u8) -> Outcome {
        Outcome::Scored(RawScore::new(raw).expect("in range"))
    }

    #[test]
    fn a_minimum_of_seven_tenths_lets_a_raw_seven_pass() {
        let gate = Gate::MinValue(UnitInterval::new(0.7).expect("in range"));
        assert_eq!(gate.evaluate(scored(7), pass_line()), GateState::Passed);
        assert_eq!(gate.evaluate(scored(6), pass_line()), GateState::Failed);
        let gate = Gate::MinRaw(RawScore::new(7).expect("in range"));
        assert_eq!(gate.evaluate(scored(7), pass_line()), GateState::Passed);
        assert_eq!(gate.evaluate(scored(6), pass_line()), GateState::Failed);
    }

    #[test]
    fn required_means_met_and_on_a_score_the_pass_line() {
        assert_eq!(Gate::Met.evaluate(Outcome::Met, pass_line()), GateState::Passed);
        assert_eq!(Gate::Met.evaluate(Outcome::Unmet, pass_line()), GateState::Failed);
        assert_eq!(Gate::PassLine.evaluate(scored(8), pass_line()), GateState::Passed);
        assert_eq!(Gate::PassLine.evaluate(scored(7), pass_line()), GateState::Failed);
    }

    #[test]
    fn what_was_not_judged_leaves_the_gate_open_and_what_does_not_apply_lifts_it() {
        assert_eq!(Gate::Met.evaluate(Outcome::Ungraded, pass_line()), GateState::Open);
        assert_eq!(Gate::Met.evaluate(Outcome::NotApplicable, pass_line()), GateState::NotApplicable);
        assert_eq!(
            Gate::MinValue(UnitInterval::ZERO).evaluate(Outcome::Ungraded, pass_line()),
            GateState::Passed
        );
    }
}
