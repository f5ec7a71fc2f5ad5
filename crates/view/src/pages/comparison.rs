//! Comparisons of runs, and runs over time.

use askama::Template;

use super::ChoiceField;
use crate::text::{MetricText, ResultMark};

/// Two runs compared.
#[derive(Template)]
#[template(path = "compare.html")]
pub(crate) struct ComparisonPage {
    pub(crate) base: RunLink,
    pub(crate) candidate: RunLink,
    pub(crate) swap_url: String,
    pub(crate) form: ComparisonForm,
    pub(crate) mark: ResultMark,
    pub(crate) says: String,
    /// Heading of the p values.
    pub(crate) p_label: String,
    pub(crate) common: String,
    pub(crate) notices: Vec<String>,
    /// Differences in how the runs were measured.
    pub(crate) mismatches: Vec<String>,
    /// All cases and criteria, above the cases.
    pub(crate) main_tables: Vec<DifferenceTable>,
    /// Other groups, below them.
    pub(crate) tables: Vec<DifferenceTable>,
    /// Criteria that got worse in cases that got better; empty if there are none.
    pub(crate) hidden_losses: String,
    /// Cases that got worse, that got better, and those whose score alone went down or up.
    pub(crate) changes: [CaseChanges; 4],
    pub(crate) incomplete: Vec<(String, String)>,
    pub(crate) incomplete_count: usize,
    pub(crate) only_base: usize,
    pub(crate) only_candidate: usize,
}

/// Choices of a comparison. Each has a value, a text, and whether it is selected.
pub(crate) struct ComparisonForm {
    /// Runs to choose the base and the candidate from.
    pub(crate) runs: [Vec<(String, String, bool)>; 2],
    pub(crate) metrics: Vec<(&'static str, &'static str, bool)>,
    pub(crate) adjustments: Vec<(&'static str, &'static str, bool)>,
    pub(crate) margin: String,
    pub(crate) fields: Vec<ChoiceField>,
}

/// A run of a comparison.
pub(crate) struct RunLink {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) detail: String,
    pub(crate) result: ResultMark,
}

/// Differences of one kind.
pub(crate) struct DifferenceTable {
    pub(crate) title: String,
    /// Axis of all charts; empty if each row has its own.
    pub(crate) axis: String,
    pub(crate) rows: Vec<DifferenceRow>,
    pub(crate) too_small: usize,
}

/// The difference of a metric.
pub(crate) struct DifferenceRow {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) base: String,
    pub(crate) candidate: String,
    pub(crate) difference: String,
    pub(crate) interval: String,
    /// Axis of the chart; empty if the table has one.
    pub(crate) axis: String,
    pub(crate) picture: String,
    pub(crate) pairs: String,
    /// Numbers of pairs that got better and worse.
    pub(crate) gained: usize,
    pub(crate) lost: usize,
    pub(crate) p: String,
    pub(crate) mark: ResultMark,
}

/// Cases whose verdict changed in one direction.
pub(crate) struct CaseChanges {
    pub(crate) title: &'static str,
    /// Sentence for an empty list.
    pub(crate) none: &'static str,
    pub(crate) count: usize,
    /// The first of them.
    pub(crate) cases: Vec<ChangedCase>,
}

/// A case whose verdict changed.
pub(crate) struct ChangedCase {
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) before: ResultMark,
    pub(crate) before_score: String,
    pub(crate) after: ResultMark,
    pub(crate) after_score: String,
    pub(crate) criteria: Vec<MovedLine>,
}

/// A criterion of a case that was decided differently.
pub(crate) struct MovedLine {
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) text: String,
}

/// A case in two runs.
#[derive(Template)]
#[template(path = "compare_case.html")]
pub(crate) struct CaseComparisonPage {
    pub(crate) id: String,
    pub(crate) compare_url: String,
    pub(crate) question: Option<String>,
    pub(crate) sides: [CaseSideText; 2],
    pub(crate) is_same: bool,
    pub(crate) is_coarse: bool,
    pub(crate) criteria: Vec<MovedCriterion>,
}

/// A case on one side of a comparison.
pub(crate) struct CaseSideText {
    pub(crate) title: &'static str,
    pub(crate) run: String,
    pub(crate) url: String,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    pub(crate) because: String,
    pub(crate) pieces: Option<Vec<DiffPiece>>,
}

/// A piece of an answer that is in both runs, or only in one.
pub(crate) struct DiffPiece {
    /// `del` in the base only, `ins` in the candidate only, empty in both.
    pub(crate) tag: &'static str,
    pub(crate) text: String,
}

/// A criterion on both sides.
pub(crate) struct MovedCriterion {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) has_moved: bool,
    pub(crate) sides: [Option<(ResultMark, String)>; 2],
}

/// Runs over time.
#[derive(Template)]
#[template(path = "trend.html")]
pub(crate) struct TrendPage {
    pub(crate) suites: Vec<(String, String, bool)>,
    pub(crate) rate_picture: String,
    pub(crate) score_picture: String,
    pub(crate) points: Vec<TrendLine>,
    pub(crate) notices: Vec<String>,
}

/// A run of a trend.
pub(crate) struct TrendLine {
    pub(crate) url: String,
    pub(crate) label: String,
    pub(crate) result: ResultMark,
    pub(crate) when: String,
    pub(crate) cases: String,
    pub(crate) incomplete: usize,
    pub(crate) rate: MetricText,
    pub(crate) score: MetricText,
    pub(crate) changed: Vec<String>,
    pub(crate) compare: Option<String>,
}
