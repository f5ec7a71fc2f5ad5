//! Comparisons of the meaning of texts.

/// A comparison of the meaning of the answer with that of given texts, by the vectors that a model turns texts into.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarityCheck {
    /// Texts to compare with. The answer must be close to one of them. Never empty.
    pub texts: Vec<String>,
    /// Measure of closeness.
    pub measure: SimilarityMeasure,
    /// Minimum similarity of a close answer; with [`SimilarityMeasure::Euclidean`], its maximum distance.
    pub threshold: f64,
    /// Model that turns texts into vectors: a target's or model's name; [`SimilarityCheck::MODEL`] if absent.
    pub model: Option<String>,
}

impl SimilarityCheck {
    /// Threshold where none is written.
    pub const THRESHOLD: f64 = 0.75;
    /// Model where none is named.
    pub const MODEL: &'static str = "openai-embeddings:text-embedding-3-large";

    /// Name of the model to ask.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(Self::MODEL)
    }
}

/// Measure of the closeness of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SimilarityMeasure {
    /// Cosine of the angle between them.
    #[default]
    Cosine,
    /// Their scalar product.
    Dot,
    /// Their distance d, which makes a score of 1 / (1 + d).
    Euclidean,
}

assize_rubric::named_variants!(SimilarityMeasure { Cosine = "cosine", Dot = "dot", Euclidean = "euclidean" });
