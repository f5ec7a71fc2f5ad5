//! Trend over runs: their metrics, and changes of the method of measurement between them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZeroU64;

use assize_stats::ConfidenceLevel;
use assize_store::{EstimatedMetric, RunConclusion, RunInfo};
use serde::Serialize;

use crate::case_metrics::{case_mean_metric, case_rate_metric, withdraw_interval};
use crate::compare::ComparisonAspect;
use crate::conclusion::brief_result;
use crate::facts::{AmbiguousRun, CaseFact, CriterionFact, GraderWeightingHash, NameTable, hash_in_process};
use crate::sample::ClusteredSample;

/// A run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrendPoint {
    /// Label of the run.
    pub label: String,
    /// Start time, as stored in the run.
    pub started_at: String,
    /// Exit code of the run; null if it was killed.
    pub exit_code: Option<u8>,
    /// Result of the run in one line, with what blocks, limits or weakens it.
    pub result: String,
    /// The same as data.
    pub conclusion: RunConclusion,
    /// Number of cases.
    pub cases: usize,
    /// Number of incomplete cases, which are excluded from the metrics.
    pub incomplete: usize,
    /// Share of the decided cases that passed.
    pub pass_rate: EstimatedMetric,
    /// Mean of the known scores.
    pub mean_score: EstimatedMetric,
    /// Changes of the method since the previous run; metrics before and after are not comparable.
    pub changed: Vec<TrendChange>,
}

/// A change of the method of measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrendChange {
    /// Aspect that changed; null for a different set of cases.
    #[serde(rename = "respect")]
    pub aspect: Option<ComparisonAspect>,
    /// Description for messages.
    pub says: String,
}

/// Fingerprint of a run's method of measurement, to detect changes between runs. Hashes are summed, so that
/// the order of cases does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodFingerprint {
    cases: u64,
    questions: Option<u64>,
    /// Cases that were graded.
    graded: HashSet<u64>,
    graders: HashMap<GraderKey, GraderMethod>,
    judges: BTreeSet<String>,
    prompts: BTreeSet<String>,
    judging: BTreeSet<String>,
    thresholds: BTreeSet<String>,
}

impl Default for MethodFingerprint {
    fn default() -> Self {
        Self {
            cases: 0,
            questions: Some(0),
            graded: HashSet::new(),
            graders: HashMap::new(),
            judges: BTreeSet::new(),
            prompts: BTreeSet::new(),
            judging: BTreeSet::new(),
            thresholds: BTreeSet::new(),
        }
    }
}

/// Hash of a case, and hash of a grader's name.
type GraderKey = (u64, u64);

/// Fingerprint of a grader of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct GraderMethod {
    /// Hashes of its weight and gate; `None` for a grader that may be missing.
    weighting: Option<GraderWeightingHash>,
    /// Hash of its settings, if the run stored it.
    settings: Option<u64>,
    /// Sum of the hashes of its criteria.
    criteria: u64,
    /// Number of its criteria; 0 if the grader failed.
    count: usize,
    /// Sums of the hashes of its judges, prompts and criteria per call; `None` if no judge was called.
    judged: [Option<NonZeroU64>; 3],
}

impl MethodFingerprint {
    fn add(&mut self, case: &CaseFact, names: &NameTable) {
        let id = (names.text(case.suite), names.text(case.case));
        let place = hash_in_process(&(id, case.trial));
        self.cases = self.cases.wrapping_add(place);

        let question = case.question.map(|question| hash_in_process(&(id, question)));
        self.questions = self.questions.zip(question).map(|(sum, question)| sum.wrapping_add(question));
        if let Some(thresholds) = case.thresholds {
            remember(&mut self.thresholds, names.text(thresholds));
        }

        if !case.graders.is_empty() {
            self.graded.insert(place);
        }
        for grader in &case.graders {
            let key = (place, hash_in_process(&names.text(grader.name)));
            let weighting = grader.weighting;
            let settings = grader.settings.map(|hash| hash_in_process(&names.text(hash)));
            let criteria = case.criteria.iter().filter(|criterion| criterion.grader == grader.name);
            let mut method = GraderMethod { weighting, settings, ..GraderMethod::default() };
            method.add_criteria(criteria, names);
            self.graders.insert(key, method);
        }

        for criterion in &case.criteria {
            let sets = [&mut self.judges, &mut self.prompts, &mut self.judging];
            for (known, number) in sets.into_iter().zip(judged_by(criterion)) {
                remember(known, names.text(number));
            }
        }
    }

    /// Returns true if a case that both runs graded has other graders or criteria. Graders that failed are
    /// ignored.
    fn has_other_rubrics(&self, before: &Self) -> bool {
        let lacks = |ours: &Self, theirs: &Self| {
            let mut fixed = ours.graders.iter().filter(|(_, grader)| grader.weighting.is_some());
            fixed.any(|(key, _)| theirs.graded.contains(&key.0) && !theirs.graders.contains_key(key))
        };
        let differs = |(key, now): (&GraderKey, &GraderMethod)| {
            let Some(then) = before.graders.get(key) else { return false };
            let is_known = now.count > 0 && then.count > 0;
            let criteria_differ = (now.criteria, now.count) != (then.criteria, then.count);
            let standings_differ = now.weighting.zip(then.weighting).is_some_and(|(now, then)| now != then);
            let settings_differ = now.settings.zip(then.settings).is_some_and(|(now, then)| now != then);
            standings_differ || settings_differ || (is_known && criteria_differ)
        };

        lacks(self, before) || lacks(before, self) || self.graders.iter().any(differs)
    }

    /// Returns true if a grader of a case was judged by another judge (`part` 0), with another prompt (`part`
    /// 1), or with another number of criteria per call (`part` 2). Cases without a judge call are ignored.
    fn is_judged_otherwise(&self, before: &Self, part: usize) -> bool {
        self.graders.iter().any(|(key, now)| {
            let then = before.graders.get(key).and_then(|then| then.judged[part]);
            then.zip(now.judged[part]).is_some_and(|(then, now)| then != now)
        })
    }

    /// Lists the changes since an earlier run.
    pub fn changes(&self, before: &Self) -> Vec<TrendChange> {
        let mut found = Vec::new();
        let mut say = |aspect, says: String| found.push(TrendChange { aspect, says });
        if self.cases == before.cases {
            if self.questions.zip(before.questions).is_some_and(|(a, b)| a != b) {
                say(Some(ComparisonAspect::Question), ComparisonAspect::Question.describe().to_owned());
            }
            if self.has_other_rubrics(before) {
                say(Some(ComparisonAspect::Rubric), ComparisonAspect::Rubric.describe().to_owned());
            }
        } else {
            // Other cases have other criteria, so there is no further comparison.
            say(None, "different cases".to_owned());
        }

        let differs = |part| self.is_judged_otherwise(before, part);
        let sets = [
            (ComparisonAspect::Judge, "judged by", &before.judges, &self.judges, differs(0)),
            (ComparisonAspect::Prompt, "instructions", &before.prompts, &self.prompts, differs(1)),
            (ComparisonAspect::Judging, "judging", &before.judging, &self.judging, differs(2)),
            (ComparisonAspect::Thresholds, "thresholds", &before.thresholds, &self.thresholds, true),
        ];
        for (aspect, what, before, after, differs) in sets {
            if differs && before != after && !before.is_empty() && !after.is_empty() {
                let list =
                    |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join("; ");
                say(Some(aspect), format!("{what} {} (was {})", list(after), list(before)));
            }
        }

        found
    }
}

impl GraderMethod {
    fn add_criteria<'c>(&mut self, criteria: impl Iterator<Item = &'c CriterionFact>, names: &NameTable) {
        // A grader's decisions on a case come from few judges and prompts.
        let mut seen: [Vec<u64>; 3] = Default::default();
        for criterion in criteria {
            if criterion.is_fixed {
                let words = (names.text(criterion.id), criterion.wording, (criterion.weight, criterion.gate));
                self.criteria = self.criteria.wrapping_add(hash_in_process(&words));
                self.count += 1;
            }
            for (seen, number) in seen.iter_mut().zip(judged_by(criterion)) {
                let text = names.text(number);
                let hash = hash_in_process(&text);
                if !text.is_empty() && !seen.contains(&hash) {
                    seen.push(hash);
                }
            }
        }

        self.judged = seen.map(|hashes| {
            let sum = hashes.iter().fold(0u64, |sum, hash| sum.wrapping_add(*hash));
            (!hashes.is_empty()).then(|| NonZeroU64::new(sum).unwrap_or(NonZeroU64::MIN))
        });
    }
}

/// Numbers of the judge, its prompt and the number of criteria per call.
const fn judged_by(criterion: &CriterionFact) -> [u32; 3] {
    [criterion.judge, criterion.prompt, criterion.judging]
}

fn remember(known: &mut BTreeSet<String>, text: &str) {
    if !text.is_empty() && !known.contains(text) {
        known.insert(text.to_owned());
    }
}

/// Reads a run for a trend. It keeps a few hundred bytes of each case, and no text except the id.
#[derive(Debug, Default)]
pub struct TrendReader {
    fingerprint: MethodFingerprint,
    suites: NameTable,
    targets: BTreeSet<String>,
    prompts: BTreeSet<String>,
    cases: Vec<TrendCase>,
}

/// Facts of a case that a trend's metrics need.
#[derive(Debug)]
struct TrendCase {
    suite: u32,
    /// Id of the test, and the prompt.
    id: (Box<str>, Option<Box<str>>),
    trial: u32,
    /// Hash of its cluster.
    cluster: u64,
    passed: Option<bool>,
    score: Option<f64>,
}

impl TrendReader {
    /// Adds a case. Each case may come with a different name table.
    pub fn add(&mut self, case: &CaseFact, names: &NameTable) {
        self.fingerprint.add(case, names);
        if let Some(target) = case.target {
            remember(&mut self.targets, names.text(target));
        }
        if let Some(prompt) = case.prompt {
            remember(&mut self.prompts, names.text(prompt));
        }
        self.cases.push(TrendCase {
            suite: self.suites.intern(names.text(case.suite)),
            id: (names.text(case.case).into(), case.prompt.map(|prompt| names.text(prompt).into())),
            trial: case.trial,
            cluster: case.cluster,
            passed: case.passed(),
            score: case.score,
        });
    }

    /// Returns true if no case was added.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Builds the trend point of the run, with its changes since an earlier run. `info` is the description of the run with its
    /// present conclusion.
    ///
    /// # Errors
    /// If the run has a case more than once.
    pub fn finish(
        self,
        label: String,
        info: &RunInfo,
        before: Option<&MethodFingerprint>,
        level: ConfidenceLevel,
    ) -> Result<(TrendPoint, MethodFingerprint), AmbiguousRun> {
        let Self { fingerprint, suites, targets, prompts, mut cases } = self;
        let key = |case: &TrendCase| (case.suite, case.trial);
        cases.sort_by(|a, b| {
            let order = suites.text(a.suite).cmp(suites.text(b.suite));
            order.then_with(|| a.id.cmp(&b.id)).then_with(|| a.trial.cmp(&b.trial))
        });
        let twice = cases.windows(2).find(|pair| pair[0].id == pair[1].id && key(&pair[0]) == key(&pair[1]));
        if let Some(pair) = twice {
            return Err(AmbiguousRun { label, case_id: pair[0].id.0.to_string(), targets, prompts });
        }

        let (mut passes, mut scores) = (ClusteredSample::default(), ClusteredSample::default());
        for case in &cases {
            if let Some(passed) = case.passed {
                passes.push(f64::from(u8::from(passed)), case.cluster);
            }
            if let Some(score) = case.score {
                scores.push(score, case.cluster);
            }
        }
        let summary = info.summary.as_ref();
        let mut point = TrendPoint {
            label,
            started_at: info.started_at.clone(),
            exit_code: summary.map(|summary| summary.exit_code),
            result: brief_result(info),
            conclusion: summary.map(|summary| summary.conclusion.clone()).unwrap_or_default(),
            cases: cases.len(),
            incomplete: cases.iter().filter(|case| case.passed.is_none()).count(),
            pass_rate: case_rate_metric(&passes, level, "pass"),
            mean_score: case_mean_metric(&scores, level),
            changed: before.map(|before| fingerprint.changes(before)).unwrap_or_default(),
        };

        // Of a run that stopped because its result was clear, only the interval that it stored holds.
        if info.ended_by_result() {
            withdraw_interval(&mut point.pass_rate);
            withdraw_interval(&mut point.mean_score);
            let is_same = |stored: &EstimatedMetric| {
                (stored.value, stored.n) == (point.pass_rate.value, point.pass_rate.n)
            };
            let stored =
                summary.and_then(|summary| summary.figures.as_ref()).map(|figures| &figures.pass_rate);
            if let Some(stored) = stored.filter(|stored| is_same(stored)) {
                point.pass_rate = stored.clone();
            }
        }

        Ok((point, fingerprint))
    }
}
