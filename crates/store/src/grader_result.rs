//! Result of a grader other than a rubric, as stored in its row of `judgements.jsonl`.

use assize_rubric::{
    AnswerComparison, BenchmarkFinding, CompositeStructure, GraderFinding, GraderFindingKind, GraderNote,
    UnitInterval,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Result of a grader without criteria. Rubrics have one row per criterion instead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GraderResult {
    /// Score, 0 to 1, before negation; null if the grader failed, does not apply, or is computed from its members.
    pub score: Option<f64>,
    /// Error of the grader. A grader with no score, no error and no members does not apply.
    #[serde(default)]
    pub error: Option<String>,
    /// Details of the result, one per point checked.
    #[serde(default)]
    pub notes: Vec<GraderNote>,
    /// Further details from a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Pass or fail as decided by the grader itself, regardless of the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Members of a composite and how they are combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite: Option<CompositeStructure>,
    /// Result of a scorecard benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<BenchmarkFinding>,
    /// Result of a pairwise comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairwise: Option<AnswerComparison>,
}

impl GraderResult {
    /// Adds the part of a benchmark's row that is outside of the result.
    pub(crate) fn with_applicability(mut self, may_not_apply: bool) -> Self {
        if let Some(benchmark) = &mut self.benchmark {
            benchmark.may_not_apply = may_not_apply;
        }
        self
    }
}

impl From<&GraderFinding> for GraderResult {
    fn from(finding: &GraderFinding) -> Self {
        let mut result = Self {
            score: finding.score().map(UnitInterval::get),
            error: finding.error().map(str::to_owned),
            notes: finding.notes.clone(),
            details: finding.details.clone(),
            ..Self::default()
        };
        match &finding.kind {
            GraderFindingKind::Score => {}
            GraderFindingKind::Checked { passed } => result.passed = Some(*passed),
            GraderFindingKind::Composite(composition) => result.composite = Some(composition.clone()),
            GraderFindingKind::Benchmark(benchmark) => result.benchmark = Some(*benchmark),
            GraderFindingKind::Comparison(comparison) => {
                result.pairwise = Some(AnswerComparison::clone(comparison));
            }
        }

        result
    }
}

impl From<GraderResult> for GraderFinding {
    fn from(result: GraderResult) -> Self {
        let score = match (result.error, result.score) {
            (Some(error), _) => Err(error),
            (None, None) => Ok(None),
            (None, Some(score)) => UnitInterval::new(score)
                .map(Some)
                .map_err(|_| format!("the stored score {score} does not lie between 0 and 1")),
        };

        let kind = match (result.composite, result.benchmark, result.pairwise) {
            (Some(composition), ..) => GraderFindingKind::Composite(composition),
            (None, Some(benchmark), _) => GraderFindingKind::Benchmark(benchmark),
            (None, None, Some(comparison)) => GraderFindingKind::Comparison(Box::new(comparison)),
            (None, None, None) => match result.passed {
                Some(passed) => GraderFindingKind::Checked { passed },
                None => GraderFindingKind::Score,
            },
        };

        Self { score, notes: result.notes, details: result.details, kind }
    }
}
