//! A scored scorecard.

use askama::Template;

use crate::pages::RunHeader;
use crate::text::ResultMark;

/// A scorecard: its trees with gates, coverage and gains.
#[derive(Template)]
#[template(path = "scorecard.html")]
pub(crate) struct ScorecardViewPage {
    pub(crate) header: RunHeader,
    pub(crate) name: String,
    pub(crate) warning: Option<String>,
    pub(crate) trees: Vec<TreeText>,
    /// Cases that a person should look at.
    pub(crate) review: usize,
}

/// A tree of a scorecard.
pub(crate) struct TreeText {
    pub(crate) code: String,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) picture: String,
    pub(crate) sentences: Vec<String>,
    pub(crate) nodes: Vec<NodeText>,
    /// Parts that are not shown, because there are too many.
    pub(crate) more: usize,
    pub(crate) gains: Vec<GainText>,
}

/// A part of a scorecard.
pub(crate) struct NodeText {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) depth: usize,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) picture: String,
    pub(crate) threshold: String,
    pub(crate) weight: String,
    pub(crate) cases: String,
    pub(crate) coverage: String,
    pub(crate) share: String,
    pub(crate) gain: String,
    pub(crate) is_gate: bool,
    pub(crate) blocked_by: Vec<String>,
    pub(crate) untested: Vec<String>,
}

/// A part that would raise the score on top.
pub(crate) struct GainText {
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) gain: String,
    pub(crate) picture: String,
}
