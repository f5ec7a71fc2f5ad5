//! The material for a draft.

use assize_model::{Case, GivenOutput};

/// How drafted criteria are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RubricForm {
    /// Met or unmet.
    #[default]
    Checklist,
    /// A whole number from 0 to 10, described by ranges.
    Ranges,
}

/// Facts about a case to draft criteria for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftBrief {
    /// The question, as a judge sees it.
    pub question: String,
    /// Description of a good answer. Never blank.
    pub expected_outcome: String,
    /// A good answer.
    pub reference: Option<String>,
    /// Answers of targets; not necessarily right.
    pub samples: Vec<String>,
    /// The form of the criteria.
    pub form: RubricForm,
}

impl DraftBrief {
    /// The brief of a case; a given answer becomes a sample. `None` if the case has no expected outcome in
    /// words.
    pub fn from_case(case: &Case, form: RubricForm) -> Option<Self> {
        let expected_outcome = case.expected_outcome.clone().filter(|text| !text.trim().is_empty())?;
        let sample = case.output.as_ref().and_then(|output| match output {
            GivenOutput::Text(text) => Some(text.clone()),
            GivenOutput::Json(value) => serde_json::to_string_pretty(value).ok(),
            GivenOutput::Messages(messages) => messages.last().map(assize_rubric::CaseMessage::to_text),
        });
        Some(Self {
            question: case.question(),
            expected_outcome,
            reference: case.reference(),
            samples: sample.into_iter().filter(|text| !text.trim().is_empty()).collect(),
            form,
        })
    }
}
