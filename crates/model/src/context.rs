//! Models of graders of answers that rest on a context, such as passages that a search found.

use assize_rubric::{EvidencePolicy, JudgingMode, TruncationMode};

use super::{AuthorCode, PanelSpec};

/// A rubric about a context, with a criterion for each statement of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextGrader {
    /// Statements that are decided on.
    pub measure: ContextMeasure,
    /// The context.
    pub context: ContextSource,
    /// Question that the context was found for; the question of the case if absent.
    pub query: Option<String>,
    /// Grouping of criteria into calls; the suite's setting if absent.
    pub judging: Option<JudgingMode>,
    /// Policy for evidence that is not found; the suite's setting if absent.
    pub evidence: Option<EvidencePolicy>,
    /// Policy for material that exceeds the judge's limit; the suite's setting if absent.
    pub truncate: Option<TruncationMode>,
    /// Judge; the run's judge if absent.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
}

/// Statements that are decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextMeasure {
    /// Those of the expected answer: does the context support them?
    Recall {
        /// Expected answer.
        expected: String,
    },
    /// Those of the context: does the question need them?
    Relevance,
    /// Those of the answer: does the context support them?
    Faithfulness,
}

/// Source of a context.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextSource {
    /// A text, of which each sentence is a statement.
    Text(String),
    /// Passages, of which each is a statement.
    Passages(Vec<String>),
    /// Code that returns one of these, given the answer.
    Code(AuthorCode),
    /// The question of the case.
    Question,
}

/// A comparison of the question with questions that a judge writes for the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRelevanceCheck {
    /// Question; that of the case if absent.
    pub query: Option<String>,
    /// Mean similarity from which the answer is relevant.
    pub threshold: f64,
    /// Judge that writes the questions; the run's judge if absent.
    pub judge: Option<String>,
    /// Model that turns texts into vectors; [`SimilarityCheck::MODEL`](super::SimilarityCheck::MODEL) if absent.
    pub model: Option<String>,
}

impl AnswerRelevanceCheck {
    /// Threshold where none is written.
    pub const THRESHOLD: f64 = 0.5;
    /// Number of questions.
    pub const QUESTIONS: u32 = 3;

    /// Name of the model for embeddings to ask.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(super::SimilarityCheck::MODEL)
    }
}
