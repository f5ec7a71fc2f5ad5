//! Runs, or the targets of a run, side by side.

use askama::Template;
use assize_analysis::matrix::best_first;

use super::{ChipGroup, CriterionCell};
use crate::text::{MetricText, ResultMark};

/// A test a row, a run or target a column.
#[derive(Template)]
#[template(path = "matrix.html")]
pub(crate) struct MatrixPage {
    pub(crate) columns: Vec<MatrixColumn>,
    /// What the order is worth.
    pub(crate) says: Vec<String>,
    pub(crate) chips: Vec<ChipGroup>,
    /// What is searched for, and the other keys of the address.
    pub(crate) text: String,
    pub(crate) kept: Vec<(String, String)>,
    pub(crate) rows: Vec<MatrixRow>,
    /// Address of the page with all tests.
    pub(crate) all_url: String,
    /// Number of tests shown, and of all.
    pub(crate) counts: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl MatrixPage {
    /// The columns by pass rate, the best first.
    fn ranked(&self) -> Vec<&MatrixColumn> {
        best_first(&self.columns, |column| column.rate)
    }
}

/// Head of a column.
pub(crate) struct MatrixColumn {
    pub(crate) name: String,
    pub(crate) url: String,
    /// The result of its run.
    pub(crate) result: ResultMark,
    pub(crate) pass_rate: MetricText,
    pub(crate) rate: Option<f64>,
    pub(crate) mean_score: MetricText,
    pub(crate) cost: String,
    pub(crate) latency: String,
    /// What counts against most of its results.
    pub(crate) against: String,
    /// The conclusion against the first column, in a word and a sentence; `None` for that column.
    pub(crate) against_first: Option<(ResultMark, String)>,
    /// Address of the comparison with the first column.
    pub(crate) compare_url: String,
    /// Address of the page with this column first.
    pub(crate) first_url: String,
}

/// A test.
pub(crate) struct MatrixRow {
    pub(crate) id: String,
    pub(crate) suite: String,
    pub(crate) question: String,
    pub(crate) cells: Vec<Option<MatrixCell>>,
}

/// The results of a test in a column.
pub(crate) struct MatrixCell {
    /// Name of the choice between its answers.
    pub(crate) name: String,
    /// What all trials came to, if they gave different answers.
    pub(crate) mark: Option<ResultMark>,
    pub(crate) answers: Vec<MatrixAnswer>,
    /// Number of further answers, and the address of all of them.
    pub(crate) more: usize,
    pub(crate) more_url: String,
}

/// An answer with what the trials that gave it came to.
pub(crate) struct MatrixAnswer {
    pub(crate) text: String,
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    /// The trials that gave it; empty for a test without others.
    pub(crate) trials: String,
    /// True if it is the one that is shown first.
    pub(crate) is_first: bool,
    /// Address of the case with these criteria.
    pub(crate) url: String,
    pub(crate) criteria: Vec<CriterionCell>,
}
