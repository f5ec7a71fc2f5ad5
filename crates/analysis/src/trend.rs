//! Trend over runs: their metrics, and changes of the method of measurement between them.

use std::collections::BTreeSet;

use assize_stats::ConfidenceLevel;
use assize_store::EstimatedMetric;
use serde::Serialize;

use crate::case_metrics::{case_mean_metric, case_rate_metric};
use crate::compare::ComparisonAspect;
use crate::facts::{CaseFact, NameTable, RunFacts, hash_in_process};
use crate::sample::ClusteredSample;

/// A run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendPoint {
    /// Label of the run.
    pub label: String,
    /// Start time, as stored in the run.
    pub started_at: String,
    /// Number of cases.
    pub cases: usize,
    /// Number of incomplete cases, which are excluded from the metrics.
    pub undecided: usize,
    /// Share of the decided cases that passed.
    pub pass_rate: EstimatedMetric,
    /// Mean of the known scores.
    pub mean_score: EstimatedMetric,
    /// Changes of the method since the previous run: metrics are not comparable across them.
    pub changed: Vec<TrendChange>,
}

/// A change of the method of measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrendChange {
    /// Aspect that changed; null for another set of cases.
    pub respect: Option<ComparisonAspect>,
    /// Description in words.
    pub says: String,
}

/// Fingerprint of a run's method of measurement, to detect changes between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodFingerprint {
    cases: u64,
    questions: Option<u64>,
    rubric: u64,
    judges: BTreeSet<String>,
    prompts: BTreeSet<String>,
    judging: BTreeSet<String>,
    lines: BTreeSet<String>,
}

impl MethodFingerprint {
    /// Computes the fingerprint of a run. Sums of hashes do not depend on the order of cases.
    pub fn from_run(run: &RunFacts, names: &NameTable) -> Self {
        let (mut cases, mut questions, mut rubric) = (0u64, Some(0u64), 0u64);
        let mut said = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        let mut lines = BTreeSet::new();
        for case in &run.cases {
            let id = (names.text(case.suite), names.text(case.case));
            cases = cases.wrapping_add(hash_in_process(&(id, case.repeat)));

            let question = case.question.map(|question| hash_in_process(&(id, names.text(question))));
            questions = questions.zip(question).map(|(sum, question)| sum.wrapping_add(question));
            lines.extend(case.lines.map(|lines| names.text(lines).to_owned()));

            for criterion in &case.criteria {
                let name = (names.text(criterion.grader), names.text(criterion.id));
                rubric =
                    rubric.wrapping_add(hash_in_process(&(id, name, criterion.wording, criterion.standing)));

                for (set, number) in
                    said.iter_mut().zip([criterion.judge, criterion.prompt, criterion.judging])
                {
                    let text = names.text(number);
                    if !text.is_empty() && !set.contains(text) {
                        set.insert(text.to_owned());
                    }
                }
            }
        }

        let [judges, prompts, judging] = said;
        Self { cases, questions, rubric, judges, prompts, judging, lines }
    }

    /// Lists the changes since an earlier run.
    pub fn changes(&self, before: &Self) -> Vec<TrendChange> {
        let mut found = Vec::new();
        let mut say = |respect, says: String| found.push(TrendChange { respect, says });
        if self.cases == before.cases {
            if self.questions.zip(before.questions).is_some_and(|(a, b)| a != b) {
                say(Some(ComparisonAspect::Question), ComparisonAspect::Question.describe().to_owned());
            }
            if self.rubric != before.rubric {
                say(Some(ComparisonAspect::Rubric), ComparisonAspect::Rubric.describe().to_owned());
            }
        } else {
            // Other cases have other criteria: nothing more can be compared.
            say(None, "another set of cases".to_owned());
        }

        let sets = [
            (ComparisonAspect::Judge, "judged by", &before.judges, &self.judges),
            (ComparisonAspect::Prompt, "instructions", &before.prompts, &self.prompts),
            (ComparisonAspect::Judging, "judging", &before.judging, &self.judging),
            (ComparisonAspect::Lines, "lines", &before.lines, &self.lines),
        ];
        for (respect, what, before, after) in sets {
            if before != after && !before.is_empty() && !after.is_empty() {
                let list =
                    |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join("; ");
                say(Some(respect), format!("{what} {} instead of {}", list(after), list(before)));
            }
        }

        found
    }
}

/// Builds the trend point of a run.
pub fn trend_point(
    run: &RunFacts,
    started_at: String,
    changed: Vec<TrendChange>,
    level: ConfidenceLevel,
) -> TrendPoint {
    let (mut passes, mut scores) = (ClusteredSample::default(), ClusteredSample::default());
    for case in &run.cases {
        if let Some(passed) = case.passed() {
            passes.push(f64::from(u8::from(passed)), u64::from(case.cluster));
        }
        if let Some(score) = case.score {
            scores.push(score, u64::from(case.cluster));
        }
    }

    TrendPoint {
        label: run.label.clone(),
        started_at,
        cases: run.cases.len(),
        undecided: run.cases.iter().filter(|case| CaseFact::passed(case).is_none()).count(),
        pass_rate: case_rate_metric(&passes, level, "pass"),
        mean_score: case_mean_metric(&scores, level),
        changed,
    }
}
