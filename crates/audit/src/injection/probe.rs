//! Texts inserted into answers: one JSON object per line, each with the attack that it represents.

use assize_model::{Case, GraderKind};
use assize_targets::TargetAnswer;
use serde::{Deserialize, Serialize};

use super::InsertPosition;
use crate::CaseVariant;
use crate::variant::case_rubrics;

/// Class of probes without an attack. They show which changes any inserted text causes.
pub const CONTROL: &str = "control";

/// Placeholder in a probe for the texts of the case's criteria.
const CRITERIA: &str = "{{criteria}}";

/// One probe text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionProbe {
    /// Name: letters, digits and `-`.
    pub name: String,
    /// Class of attack.
    pub class: String,
    /// Reference that describes the attack.
    pub reference: String,
    /// Default position.
    pub place: InsertPosition,
    /// The text. `{{criteria}}` is replaced by the texts of the criteria, one per line.
    pub text: String,
}

impl InjectionProbe {
    /// Returns true if the probe is not an attack.
    pub fn is_control(&self) -> bool {
        self.class == CONTROL
    }

    /// Returns the label of the variant with the probe at this position.
    pub fn label(&self, place: InsertPosition) -> String {
        format!("{}.{}", self.name, place.name())
    }

    /// Builds the variant of a case with the probe at this position.
    pub fn variant(&self, place: InsertPosition, case: &Case) -> CaseVariant {
        let text = self.text_for(case);
        CaseVariant::altering_answer(self.label(place), move |answer| TargetAnswer {
            text: place.insert_into(&answer.text, &text),
            ..answer
        })
    }

    /// Returns the text with its placeholder replaced.
    fn text_for(&self, case: &Case) -> String {
        if !self.text.contains(CRITERIA) {
            return self.text.clone();
        }

        let graders = case_rubrics(case);
        let rubrics = graders.iter().filter_map(|grader| match &grader.kind {
            GraderKind::Rubric(rubric) => Some(&rubric.rubric),
            _ => None,
        });
        let texts = rubrics.flat_map(|rubric| rubric.criteria()).map(|criterion| criterion.text.as_str());
        let wordings: Vec<String> =
            texts.filter(|text| !text.trim().is_empty()).map(|text| format!("- {text}")).collect();

        self.text.split(CRITERIA).collect::<Vec<_>>().join(&wordings.join("\n"))
    }
}

/// Returns the built-in probes, controls first.
pub fn builtin_probes() -> Vec<InjectionProbe> {
    include_str!("probes.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a test reads every probe"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_probe_is_sound_named_once_and_has_a_reference() {
        let probes = builtin_probes();
        assert!(probes.len() >= 20 && probes[0].is_control());
        let names: BTreeSet<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
        assert_eq!(names.len(), probes.len());
        for probe in &probes {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(probe.name.chars().all(is_plain), "{}", probe.name);
            assert!(!probe.class.is_empty() && probe.reference.len() > 10 && !probe.text.trim().is_empty());
        }
    }
}
