//! Labels: decisions of people about one criterion on one case, in the form in which they are stored.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::SeenHash;

/// Code of a label for a trace with a failure that no benchmark names.
pub const NONE_OF_THE_ABOVE: &str = "NONE_OF_THE_ABOVE";

/// Code of a label for a trace without any failure.
pub const NO_FAILURE: &str = "NO_FAILURE";

/// A person's decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelOutcome {
    /// The answer meets the criterion.
    Met,
    /// The answer does not meet the criterion.
    Unmet,
    /// A score, on the criterion's own scale.
    Score(f64),
    /// The criterion does not apply.
    NotApplicable,
    /// The person could not decide.
    Unsure,
}

impl LabelOutcome {
    /// Returns the outcome as a number: a score, or 1 and 0 for pass and fail.
    pub const fn number(self) -> Option<f64> {
        match self {
            Self::Met => Some(1.0),
            Self::Unmet => Some(0.0),
            Self::Score(score) => Some(score),
            Self::NotApplicable | Self::Unsure => None,
        }
    }

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

    /// Returns the words shown to people; label files use others.
    pub fn words(self) -> String {
        match self {
            Self::Met => "pass".to_owned(),
            Self::Unmet => "fail".to_owned(),
            Self::NotApplicable => "not applicable".to_owned(),
            other => other.to_string(),
        }
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

crate::named_enum! {
    /// Severity of a failure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Severity")]
    pub enum FailureSeverity {
        /// Minor.
        Low = "low",
        /// Moderate.
        Medium = "medium",
        /// Severe.
        High = "high",
    }
}

/// Sampling method that chose a labeled case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Sampling")]
pub enum SamplingMethod {
    /// Drawn at random with equal probability, so that labeled cases represent all cases.
    Random,
    /// Drawn at random with a probability per case, stated in the label.
    Weighted,
    /// Chosen deliberately, such as the first, uncertain or failed cases.
    Chosen,
}

/// Data split of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Split")]
pub enum LabelSplit {
    /// Used to tune the judge's wording, threshold or model.
    Train,
    /// Held out for measuring the judge.
    Test,
    /// Shown to the judge as an example.
    Example,
}

/// A label: one line of a labels file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Id of the case.
    pub case: String,
    /// Suite name. Needed only if several suites have a case with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Target that gave the answer. Needed only if the run has several targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Trial of the case, from 1. Needed only if the case has several trials.
    #[serde(default, rename = "repeat", skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// Id of the criterion, or code of the benchmark.
    pub criterion: String,
    /// Decision of the reviewer: `met`, `unmet`, `not_applicable`, `unsure`, or a score.
    pub label: LabelOutcome,
    /// Name of the reviewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Time of the decision (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Reason for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Severity of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<FailureSeverity>,
    /// Version of the criterion that was labeled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Hash of what the reviewer saw. Ties the label to the answer that was labeled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenHash>,
    /// Sampling method that chose the case for labeling. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SamplingMethod>,
    /// Probability with which the case was drawn, above 0 and at most 1, for `weighted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<f64>,
    /// Data split of the label. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<LabelSplit>,
    /// True if this label decides a disagreement of other reviewers. It replaces their labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicates: bool,
}

impl Label {
    /// Creates a label with only the decision.
    pub fn new(case: impl Into<String>, criterion: impl Into<String>, label: LabelOutcome) -> Self {
        Self {
            case: case.into(),
            suite: None,
            system: None,
            trial: None,
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

    /// Returns the time of the decision; `None` if the label has none that is a date or a time.
    pub fn time(&self) -> Option<jiff::Timestamp> {
        parse_label_time(self.at.as_deref()?)
    }
}

/// Reads the time of a label: a time of RFC 3339, or a date with or without a time of day, which is one of UTC then.
pub fn parse_label_time(text: &str) -> Option<jiff::Timestamp> {
    let text = text.trim();
    let utc = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();

    text.parse().ok().or_else(|| utc().map(|zoned| zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_lack_its_zone_and_its_time_of_day() {
        for text in
            ["2026-01-02T12:00:00Z", "2026-01-02T14:00:00+02:00", "2026-01-02 12:00", " 2026-01-02T12:00:00 "]
        {
            assert_eq!(parse_label_time(text), "2026-01-02T12:00:00Z".parse().ok(), "{text}");
        }
        assert_eq!(parse_label_time("2026-01-02"), "2026-01-02T00:00:00Z".parse().ok());
        assert!(["", "yesterday", "12:00", "46024"].iter().all(|text| parse_label_time(text).is_none()));
    }

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
