//! A person's decision about one criterion on one case: the one form in which labels are stored.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::SeenHash;

/// Code of a label for a trace with a failure that none of the benchmarks names.
pub const NONE_OF_THE_ABOVE: &str = "NONE_OF_THE_ABOVE";

/// Code of a label for a trace without any failure.
pub const NO_FAILURE: &str = "NO_FAILURE";

/// A person's decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelOutcome {
    /// The answer does it.
    Met,
    /// The answer does not do it.
    Unmet,
    /// A score, on the criterion's own scale.
    Score(f64),
    /// The criterion has nothing to say about this case.
    NotApplicable,
    /// The person could not tell.
    Unsure,
}

impl LabelOutcome {
    /// Parses a word, ignoring letter case; `None` for unknown words. Numbers are not accepted: 1 could mean
    /// "met" or a score of 1.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "met" | "pass" | "passed" | "true" | "yes" => Self::Met,
            "unmet" | "fail" | "failed" | "false" | "no" => Self::Unmet,
            "not_applicable" | "not applicable" | "n/a" | "na" => Self::NotApplicable,
            "unsure" => Self::Unsure,
            _ => return None,
        })
    }
}

impl fmt::Display for LabelOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Met => f.pad("met"),
            Self::Unmet => f.pad("unmet"),
            Self::Score(score) => score.fmt(f),
            Self::NotApplicable => f.pad("not_applicable"),
            Self::Unsure => f.pad("unsure"),
        }
    }
}

/// A word or a number, as in files.
impl JsonSchema for LabelOutcome {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LabelOutcome".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "`met`, `unmet`, `not_applicable`, `unsure`, or a score.",
            "anyOf": [
                { "enum": ["met", "unmet", "not_applicable", "unsure"] },
                { "type": "string", "pattern": "^\\s*[A-Za-z][A-Za-z_/ ]*\\s*$", "deprecated": true },
                { "type": "number" },
            ],
        })
    }
}

impl Serialize for LabelOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Score(score) => serializer.serialize_f64(*score),
            word => serializer.collect_str(word),
        }
    }
}

impl<'de> Deserialize<'de> for LabelOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum RawLabel {
            Number(f64),
            Flag(bool),
            Word(String),
        }
        match RawLabel::deserialize(deserializer)? {
            RawLabel::Number(score) => Ok(Self::Score(score)),
            RawLabel::Flag(met) => Ok(if met { Self::Met } else { Self::Unmet }),
            RawLabel::Word(word) => Self::from_word(&word).ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "expected met, unmet, not_applicable, unsure or a score, found `{word}`"
                ))
            }),
        }
    }
}

/// Severity of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Severity")]
pub enum FailureSeverity {
    /// Little harm.
    Low,
    /// Some harm.
    Medium,
    /// Great harm.
    High,
}

/// Method by which a labelled case was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Sampling")]
pub enum SamplingMethod {
    /// By lot, so that the labelled cases stand for the others.
    Random,
    /// By lot, with a probability of its own for each case, which the label states.
    Weighted,
    /// By somebody's or something's choice: the first, the doubtful, the failed ones.
    Chosen,
}

/// Permitted use of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Split")]
pub enum LabelSplit {
    /// The judge was tuned on it: its wording, threshold or model was chosen while looking at it.
    Train,
    /// Kept back to measure the judge with.
    Test,
    /// Shown to the judge as an example.
    Example,
}

/// One label: a line of a labels file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Id of the case.
    pub case: String,
    /// Name of the suite; needed only if several suites have a case of that id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Name of the system that gave the answer (the target of a run); needed only if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Repeat of the case, from 1; needed only if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Id of the criterion, or code of the benchmark.
    pub criterion: String,
    /// Decision of the reviewer: `met`, `unmet`, `not_applicable`, `unsure`, or a score.
    pub label: LabelOutcome,
    /// Name of the reviewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// When, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Reason for the decision, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Severity of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<FailureSeverity>,
    /// Of which version of the criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Hash of what the reviewer saw; without one, nothing says which answer the label is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenHash>,
    /// Method by which the case was chosen for labelling; `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SamplingMethod>,
    /// For `weighted`: the probability with which the case was drawn for labelling, above 0 and up to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<f64>,
    /// Permitted use of the label; `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<LabelSplit>,
    /// True if the named reviewer decided what other reviewers disagreed on: the label stands in the place of theirs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub adjudicates: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Label {
    /// A label that says no more than the decision.
    pub fn new(case: impl Into<String>, criterion: impl Into<String>, label: LabelOutcome) -> Self {
        Self {
            case: case.into(),
            suite: None,
            system: None,
            repeat: None,
            criterion: criterion.into(),
            label,
            who: None,
            at: None,
            note: None,
            severity: None,
            version: None,
            seen: None,
            sampled: None,
            drawn: None,
            split: None,
            adjudicates: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_line_and_comes_back_the_same() {
        let line =
            r#"{"case":"c1","criterion":"tone","label":"met","who":"ann","sampled":"random","split":"test"}"#;
        let label: Label = serde_json::from_str(line).expect("sound");
        assert_eq!((label.label, label.split), (LabelOutcome::Met, Some(LabelSplit::Test)));
        assert_eq!(serde_json::to_string(&label).expect("writable"), line);
        let scored: Label = serde_json::from_str(r#"{"case":"c","criterion":"k","label":7}"#).expect("sound");
        assert_eq!(scored.label, LabelOutcome::Score(7.0));
    }

    #[test]
    fn unknown_words_and_keys_are_refused() {
        assert!(serde_json::from_str::<LabelOutcome>("\"maybe\"").is_err());
        assert!(serde_json::from_str::<Label>(r#"{"case":"c","criterion":"k","lable":"met"}"#).is_err());
        assert_eq!(LabelOutcome::from_word("1"), None);
        assert_eq!(LabelOutcome::from_word(" Yes"), Some(LabelOutcome::Met));
    }
}
