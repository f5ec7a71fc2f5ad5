//! Variance components of decisions (cases, answers and judges) if judges decided more than once.

use std::collections::{BTreeMap, BTreeSet};

use assize_rubric::format_rate;
use assize_stats::repeats::{nested_variance, repeat_variance};
use assize_stats::{ConfidenceLevel, Interval, MeanAccumulator, UndefinedReason};
use assize_store::{CriterionRow, DecisionNoise, ResultRow};

use crate::MetricEstimate;
use crate::facts::hash_in_process;
use crate::pairwise::to_stored_metric;

/// Minimum number of cases for intervals of components. With fewer, they cover the true component too seldom: in 83 to
/// 96 % of simulated data sets of ten cases, 90 to 98 % of thirty.
const MIN_CASES: usize = 30;
/// Maximum number of groups of cases for the jackknife, which omits one group at a time.
const MAX_GROUPS: usize = 40;

/// Decisions, 0 to 1, by case, then by criterion, then by answer.
#[derive(Debug, Default)]
pub(crate) struct CaseDecisions {
    cases: BTreeMap<u64, BTreeMap<u64, BTreeMap<u32, Vec<f64>>>>,
    asked_again: bool,
}

/// The three variance components.
#[derive(Debug, Clone, Copy)]
struct VarianceParts {
    cases: Result<f64, UndefinedReason>,
    answers: Result<f64, UndefinedReason>,
    verdicts: Result<f64, UndefinedReason>,
    negative: bool,
}

/// Returns the votes on a criterion, without the vote of a stronger judge, which was only called because the
/// others were uncertain.
fn panel_votes(criterion: &CriterionRow) -> Option<Vec<f64>> {
    let panel = criterion.panel.as_ref()?;
    let escalated = panel.escalation.as_ref().is_some_and(|to| to.because.is_some());
    let own = panel.votes.len() - usize::from(escalated && !panel.votes.is_empty());
    Some(panel.votes[..own].iter().filter_map(|vote| vote.value).collect())
}

/// Returns true if an answer of the row was judged more than once.
pub(crate) fn is_judged_again(row: &ResultRow) -> bool {
    let mut criteria = row.graders.iter().flat_map(|grader| &grader.criteria);
    criteria.any(|criterion| panel_votes(criterion).is_some_and(|votes| votes.len() > 1))
}

impl CaseDecisions {
    /// Adds the decisions of a row.
    pub(crate) fn push(&mut self, row: &ResultRow) {
        let case = hash_in_process(&(&row.suite, &row.case_id, &row.target));
        for grader in &row.graders {
            for criterion in &grader.criteria {
                let values = match panel_votes(criterion) {
                    Some(values) => values,
                    None => criterion.value.into_iter().collect(),
                };
                if values.is_empty() {
                    continue;
                }

                self.asked_again |= values.len() > 1;
                let criteria = self.cases.entry(case).or_default();
                let answers = criteria.entry(hash_in_process(&(&grader.name, &criterion.id))).or_default();
                answers.entry(row.trial).or_default().extend(values);
            }
        }
    }

    /// Returns the variance components with their intervals; `None` unless judges decided more than once.
    pub(crate) fn decision_noise(&self, level: ConfidenceLevel) -> Option<DecisionNoise> {
        if !self.asked_again {
            return None;
        }

        let cases: Vec<CaseUnits> = self
            .cases
            .values()
            .map(|criteria| criteria.values().map(|answers| answers.values().cloned().collect()).collect())
            .collect();
        let found = variance_parts(&cases);
        let decisions: usize = cases.iter().flatten().flatten().map(Vec::len).sum();
        let without_groups = leave_groups_out(&cases);
        let interval = |pick: fn(&VarianceParts) -> Result<f64, UndefinedReason>| {
            pick(&found).and_then(|value| jackknife_interval(value, &without_groups, pick, level))
        };
        let figure = |value, interval, says| {
            to_stored_metric(&MetricEstimate {
                id: "variance",
                name: "variance",
                value,
                interval,
                n: decisions as u64,
                of: "decisions",
                says,
            })
        };

        // Where a few cases differ from the others, an interval of the variance between cases covers it in only 84%.
        let no_interval = Err(UndefinedReason::NoKnownInterval);
        Some(DecisionNoise {
            between_cases: figure(
                found.cases,
                no_interval,
                "Variance between criteria and cases; repeats do not reduce it.",
            ),
            between_answers: figure(
                found.answers,
                interval(|parts| parts.answers),
                "Variance between answers to the same case.",
            ),
            between_verdicts: figure(
                found.verdicts,
                interval(|parts| parts.verdicts),
                "Variance between decisions on the same answer.",
            ),
            negative: found.negative,
            says: describe_parts(&found, self.max_answers()),
        })
    }

    /// Returns the largest number of answers to one case.
    fn max_answers(&self) -> usize {
        let answers: BTreeSet<usize> =
            self.cases.values().flat_map(BTreeMap::values).map(BTreeMap::len).collect();
        answers.last().copied().unwrap_or(0)
    }
}

/// Computes the components without each group of cases in turn; empty for too few cases.
fn leave_groups_out(cases: &[CaseUnits]) -> Vec<VarianceParts> {
    if cases.len() < MIN_CASES {
        return Vec::new();
    }

    let groups = cases.len().min(MAX_GROUPS);
    let without = |left_out: usize| {
        variance_parts(
            cases.iter().enumerate().filter(|(at, _)| at % groups != left_out).map(|(_, case)| case),
        )
    };
    (0..groups).map(without).collect()
}

/// Computes the interval of a component from its values without each group: the t interval of their pseudo-values, not
/// below 0. Source: B. Efron and C. Stein, Annals of Statistics 9 (1981) 586, with groups.
fn jackknife_interval(
    value: f64,
    without_groups: &[VarianceParts],
    pick: fn(&VarianceParts) -> Result<f64, UndefinedReason>,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    if without_groups.is_empty() {
        return Err(UndefinedReason::TooFew);
    }

    let groups = without_groups.len() as f64;
    let mut pseudo_values = MeanAccumulator::new();
    for parts in without_groups {
        pseudo_values.push(groups * value - (groups - 1.0) * pick(parts)?);
    }
    let mean = pseudo_values.mean(level);
    if mean.is_constant() {
        Err(UndefinedReason::NoSpread)
    } else {
        Ok(mean.interval?.clip(0.0, f64::INFINITY))
    }
}

/// The decisions on a case: by criterion, then by answer.
type CaseUnits = Vec<Vec<Vec<f64>>>;

/// Computes the variance components of cases. Each criterion of a case is a unit of its own.
fn variance_parts<'c>(cases: impl IntoIterator<Item = &'c CaseUnits>) -> VarianceParts {
    let units: Vec<Vec<Vec<f64>>> = cases.into_iter().flatten().cloned().collect();
    if units.iter().any(|answers| answers.len() > 1) {
        return match nested_variance(&units) {
            Ok(found) => VarianceParts {
                cases: Ok(found.between_cases),
                answers: Ok(found.between_answers),
                verdicts: Ok(found.between_verdicts),
                negative: found.negative,
            },
            Err(why) => {
                VarianceParts { cases: Err(why), answers: Err(why), verdicts: Err(why), negative: false }
            }
        };
    }

    let single: Vec<Vec<f64>> = units.into_iter().flatten().collect();
    match repeat_variance(&single) {
        Ok(found) => VarianceParts {
            cases: Ok(found.between),
            answers: Err(UndefinedReason::OneValue),
            verdicts: Ok(found.within),
            negative: found.negative,
        },
        Err(why) => VarianceParts { cases: Err(why), answers: Err(why), verdicts: Err(why), negative: false },
    }
}

fn describe_parts(parts: &VarianceParts, answers: usize) -> String {
    let share = |part: f64, whole: f64| format_rate(part / whole);
    match (parts.cases, parts.answers, parts.verdicts) {
        (Ok(cases), Ok(between), Ok(verdicts)) if cases + between + verdicts > 0.0 => {
            let all = cases + between + verdicts;
            let advice = if between > verdicts {
                "more trials of each case help more than judge repeats"
            } else {
                "judge repeats help more than more trials of each case"
            };
            format!(
                "{} of the variance of a decision lies between answers to the same case and {} between decisions on the same answer; {advice}.",
                share(between, all),
                share(verdicts, all)
            )
        }
        (Ok(cases), Err(_), Ok(verdicts)) if cases + verdicts > 0.0 => format!(
            "{} of the variance of a decision lies between decisions on the same answer. The part between answers is unknown: {}.",
            share(verdicts, cases + verdicts),
            if answers <= 1 {
                "each case was answered once"
            } else {
                "too few cases were answered more than once"
            }
        ),
        (Err(why), _, _) | (_, _, Err(why)) => {
            format!("The sources of the variance of decisions are unknown: {why}.")
        }
        _ => "All decisions are equal, so there is no variance.".to_owned(),
    }
}
