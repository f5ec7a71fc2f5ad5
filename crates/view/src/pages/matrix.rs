//! Runs, or the targets of a run, side by side.

use askama::Template;

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
    pub(crate) rows: Vec<MatrixRow>,
    /// Number of tests shown, and of all.
    pub(crate) counts: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl MatrixPage {
    /// The columns by pass rate, the best first.
    fn ranked(&self) -> Vec<&MatrixColumn> {
        let mut ranked: Vec<&MatrixColumn> = self.columns.iter().collect();
        ranked.sort_by(|a, b| b.rate.unwrap_or(-1.0).total_cmp(&a.rate.unwrap_or(-1.0)));
        ranked
    }
}

/// Head of a column.
pub(crate) struct MatrixColumn {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) pass_rate: MetricText,
    pub(crate) rate: Option<f64>,
    pub(crate) mean_score: MetricText,
    pub(crate) cost: String,
    pub(crate) time: String,
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
    pub(crate) mark: ResultMark,
    pub(crate) score: String,
    /// Different answers, each with its address and the number of trials that gave it.
    pub(crate) answers: Vec<MatrixAnswer>,
    /// Number of further answers.
    pub(crate) more: usize,
    /// Address of the marks of people on these criteria.
    pub(crate) mark_url: String,
    pub(crate) criteria: Vec<CriterionCell>,
}

/// An answer of one or several trials.
pub(crate) struct MatrixAnswer {
    pub(crate) url: String,
    pub(crate) text: String,
    pub(crate) trials: usize,
}
