//! Columns of a table with a test in each row: the runs, or the prompts and targets of one run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::Usd;
use assize_stats::ConfidenceLevel;
use assize_store::{AnswerPart, EstimatedMetric, ResultRow, RunInfo, StoreError};

use crate::compare::{ComparisonSet, Conclusion};
use crate::summary::RunSummarizer;

/// Metrics of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMetrics {
    /// Pass rate.
    pub pass_rate: EstimatedMetric,
    /// Mean score.
    pub mean_score: EstimatedMetric,
    /// Cost of all results in dollars; `None` if the cost of any result is unknown.
    pub cost: Option<f64>,
    /// Mean time of the answers in milliseconds, without waiting and grading; `None` if none was measured.
    pub latency_ms: Option<u64>,
    /// Criteria that count against results, as `GRADER/ID`, each with the number of these results; the most first.
    pub against: Vec<(String, u64)>,
}

/// The columns of a run with these prompts and targets: one for each combination, or one for the whole run.
pub fn columns_of_run(prompts: &[String], targets: &[String]) -> Vec<AnswerPart> {
    let several = |names: &[String]| -> Vec<Option<String>> {
        if names.len() > 1 { names.iter().cloned().map(Some).collect() } else { vec![None] }
    };
    let (prompts, targets) = (several(prompts), several(targets));
    let of_prompt = |prompt: &Option<String>| -> Vec<AnswerPart> {
        let column = |target: &Option<String>| AnswerPart { target: target.clone(), prompt: prompt.clone() };
        targets.iter().map(column).collect()
    };
    prompts.iter().flat_map(of_prompt).collect()
}

/// Parts of a column's heading: its prompt and target, or the label or the answers of its run. The name of the run
/// follows, unless all columns are of one run.
pub fn column_title(part: &AnswerPart, info: &RunInfo, run: &str, is_one_run: bool) -> String {
    let names: Vec<&str> = [&part.prompt, &part.target].into_iter().flatten().map(String::as_str).collect();
    let own = (!names.is_empty()).then(|| names.join("@"));
    match own.or_else(|| info.label.as_deref().or(info.answers_name()).map(str::to_owned)) {
        Some(own) if is_one_run => own,
        Some(own) => format!("{own} ({run})"),
        None => run.to_owned(),
    }
}

/// Collects the metrics of a column, row by row.
#[derive(Debug)]
pub struct ColumnTally {
    /// Stored pass rate and mean score, if there are any.
    stored: Option<(EstimatedMetric, EstimatedMetric)>,
    summarizer: RunSummarizer,
    cost: Option<f64>,
    /// Sum of the latencies in milliseconds, and their number.
    time: (u64, u64),
    against: BTreeMap<String, u64>,
}

impl ColumnTally {
    /// Metrics of a column of a run before its rows are added. Uses stored metrics if there are any.
    pub fn new(info: &RunInfo, column: &AnswerPart) -> Self {
        let stored = info.summary.as_ref().and_then(|summary| summary.figures.as_ref());
        let stored = stored.filter(|_| column.prompt.is_none()).and_then(|figures| {
            if column.target.is_none() {
                return Some((figures.pass_rate.clone(), figures.mean_score.clone()));
            }
            let found =
                figures.targets.iter().find(|one| one.target.as_deref() == column.target.as_deref())?;
            Some((found.part.pass_rate.clone(), found.part.mean_score.clone()))
        });
        let summarizer = RunSummarizer::default();
        Self { stored, summarizer, cost: Some(0.0), time: (0, 0), against: BTreeMap::new() }
    }

    /// Adds a row of the column.
    pub fn push(&mut self, row: &ResultRow) {
        if self.stored.is_none() {
            self.summarizer.push(row);
        }
        self.cost = self.cost.zip(row.cost_usd.map(Usd::as_dollars)).map(|(sum, cost)| sum + cost);
        if let Some(latency) = row.latency_ms {
            self.time = (self.time.0.saturating_add(latency), self.time.1 + 1);
        }
        for grader in &row.graders {
            for one in grader.criteria.iter().filter(|one| one.counts_against(grader.negate)) {
                *self.against.entry(format!("{}/{}", grader.name, one.id)).or_default() += 1;
            }
        }
    }

    /// The metrics of the rows.
    ///
    /// # Errors
    /// If the collected rows can't be read back.
    pub fn finish(mut self, info: &RunInfo) -> Result<ColumnMetrics, StoreError> {
        let (pass_rate, mean_score) = if let Some(stored) = self.stored {
            stored
        } else {
            let found = self.summarizer.compute_metrics(&info.suites, ConfidenceLevel::P95)?;
            (found.pass_rate, found.mean_score)
        };
        let mut against: Vec<(String, u64)> = self.against.into_iter().collect();
        against.sort_by_key(|(_, count)| Reverse(*count));
        let latency_ms = self.time.0.checked_div(self.time.1);
        Ok(ColumnMetrics { pass_rate, mean_score, cost: self.cost, latency_ms, against })
    }
}

/// Columns by their pass rates, the best first.
pub fn best_first<T>(columns: &[T], rate: impl Fn(&T) -> Option<f64>) -> Vec<&T> {
    let mut ranked: Vec<&T> = columns.iter().collect();
    ranked.sort_by(|a, b| rate(b).unwrap_or(-1.0).total_cmp(&rate(a).unwrap_or(-1.0)));
    ranked
}

impl ComparisonSet {
    /// Sentences about the intervals of the pass rates, and about how certain the order of the compared runs by them is.
    pub fn order_claims<'c>(&self, columns: impl Iterator<Item = &'c ColumnMetrics> + Clone) -> Vec<String> {
        let rates = || columns.clone().map(|column| &column.pass_rate);
        let methods: BTreeSet<&str> = rates().filter_map(|rate| rate.method.as_deref()).collect();
        let methods: Vec<&str> = methods.into_iter().collect();
        let least = rates().map(|rate| rate.n).min().unwrap_or_default();
        let most = rates().map(|rate| rate.n).max().unwrap_or_default();
        let counts = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let method = if methods.is_empty() { String::new() } else { format!(" ({})", methods.join("; ")) };

        let is_certain = |call: Conclusion| matches!(call, Conclusion::Better | Conclusion::Worse);
        let certain = match self.matrix.as_slice() {
            [] => self.comparisons.iter().filter(|one| is_certain(one.pass_rate.call)).count(),
            matrix => matrix.iter().flatten().flatten().filter(|one| is_certain(one.call)).count() / 2,
        };
        let pairs = self.runs.len() * self.runs.len().saturating_sub(1) / 2;

        let intervals = format!("95% intervals{method}, {counts} results in each column.");
        let certain = match certain {
            0 => "No difference of two is certain: this order is not evidence.".to_owned(),
            _ if pairs == 1 => "The difference is certain, test by test.".to_owned(),
            1 => format!(
                "1 of {pairs} differences of two is certain, test by test; p values are adjusted by Holm's method."
            ),
            _ => format!(
                "{certain} of {pairs} differences of two are certain, test by test; p values are adjusted by Holm's method."
            ),
        };
        let mut lines = vec![intervals, certain];
        lines.extend(self.selection.as_ref().map(|chosen| chosen.says.clone()));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_column_for_each_prompt_and_target() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let shown = |prompts: &[&str], targets: &[&str]| -> Vec<String> {
            columns_of_run(&names(prompts), &names(targets)).iter().map(ToString::to_string).collect()
        };
        assert_eq!(shown(&[], &["a"]), [""]);
        assert_eq!(shown(&["v1"], &["a", "b"]), ["@a", "@b"]);
        assert_eq!(shown(&["v1", "v2"], &["a", "b"]), ["@a@v1", "@b@v1", "@a@v2", "@b@v2"]);
    }
}
