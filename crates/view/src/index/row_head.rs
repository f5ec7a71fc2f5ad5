//! The parts of a result row that the index keeps, parsed without the rest.

use std::borrow::Cow;

use assize_rubric::{OutcomeKind, Usd, Verdict};
use assize_store::{CaseErrorKind, CaseStage};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A text that is borrowed from the row unless it has escapes.
#[derive(Deserialize)]
pub(super) struct RowText<'r>(#[serde(borrow)] pub(super) Cow<'r, str>);

#[derive(Deserialize)]
pub(super) struct ResultHead<'r> {
    #[serde(borrow)]
    pub(super) suite: RowText<'r>,
    #[serde(borrow)]
    pub(super) case_id: RowText<'r>,
    #[serde(borrow, default)]
    pub(super) test: Option<RowText<'r>>,
    #[serde(borrow, default)]
    pub(super) prompt: Option<RowText<'r>>,
    #[serde(borrow)]
    pub(super) target: Option<RowText<'r>>,
    #[serde(rename = "repeat")]
    pub(super) trial: u32,
    #[serde(default)]
    pub(super) place: Option<u64>,
    #[serde(borrow, default)]
    pub(super) tags: Vec<RowText<'r>>,
    pub(super) score: Option<f64>,
    pub(super) score_low: Option<f64>,
    pub(super) score_high: Option<f64>,
    pub(super) verdict: Verdict,
    #[serde(borrow)]
    pub(super) gates_failed: Vec<GateHead<'r>>,
    #[serde(borrow)]
    pub(super) graders: Vec<GraderHead<'r>>,
    pub(super) error: Option<ErrorHead>,
    #[serde(default)]
    pub(super) cost_usd: Option<Usd>,
    #[serde(default)]
    pub(super) latency_ms: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct GateHead<'r> {
    #[serde(borrow)]
    pub(super) grader: RowText<'r>,
    #[serde(borrow)]
    pub(super) criterion: Option<RowText<'r>>,
}

#[derive(Deserialize)]
pub(super) struct GraderHead<'r> {
    #[serde(borrow)]
    pub(super) name: RowText<'r>,
    #[serde(default)]
    pub(super) negate: bool,
    #[serde(borrow)]
    pub(super) criteria: Vec<CriterionHead<'r>>,
}

#[derive(Deserialize)]
pub(super) struct CriterionHead<'r> {
    #[serde(borrow)]
    pub(super) id: RowText<'r>,
    pub(super) outcome: OutcomeKind,
    pub(super) raw_score: Option<u8>,
    #[serde(default)]
    pub(super) points: Option<f64>,
    pub(super) weight: f64,
    #[serde(default)]
    pub(super) gate: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) panel: Option<PanelHead>,
}

#[derive(Deserialize)]
pub(super) struct PanelHead {
    agreement: Option<f64>,
}

impl PanelHead {
    /// Returns true if the votes were not all the same.
    pub(super) fn is_disputed(&self) -> bool {
        self.agreement.is_some_and(|agreement| agreement < 1.0)
    }
}

#[derive(Deserialize)]
pub(super) struct ErrorHead {
    stage: CaseStage,
    kind: CaseErrorKind,
}

impl ErrorHead {
    /// Returns true if the case was skipped because a case it depends on did not pass, like
    /// `ResultRow::is_skipped`.
    pub(super) fn is_skip(&self) -> bool {
        self.stage == CaseStage::Dependency && self.kind == CaseErrorKind::Skipped
    }
}

/// The texts of a result row that a search covers.
#[derive(Deserialize)]
pub(super) struct SearchedRow<'r> {
    #[serde(borrow)]
    case_id: RowText<'r>,
    #[serde(borrow)]
    suite: RowText<'r>,
    #[serde(borrow, default)]
    tags: Vec<RowText<'r>>,
    #[serde(borrow, default)]
    case_hash: Option<RowText<'r>>,
    #[serde(borrow)]
    answer: Option<RowText<'r>>,
    #[serde(borrow, default)]
    file_changes: Option<RowText<'r>>,
    #[serde(borrow, default)]
    tool_calls: Vec<SearchedCall<'r>>,
    #[serde(borrow)]
    error: Option<SearchedError<'r>>,
    #[serde(borrow)]
    graders: Vec<SearchedGrader<'r>>,
}

#[derive(Deserialize)]
struct SearchedCall<'r> {
    #[serde(borrow)]
    tool: RowText<'r>,
    #[serde(borrow)]
    input: Option<RowText<'r>>,
    #[serde(borrow)]
    output: Option<RowText<'r>>,
}

#[derive(Deserialize)]
struct SearchedError<'r> {
    #[serde(borrow)]
    message: RowText<'r>,
}

#[derive(Deserialize)]
struct SearchedGrader<'r> {
    #[serde(borrow)]
    name: RowText<'r>,
    #[serde(borrow)]
    error: Option<RowText<'r>>,
    #[serde(borrow)]
    criteria: Vec<SearchedCriterion<'r>>,
}

#[derive(Deserialize)]
struct SearchedCriterion<'r> {
    #[serde(borrow)]
    id: RowText<'r>,
    #[serde(borrow)]
    reason: RowText<'r>,
    #[serde(borrow)]
    evidence: Vec<SearchedQuote<'r>>,
}

#[derive(Deserialize)]
struct SearchedQuote<'r> {
    #[serde(borrow)]
    quote: RowText<'r>,
}

impl SearchedRow<'_> {
    /// Hash of the question of the case, to find its row in `questions.jsonl`.
    pub(super) fn question(&self) -> Option<&str> {
        self.case_hash.as_ref().map(|hash| &*hash.0)
    }

    /// Returns true if one of the texts matches.
    pub(super) fn has(&self, is_match: impl Fn(&str) -> bool) -> bool {
        let is_found = |text: &RowText<'_>| is_match(&text.0);
        let in_grader = |grader: &SearchedGrader<'_>| {
            is_found(&grader.name)
                || grader.error.as_ref().is_some_and(is_found)
                || grader.criteria.iter().any(|criterion| {
                    is_found(&criterion.id)
                        || is_found(&criterion.reason)
                        || criterion.evidence.iter().any(|evidence| is_found(&evidence.quote))
                })
        };

        let in_call = |call: &SearchedCall<'_>| {
            is_found(&call.tool) || [&call.input, &call.output].into_iter().flatten().any(is_found)
        };

        is_found(&self.case_id)
            || is_found(&self.suite)
            || self.tags.iter().any(is_found)
            || [&self.answer, &self.file_changes].into_iter().flatten().any(is_found)
            || self.tool_calls.iter().any(in_call)
            || self.error.as_ref().is_some_and(|error| is_found(&error.message))
            || self.graders.iter().any(in_grader)
    }
}
