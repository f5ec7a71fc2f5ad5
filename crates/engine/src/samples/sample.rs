//! A sample: one answer to be graded.

use std::sync::Arc;

use assize_model::{Case, CaseId, GivenOutput, Grader};
use assize_rubric::{CaseMessage, MessageRole};
use assize_targets::TargetAnswer;

use crate::error::EngineError;
use crate::plan::given;

/// An answer to grade, with additional material for the judge.
#[derive(Debug, Clone)]
pub struct GradingSample {
    /// Id, for the record.
    pub id: String,
    /// Messages that the answer replies to.
    pub input: Vec<CaseMessage>,
    /// An answer known to be good.
    pub reference: Option<String>,
    /// Description of a good answer.
    pub expected_outcome: Option<String>,
    /// Tags that select benchmarks of a scorecard.
    pub tags: Vec<String>,
    answer: TargetAnswer,
    /// Why it can't be graded.
    pub(super) problem: Option<String>,
}

impl GradingSample {
    /// Sample with only this answer.
    ///
    /// # Errors
    /// When the output holds no answer: messages without one of the assistant, or null.
    pub fn new(id: impl Into<String>, output: &GivenOutput) -> Result<Self, EngineError> {
        let answer = given(output).map_err(|error| EngineError::usage(error.message))?;
        Ok(Self { id: id.into(), answer, ..Self::empty() })
    }

    /// An empty sample.
    pub(super) fn empty() -> Self {
        Self {
            id: "sample".to_owned(),
            input: Vec::new(),
            reference: None,
            expected_outcome: None,
            tags: Vec::new(),
            answer: TargetAnswer::default(),
            problem: None,
        }
    }

    /// Sets the reason why it can't be graded. The sample is not judged, and its record has the reason.
    #[must_use]
    pub fn with_problem(self, problem: String) -> Self {
        Self { problem: Some(problem), ..self }
    }

    /// Sets the question that the answer replies to.
    #[must_use]
    pub fn with_question(self, question: impl Into<String>) -> Self {
        Self { input: vec![CaseMessage::text(MessageRole::User, question.into())], ..self }
    }

    /// Text of the answer.
    pub fn answer(&self) -> &str {
        &self.answer.text
    }

    pub(super) fn into_case(self, graders: Vec<Arc<Grader>>, template: &Case) -> (Case, TargetAnswer) {
        let reference = self.reference.into_iter();
        let case = Case {
            input: self.input,
            expected_outcome: self.expected_outcome,
            tags: self.tags,
            expected_output: reference.map(|text| CaseMessage::text(MessageRole::Assistant, text)).collect(),
            ..Case::new(CaseId::new(self.id), template.place.clone(), graders)
        };

        (case, self.answer)
    }
}
