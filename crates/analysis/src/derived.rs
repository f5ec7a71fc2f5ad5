//! Metrics that eval files derive from the named scores of their cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{DerivedMetricSpec, FormulaError, ValueRange, evaluate_formula, formula_names};
use assize_store::{DerivedMetric, MetricScore, ResultRow, SuiteInfo};

/// Sums of named scores for each suite, target and prompt.
#[derive(Debug, Default)]
pub(crate) struct NamedScores {
    groups: BTreeMap<GroupKey, ScoreGroup>,
}

/// Suite, target and prompt.
type GroupKey = (Arc<str>, Option<Arc<str>>, Option<Arc<str>>);

#[derive(Debug, Default)]
struct ScoreGroup {
    results: u64,
    sums: BTreeMap<Arc<str>, ScoreSum>,
}

/// Sum of the scores of a metric.
#[derive(Debug, Default)]
struct ScoreSum {
    low: ExactSum,
    high: ExactSum,
    scores: u64,
    unknown: u64,
}

impl NamedScores {
    /// Adds the scores of a row. A skipped case has none and is not counted.
    pub(crate) fn push(&mut self, row: &ResultRow) {
        if row.is_skipped() {
            return;
        }

        let group =
            self.groups.entry((row.suite.clone(), row.target.clone(), row.prompt.clone())).or_default();
        group.results += 1;
        for score in &row.metrics {
            group.sums.entry(score.name.clone()).or_default().add(score);
        }
    }

    /// Computes the metrics that the suites derive, for each target and prompt in order.
    pub(crate) fn derive(&self, suites: &[SuiteInfo]) -> Vec<DerivedMetric> {
        let mut found = Vec::new();
        for suite in suites.iter().filter(|suite| !suite.derived_metrics.is_empty()) {
            for (key, group) in self.groups.iter().filter(|((name, ..), _)| **name == *suite.name) {
                group.derive(key, &suite.derived_metrics, &mut found);
            }
        }

        found
    }
}

impl ScoreGroup {
    fn derive(&self, key: &GroupKey, specs: &[DerivedMetricSpec], into: &mut Vec<DerivedMetric>) {
        let (suite, target, prompt) = key;
        let mut values: BTreeMap<String, ValueRange> = self
            .sums
            .iter()
            .filter(|(_, sum)| sum.scores > 0)
            .map(|(name, sum)| (name.to_string(), sum.range()))
            .collect();
        values.insert(DerivedMetricSpec::COUNT.to_owned(), ValueRange::known(self.results as f64));

        let mut undefined: BTreeMap<&str, String> = BTreeMap::new();
        for spec in specs {
            let computed = self.compute(&spec.formula, &values, &undefined);
            // Later formulas may refer to it by name, even if a metric of assertions has the same name.
            match &computed {
                Ok(value) => {
                    values.insert(spec.name.clone(), ValueRange::known(*value));
                    undefined.remove(spec.name.as_str());
                }
                Err((reason, Some(range))) => {
                    values.insert(spec.name.clone(), *range);
                    undefined.insert(&spec.name, reason.clone());
                }
                Err((reason, None)) => {
                    values.remove(&spec.name);
                    undefined.insert(&spec.name, reason.clone());
                }
            }

            let (value, failure) = match computed {
                Ok(value) => (Some(value), None),
                Err(failure) => (None, Some(failure)),
            };
            let range = failure.as_ref().and_then(|(_, range)| *range);
            into.push(DerivedMetric {
                name: spec.name.clone(),
                formula: spec.formula.clone(),
                suite: suite.to_string(),
                target: target.as_deref().map(str::to_owned),
                prompt: prompt.as_deref().map(str::to_owned),
                value,
                bounds: range.filter(ValueRange::is_bounded).map(|range| [range.low, range.high]),
                n: self.results,
                undefined: failure.map(|(reason, _)| reason),
            });
        }
    }

    /// The value of a formula, or the reason why it is undefined; with bounds if it only depends on unknown
    /// scores.
    fn compute(
        &self,
        formula: &str,
        values: &BTreeMap<String, ValueRange>,
        undefined: &BTreeMap<&str, String>,
    ) -> Result<f64, (String, Option<ValueRange>)> {
        let why = |reason: String| (reason, None);
        let names =
            formula_names(formula).map_err(|problem| why(format!("the formula can't be read: {problem}")))?;
        if let Some(name) = names.iter().find(|name| !values.contains_key(*name)) {
            return Err(why(if undefined.contains_key(name.as_str()) {
                format!("`{name}` is undefined")
            } else {
                format!("no result has the metric `{name}`")
            }));
        }

        match evaluate_formula(formula, values) {
            Ok(found) if found.is_known => Ok(found.range.low),
            Ok(found) => {
                let open = names.iter().find_map(|name| self.open_reason(name, undefined));
                Err((open.unwrap_or_else(|| "a score is unknown".to_owned()), Some(found.range)))
            }
            Err(FormulaError::Undefined) => {
                Err(why("the formula divides by zero, or its value is not a finite number".to_owned()))
            }
            Err(FormulaError::Syntax(problem)) => Err(why(format!("the formula can't be read: {problem}"))),
            Err(FormulaError::UnknownName(name)) => Err(why(format!("no result has the metric `{name}`"))),
        }
    }

    /// Returns why the value of a name is unknown; `None` if it is known.
    fn open_reason(&self, name: &str, undefined: &BTreeMap<&str, String>) -> Option<String> {
        if undefined.contains_key(name) {
            return Some(format!("`{name}` is undefined"));
        }

        let sum = self.sums.get(name).filter(|sum| sum.unknown > 0)?;
        Some(format!(
            "{} of {} score{} of `{name}` {} ungraded",
            sum.unknown,
            sum.scores,
            if sum.scores == 1 { "" } else { "s" },
            if sum.unknown == 1 { "is" } else { "are" },
        ))
    }
}

impl ScoreSum {
    fn add(&mut self, score: &MetricScore) {
        let bounds = score.score.map(|value| [value, value]).or(score.bounds);
        // No criterion applied, such as in a rubric whose criteria are all not applicable.
        let Some([low, high]) = bounds else { return };

        self.scores += 1;
        self.unknown += u64::from(score.score.is_none());
        self.low.add(low * score.weight);
        self.high.add(high * score.weight);
    }

    const fn range(&self) -> ValueRange {
        if self.unknown == 0 {
            return ValueRange::known(self.low.get());
        }
        ValueRange { low: self.low.get(), high: self.high.get() }
    }
}

/// A sum that does not depend on the order of its terms, because cases finish in a different order each time.
/// Terms are multiples of 2^-64.
#[derive(Debug, Default, Clone, Copy)]
struct ExactSum(i128);

impl ExactSum {
    const UNIT: f64 = 18_446_744_073_709_551_616.0;

    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates; no weight is that large")]
    const fn add(&mut self, term: f64) {
        self.0 = self.0.saturating_add((term * Self::UNIT) as i128);
    }

    const fn get(self) -> f64 {
        self.0 as f64 / Self::UNIT
    }
}
