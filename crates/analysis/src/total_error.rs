//! Total error of a mean: cases, judges, prompts and repeats as crossed sources of error, and the cheapest
//! design.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::VoteValue;
use assize_stats::{
    ConfidenceLevel, Interval, UndefinedReason,
    repeats::{CrossedDesign, CrossedVariance, crossed_variance},
};
use assize_store::CaseRecord;

use crate::facts::cluster_name;
use crate::labels::LabelRow;
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Maximum number of resamples.
const MAX_RESAMPLES: usize = 400;
/// Maximum number of cases of a design.
const MAX_DESIGN_CASES: usize = 1_000_000;
/// Minimum number of judges or prompts for a usable estimate of their variance.
const MIN_LEVELS: usize = 5;

/// Standard errors below this come from the order of summation.
const SUMMATION_TOLERANCE: f64 = 1e-9;

/// Subject and author of a decision: answer, criterion, judge, prompt.
type DecisionKey = (String, String, String, String);

/// Decisions on answers, by judge and prompt.
#[derive(Debug, Clone, Default)]
pub struct JudgedScores {
    /// Values, in the order of repeats.
    values: BTreeMap<DecisionKey, Vec<f64>>,
    /// Case of each answer.
    cases: BTreeMap<String, String>,
}

/// Judge, prompt and repeat.
type Judging<'a> = (&'a str, &'a str, usize);

impl JudgedScores {
    /// Adds the decisions of a stored case on criteria. For a panel these are the votes, otherwise the single
    /// judge's decisions. Runs with different prompts count as different prompts.
    pub fn add_record(&mut self, record: &CaseRecord) {
        let row = &record.result;
        let panels: BTreeSet<(&str, String)> = record
            .decisions
            .iter()
            .filter(|row| row.is_vote())
            .map(|row| (&*row.grader, row.shown_criterion().to_string()))
            .collect();
        for decided in &record.decisions {
            let criterion = decided.shown_criterion().to_string();
            // The stronger judge only saw criteria on which the others were uncertain.
            let is_combined = !decided.is_vote() && panels.contains(&(&*decided.grader, criterion.clone()));
            let Some(shown) = decided.criterion().filter(|_| !is_combined && !decided.is_escalation()) else {
                continue;
            };
            let VoteValue::Value(value) = VoteValue::from(decided.decision.outcome()) else { continue };
            let value =
                if (shown.weight.get() < 0.0) == decided.weighting.negate { value } else { 1.0 - value };
            let judge = &decided.decision.judge;
            let name = match &judge.model {
                Some(model) if !judge.name.ends_with(&**model) => format!("{} ({model})", judge.name),
                _ => judge.name.to_string(),
            };
            let prompt = judge.prompt_hash.as_deref().or(judge.version.as_deref()).unwrap_or_default();
            let case = cluster_name(row);
            let target = row.target.as_deref().unwrap_or_default();
            let answer = format!("{}\u{1f}{}\u{1f}{target}\u{1f}{}", row.suite, row.case_id, row.trial);
            let criterion = format!("{}\u{1f}{criterion}", decided.grader);
            self.push((answer, criterion, name, prompt.to_owned()), case, value);
        }
    }

    /// Adds a row of a table: labels of several raters, or repeated scores by one, with their prompts.
    pub fn add_row(&mut self, row: &LabelRow) {
        let case = format!("{}\u{1f}{}", row.suite.as_deref().unwrap_or_default(), row.case);
        let answer = format!("{case}\u{1f}{}", row.system.as_deref().unwrap_or_default());
        let criterion = row.criterion.clone().unwrap_or_default();
        let prompt = row.prompt.clone().unwrap_or_default();
        for (place, scores) in row.scores.iter().enumerate() {
            let judge = row.scored_by.clone().unwrap_or_default();
            let key = (format!("{answer}\u{1f}{place}"), criterion.clone(), judge, prompt.clone());
            scores.iter().flatten().for_each(|score| self.push(key.clone(), case.clone(), *score));
        }

        for (place, (who, outcome)) in row.labels.iter().enumerate() {
            let Some(value) = outcome.number() else { continue };
            let rater = who.clone().unwrap_or_else(|| format!("rater {}", place + 1));
            self.push((answer.clone(), criterion.clone(), rater, prompt.clone()), case.clone(), value);
        }
    }

    fn push(&mut self, key: DecisionKey, case: String, value: f64) {
        self.cases.entry(key.0.clone()).or_insert(case);
        self.values.entry(key).or_default().push(value);
    }

    /// Returns true if at least two judges, or at least two prompts, decided.
    pub fn is_crossed(&self) -> bool {
        let count =
            |part: fn(&DecisionKey) -> &str| self.values.keys().map(part).collect::<BTreeSet<_>>().len();
        count(|key| &key.2) > 1 || count(|key| &key.3) > 1
    }

    /// Splits the variance of the scores of answers into components. Fails with fewer than two cases, or if
    /// neither judges nor prompts vary.
    pub fn estimate(&self, resampling: ResamplingOptions) -> Result<TotalError, UndefinedReason> {
        let scores = self.scores();
        let distinct = |part: fn(&AnswerScore) -> &str| -> Vec<String> {
            scores.iter().map(part).collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect()
        };
        let (cases, judges, prompts) =
            (distinct(|score| &score.case), distinct(|score| &score.judge), distinct(|score| &score.prompt));
        let mut facets = vec![ErrorFacet::Case];
        facets.extend((judges.len() > 1).then_some(ErrorFacet::Judge));
        facets.extend((prompts.len() > 1).then_some(ErrorFacet::Prompt));
        if facets.len() < 2 {
            return Err(UndefinedReason::OneValue);
        }

        let index = |names: &[String], name: &str| names.partition_point(|known| known.as_str() < name);
        let levels = |score: &AnswerScore, facet: ErrorFacet| match facet {
            ErrorFacet::Case => index(&cases, &score.case),
            ErrorFacet::Judge => index(&judges, &score.judge),
            ErrorFacet::Prompt => index(&prompts, &score.prompt),
        };
        let split = |chosen: &[(usize, &AnswerScore)]| {
            let values: Vec<f64> = chosen.iter().map(|(_, score)| score.value).collect();
            let column = |facet: &ErrorFacet| {
                chosen
                    .iter()
                    .map(|(case, score)| match facet {
                        ErrorFacet::Case => *case,
                        facet => levels(score, *facet),
                    })
                    .collect()
            };
            crossed_variance(&values, &facets.iter().map(column).collect::<Vec<Vec<usize>>>())
        };
        let all: Vec<(usize, &AnswerScore)> =
            scores.iter().map(|score| (levels(score, ErrorFacet::Case), score)).collect();
        let found = split(&all)?;

        let mut by_case: Vec<Vec<&AnswerScore>> = vec![Vec::new(); cases.len()];
        for (case, score) in &all {
            by_case[*case].push(score);
        }
        let resampling =
            ResamplingOptions { resamples: resampling.resamples.min(MAX_RESAMPLES), ..resampling };
        let mut again = Vec::new();
        // All components take their intervals from the same draws. A case that is drawn twice counts as two
        // cases.
        let _ = resampling.bootstrap_interval(cases.len(), |chosen| {
            let drawn: Vec<(usize, &AnswerScore)> = chosen
                .iter()
                .enumerate()
                .flat_map(|(at, case)| by_case[*case].iter().map(move |score| (at, *score)))
                .collect();
            again.push(split(&drawn));
            Ok(again.len() as f64)
        });

        let component = |set: Option<usize>| {
            let part = |found: &CrossedVariance| match set {
                Some(set) => found.components.get(&set).copied().unwrap_or_default(),
                None => found.repeats.unwrap_or_default(),
            };
            let mut draws = again.iter();
            let interval = resampling.bootstrap_interval(cases.len(), |_| {
                draws.next().ok_or(UndefinedReason::NoValues)?.as_ref().map(part).map_err(|reason| *reason)
            });
            let interval = interval.and_then(with_width);
            ErrorComponent {
                facets: facets
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| set.unwrap_or(0) >> at & 1 == 1)
                    .map(|(_, facet)| *facet)
                    .collect(),
                variance: MetricEstimate {
                    id: "variance",
                    name: "variance",
                    value: Ok(part(&found)),
                    interval,
                    n: cases.len() as u64,
                    of: "cases",
                    says: "",
                },
            }
        };
        let sets = 1..1usize << facets.len();
        let mut components: Vec<ErrorComponent> = sets.map(|set| component(Some(set))).collect();
        components.extend(found.repeats.is_some().then(|| component(None)));

        let repeats = mean_repeats(&found);
        Ok(TotalError {
            components,
            repeats,
            se_total: above_zero(found.error_variance(&found.levels, repeats, 0).sqrt()),
            se_cases: above_zero(naive_error(&by_case)),
            fixed: (1 << facets.len()) - 2,
            few: few_levels(&facets, &found.levels),
            facets,
            variance: found,
        })
    }

    /// The score of each answer by judge, prompt and repeat: the mean over the criteria that all of them
    /// decided.
    fn scores(&self) -> Vec<AnswerScore> {
        let mut answers: BTreeMap<&str, BTreeMap<Judging<'_>, BTreeMap<&str, f64>>> = BTreeMap::new();
        for ((answer, criterion, judge, prompt), values) in &self.values {
            let judgings = answers.entry(answer).or_default();
            for (repeat, value) in values.iter().enumerate() {
                judgings.entry((judge, prompt, repeat)).or_default().insert(criterion, *value);
            }
        }

        let mut scores = Vec::new();
        for (answer, judgings) in answers {
            let mut common: Option<BTreeSet<&str>> = None;
            for decided in judgings.values() {
                let own: BTreeSet<&str> = decided.keys().copied().collect();
                common = Some(common.map_or(own.clone(), |common| &common & &own));
            }
            let common = common.unwrap_or_default();
            if common.is_empty() {
                continue;
            }
            for ((judge, prompt, _), decided) in judgings {
                let value =
                    common.iter().map(|criterion| decided[criterion]).sum::<f64>() / common.len() as f64;
                scores.push(AnswerScore {
                    case: self.cases.get(answer).cloned().unwrap_or_default(),
                    judge: judge.to_owned(),
                    prompt: prompt.to_owned(),
                    value,
                });
            }
        }
        scores
    }
}

/// Returns the facets other than cases that have too few levels for a usable estimate.
fn few_levels(facets: &[ErrorFacet], levels: &[usize]) -> Vec<(ErrorFacet, usize)> {
    let all = facets.iter().copied().zip(levels.iter().copied());
    all.filter(|(facet, levels)| *facet != ErrorFacet::Case && *levels < MIN_LEVELS).collect()
}

/// Rejects an interval without width: resamples without any variation do not show that there is none.
fn with_width(interval: Interval) -> Result<Interval, UndefinedReason> {
    if interval.width() > 0.0 { Ok(interval) } else { Err(UndefinedReason::NoSpread) }
}

/// Rejects an error estimate of 0: values that do not vary are no evidence about their error.
fn above_zero(error: f64) -> Result<f64, UndefinedReason> {
    if error > SUMMATION_TOLERANCE { Ok(error) } else { Err(UndefinedReason::NoSpread) }
}

/// Mean number of values per combination of levels, rounded; at least 1.
fn mean_repeats(found: &CrossedVariance) -> usize {
    let cells = found.levels.iter().product::<usize>().max(1) as f64;
    (found.n as f64 / cells).round().max(1.0) as usize
}

/// Standard error of the mean as if only cases varied.
fn naive_error(cases: &[Vec<&AnswerScore>]) -> f64 {
    let means: Vec<f64> = cases
        .iter()
        .map(|scores| scores.iter().map(|score| score.value).sum::<f64>() / scores.len().max(1) as f64)
        .collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    (means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

/// Score of an answer in one repeat.
#[derive(Debug, Clone, PartialEq)]
struct AnswerScore {
    case: String,
    judge: String,
    prompt: String,
    value: f64,
}

/// A source of variation of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFacet {
    /// The case.
    Case,
    /// The judge.
    Judge,
    /// The judge's prompt.
    Prompt,
}

impl ErrorFacet {
    /// Display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Judge => "judge",
            Self::Prompt => "prompt",
        }
    }
}

/// One component of the variance.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorComponent {
    /// Facets whose combination it belongs to; empty for exact repeats.
    pub facets: Vec<ErrorFacet>,
    /// The variance, with an interval over cases. The interval does not say how other judges would differ.
    pub variance: MetricEstimate,
}

/// The sources of error of a mean score.
#[derive(Debug, Clone, PartialEq)]
pub struct TotalError {
    /// Facets, cases first.
    pub facets: Vec<ErrorFacet>,
    /// Components of the variance. The last one belongs to repeats; without repeats, it is part of the one
    /// before.
    pub components: Vec<ErrorComponent>,
    /// Mean number of repeats.
    pub repeats: usize,
    /// Standard error of the mean, if cases, judges and prompts are samples. Undefined if scores do not vary.
    pub se_total: Result<f64, UndefinedReason>,
    /// Standard error of the mean if only cases are a sample. Undefined if cases do not vary.
    pub se_cases: Result<f64, UndefinedReason>,
    /// Facets with too few levels for a usable estimate, with their number of levels.
    pub few: Vec<(ErrorFacet, usize)>,
    /// The variance.
    pub variance: CrossedVariance,
    /// Facets that are the same for both systems in a comparison, as a bit mask.
    fixed: usize,
}

impl TotalError {
    /// The cheapest designs whose interval has this full width: one for a mean; and one for a difference
    /// under the same judges and prompts, as when two systems are compared. An answer costs as much as
    /// `case_cost` judge calls. Undefined if scores do not vary.
    pub fn designs(
        &self,
        width: f64,
        level: ConfidenceLevel,
        case_cost: f64,
    ) -> [Result<CrossedDesign, UndefinedReason>; 2] {
        let find = |fixed| {
            above_zero(self.variance.error_variance(&self.variance.levels, self.repeats, fixed).sqrt())?;
            self.variance.cheapest_design(width / 2.0, level, case_cost, MAX_DESIGN_CASES, fixed)
        };
        [find(0), find(self.fixed)]
    }
}
