//! A scored scorecard.

use askama::Template;

use crate::pages::{RunHeader, SectionText};
use crate::text::ResultMark;

/// A scorecard: its trees with gates, coverage and gains.
#[derive(Template)]
#[template(path = "scorecard.html")]
pub(crate) struct ScorecardViewPage {
    pub(crate) header: RunHeader,
    pub(crate) name: String,
    pub(crate) warning: Option<String>,
    pub(crate) trees: Vec<TreeText>,
    /// Summary for a committee, by headings.
    pub(crate) decision: Vec<(&'static str, Vec<String>)>,
    /// Address of the comparison with the earlier run; empty without one.
    pub(crate) compare_url: String,
    /// True if results wait for a person.
    pub(crate) waits: bool,
}

/// A tree of a scorecard.
pub(crate) struct TreeText {
    pub(crate) code: String,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) picture: String,
    pub(crate) sentences: Vec<String>,
    pub(crate) nodes: Vec<NodeText>,
    /// Number of parts that are not shown because there are too many.
    pub(crate) more: usize,
    pub(crate) gains: Vec<GainText>,
}

/// A part of a scorecard.
pub(crate) struct NodeText {
    pub(crate) url: String,
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

/// A part that would raise the top score.
pub(crate) struct GainText {
    pub(crate) url: String,
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) gain: String,
    pub(crate) picture: String,
}

/// A part of a scorecard and how its score is made up.
#[derive(Template, Default)]
#[template(path = "scorecard_part.html")]
pub(crate) struct PartPage {
    pub(crate) header: RunHeader,
    pub(crate) warning: Option<String>,
    pub(crate) code: String,
    pub(crate) label: String,
    pub(crate) kind: &'static str,
    pub(crate) mark: Option<ResultMark>,
    pub(crate) score: String,
    pub(crate) picture: String,
    /// Addresses and codes of the parts above, topmost first.
    pub(crate) path: Vec<(String, String)>,
    pub(crate) conclusions: Vec<String>,
    pub(crate) blocked_by: Vec<(String, String)>,
    pub(crate) untested: Vec<(String, String)>,
    pub(crate) coverage: String,
    pub(crate) children: Vec<NodeText>,
    pub(crate) cases: Vec<BenchmarkCaseText>,
    pub(crate) case_count: usize,
    /// Criterion and guidelines.
    pub(crate) sections: Vec<SectionText>,
    pub(crate) arithmetic: String,
}

/// A case of a benchmark.
pub(crate) struct BenchmarkCaseText {
    pub(crate) url: String,
    pub(crate) case: String,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) decided_by: &'static str,
    pub(crate) reason: String,
    /// The judge's decision before people labelled the case; empty if there was none.
    pub(crate) judge: String,
    pub(crate) votes: usize,
    pub(crate) people: Vec<PartLabelText>,
}

/// A label of a person.
pub(crate) struct PartLabelText {
    pub(crate) who: String,
    pub(crate) label: String,
    pub(crate) note: String,
    /// Why it does not count, or that it adjudicates; empty otherwise.
    pub(crate) why: &'static str,
}
