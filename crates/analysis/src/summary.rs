//! Metrics of one run: pass rate and mean score with intervals, the effect of incomplete cases, and sources
//! of noise.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_rubric::{Cost, Verdict, format_rate};
use assize_stats::{
    ConfidenceLevel, FEW_CLUSTERS, UNDEFINED, no_interval,
    power::{rate_precision, round_up_cases},
    repeats::{repeat_variance, stability},
    zero_failures,
};
use assize_store::{
    EstimatedMetric, FlippingCriterion, MeanScore, NoiseParts, PartMetrics, PromptMetrics, PublishedMeans,
    ResultRow, RunMetrics, SortedRecords, StoreError, SuiteInfo, TargetMetrics, VerdictCounts,
};

use crate::case_metrics::{MetricSample, case_mean_metric, case_rate_metric, format_level};
use crate::case_trials::{RepeatedCases, RunPart};
use crate::derived::NamedScores;
use crate::facts::hash_in_process;
use crate::noise::{CaseDecisions, is_judged_again};
use crate::pairwise::{PairwiseMatches, summarize_matches};
use crate::published_means::PublishedScores;
use crate::stored_sample::{SampleUnits, StoredSample};

/// Margin of error that the notes on precision aim for.
const TARGET_MARGIN: f64 = 0.05;
/// Number of cases below which a run is too small to plan from.
const MIN_PLANNING_CASES: u64 = 20;
/// Maximum number of targets or prompts that have metrics of their own. Each of them takes a pass over the rows.
const MAX_PARTS: usize = 100;
/// Maximum number of unstable criteria that are listed.
const MAX_UNSTABLE: usize = 50;

/// Data kept about a case.
#[derive(Debug, Clone, Copy)]
struct SummaryRow {
    case: u64,
    cluster: u64,
    /// Bounds of the score; both are the score if it is known.
    low: f64,
    high: f64,
    /// Index of target and prompt.
    part: u32,
    verdict: Verdict,
    scored: bool,
    skipped: bool,
    /// True if the case has several trials.
    repeated: bool,
}

impl SummaryRow {
    fn score(&self) -> Option<f64> {
        self.scored.then_some(self.low)
    }

    /// Converts the row to a record. Records are sorted, so that their order does not depend on the order in
    /// which cases finish: sums of the same scores in another order differ in their last digits.
    fn to_record(self) -> [u64; RECORD_LEN] {
        let flags =
            [self.verdict as u8, u8::from(self.scored), u8::from(self.skipped), u8::from(self.repeated)];
        let facts = u64::from(u32::from_be_bytes(flags)) << 32 | u64::from(self.part);
        [self.case, self.low.to_bits(), self.high.to_bits(), facts, self.cluster]
    }

    fn from_record([case, low, high, facts, cluster]: [u64; RECORD_LEN]) -> Self {
        let [verdict, scored, skipped, repeated] = ((facts >> 32) as u32).to_be_bytes();
        let verdicts = [Verdict::Pass, Verdict::Borderline, Verdict::Fail, Verdict::Incomplete];
        let verdict = verdicts.into_iter().find(|known| *known as u8 == verdict);
        Self {
            case,
            cluster,
            low: f64::from_bits(low),
            high: f64::from_bits(high),
            part: facts as u32,
            verdict: verdict.unwrap_or(Verdict::Incomplete),
            scored: scored == 1,
            skipped: skipped == 1,
            repeated: repeated == 1,
        }
    }
}

/// Number of integers in a record.
const RECORD_LEN: usize = 5;

/// Collects the rows of a run one at a time, in any order. It keeps forty bytes of each row, in a file if
/// there are many; for repeated cases also the decisions on their criteria.
#[derive(Debug)]
pub struct RunSummarizer {
    /// Folder for the files.
    beside: PathBuf,
    rows: SortedRecords<RECORD_LEN>,
    repeated: bool,
    answers: DecisionsByCriterion,
    judged_again: bool,
    verdicts: CaseDecisions,
    contests: PairwiseMatches,
    /// Targets and prompts, each with its index and the cost of its results.
    parts: BTreeMap<RunPart, (u32, Cost)>,
    cases: RepeatedCases,
    named: NamedScores,
    published: PublishedScores,
    /// Number of trials that were started because earlier ones did not pass.
    later: u64,
}

/// Decisions by criterion (suite, grader, id), then by the hash of the item decided on.
type DecisionsByCriterion = BTreeMap<(Arc<str>, String, Arc<str>), HashMap<u64, Vec<bool>>>;

impl Default for RunSummarizer {
    fn default() -> Self {
        Self::new(&std::env::temp_dir())
    }
}

impl RunSummarizer {
    /// Creates an empty summariser. If it grows large, its rows are moved to unnamed files in this folder.
    pub fn new(beside: &Path) -> Self {
        Self {
            beside: beside.to_path_buf(),
            rows: SortedRecords::new(beside),
            repeated: false,
            answers: DecisionsByCriterion::default(),
            judged_again: false,
            verdicts: CaseDecisions::default(),
            contests: PairwiseMatches::default(),
            parts: BTreeMap::new(),
            cases: RepeatedCases::default(),
            named: NamedScores::default(),
            published: PublishedScores::default(),
            later: 0,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &ResultRow) {
        let case = hash_in_process(&(&row.suite, &row.case_id, &row.target));
        let cluster = hash_in_process(&row.cluster_key());
        self.cases.push(row, cluster);
        let next = self.parts.len() as u32;
        let part = self.parts.entry((row.target.clone(), row.prompt.clone())).or_insert((next, Cost::ZERO));
        part.1 += row.cost();
        let part = part.0;

        if row.is_later_attempt() {
            self.later += 1;
            return;
        }

        self.repeated |= row.trial > 1;
        self.judged_again = self.judged_again || is_judged_again(row);

        // Most runs have no comparisons, and don't need to store the name of each case for them.
        if row.graders.iter().any(|grader| !grader.pairwise.is_empty()) {
            self.contests.add_row(row, row.test_id(), (0, 1));
        }

        self.named.push(row);
        self.published.push(row);
        let kept = SummaryRow {
            case,
            cluster,
            part,
            verdict: row.verdict,
            scored: row.score.is_some(),
            skipped: row.is_skipped(),
            repeated: row.trials.is_some(),
            low: row.score.or(row.score_low).unwrap_or(0.0),
            high: row.score.or(row.score_high).unwrap_or(1.0),
        };
        self.rows.push(kept.to_record());
    }

    /// Returns true if cases were answered, or answers judged, more than once. The rows must then be passed
    /// to [`Self::push_decisions`] as well.
    pub const fn is_repeated(&self) -> bool {
        self.repeated || self.judged_again
    }

    /// Adds the decisions of a row of a run with repetitions.
    pub fn push_decisions(&mut self, row: &ResultRow) {
        if self.judged_again {
            self.verdicts.push(row);
        }
        if !self.repeated {
            return;
        }

        let case = hash_in_process(&(&row.suite, &row.case_id, &row.target));
        for grader in &row.graders {
            for criterion in &grader.criteria {
                let Some(value) = criterion.value else { continue };
                let key = (row.suite.clone(), grader.name.clone(), criterion.id.clone());
                // A score counts as met from the middle of its scale.
                self.answers.entry(key).or_default().entry(case).or_default().push(value >= 0.5);
            }
        }
    }

    /// Computes the metrics. `suites` have the formulas of derived metrics.
    ///
    /// # Errors
    /// If a file can't be written or read.
    pub fn compute_metrics(
        &mut self,
        suites: &[SuiteInfo],
        level: ConfidenceLevel,
    ) -> Result<RunMetrics, StoreError> {
        self.rows.settle()?;
        let all = self.rows.len();
        let passes = self.sample(|row| row.verdict.passed().map(|passed| f64::from(u8::from(passed))))?;
        let (pass_rate, decided) = (case_rate_metric(&passes, level, "pass"), passes.len());
        let mut scores = self.sample(SummaryRow::score)?;
        let mean_score = case_mean_metric(&scores, level);

        let bounds = self.bounds()?;
        let pass_rate_bounds = (decided < all).then_some(bounds.0);
        let mean_score_bounds = (scores.len() < all).then_some(bounds.1);
        let clustered = scores.clustered_mean(level)?;
        let design_effect = clustered.as_ref().and_then(|mean| mean.design_effect.ok());
        let mut precision_notes = Vec::new();
        if let Some(bounds) = pass_rate_bounds {
            precision_notes.push(format!(
                "{} of {} {} incomplete and excluded from the pass rate; with them it lies between {} and {}.",
                all - decided,
                all,
                if all == 1 { "case is" } else { "cases are" },
                format_rate(bounds[0]),
                format_rate(bounds[1])
            ));
        }

        let trials = self.mean_trials()?;
        precision_notes.extend(case_notes(&pass_rate, &passes, &mean_score, &scores, trials, level));
        passes.check()?;

        if let Some(clusters) = scores.clusters().filter(|clusters| *clusters < FEW_CLUSTERS) {
            precision_notes.push(match clusters {
                1 => "There is only 1 cluster, so there is no confidence interval.".to_owned(),
                n => format!(
                    "Only {n} clusters: with fewer than {FEW_CLUSTERS}, confidence intervals are wide."
                ),
            });
        }
        scores.check()?;

        if clustered.is_some_and(|mean| mean.is_balanced_within()) {
            precision_notes.push(
                "Scores within a cluster are negatively correlated, so the clustered standard error is smaller than the independent one."
                    .to_owned(),
            );
        }

        let mut remarks = Vec::new();
        if self.later > 0 {
            remarks.push(
                "Trials end at the first pass: pass rate and mean score are those of the first trials only."
                    .to_owned(),
            );
        }

        let published_means = self.published.means();
        remarks.extend(published_means.iter().map(PublishedMeans::describe));

        let single = self.count_single_trials(|_| true)?;
        let targets = self.parts_by(|(target, _)| target, level)?;
        let targets = targets.into_iter().map(|(target, part)| TargetMetrics { target, part }).collect();
        let prompts = self.parts_by(|(_, prompt)| prompt, level)?;
        let named = |(prompt, part): (Option<String>, _)| Some(PromptMetrics { prompt: prompt?, part });
        let prompts = prompts.into_iter().filter_map(named).collect();
        Ok(RunMetrics {
            pass_rate,
            pass_rate_bounds,
            mean_score,
            mean_score_bounds,
            design_effect,
            noise: if self.repeated { self.score_noise(level)? } else { None },
            decision_noise: self.verdicts.decision_noise(level),
            pairwise: summarize_matches(&self.contests),
            unstable: self.unstable_criteria(level),
            trials: self.cases.trial_metrics(single, level),
            targets,
            prompts,
            derived: self.named.derive(suites),
            published_means,
            remarks,
            precision_notes,
        })
    }

    /// Calls `see` with each row, in order.
    fn visit_rows(&mut self, mut see: impl FnMut(&SummaryRow)) -> Result<(), StoreError> {
        for row in self.rows.in_order()? {
            see(&SummaryRow::from_record(row?));
        }

        Ok(())
    }

    /// Builds the sample of the rows for which `value` returns one.
    fn sample(&mut self, value: impl Fn(&SummaryRow) -> Option<f64>) -> Result<SampleUnits, StoreError> {
        let mut sample = StoredSample::new(&self.beside);
        self.visit_rows(|row| {
            if let Some(value) = value(row) {
                sample.push(value, row.cluster);
            }
        })?;

        sample.finish()
    }

    /// Lowest and highest pass rate and mean score that the incomplete cases allow.
    fn bounds(&mut self) -> Result<([f64; 2], [f64; 2]), StoreError> {
        let (mut rate, mut mean) = ([0.0; 2], [0.0; 2]);
        self.visit_rows(|row| {
            rate[0] += f64::from(u8::from(row.verdict.passed() == Some(true)));
            rate[1] += f64::from(u8::from(row.verdict.passed() != Some(false)));
            mean[0] += row.low;
            mean[1] += row.high;
        })?;

        let all = self.rows.len() as f64;
        Ok((rate.map(|sum| sum / all), mean.map(|sum| sum / all)))
    }

    /// Mean number of rows per case; 1 without trials.
    fn mean_trials(&mut self) -> Result<f64, StoreError> {
        if !self.repeated {
            return Ok(1.0);
        }

        // Rows of a case follow each other.
        let (mut cases, mut before) = (0usize, None);
        self.visit_rows(|row| {
            cases += usize::from(before.replace(row.case) != Some(row.case));
        })?;
        Ok(self.rows.len() as f64 / cases.max(1) as f64)
    }

    /// Counts the cases with one trial in some parts.
    fn count_single_trials(&mut self, takes: impl Fn(u32) -> bool) -> Result<VerdictCounts, StoreError> {
        let mut counts = VerdictCounts::default();
        self.visit_rows(|row| {
            if row.repeated || !takes(row.part) {
                return;
            }
            if row.skipped {
                counts.skipped += 1;
            } else {
                counts.add_verdict(row.verdict);
            }
        })?;

        Ok(counts)
    }

    /// Computes the metrics of each target or prompt, if there are several, in the order of their names.
    fn parts_by(
        &mut self,
        name: impl Fn(&RunPart) -> &Option<Arc<str>>,
        level: ConfidenceLevel,
    ) -> Result<Vec<(Option<String>, PartMetrics)>, StoreError> {
        let mut groups: BTreeMap<Option<Arc<str>>, (HashSet<u32>, Cost)> = BTreeMap::new();
        for (part, (at, cost)) in &self.parts {
            let (members, sum) = groups.entry(name(part).clone()).or_insert((HashSet::new(), Cost::ZERO));
            members.insert(*at);
            *sum += *cost;
        }
        if groups.len() < 2 || groups.len() > MAX_PARTS {
            return Ok(Vec::new());
        }

        let mut found = Vec::with_capacity(groups.len());
        for (of, (members, cost)) in groups {
            let takes = |row: &SummaryRow| members.contains(&row.part);
            let passes = self.sample(|row| {
                row.verdict.passed().filter(|_| takes(row)).map(|passed| f64::from(u8::from(passed)))
            })?;
            let pass_rate = case_rate_metric(&passes, level, "pass");
            passes.check()?;
            let scores = self.sample(|row| row.score().filter(|_| takes(row)))?;
            let mean_score = case_mean_metric(&scores, level);
            scores.check()?;

            let mut counts = self.count_single_trials(|part| members.contains(&part))?;
            self.cases.count(|part| *name(part) == of, &mut counts);
            let cost_usd = cost.total();
            found.push((
                of.as_deref().map(str::to_owned),
                PartMetrics { counts, pass_rate, mean_score, cost_usd },
            ));
        }

        Ok(found)
    }

    /// Computes the sources of the spread of scores, if cases were answered more than once.
    fn score_noise(&mut self, level: ConfidenceLevel) -> Result<Option<NoiseParts>, StoreError> {
        let mut scores: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        let mut verdicts: BTreeMap<u64, Vec<bool>> = BTreeMap::new();
        self.visit_rows(|row| {
            if let Some(score) = row.score() {
                scores.entry(row.case).or_default().push(score);
            }
            if let Some(passed) = row.verdict.passed() {
                verdicts.entry(row.case).or_default().push(passed);
            }
        })?;

        let scores: Vec<Vec<f64>> = scores.into_values().collect();
        let Ok(parts) = repeat_variance(&scores) else { return Ok(None) };
        let verdicts: Vec<Vec<bool>> = verdicts.into_values().collect();
        let flips = flip_rate(&verdicts, level);
        let says = match parts.icc {
            Ok(icc) => format!(
                "{} of the variance of scores lies between cases, the rest between answers to the same case. Only the \
                 rest shrinks with more trials.",
                format_rate(icc.max(0.0))
            ),
            Err(reason) => format!("The sources of variance are undefined: {reason}."),
        };

        Ok(Some(NoiseParts {
            between_cases: parts.between,
            between_answers: parts.within,
            icc: parts.icc.ok(),
            verdict_flips: flips,
            says,
        }))
    }

    fn unstable_criteria(&self, level: ConfidenceLevel) -> Vec<FlippingCriterion> {
        let mut found: Vec<FlippingCriterion> = self
            .answers
            .iter()
            .filter_map(|((suite, grader, criterion), items)| {
                let mut items: Vec<(&u64, &Vec<bool>)> = items.iter().collect();
                items.sort_unstable();

                let items: Vec<Vec<bool>> = items.into_iter().map(|(_, item)| item.clone()).collect();
                let flip_rate = flip_rate(&items, level)?;
                (flip_rate.value? > 0.0).then(|| FlippingCriterion {
                    suite: suite.to_string(),
                    grader: grader.clone(),
                    criterion: criterion.to_string(),
                    flip_rate,
                })
            })
            .collect();

        let rate = |one: &FlippingCriterion| one.flip_rate.value.unwrap_or_default();
        found.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        found.truncate(MAX_UNSTABLE);

        found
    }
}

/// Computes the share of items whose repeated decisions differ; `None` if no item was decided twice.
pub(crate) fn flip_rate(items: &[Vec<bool>], level: ConfidenceLevel) -> Option<EstimatedMetric> {
    let flipped = stability(items, level).flipped;
    let interval = flipped.interval.ok()?;
    Some(EstimatedMetric {
        value: flipped.rate.ok(),
        n: flipped.n,
        clusters: None,
        low: Some(interval.low),
        high: Some(interval.high),
        level: level.get(),
        method: Some(interval.method.name().to_owned()),
        undefined: None,
        says: format!("{} of {} were decided differently at least once.", flipped.successes, flipped.n),
    })
}

/// Notes if there are too few cases for a precise metric, and how many would suffice. `trials` is the mean
/// number of rows per case.
fn case_notes(
    pass_rate: &EstimatedMetric,
    passes: &SampleUnits,
    mean_score: &EstimatedMetric,
    scores: &SampleUnits,
    trials: f64,
    level: ConfidenceLevel,
) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Some(1.0), None) = (pass_rate.value, pass_rate.clusters)
        && let Ok(bound) = zero_failures(pass_rate.n, level)
    {
        remarks.push(format!(
            "{} of {} passed; the failure rate could still be up to {} ({} confidence, one-sided).",
            pass_rate.n,
            pass_rate.n,
            format_rate(bound.exact),
            format_level(level)
        ));
    }

    // Without an interval, such as for a single cluster, there is no margin of error to compare with.
    let reach =
        |figure: &EstimatedMetric| figure.low.zip(figure.high).map_or(0.0, |(low, high)| (high - low) / 2.0);
    let mut needs = Vec::new();
    if reach(pass_rate) > TARGET_MARGIN
        && let Some((most, n)) = cases_for_rate(pass_rate, passes, level)
    {
        let reached = format!("Margin of error of the pass rate: ±{:.1} pp", reach(pass_rate) * 100.0);
        needs.push((
            reached,
            format!("±{:.1} pp, {most}", TARGET_MARGIN * 100.0),
            round_up_cases(n / trials),
        ));
    }

    if mean_score.n >= MIN_PLANNING_CASES
        && reach(mean_score) > TARGET_MARGIN
        && let Ok(plan) = scores.planned_mean(level)
        && plan.varies()
        && let Ok(n) = plan.cases(TARGET_MARGIN, level).map(|values| values / trials)
    {
        let reached = format!("Margin of error of the mean score: ±{:.3}", reach(mean_score));
        needs.push((reached, format!("±{TARGET_MARGIN:.3}, about"), round_up_cases(n)));
    }

    needs.retain(|(.., n)| *n > pass_rate.n.max(mean_score.n) as f64 / trials);

    let each = if trials > 1.0 { " with as many trials each" } else { "" };
    remarks.extend(
        needs
            .into_iter()
            .map(|(reached, wanted, n)| format!("{reached}. For {wanted} {n} cases{each} are needed.")),
    );

    remarks
}

/// Number of values with which the pass rate would have the wanted margin of error, and the word to put
/// before it.
fn cases_for_rate(
    pass_rate: &EstimatedMetric,
    passes: &SampleUnits,
    level: ConfidenceLevel,
) -> Option<(&'static str, f64)> {
    let rate = pass_rate.value?;
    if pass_rate.clusters.is_some() {
        // A cluster that does not vary counts as a single case, at the rate in the interval that needs the
        // most cases.
        let plan = passes.planned_mean(level).ok()?;
        let word = if plan.varies() { "about" } else { "at most" };
        return plan.cases(TARGET_MARGIN, level).ok().map(|n| (word, n));
    }

    // A rate over few cases, or one of 0 or 1, is no basis for planning. Among the rates in its interval, the
    // one nearest to 50% needs the most cases.
    let is_guess = pass_rate.n < MIN_PLANNING_CASES || rate == 0.0 || rate == 1.0;
    let worst = 0.5_f64.max(pass_rate.low.unwrap_or(0.0)).min(pass_rate.high.unwrap_or(1.0));
    let (word, rate) = if is_guess { ("at most", worst) } else { ("about", rate) };
    rate_precision(rate, TARGET_MARGIN, level).ok().map(|n| (word, n))
}

/// Converts the mean score to the form stored in summaries; `None` if no score is known.
pub fn stored_mean(figure: &EstimatedMetric) -> Option<MeanScore> {
    let over = match figure.clusters {
        Some(clusters) => format!("over {clusters} clusters"),
        None => "over cases".to_owned(),
    };
    Some(MeanScore {
        mean: figure.value?,
        n: figure.n,
        low: figure.low,
        high: figure.high,
        level: figure.level,
        method: match (&figure.method, &figure.undefined) {
            (Some(method), _) => format!("{method} {over}"),
            (None, reason) => no_interval(reason.as_deref().unwrap_or(UNDEFINED)),
        },
    })
}
