//! A scorecard before its codes are resolved.

use std::path::PathBuf;

use assize_diagnostic::{Span, SpannedValue};
use assize_model::{ScorecardBenchmark, ScorecardLabel, ScorecardRubric};
use assize_rubric::{ScorecardAggregation, UnitInterval, Weight};
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
    /// Weight; `None` after an error, which has been reported.
    pub(super) weight: Option<Weight>,
    pub(super) parts: PartsDraft,
    /// The rubric, still without its children and its parent.
    pub(super) decoded: ScorecardRubric,
}

pub(super) struct BenchmarkDraft {
    pub(super) code: SpannedValue<String>,
    pub(super) parent: Option<SpannedValue<String>>,
    /// Weight; `None` after an error, which has been reported.
    pub(super) weight: Option<Weight>,
    pub(super) prompt: Option<SpannedValue<String>>,
    pub(super) tags: Vec<SpannedValue<String>>,
    /// The benchmark, still without its prompt and its parent.
    pub(super) decoded: ScorecardBenchmark,
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
    pub(super) suite: Option<String>,
    pub(super) trial: Option<f64>,
    /// True if the label states the decision, and not only which failure was found.
    pub(super) says_outcome: bool,
    /// The label, still without its benchmark.
    pub(super) decoded: ScorecardLabel,
}
