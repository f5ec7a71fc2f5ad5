//! Draft of a scorecard, before codes are resolved.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Span, Spanned};
use assize_rubric::{Aggregation, Criticality, LabelOutcome, Severity, Unit, Weight};
use serde_json::Value;

use super::prompt::PromptText;
use crate::model::{EvaluatorType, Grader, Guidelines, ScoringScale};

/// All parts of a scorecard, with unresolved codes.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) indexes: Vec<IndexDraft>,
    pub(super) rubrics: Vec<RubricDraft>,
    pub(super) benchmarks: Vec<BenchmarkDraft>,
    pub(super) prompts: Vec<PromptDraft>,
    pub(super) cases: Vec<CaseDraft>,
    pub(super) labels: Vec<LabelDraft>,
    /// Names without extensions of rubric and benchmark files that could not be decoded: codes that they
    /// would have defined are not reported as unknown.
    pub(super) broken: Vec<String>,
}

pub(super) struct IndexDraft {
    pub(super) code: Spanned<String>,
    pub(super) label: Option<String>,
    pub(super) description: Option<String>,
    pub(super) aggregation: Aggregation,
    pub(super) threshold: Unit,
    pub(super) components: Vec<Spanned<String>>,
    pub(super) sets: Vec<WeightSetDraft>,
    pub(super) active: Option<Spanned<String>>,
}

pub(super) struct WeightSetDraft {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) weights: Vec<(Spanned<String>, Weight)>,
}

/// Children of a rubric.
#[derive(Default)]
pub(super) enum PartsDraft {
    Benchmarks(Vec<Spanned<String>>),
    Rubrics(Vec<Spanned<String>>),
    /// Both or neither; already reported.
    #[default]
    Unclear,
}

pub(super) struct RubricDraft {
    pub(super) code: Spanned<String>,
    pub(super) label: String,
    pub(super) description: Option<String>,
    /// Weight; `None` if it could not be decoded, which is already reported.
    pub(super) weight: Option<Weight>,
    pub(super) aggregation: Aggregation,
    pub(super) threshold: Unit,
    pub(super) hard_gate: bool,
    pub(super) guidelines: Option<Guidelines>,
    pub(super) parts: PartsDraft,
    pub(super) spans: NodeSpans,
}

/// Spans of the keys and values of a rubric's or benchmark's numbers.
#[derive(Default)]
pub(super) struct NodeSpans {
    pub(super) weight: Option<Span>,
    pub(super) threshold: Option<Span>,
    pub(super) gate: Option<Span>,
}

pub(super) struct BenchmarkDraft {
    pub(super) code: Spanned<String>,
    pub(super) parent: Option<Spanned<String>>,
    pub(super) label: Option<String>,
    pub(super) concept: String,
    /// Weight; `None` if it could not be decoded, which is already reported.
    pub(super) weight: Option<Weight>,
    pub(super) threshold: Unit,
    pub(super) criticality: Criticality,
    pub(super) scale: Option<ScoringScale>,
    pub(super) evaluator: EvaluatorType,
    pub(super) prompt: Option<Spanned<String>>,
    pub(super) checks: Vec<Arc<Grader>>,
    pub(super) all_must_pass: bool,
    pub(super) inclusion: String,
    pub(super) exclusion: Option<String>,
    pub(super) examples: Vec<String>,
    pub(super) tags: Vec<String>,
    pub(super) spans: NodeSpans,
}

pub(super) struct PromptDraft {
    /// Canonical path of the file.
    pub(super) real: PathBuf,
    /// Path relative to the scorecard's folder, with `/`.
    pub(super) path: String,
    pub(super) text: PromptText,
    /// Beginning of the file.
    pub(super) span: Span,
    pub(super) used: bool,
}

pub(super) struct CaseDraft {
    pub(super) id: Spanned<String>,
    pub(super) tags: Vec<String>,
    pub(super) benchmarks: Option<Vec<Spanned<String>>>,
    pub(super) ground_truth: Option<Value>,
    pub(super) source_narrative: Option<Value>,
    pub(super) candidate_output: Option<Value>,
}

pub(super) struct LabelDraft {
    pub(super) trace_id: Spanned<String>,
    pub(super) benchmark: Spanned<String>,
    pub(super) outcome: LabelOutcome,
    pub(super) severity: Option<Severity>,
    pub(super) note: Option<String>,
    pub(super) reviewer: Option<String>,
    pub(super) at: Option<String>,
    pub(super) version: Option<String>,
}
