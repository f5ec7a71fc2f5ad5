//! Columns of a table with a test in each row: the runs, or the prompts and targets of one run.

use assize_rubric::Usd;
use assize_stats::ConfidenceLevel;
use assize_store::{CaseRecord, EstimatedMetric, ResultRow, RunFolder, RunInfo, StoreError};

use crate::compare::{ComparisonSet, Conclusion};
use crate::summary::RunSummarizer;

/// What a column has of a run: all answers, or those of one target, to one prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct MatrixColumn {
    /// Name of the prompt; `None` for all.
    pub prompt: Option<String>,
    /// Name of the target; `None` for all.
    pub target: Option<String>,
}

/// Metrics of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMetrics {
    /// Pass rate.
    pub pass_rate: EstimatedMetric,
    /// Mean score.
    pub mean_score: EstimatedMetric,
    /// Cost of all results in dollars; `None` if that of one is not known.
    pub cost: Option<f64>,
    /// Mean time of a result in milliseconds.
    pub duration_ms: u64,
}

/// Returns the id of the test that a case belongs to. The cases of a test with several prompts have the number of the
/// prompt at the end of their ids.
pub fn test_id<'i>(id: &'i str, prompt: Option<&str>) -> &'i str {
    let Some((test, number)) = id.rsplit_once("/prompt-").filter(|_| prompt.is_some()) else { return id };
    if number.parse::<u32>().is_ok() { test } else { id }
}

impl MatrixColumn {
    /// The columns of a run with these prompts and targets: one for each combination, or one for the whole run.
    pub fn of_run(prompts: &[String], targets: &[String]) -> Vec<Self> {
        let several = |names: &[String]| -> Vec<Option<String>> {
            if names.len() > 1 { names.iter().cloned().map(Some).collect() } else { vec![None] }
        };
        let (prompts, targets) = (several(prompts), several(targets));
        let of_prompt = |prompt: &Option<String>| -> Vec<Self> {
            let column = |target: &Option<String>| Self { prompt: prompt.clone(), target: target.clone() };
            targets.iter().map(column).collect()
        };
        prompts.iter().flat_map(of_prompt).collect()
    }

    /// Finds the column that `PROMPT`, `TARGET` or `PROMPT@TARGET` names.
    pub fn find(name: &str, prompts: &[String], targets: &[String]) -> Option<Self> {
        let all = Self::of_run(prompts, targets);
        let parts = prompts.iter().map(|prompt| Self { prompt: Some(prompt.clone()), target: None });
        let parts = parts.chain(targets.iter().map(|target| Self { prompt: None, target: Some(target.clone()) }));
        all.into_iter().chain(parts).find(|column| column.name().as_deref() == Some(name))
    }

    /// Its name, which follows that of the run and an `@`; `None` for a whole run.
    pub fn name(&self) -> Option<String> {
        let parts: Vec<&str> = [&self.prompt, &self.target].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join("@"))
    }

    /// What its head says: its prompt and target, or the label or the answers of its run. The name of the run follows,
    /// unless all columns are of one run.
    pub fn title(&self, info: &RunInfo, run: &str, is_one_run: bool) -> String {
        let answers = info.label.as_deref().or(info.answers_name()).map(str::to_owned);
        match self.name().or(answers) {
            Some(own) if is_one_run => own,
            Some(own) => format!("{own} ({run})"),
            None => run.to_owned(),
        }
    }

    /// Returns true if the column has this result.
    pub fn takes(&self, row: &ResultRow) -> bool {
        (self.target.is_none() || row.target.as_deref() == self.target.as_deref())
            && (self.prompt.is_none() || row.prompt.as_deref() == self.prompt.as_deref())
    }

    /// A record of the column under the id of its test, and without the hash of its question, so that it is compared with
    /// those of other prompts; `None` if the column does not have it.
    pub fn record(&self, mut record: CaseRecord) -> Option<CaseRecord> {
        if !self.takes(&record.result) {
            return None;
        }
        if self.prompt.is_some() {
            record.result.case_id =
                test_id(&record.result.case_id, record.result.prompt.as_deref()).into();
            record.result.case_hash = None;
        }
        Some(record)
    }
}

impl ColumnMetrics {
    /// Computes the metrics of a column from the rows of its run. The stored ones are taken where there are some.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn read(folder: &RunFolder, info: &RunInfo, column: &MatrixColumn) -> Result<Self, StoreError> {
        let stored = info.summary.as_ref().and_then(|summary| summary.figures.as_ref());
        let stored = stored.filter(|_| column.prompt.is_none()).and_then(|figures| match &column.target {
            None => Some((figures.pass_rate.clone(), figures.mean_score.clone())),
            Some(_) => {
                let found = figures.targets.iter().find(|one| one.target.as_deref() == column.target.as_deref())?;
                Some((found.pass_rate.clone(), found.mean_score.clone()))
            }
        });

        let mut summarizer = RunSummarizer::default();
        let (mut cost, mut time, mut results) = (Some(0.0), 0, 0);
        for row in folder.results()? {
            let row = row?;
            if !column.takes(&row) {
                continue;
            }
            if stored.is_none() {
                summarizer.push(&row);
            }
            cost = cost.zip(row.cost_usd.map(Usd::as_dollars)).map(|(sum, cost)| sum + cost);
            time += row.duration_ms;
            results += 1;
        }
        let (pass_rate, mean_score) = match stored {
            Some(stored) => stored,
            None => {
                let found = summarizer.compute_metrics(&info.suites, ConfidenceLevel::P95)?;
                (found.pass_rate, found.mean_score)
            }
        };

        Ok(Self { pass_rate, mean_score, cost, duration_ms: time / results.max(1) })
    }
}

impl ComparisonSet {
    /// Sentences on what the order of the compared runs by their pass rates is worth.
    pub fn order_claims(&self) -> Vec<String> {
        let is_certain = |call: Conclusion| matches!(call, Conclusion::Better | Conclusion::Worse);
        let certain = match self.matrix.as_slice() {
            [] => self.comparisons.iter().filter(|one| is_certain(one.pass_rate.call)).count(),
            matrix => matrix.iter().flatten().flatten().filter(|one| is_certain(one.call)).count() / 2,
        };
        let pairs = self.runs.len() * self.runs.len().saturating_sub(1) / 2;

        let mut lines = vec![match certain {
            0 => "No difference of two is certain: this order is not evidence.".to_owned(),
            _ if pairs == 1 => "The difference is certain, test by test.".to_owned(),
            1 => format!(
                "1 of {pairs} differences of two is certain, test by test; p values are adjusted by Holm's method."
            ),
            _ => format!(
                "{certain} of {pairs} differences of two are certain, test by test; p values are adjusted by Holm's method."
            ),
        }];
        lines.extend(self.selection.map(str::to_owned));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_column_for_each_prompt_and_target() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let shown = |prompts: &[&str], targets: &[&str]| -> Vec<Option<String>> {
            MatrixColumn::of_run(&names(prompts), &names(targets)).iter().map(MatrixColumn::name).collect()
        };
        assert_eq!(shown(&[], &["a"]), [None]);
        assert_eq!(shown(&["v1"], &["a", "b"]), [Some("a".to_owned()), Some("b".to_owned())]);
        let all = ["v1@a", "v1@b", "v2@a", "v2@b"].map(|name| Some(name.to_owned()));
        assert_eq!(shown(&["v1", "v2"], &["a", "b"]), all);

        let find = |name: &str| MatrixColumn::find(name, &names(&["v1", "v2"]), &names(&["a", "b"]));
        assert_eq!(find("v2@a").and_then(|column| column.name()).as_deref(), Some("v2@a"));
        assert_eq!(find("v2").map(|column| (column.prompt, column.target)), Some((Some("v2".to_owned()), None)));
        assert_eq!(find("b").map(|column| (column.prompt, column.target)), Some((None, Some("b".to_owned()))));
        assert_eq!(find("c"), None);
    }

    #[test]
    fn a_test_has_the_id_of_its_cases_without_the_number_of_the_prompt() {
        assert_eq!(test_id("a/prompt-2", Some("v2")), "a");
        assert_eq!(test_id("a/prompt-2", None), "a/prompt-2");
        assert_eq!(test_id("a/prompt-x", Some("v2")), "a/prompt-x");
        assert_eq!(test_id("a", Some("v2")), "a");
    }
}
