//! Cases with several trials: their aggregated result, and pass@k and pass^k.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{TrialPlan, TrialResult, TrialSummary, Verdict};
use assize_stats::{
    ConfidenceLevel,
    repeats::{mean_lower_bound, pass_k},
};
use assize_store::{CaseTrialsRow, EstimatedMetric, PassKRow, ResultRow, TrialMetrics, VerdictCounts};

use crate::case_metrics::{case_chance_metric, case_mean_metric};
use crate::facts::hash_in_process;
use crate::sample::ClusteredSample;

/// Suite, id and target of a case.
type RepeatedCaseKey = (Arc<str>, Arc<str>, Option<Arc<str>>);

/// Target and prompt of results.
pub(crate) type RunPart = (Option<Arc<str>>, Option<Arc<str>>);

/// Collects the rows of cases with several trials.
#[derive(Debug, Default)]
pub(crate) struct RepeatedCases(BTreeMap<RepeatedCaseKey, CaseTrials>);

/// Trials of one case.
#[derive(Debug)]
struct CaseTrials {
    plan: TrialPlan,
    cluster: u64,
    test: Option<Arc<str>>,
    prompt: Option<Arc<str>>,
    rows: BTreeMap<u32, TrialResult>,
    skipped: bool,
}

impl CaseTrials {
    fn aggregate_trials(&self) -> TrialSummary {
        let trials: Vec<TrialResult> = self.rows.values().copied().collect();
        self.plan.conclude(&trials, |scores| mean_lower_bound(scores, ConfidenceLevel::P95).ok())
    }

    /// Returns the numbers of trials made and passed that are informative about `k` attempts.
    ///
    /// If trials end at the first pass, all trials together are a biased sample; the first `k` are not.
    fn attempts(&self, k: u32) -> Option<(u64, u64)> {
        let decided: Vec<bool> = self
            .rows
            .values()
            .filter(|trial| trial.verdict != Verdict::Incomplete)
            .map(|trial| trial.verdict == Verdict::Pass)
            .collect();

        let passed = |attempts: &[bool]| attempts.iter().filter(|passed| **passed).count() as u64;
        if !self.plan.early_stop {
            return Some((decided.len() as u64, passed(&decided)));
        }

        let first = &decided[..decided.len().min(k as usize)];

        // After a pass before the k-th trial the others are redundant: at least one of k passes in any case.
        let is_known = first.contains(&true) || first.len() == k as usize;
        is_known.then(|| (u64::from(k), passed(first)))
    }
}

impl RepeatedCases {
    /// Adds a row if its case has several trials.
    pub(crate) fn push(&mut self, row: &ResultRow, cluster: u64) {
        let Some(plan) = row.trials else { return };
        let key = (row.suite.clone(), row.case_id.clone(), row.target.clone());
        let case = self.0.entry(key).or_insert_with(|| CaseTrials {
            plan,
            cluster,
            test: row.test.clone(),
            prompt: row.prompt.clone(),
            rows: BTreeMap::new(),
            skipped: true,
        });

        case.rows.insert(row.trial, TrialResult::from(row));
        case.skipped &= row.is_skipped();
    }

    /// Adds the cases of some targets and prompts to `counts`.
    pub(crate) fn count(&self, takes: impl Fn(&RunPart) -> bool, counts: &mut VerdictCounts) {
        for ((_, _, target), case) in &self.0 {
            if takes(&(target.clone(), case.prompt.clone())) {
                case.count(counts);
            }
        }
    }

    /// Computes the metrics; `None` if no case has several trials. `others` counts the cases with one trial.
    pub(crate) fn trial_metrics(
        &self,
        others: VerdictCounts,
        level: ConfidenceLevel,
    ) -> Option<TrialMetrics> {
        if self.0.is_empty() {
            return None;
        }

        let mut counts = others;
        self.0.values().for_each(|case| case.count(&mut counts));

        let most = self.0.values().map(|case| case.plan.count).max().unwrap_or(1);
        let cases = self.0.iter().map(|((suite, case_id, target), case)| {
            let settled = case.aggregate_trials();
            CaseTrialsRow {
                suite: suite.to_string(),
                case_id: case_id.to_string(),
                test: case.test.as_deref().map(str::to_owned),
                prompt: case.prompt.as_deref().map(str::to_owned),
                target: target.as_deref().map(str::to_owned),
                strategy: case.plan.strategy,
                count: case.plan.count,
                run: settled.run,
                decided: settled.decided,
                passed: settled.passed,
                skipped: case.skipped,
                verdict: settled.verdict,
                score: settled.score,
                mean_score: case.mean_score(level),
            }
        });
        Some(TrialMetrics {
            counts,
            cases: cases.collect(),
            pass_k: attempt_numbers(most).into_iter().map(|k| self.pass_k(k, level)).collect(),
        })
    }

    /// The decided trials of all cases, 1 for a passed trial. `None` unless all cases have the same number of
    /// them, so that the mean over trials is the mean over cases.
    fn equal_trials(&self) -> Option<ClusteredSample> {
        let mut sample = ClusteredSample::default();
        let mut number = None;
        for case in self.0.values().filter(|case| !case.skipped) {
            if case.plan.early_stop {
                return None;
            }
            let decided = case.rows.values().filter(|trial| trial.verdict != Verdict::Incomplete);
            let decided: Vec<bool> = decided.map(|trial| trial.verdict == Verdict::Pass).collect();
            if *number.get_or_insert(decided.len()) != decided.len() {
                return None;
            }
            for passed in decided {
                sample.push(f64::from(u8::from(passed)), case.cluster);
            }
        }

        Some(sample)
    }

    fn pass_k(&self, k: u32, level: ConfidenceLevel) -> PassKRow {
        let mut all_known = true;
        let (mut any, mut all) = (ClusteredSample::default(), ClusteredSample::default());
        let mut early = false;

        // A case that was never run has no attempts; the summary counts such cases.
        for case in self.0.values().filter(|case| !case.skipped) {
            early |= case.plan.early_stop && k > 1;
            let estimate = case
                .attempts(k)
                .filter(|(attempts, _)| *attempts > 0)
                .map(|(attempts, passed)| pass_k(attempts, passed, u64::from(k)));
            match estimate {
                Some(Ok(estimate)) => {
                    any.push(estimate.any, case.cluster);
                    all.push(estimate.all, case.cluster);
                }
                _ => all_known = false,
            }
        }

        // For one attempt the value is the pass rate of all trials, so it gets that rate's interval over the
        // same clusters.
        if let Some(trials) = self.equal_trials().filter(|_| k == 1 && all_known) {
            (any, all) = (trials.clone(), trials);
        }

        // Excluding cases would change the population of the mean.
        let fewer = format!("a case has fewer than {k} decided attempts");
        let figure = |sample: &ClusteredSample, what: &str| {
            if all_known { case_chance_metric(sample, level, what) } else { undefined_metric(&fewer, level) }
        };
        PassKRow {
            k,
            any: figure(&any, &attempts_pass(k, "at least one of", "passes")),
            all: if early {
                undefined_metric(
                    "trials end at the first pass, so it is unknown whether all would pass",
                    level,
                )
            } else {
                figure(&all, &attempts_pass(k, "all of", "pass"))
            },
        }
    }
}

/// Formats the event that some of `k` attempts pass, such as "all of 3 attempts at a case pass".
fn attempts_pass(k: u32, share: &str, verb: &str) -> String {
    if k == 1 {
        "an attempt at a case passes".to_owned()
    } else {
        format!("{share} {k} attempts at a case {verb}")
    }
}

impl CaseTrials {
    fn count(&self, counts: &mut VerdictCounts) {
        if self.skipped {
            counts.skipped += 1;
        } else {
            counts.add_verdict(self.aggregate_trials().verdict);
        }
    }

    fn mean_score(&self, level: ConfidenceLevel) -> EstimatedMetric {
        if self.plan.early_stop {
            return undefined_metric("trials end at the first pass, which biases their mean", level);
        }

        let mut sample = ClusteredSample::default();
        for (at, score) in self.rows.values().filter_map(|trial| trial.score).enumerate() {
            sample.push(score, hash_in_process(&at));
        }

        case_mean_metric(&sample, level)
    }
}

fn undefined_metric(reason: &str, level: ConfidenceLevel) -> EstimatedMetric {
    EstimatedMetric {
        value: None,
        n: 0,
        clusters: None,
        low: None,
        high: None,
        level: level.get(),
        method: None,
        undefined: Some(reason.to_owned()),
        says: format!("Undefined: {reason}."),
    }
}

/// Returns the numbers of attempts to report: 1, 2, 4 and so on, and the largest available.
fn attempt_numbers(most: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        std::iter::successors(Some(1u32), |k| k.checked_mul(2)).take_while(|k| *k < most).collect();
    numbers.push(most);
    numbers
}
