//! Evaluator of a benchmark, with its guidelines and scoring scale.

use assize_rubric::{BenchmarkScale, NormalisationFormula};

/// Guidance for judges, shown with every benchmark below a rubric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidelines {
    /// Aspects to focus on.
    pub focus_areas: Vec<String>,
    /// Deviations that must not count against an answer.
    pub acceptable_deviations: Vec<String>,
    /// Requirements that must be met: an output that breaks one does not pass.
    pub critical_requirements: Vec<String>,
    /// Evidence to provide: a pass needs a verified quote.
    pub evidence_requirements: Option<String>,
    /// True if a pass may do without the evidence.
    pub evidence_is_advisory: bool,
    /// Other instructions.
    pub special_instructions: Option<String>,
}

/// Kind of evaluator of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvaluatorType {
    /// A program.
    Code,
    /// A model.
    LlmJudge,
    /// A program first, then a model.
    Hybrid,
    /// A reviewer.
    ManualSme,
}

impl EvaluatorType {
    /// Returns true if it asks a model with a prompt file.
    pub const fn needs_prompt(self) -> bool {
        matches!(self, Self::LlmJudge | Self::Hybrid)
    }
}

assize_rubric::named_variants!(EvaluatorType {
    Code = "code", LlmJudge = "llm_judge", Hybrid = "hybrid", ManualSme = "manual_sme",
});

/// A scoring scale other than 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoringScale {
    /// Lowest raw score.
    pub min: f64,
    /// Highest raw score.
    pub max: f64,
    /// Descriptions of single scores, lowest first.
    pub descriptions: Vec<(f64, String)>,
    /// Formula that maps a raw score to 0 to 1.
    pub formula: NormalisationFormula,
}

impl ScoringScale {
    /// The scale as the arithmetic takes it.
    pub const fn benchmark_scale(&self) -> BenchmarkScale<'_> {
        BenchmarkScale { min: self.min, max: self.max, formula: &self.formula }
    }
}
