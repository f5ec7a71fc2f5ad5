//! Trend over runs: their metrics, and changes of the method of measurement between them.

use std::collections::{BTreeSet, HashMap, HashSet};

use assize_stats::ConfidenceLevel;
use assize_store::EstimatedMetric;
use serde::Serialize;

use crate::case_metrics::{case_mean_metric, case_rate_metric};
use crate::compare::ComparisonAspect;
use crate::facts::{CaseFact, GraderStanding, NameTable, RunFacts, hash_in_process};
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
    /// Cases that were graded.
    graded: HashSet<u64>,
    graders: HashMap<GraderKey, GraderMethod>,
    judges: BTreeSet<String>,
    prompts: BTreeSet<String>,
    judging: BTreeSet<String>,
    lines: BTreeSet<String>,
}

/// Hash of a case, and of the name of a grader.
type GraderKey = (u64, u64);

/// Fingerprint of a grader of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct GraderMethod {
    /// Hash of its weight and gate; `None` for one that may be missing.
    standing: Option<GraderStanding>,
    /// Hash of its settings, if the run stored it.
    settings: Option<u64>,
    /// Sum of the hashes of its criteria.
    criteria: u64,
    /// Number of its criteria; none if it broke.
    count: usize,
    /// Hashes of its judges, prompts and kinds of judging; empty where nobody was asked.
    judged: [Vec<u64>; 3],
}

impl MethodFingerprint {
    /// Computes the fingerprint of a run. Sums of hashes do not depend on the order of cases.
    pub fn from_run(run: &RunFacts, names: &NameTable) -> Self {
        let (mut cases, mut questions) = (0u64, Some(0u64));
        let (mut graded, mut graders) = (HashSet::new(), HashMap::<GraderKey, GraderMethod>::new());
        let mut said = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        let mut lines = BTreeSet::new();
        for case in &run.cases {
            let id = (names.text(case.suite), names.text(case.case));
            cases = cases.wrapping_add(hash_in_process(&(id, case.repeat)));

            let question = case.question.map(|question| hash_in_process(&(id, names.text(question))));
            questions = questions.zip(question).map(|(sum, question)| sum.wrapping_add(question));
            lines.extend(case.lines.map(|lines| names.text(lines).to_owned()));

            let place = hash_in_process(&(id, case.repeat));
            if !case.graders.is_empty() {
                graded.insert(place);
            }
            for grader in &case.graders {
                let key = (place, hash_in_process(&names.text(grader.name)));
                let standing = grader.standing;
                let settings = grader.settings.map(|hash| hash_in_process(&names.text(hash)));
                graders.insert(key, GraderMethod { standing, settings, ..GraderMethod::default() });
            }

            for criterion in &case.criteria {
                let key = (place, hash_in_process(&names.text(criterion.grader)));
                let mut method = graders.get_mut(&key);
                if let Some(method) = method.as_mut().filter(|_| criterion.is_fixed) {
                    let words =
                        (names.text(criterion.id), criterion.wording, (criterion.weight, criterion.gate));
                    method.criteria = method.criteria.wrapping_add(hash_in_process(&words));
                    method.count += 1;
                }

                let numbers = [criterion.judge, criterion.prompt, criterion.judging];
                for (at, text) in numbers.map(|number| names.text(number)).into_iter().enumerate() {
                    if text.is_empty() {
                        continue;
                    }
                    if !said[at].contains(text) {
                        said[at].insert(text.to_owned());
                    }
                    if let Some(method) = &mut method {
                        let (list, hash) = (&mut method.judged[at], hash_in_process(&text));
                        if let Err(place) = list.binary_search(&hash) {
                            list.insert(place, hash);
                        }
                    }
                }
            }
        }

        let [judges, prompts, judging] = said;
        Self { cases, questions, graded, graders, judges, prompts, judging, lines }
    }

    /// Returns true if a case that both have graded has other graders or criteria. What broke says nothing.
    fn has_other_rubrics(&self, before: &Self) -> bool {
        let lacks = |ours: &Self, theirs: &Self| {
            let mut fixed = ours.graders.iter().filter(|(_, grader)| grader.standing.is_some());
            fixed.any(|(key, _)| theirs.graded.contains(&key.0) && !theirs.graders.contains_key(key))
        };
        let differs = |(key, now): (&GraderKey, &GraderMethod)| {
            let Some(then) = before.graders.get(key) else { return false };
            let is_known = now.count > 0 && then.count > 0;
            let criteria_differ = (now.criteria, now.count) != (then.criteria, then.count);
            let standings_differ = now.standing.zip(then.standing).is_some_and(|(now, then)| now != then);
            let settings_differ = now.settings.zip(then.settings).is_some_and(|(now, then)| now != then);
            standings_differ || settings_differ || (is_known && criteria_differ)
        };

        lacks(self, before) || lacks(before, self) || self.graders.iter().any(differs)
    }

    /// Returns true if somebody else judged a grader of a case, judged it by another prompt (`part` 1), or in another
    /// way (`part` 2). Cases that nobody was asked about say nothing.
    fn is_judged_otherwise(&self, before: &Self, part: usize) -> bool {
        self.graders.iter().any(|(key, now)| {
            let then = before.graders.get(key).map(|then| &then.judged[part]);
            let now = &now.judged[part];
            then.is_some_and(|then| !then.is_empty() && !now.is_empty() && then != now)
        })
    }

    /// Lists the changes since an earlier run.
    pub fn changes(&self, before: &Self) -> Vec<TrendChange> {
        let mut found = Vec::new();
        let mut say = |respect, says: String| found.push(TrendChange { respect, says });
        if self.cases == before.cases {
            if self.questions.zip(before.questions).is_some_and(|(a, b)| a != b) {
                say(Some(ComparisonAspect::Question), ComparisonAspect::Question.describe().to_owned());
            }
            if self.has_other_rubrics(before) {
                say(Some(ComparisonAspect::Rubric), ComparisonAspect::Rubric.describe().to_owned());
            }
        } else {
            // Other cases have other criteria: nothing more can be compared.
            say(None, "different cases".to_owned());
        }

        let differs = |part| self.is_judged_otherwise(before, part);
        let sets = [
            (ComparisonAspect::Judge, "judged by", &before.judges, &self.judges, differs(0)),
            (ComparisonAspect::Prompt, "instructions", &before.prompts, &self.prompts, differs(1)),
            (ComparisonAspect::Judging, "judging", &before.judging, &self.judging, differs(2)),
            (ComparisonAspect::Thresholds, "thresholds", &before.lines, &self.lines, true),
        ];
        for (respect, what, before, after, differs) in sets {
            if differs && before != after && !before.is_empty() && !after.is_empty() {
                let list =
                    |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join("; ");
                say(Some(respect), format!("{what} {} (was {})", list(after), list(before)));
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
