//! What a draft is made from.

use assize_evalfile::{Case, GivenOutput};

/// How drafted criteria are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Met or not.
    #[default]
    Checklist,
    /// A whole number from 0 to 10, described by ranges.
    Ranges,
}

/// What is known about a case for which criteria are drafted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// The question as a judge sees it.
    pub question: String,
    /// What a good answer does. Never blank.
    pub expected_outcome: String,
    /// A good answer.
    pub reference: Option<String>,
    /// What systems answered; not necessarily right.
    pub samples: Vec<String>,
    /// The form of the criteria.
    pub form: Form,
}

impl Brief {
    /// The brief of a case; an answer that stands in it is a sample. `None` if it expects nothing in words.
    pub fn of(case: &Case, form: Form) -> Option<Self> {
        let expected_outcome = case.expected_outcome.clone().filter(|text| !text.trim().is_empty())?;
        let sample = case.output.as_ref().and_then(|output| match output {
            GivenOutput::Text(text) => Some(text.clone()),
            GivenOutput::Json(value) => serde_json::to_string_pretty(value).ok(),
            GivenOutput::Messages(messages) => messages.last().map(assize_evalfile::Message::to_text),
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
