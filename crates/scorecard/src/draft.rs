//! A scorecard before its codes are resolved.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Span, SpannedValue};
use assize_model::{EvaluatorType, Grader, Guidelines, ScoringScale};
use assize_rubric::{
    Criticality, FailureSeverity, LabelOutcome, ScorecardAggregation, SeenHash, UnitInterval, Weight,
};
use serde_json::Value;

use super::prompt::ParsedPrompt;

/// All parts of a scorecard, with unresolved codes.
#[derive(Default)]
pub(super) struct ScorecardDraft {
    pub(super) indexes: Vec<IndexDraft>,
    pub(super) rubrics: Vec<RubricDraft>,
    pub(super) benchmarks: Vec<BenchmarkDraft>,
    pub(super) prompts: Vec<PromptDraft>,
    pub(super) cases: Vec<ScorecardCaseDraft>,
    pub(super) labels: Vec<LabelDraft>,
    /// Names, without extensions, of rubric and benchmark files that could not be decoded. A code with such a
    /// name is not reported as unknown, because the file would probably define it.
    pub(super) broken: Vec<String>,
}

pub(super) struct IndexDraft {
    pub(super) code: SpannedValue<String>,
    pub(super) label: Option<String>,
    pub(super) description: Option<String>,
    pub(super) aggregation: ScorecardAggregation,
    pub(super) threshold: UnitInterval,
    pub(super) optional: bool,
    pub(super) components: Vec<SpannedValue<String>>,
    pub(super) sets: Vec<WeightSetDraft>,
    pub(super) active: Option<SpannedValue<String>>,
}

pub(super) struct WeightSetDraft {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) weights: Vec<(SpannedValue<String>, Weight)>,
}

/// Children of a rubric.
#[derive(Default)]
pub(super) enum PartsDraft {
    Benchmarks(Vec<SpannedValue<String>>),
    Rubrics(Vec<SpannedValue<String>>),
    /// Both lists or neither were given, which has been reported.
    #[default]
    Invalid,
}

pub(super) struct RubricDraft {
    pub(super) code: SpannedValue<String>,
    pub(super) label: String,
    pub(super) description: Option<String>,
    /// Weight; `None` after an error, which has been reported.
    pub(super) weight: Option<Weight>,
    pub(super) aggregation: ScorecardAggregation,
    pub(super) threshold: UnitInterval,
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
    pub(super) code: SpannedValue<String>,
    pub(super) parent: Option<SpannedValue<String>>,
    pub(super) label: Option<String>,
    pub(super) concept: String,
    /// Weight; `None` after an error, which has been reported.
    pub(super) weight: Option<Weight>,
    pub(super) threshold: UnitInterval,
    pub(super) criticality: Criticality,
    pub(super) scale: Option<ScoringScale>,
    pub(super) evaluator: EvaluatorType,
    pub(super) prompt: Option<SpannedValue<String>>,
    pub(super) checks: Vec<Arc<Grader>>,
    pub(super) all_must_pass: bool,
    /// Number of reviewers who must decide, if the file sets it.
    pub(super) raters: Option<NonZeroU32>,
    pub(super) inclusion: String,
    pub(super) exclusion: Option<String>,
    pub(super) examples: Vec<String>,
    pub(super) tags: Vec<SpannedValue<String>>,
    pub(super) spans: NodeSpans,
}

pub(super) struct PromptDraft {
    /// Canonical path of the file.
    pub(super) real: PathBuf,
    /// Path relative to the scorecard's folder, with `/`.
    pub(super) path: String,
    pub(super) text: ParsedPrompt,
    /// Beginning of the file.
    pub(super) span: Span,
    pub(super) used: bool,
}

pub(super) struct ScorecardCaseDraft {
    pub(super) id: SpannedValue<String>,
    pub(super) tags: Vec<SpannedValue<String>>,
    pub(super) benchmarks: Option<Vec<SpannedValue<String>>>,
    pub(super) ground_truth: Option<Value>,
    pub(super) source_narrative: Option<Value>,
    pub(super) candidate_output: Option<Value>,
}

pub(super) struct LabelDraft {
    pub(super) trace_id: SpannedValue<String>,
    pub(super) benchmark: SpannedValue<String>,
    pub(super) outcome: LabelOutcome,
    pub(super) severity: Option<FailureSeverity>,
    pub(super) note: Option<String>,
    pub(super) reviewer: Option<String>,
    pub(super) at: Option<String>,
    pub(super) version: Option<String>,
    pub(super) suite: Option<String>,
    pub(super) system: Option<String>,
    pub(super) trial: Option<f64>,
    pub(super) seen: Option<SeenHash>,
    pub(super) adjudicates: bool,
    /// True if the label states the decision, and not only which failure was found.
    pub(super) says_outcome: bool,
}
