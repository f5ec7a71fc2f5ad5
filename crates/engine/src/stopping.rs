//! Runs that end as soon as their result is clear.
//!
//! Design: `docs/design/storage-and-resuming.md`.

use std::collections::{BTreeSet, HashMap};

use assize_analysis::compare::{ComparisonOptions, Conclusion, HeadlineMetric, compare_many};
use assize_analysis::{CaseFact, NameTable, RunFacts, mean_sentence, rate_sentence, withdraw_interval};
use assize_rubric::{Verdict, format_rate};
use assize_run::{ItemError, Recorder, RunEvent as CaseEvent, RunTotals, WorkItem};
use assize_stats::{ConfidenceLevel, sequential::BettingSequence};
use assize_store::{
    AnswerKey, AnswerPart, AnytimeInterval, CaseKey, CaseRecord, CaseRows, EarlyStop, EstimatedMetric,
    ResultRow, RunInfo, RunMetrics, RunWriter, StopConclusion, StopMetric, StoreError,
};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::options::{SequenceOptions, StopReference};
use crate::runs;
use crate::stored_records::stored_records;

/// Confidence level of the intervals that end a run.
const LEVEL: ConfidenceLevel = ConfidenceLevel::P95;

/// Watches a run that ends as soon as its result is clear. Clusters of cases count in the order of the plan,
/// which is random, and not in the order in which they finish: hard cases may take longer, so the first to
/// finish would be a biased sample.
pub(crate) struct StopWatch {
    against: StopReference,
    base: Option<Baseline>,
    /// The cluster of each item of the plan.
    cluster_of: HashMap<CaseKey, usize>,
    clusters: Vec<PlannedCluster>,
    /// The number of clusters that count so far.
    counted: usize,
    metric: AnytimeMean,
    pass_rate: AnytimeMean,
    mean_score: AnytimeMean,
    conclusion: Option<(StopConclusion, usize)>,
    ungraded: u64,
    /// Fires when the result is clear.
    decided: CancellationToken,
}

/// The results of the baseline.
struct Baseline {
    label: String,
    facts: RunFacts,
    /// True if the cases belong to one prompt and are matched by test id.
    by_test: bool,
    cases: HashMap<AnswerKey, f64>,
    names: NameTable,
    /// Cases of this run, to check that both runs were measured in the same way.
    seen: Vec<CaseFact>,
    /// Why both can't be compared.
    refused: Option<String>,
}

fn baseline_key(row: &ResultRow, by_test: bool) -> AnswerKey {
    let id = if by_test { row.test_id() } else { &row.case_id };
    (row.suite.to_string(), id.to_string(), row.trial)
}

/// Items of the plan that count together.
#[derive(Debug, Clone, Default)]
struct PlannedCluster {
    /// The number of items without a result.
    left: usize,
    passed: ValueSum,
    score: ValueSum,
    difference: ValueSum,
}

#[derive(Debug, Clone, Copy, Default)]
struct ValueSum {
    sum: f64,
    n: f64,
}

impl ValueSum {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n += 1.0;
        }
    }

    fn mean(self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }
}

/// A mean over clusters with a confidence interval that is valid at all times.
struct AnytimeMean(BettingSequence);

impl AnytimeMean {
    fn new(range: (f64, f64)) -> Result<Self, EngineError> {
        BettingSequence::new(range, LEVEL)
            .map(Self)
            .map_err(|error| EngineError::unrunnable(error.to_string()))
    }

    /// Adds a value within the range: a share, a score or a difference of scores.
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            let added = self.0.add(value);
            debug_assert!(added.is_ok(), "{value} is out of range");
        }
    }

    fn interval(&self) -> Option<AnytimeInterval> {
        let value = self.0.mean().ok()?;
        let interval = self.0.interval();
        Some(AnytimeInterval { value, low: interval.low, high: interval.high })
    }
}

impl StopWatch {
    /// Watches these items.
    fn new(
        against: &StopReference,
        items: impl Iterator<Item = Result<WorkItem, ItemError>>,
        engine: &Engine,
    ) -> Result<Self, EngineError> {
        let (mut cluster_of, mut clusters) = (HashMap::new(), Vec::<PlannedCluster>::new());
        let (mut numbers, mut targets) = (HashMap::new(), BTreeSet::new());
        for item in items {
            let item = item?;
            let number = *numbers.entry(item.cluster_key()).or_insert(clusters.len());
            if number == clusters.len() {
                clusters.push(PlannedCluster::default());
            }
            clusters[number].left += 1;
            let key = item.key();
            targets.insert(key.target.clone());
            cluster_of.insert(key, number);
        }

        let (base, range) = match against {
            StopReference::PassRate(_) => (None, (0.0, 1.0)),
            StopReference::Run(_) if targets.len() > 1 => {
                return Err(EngineError::usage(
                    "`--against RUN` compares the answers of one target; choose it with `--target`",
                ));
            }
            StopReference::Run(name) => (Some(Baseline::read(name, engine)?), (-1.0, 1.0)),
        };
        Ok(Self {
            against: against.clone(),
            base,
            cluster_of,
            clusters,
            counted: 0,
            metric: AnytimeMean::new(range)?,
            pass_rate: AnytimeMean::new((0.0, 1.0))?,
            mean_score: AnytimeMean::new((0.0, 1.0))?,
            conclusion: None,
            ungraded: 0,
            decided: CancellationToken::new(),
        })
    }

    /// Takes in a result.
    fn note(&mut self, record: &CaseRecord) {
        let row = &record.result;
        let Some(number) = self.cluster_of.remove(&row.key()) else { return };
        if row.is_later_attempt() {
            self.clusters[number].left -= 1;
            self.count(false);
            return;
        }
        let passed =
            (row.verdict != Verdict::Incomplete).then(|| f64::from(u8::from(row.verdict == Verdict::Pass)));
        let base = self.base.as_mut().and_then(|base| base.value_of(record));

        let cluster = &mut self.clusters[number];
        cluster.left -= 1;
        let difference = row.score.zip(base).map(|(score, base)| score - base);
        cluster.passed.add(passed);
        cluster.score.add(row.score);
        cluster.difference.add(difference);
        let lacks = if self.base.is_some() { row.score.is_none() } else { passed.is_none() };
        self.ungraded += u64::from(lacks);

        self.count(false);
    }

    /// Notes a trial that is not run because earlier trials made it needless.
    fn note_needless(&mut self, suite: &str, case_id: &str, trial: u32) {
        let is_it = |key: &CaseKey| &*key.suite == suite && &*key.case_id == case_id && key.trial == trial;
        let Some(key) = self.cluster_of.keys().find(|key| is_it(key)).cloned() else { return };
        if let Some(number) = self.cluster_of.remove(&key) {
            self.clusters[number].left -= 1;
            self.count(false);
        }
    }

    /// Counts the clusters that are complete and next in order, or all that are complete if the cases have
    /// ended.
    fn count(&mut self, is_over: bool) {
        while let Some(cluster) = self.clusters.get(self.counted) {
            if cluster.left > 0 && !is_over {
                return;
            }
            self.counted += 1;
            if cluster.left > 0 {
                continue;
            }

            self.pass_rate.add(cluster.passed.mean());
            self.mean_score.add(cluster.score.mean());
            let of_metric = if self.base.is_some() { cluster.difference } else { cluster.passed };
            self.metric.add(of_metric.mean());
            self.conclude();
        }
    }

    fn conclude(&mut self) {
        let Some(found) = self.metric.interval().filter(|_| self.conclusion.is_none()) else { return };
        let threshold = self.against.threshold();
        let is_above = if self.base.is_some() { found.low > threshold } else { found.low >= threshold };
        let conclusion = match (is_above, found.high < threshold) {
            (true, _) => StopConclusion::Above,
            (_, true) => StopConclusion::Below,
            _ => return,
        };
        if self.base.as_mut().is_none_or(Baseline::is_comparable) {
            self.conclusion = Some((conclusion, self.metric.0.n()));
            self.decided.cancel();
        }
    }

    /// The outcome, after the cases have ended.
    fn finish(&mut self, totals: &RunTotals, planned: usize) -> EarlyStop {
        self.count(true);
        let run = totals.counts.total();
        let saved = planned.saturating_sub(run + totals.needless);
        // A difference between runs that were not measured in the same way is not a result.
        let is_comparable =
            self.conclusion.is_some() || self.base.as_mut().is_none_or(Baseline::is_comparable);
        let calls = totals.judge_calls as f64 / run.max(1) as f64 * saved as f64;
        EarlyStop {
            metric: match self.against {
                StopReference::PassRate(_) => StopMetric::PassRate,
                StopReference::Run(_) => StopMetric::ScoreDifference,
            },
            against: self.against.describe(),
            threshold: self.against.threshold(),
            conclusion: self.conclusion.map(|(conclusion, _)| conclusion),
            clusters: self.metric.0.n() as u64,
            decided_after: self.conclusion.map(|(_, after)| after as u64),
            result: self.metric.interval().filter(|_| is_comparable),
            pass_rate: self.pass_rate.interval(),
            mean_score: self.mean_score.interval(),
            level: LEVEL.get(),
            ungraded: self.ungraded,
            saved: saved as u64,
            judge_calls_saved: calls.round() as u64,
        }
    }

    /// Why the baseline can't be compared.
    fn refusal(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        let refused = base.refused.as_ref()?;
        Some(format!("the run was not stopped early: it can't be compared with `{}`: {refused}", base.label))
    }
}

impl Baseline {
    fn read(name: &str, engine: &Engine) -> Result<Self, EngineError> {
        let (folder, part) = runs::find_answers(name, engine.process())?;
        Self::of_records(name, &part, stored_records(&folder)?)
    }

    /// Takes the selected records.
    fn of_records(
        name: &str,
        part: &AnswerPart,
        records: impl Iterator<Item = Result<CaseRecord, EngineError>>,
    ) -> Result<Self, EngineError> {
        let mut names = NameTable::default();
        let (mut cases, mut facts) = (HashMap::new(), Vec::new());
        let by_test = part.prompt.is_some();
        for record in records {
            let record = record?;
            let row = &record.result;
            if !part.takes(row) || row.is_later_attempt() {
                continue;
            }
            cases.extend(row.score.map(|score| (baseline_key(row, by_test), score)));
            facts.push(CaseFact::from_record(&record, &mut names));
        }

        if cases.is_empty() {
            return Err(EngineError::usage(format!("`{name}` has no case with a score to compare with")));
        }
        let facts = RunFacts::new(name.to_owned(), facts, &names)
            .and_then(|facts| if by_test { facts.by_test(&names) } else { Ok(facts) })
            .map_err(|error| EngineError::usage(error.to_string()))?;
        Ok(Self { label: name.to_owned(), facts, by_test, cases, names, seen: Vec::new(), refused: None })
    }

    /// The score of the case in the baseline.
    fn value_of(&mut self, record: &CaseRecord) -> Option<f64> {
        let row = &record.result;
        let score = *self.cases.get(&baseline_key(row, self.by_test))?;
        self.seen.push(CaseFact::from_record(record, &mut self.names));
        Some(score)
    }

    /// Whether the cases so far were measured like the baseline's.
    fn is_comparable(&mut self) -> bool {
        if self.refused.is_some() {
            return false;
        }
        let seen = RunFacts::new(String::new(), self.seen.clone(), &self.names);
        let seen = if self.by_test { seen.and_then(|seen| seen.by_test(&self.names)) } else { seen };
        let Ok(seen) = seen else { return false };
        let options = ComparisonOptions { headline: HeadlineMetric::Score, ..ComparisonOptions::default() };
        let many = compare_many(&self.facts, &[seen], &self.names, &options);
        let Some(found) = many.comparisons.first() else { return false };
        if found.headline_difference().call != Conclusion::NotComparable {
            return true;
        }

        let mut aspects: Vec<&str> =
            found.mismatches.iter().map(|mismatch| mismatch.aspect.describe()).collect();
        aspects.dedup();
        self.refused = Some(aspects.join(", "));
        false
    }
}

/// Writes a run, and passes each record to the watch.
pub(crate) struct WatchedWriter<'w> {
    pub(crate) writer: &'w mut RunWriter,
    pub(crate) watch: Option<&'w Mutex<StopWatch>>,
}

impl WatchedWriter<'_> {
    fn note(&self, record: &CaseRecord) {
        if let Some(watch) = self.watch {
            watch.lock().note(record);
        }
    }
}

impl Recorder for WatchedWriter<'_> {
    fn record(&mut self, record: &CaseRecord) -> Result<(), StoreError> {
        Recorder::record(self.writer, record)?;
        self.note(record);
        Ok(())
    }

    fn take(&mut self, record: &CaseRecord, rows: &CaseRows) -> Result<(), StoreError> {
        Recorder::take(self.writer, record, rows)?;
        self.note(record);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        Recorder::settle(self.writer)
    }
}

/// The watch over a run with a rule to end it early.
pub(crate) fn watch_over(
    sequence: Option<&SequenceOptions>,
    items: impl Iterator<Item = Result<WorkItem, ItemError>>,
    engine: &Engine,
) -> Result<Option<Mutex<StopWatch>>, EngineError> {
    let against = sequence.and_then(|sequence| sequence.stop_against.as_ref());
    against.map(|against| StopWatch::new(against, items, engine).map(Mutex::new)).transpose()
}

/// Fires when the result is clear.
pub(crate) fn decided_token(watch: Option<&Mutex<StopWatch>>) -> Option<CancellationToken> {
    watch.map(|watch| watch.lock().decided.clone())
}

/// The outcome of a watch, after the cases have ended. Warns about a baseline that can't be compared.
pub(crate) fn conclude_watch(
    watch: Option<&Mutex<StopWatch>>,
    totals: &RunTotals,
    planned: usize,
    info: &mut RunInfo,
    engine: &Engine,
) -> Option<EarlyStop> {
    let mut watch = watch?.lock();
    let outcome = watch.finish(totals, planned);
    if let Some(refusal) = watch.refusal() {
        engine.warn(&refusal);
        info.warnings.push(refusal);
    }

    Some(outcome)
}

/// Passes trials that are not run to the watch.
pub(crate) fn note_event(watch: Option<&Mutex<StopWatch>>, event: &CaseEvent) {
    if let (Some(watch), CaseEvent::CaseRedundant { suite, case_id, trial }) = (watch, event) {
        watch.lock().note_needless(suite, case_id, *trial);
    }
}

/// Replaces the intervals that assume a fixed number of cases with intervals that are valid at all times, and adds a
/// note.
pub(crate) fn apply_early_stop(stop: &EarlyStop, figures: &mut RunMetrics) {
    if stop.is_early() {
        // These assume a fixed number of cases.
        figures.remarks.clear();
        figures.precision_notes.clear();
        replace_interval(&mut figures.pass_rate, stop.pass_rate, stop.level, |low, high, level| {
            rate_sentence(low, high, level, "pass")
        });
        replace_interval(&mut figures.mean_score, stop.mean_score, stop.level, mean_sentence);
        let of_targets = figures.targets.iter_mut().map(|one| &mut one.part);
        for part in of_targets.chain(figures.prompts.iter_mut().map(|one| &mut one.part)) {
            withdraw_interval(&mut part.pass_rate);
            withdraw_interval(&mut part.mean_score);
        }
    }
    let is_clustered = figures.mean_score.clusters.or(figures.pass_rate.clusters).is_some();
    let result = if figures.trials.is_some() { "trial" } else { "case" };
    figures.remarks.insert(0, describe(stop, result, is_clustered));
}

fn replace_interval(
    metric: &mut EstimatedMetric,
    found: Option<AnytimeInterval>,
    level: f64,
    says: impl FnOnce(f64, f64, ConfidenceLevel) -> String,
) {
    let same = |value: f64| metric.value.is_some_and(|of_rows| (of_rows - value).abs() < 1e-9);
    if let Some(found) = found.filter(|found| same(found.value)) {
        (metric.low, metric.high, metric.level) = (Some(found.low), Some(found.high), level);
        metric.method = Some(assize_stats::IntervalMethod::Betting.name().to_owned());
        metric.says =
            says(found.low, found.high, ConfidenceLevel::new(level).unwrap_or(ConfidenceLevel::P95));
    } else {
        // This metric is based on other cases or weights than the watched one.
        withdraw_interval(metric);
    }
}

/// Describes the outcome. Results are of cases or of trials; units are clusters if cases share them.
fn describe(stop: &EarlyStop, result: &str, is_clustered: bool) -> String {
    let (name, other) = match stop.metric {
        StopMetric::PassRate => ("pass rate", format_rate(stop.threshold)),
        StopMetric::ScoreDifference => ("difference of the mean score", format!("`{}`", stop.against)),
    };
    let Some(found) = stop.result else {
        if stop.clusters > 0 {
            return format!("Not stopped early: the {name} to {other} is not comparable.");
        }
        return format!("Early stop: no case has a {name} yet.");
    };
    let [value, low, high] = [found.value, found.low, found.high].map(|number| match stop.metric {
        StopMetric::PassRate => format_rate(number),
        StopMetric::ScoreDifference => format!("{number:+.3}"),
    });
    let level = format!("{}%", (stop.level * 1000.0).round() / 10.0);
    let numbers =
        format!("{name} {value} ({level} CI, valid at any time: {low} to {high}), reference {other}");
    let ungraded = match stop.ungraded {
        0 => String::new(),
        1 => " 1 ungraded result doesn't count.".to_owned(),
        n => format!(" {n} ungraded results don't count."),
    };
    let counted = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let calls = match stop.judge_calls_saved {
        0 => String::new(),
        n => format!(", which saves about {}", counted(n, "judge call")),
    };
    let units = |n: u64| counted(n, if is_clustered { "cluster" } else { "case" });
    match (stop.conclusion, stop.decided_after) {
        (Some(conclusion), Some(after)) if stop.saved > 0 => format!(
            "Stopped early, clearly {} the reference after {}: {numbers}. {} not run{calls}. \
             Criteria, targets and prompts have no interval, because it would assume that the run could not stop.{ungraded}",
            conclusion.name(),
            units(after),
            counted(stop.saved, result),
        ),
        (Some(conclusion), Some(after)) => {
            format!(
                "Clearly {} the reference after all {}: {numbers}.{ungraded}",
                conclusion.name(),
                units(after)
            )
        }
        _ => format!("Inconclusive after {}: {numbers}.{ungraded}", units(stop.clusters)),
    }
}

#[cfg(test)]
mod tests {
    use assize_stats::SeededRandom;
    use rand_core::RngCore;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_that_is_not_comparable_has_no_numbers() {
        let stop = EarlyStop {
            metric: StopMetric::ScoreDifference,
            against: "w1".to_owned(),
            threshold: 0.0,
            conclusion: None,
            clusters: 300,
            decided_after: None,
            result: None,
            pass_rate: None,
            mean_score: None,
            level: 0.95,
            ungraded: 0,
            saved: 0,
            judge_calls_saved: 0,
        };
        assert_eq!(
            describe(&stop, "case", false),
            "Not stopped early: the difference of the mean score to `w1` is not comparable."
        );

        let result = AnytimeInterval { value: 0.1, low: -0.2, high: 0.3 };
        let inconclusive = EarlyStop { clusters: 2, result: Some(result), ..stop };
        assert!(describe(&inconclusive, "case", false).starts_with("Inconclusive after 2 cases: "));
        assert!(describe(&inconclusive, "case", true).starts_with("Inconclusive after 2 clusters: "));

        // `not_run` counts results, which are trials if cases have several.
        let stopped = EarlyStop {
            conclusion: Some(StopConclusion::Above),
            decided_after: Some(9),
            saved: 10,
            judge_calls_saved: 30,
            ..inconclusive
        };
        let told = describe(&stopped, "trial", true);
        assert!(told.contains(". 10 trials not run, which saves about 30 judge calls. "), "{told}");
    }

    const CLUSTERS: usize = 60;
    const CASES_OF_CLUSTER: usize = 3;
    const TRIALS: u32 = 3;

    /// The trials of each case of a run.
    #[derive(Debug, Clone, Copy)]
    struct Trials {
        count: u32,
        end_at_first_pass: bool,
    }

    fn uniform(random: &mut SeededRandom) -> f64 {
        (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The record that others are made from. Parsing each one would take most of the time of this test.
    fn template(trials: Trials) -> CaseRecord {
        let plan = json!({
            "count": trials.count, "strategy": "pass_at_k", "early_stop": trials.end_at_first_pass,
            "thresholds": { "pass": 0.8, "borderline": null },
        });
        let row = json!({
            "suite": "s", "case_id": "c", "repeat": 1, "repeats": plan, "score": 1.0, "verdict": "pass",
            "gates_failed": [], "graders": [], "tokens": {}, "duration_ms": 1,
        });
        CaseRecord {
            result: serde_json::from_value(row).expect("the fields of a result"),
            decisions: Vec::new(),
        }
    }

    fn record(template: &CaseRecord, cluster: usize, case: usize, trial: u32, is_pass: bool) -> CaseRecord {
        let mut record = template.clone();
        record.result.case_id = format!("c{cluster}.{case}").into();
        record.result.cluster = Some(format!("k{cluster}"));
        record.result.trial = trial;
        record.result.score = Some(f64::from(u8::from(is_pass)));
        record.result.verdict = if is_pass { Verdict::Pass } else { Verdict::Fail };
        record
    }

    /// Records of a run of a system with these pass probabilities, cluster by cluster.
    fn run(rates: &[[f64; CASES_OF_CLUSTER]], trials: Trials, random: &mut SeededRandom) -> Vec<CaseRecord> {
        let template = template(trials);
        let mut records = Vec::new();
        for (cluster, rates) in rates.iter().enumerate() {
            for (case, rate) in rates.iter().enumerate() {
                for trial in 1..=trials.count {
                    let is_pass = uniform(random) < *rate;
                    records.push(record(&template, cluster, case, trial, is_pass));
                    if is_pass && trials.end_at_first_pass {
                        break;
                    }
                }
            }
        }

        records
    }

    fn watch(base: Vec<CaseRecord>, trials: Trials) -> StopWatch {
        let base = base.into_iter().map(Ok::<_, EngineError>);
        let template = template(trials);
        let mut cluster_of = HashMap::new();
        for cluster in 0..CLUSTERS {
            for case in 0..CASES_OF_CLUSTER {
                for trial in 1..=trials.count {
                    let key = record(&template, cluster, case, trial, true).result.key();
                    cluster_of.insert(key, cluster);
                }
            }
        }
        let left = CASES_OF_CLUSTER * trials.count as usize;
        StopWatch {
            against: StopReference::Run("base".to_owned()),
            base: Some(Baseline::of_records("base", &AnswerPart::default(), base).expect("a baseline")),
            cluster_of,
            clusters: vec![PlannedCluster { left, ..PlannedCluster::default() }; CLUSTERS],
            counted: 0,
            metric: AnytimeMean::new((-1.0, 1.0)).expect("a range"),
            pass_rate: AnytimeMean::new((0.0, 1.0)).expect("a range"),
            mean_score: AnytimeMean::new((0.0, 1.0)).expect("a range"),
            conclusion: None,
            ungraded: 0,
            decided: CancellationToken::new(),
        }
    }

    /// How many of `runs` runs end early. The new system differs from the other by up to 0.3, up or down, in
    /// all cases of a cluster, and by `better_by` on average.
    fn ended(runs: u64, base: Trials, new: Trials, better_by: f64) -> usize {
        let ends = (0..runs).filter(|seed| {
            let mut random = SeededRandom::new(*seed);
            let rates: Vec<[f64; CASES_OF_CLUSTER]> =
                (0..CLUSTERS).map(|_| std::array::from_fn(|_| 0.3 + 0.4 * uniform(&mut random))).collect();
            let shifted: Vec<_> = rates
                .iter()
                .map(|rates| {
                    let shift = 0.6 * uniform(&mut random) - 0.3 + better_by;
                    rates.map(|rate| rate + shift)
                })
                .collect();

            let mut watch = watch(run(&rates, base, &mut random), new);
            for record in &run(&shifted, new, &mut random) {
                watch.note(record);
            }
            let needless: Vec<CaseKey> = watch.cluster_of.keys().cloned().collect();
            for key in needless {
                watch.note_needless(&key.suite, &key.case_id, key.trial);
            }
            assert_eq!(watch.counted, CLUSTERS, "all clusters are complete");
            watch.metric.interval().is_some_and(|found| found.low > 0.0 || found.high < 0.0)
        });
        ends.count()
    }

    #[test]
    fn clusters_and_trials_end_a_run_without_a_difference_seldom() {
        let once = Trials { count: 1, end_at_first_pass: false };
        let all = Trials { count: TRIALS, end_at_first_pass: false };
        let to_first_pass = Trials { count: TRIALS, end_at_first_pass: true };
        for (base, new) in [
            (once, once),
            (all, all),
            (once, all),
            (all, once),
            (to_first_pass, to_first_pass),
            (to_first_pass, all),
            (all, to_first_pass),
        ] {
            let (innocent, found) = (ended(100, base, new, 0.0), ended(20, base, new, 0.35));
            assert!(innocent <= 5, "{base:?}, {new:?}: {innocent} of 100 ended without a difference");
            assert!(found >= 18, "{base:?}, {new:?}: {found} of 20 ended by a difference of 0.35");
        }
    }
}
