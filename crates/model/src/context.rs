//! Models of graders for answers that are based on a context, such as passages that a search found.

use assize_rubric::{EvidencePolicy, JudgingMode, TruncationMode};

use super::{AuthorCode, PanelSpec};

/// A rubric about a context, with one criterion for each statement of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextGrader {
    /// Which statements the criteria are about.
    pub measure: ContextMeasure,
    /// The context.
    pub context: ContextSource,
    /// Question that the context was found for; the case's question if absent.
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

/// The statements that a context grader decides on, and its question about each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextMeasure {
    /// Each statement of the expected answer: does the context support it?
    Recall {
        /// Expected answer.
        expected: String,
    },
    /// Each statement of the context: is it needed to answer the question?
    Relevance,
    /// Each statement of the answer: does the context support it?
    Faithfulness,
}

/// Source of a context.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextSource {
    /// A text. Each of its sentences is a statement.
    Text(String),
    /// Passages. Each of them is a statement.
    Passages(Vec<String>),
    /// Code that is called with the answer and returns a text or passages.
    Code(AuthorCode),
    /// The question of the case.
    Question,
}

/// Checks that an answer is about the question: a judge writes questions that the answer would answer, and
/// these are compared with the actual question.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRelevanceCheck {
    /// Question; the case's question if absent.
    pub query: Option<String>,
    /// Minimum mean similarity for a relevant answer.
    pub threshold: f64,
    /// Judge that writes the questions; the run's judge if absent.
    pub judge: Option<String>,
    /// Model that turns texts into vectors; [`SimilarityCheck::MODEL`](super::SimilarityCheck::MODEL) if absent.
    pub model: Option<String>,
}

impl AnswerRelevanceCheck {
    /// Default threshold.
    pub const THRESHOLD: f64 = 0.5;
    /// Number of questions that the judge writes.
    pub const QUESTIONS: u32 = 3;

    /// Returns the name of the embedding model.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(super::SimilarityCheck::MODEL)
    }
}
