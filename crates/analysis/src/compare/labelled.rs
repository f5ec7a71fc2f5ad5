//! Differences of two runs corrected by people's labels of their answers.
//!
//! A comparison of judges' decisions also shows how the judges' errors differ: a run whose judge lets more mistakes
//! pass looks better. Labels of a sample of both runs' answers correct that.

use std::collections::BTreeMap;

use assize_stats::ConfidenceLevel;
use assize_stats::correction::{PoweredDifference, SideItem, prediction_powered_difference};
use serde::Serialize;

use super::MetricUnit;
use super::metric_difference::Conclusion;
use crate::calibrate::{CalibrationItem, CalibrationMaterial, ItemKey, drawing_probabilities};
use crate::case_metrics::format_level;
use crate::claims::{FEW_ITEMS, alpha_of, decide_together};
use crate::labels::LabelRow;

/// Range of raw scores of criteria.
const SCORES: (f64, f64) = (0.0, 10.0);

/// Difference of the criteria that two runs meet, or of their scores, as people would decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelledDifference {
    /// Name of the candidate.
    pub candidate: String,
    /// True for the mean raw score of criteria with score ranges; false for the share of criteria that are met.
    pub scores: bool,
    /// Number of criteria that the judges decided in both runs.
    pub items: usize,
    /// Number of these with a label, in the base and in the candidate.
    pub labels: [usize; 2],
    /// Mean of the judges' decisions in the base and in the candidate.
    pub judges: [f64; 2],
    /// Estimated mean of people's decisions in the base and in the candidate, if people had labelled everything.
    pub people: Option<[f64; 2]>,
    /// Candidate minus base, by people's decisions.
    pub difference: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Confidence level of the interval.
    pub level: f64,
    /// Probability of such a difference if there were none.
    pub p: Option<f64>,
    /// `p` adjusted by Holm's method if several differences are tested.
    pub p_adjusted: Option<f64>,
    /// Reason why a field is undefined.
    pub undefined: Option<String>,
    /// Conclusion.
    pub call: Conclusion,
    /// Conclusion in a sentence.
    pub says: String,
}

/// Finds a label that names neither an answer by its hash nor the run it belongs to, although the runs have different
/// answers to that case. Such a label would count for both.
pub fn find_unbound<'r>(
    rows: &'r [LabelRow],
    base: &CalibrationMaterial,
    candidate: &CalibrationMaterial,
) -> Option<&'r LabelRow> {
    rows.iter().filter(|row| row.seen.is_none() && !row.labels.is_empty()).find(|row| {
        let seen = |side: &CalibrationMaterial| {
            let mut of_row =
                side.items.iter().filter(|item| *item.key.case == *row.case && item.matches_row(row));
            of_row.next().and_then(|item| item.seen)
        };
        seen(base).zip(seen(candidate)).is_some_and(|(one, other)| one != other)
    })
}

/// Computes the differences of the criteria that both runs judged: of verdicts, and of scores.
pub fn compare_labelled(
    base: &CalibrationMaterial,
    candidates: &[(String, CalibrationMaterial)],
    assume_random: bool,
    level: ConfidenceLevel,
) -> Vec<LabelledDifference> {
    let mut found: Vec<LabelledDifference> = Vec::new();
    for (name, candidate) in candidates {
        for scores in [false, true] {
            found.extend(compare_kind(base, name, candidate, scores, assume_random, level));
        }
    }

    let tested: Vec<f64> = found.iter().filter_map(|one| one.p).collect();
    let mut decided = decide_together(&tested, alpha_of(level)).into_iter();
    let is_several = tested.len() > 1;
    for one in &mut found {
        let claim = one.p.and_then(|_| decided.next());
        one.conclude(claim.is_some_and(|claim| claim.is_shown));
        one.p_adjusted = claim.filter(|_| is_several).map(|claim| claim.p_adjusted);
    }
    found
}

/// Key of an item in both runs, which may have different targets.
fn pair_key(key: &ItemKey) -> (&str, &str, u32, &str) {
    (&key.suite, &key.case, key.trial, &key.criterion)
}

fn is_scored(item: &CalibrationItem) -> bool {
    matches!(item.judge.as_ref().map(|judge| judge.said), Some(crate::calibrate::DecisionValue::Score(_)))
}

fn compare_kind(
    base: &CalibrationMaterial,
    name: &str,
    candidate: &CalibrationMaterial,
    scores: bool,
    assume_random: bool,
    level: ConfidenceLevel,
) -> Option<LabelledDifference> {
    let decided = |material: &'_ CalibrationMaterial| -> Vec<usize> {
        let is_decided = |item: &CalibrationItem| item.judge_number().is_some() && is_scored(item) == scores;
        (0..material.items.len()).filter(|at| is_decided(&material.items[*at])).collect()
    };
    let theirs: BTreeMap<_, usize> =
        decided(candidate).into_iter().map(|at| (pair_key(&candidate.items[at].key), at)).collect();
    let (first, second): (Vec<&CalibrationItem>, Vec<&CalibrationItem>) = decided(base)
        .into_iter()
        .filter_map(|at| {
            let own = &base.items[at];
            Some((own, &candidate.items[*theirs.get(&pair_key(&own.key))?]))
        })
        .unzip();
    if first.is_empty() {
        return None;
    }

    let range = if scores { SCORES } else { (0.0, 1.0) };
    let mean = |side: &[&CalibrationItem]| {
        side.iter().filter_map(|item| item.judge_number()).sum::<f64>() / side.len() as f64
    };
    let labels =
        [&first, &second].map(|side| side.iter().filter(|item| item.people_mean().is_some()).count());
    let powered = powered_difference(&first, &second, assume_random, range, level);
    let ok = powered.as_ref().ok();
    Some(LabelledDifference {
        candidate: name.to_owned(),
        scores,
        items: first.len(),
        labels,
        judges: [mean(&first), mean(&second)],
        people: ok.map(|found| found.means),
        difference: ok.map(|found| found.difference),
        low: ok.map(|found| found.interval.low),
        high: ok.map(|found| found.interval.high),
        level: level.get(),
        p: ok.map(|found| found.p),
        p_adjusted: None,
        undefined: powered.err(),
        call: Conclusion::Inconclusive,
        says: String::new(),
    })
}

fn powered_difference(
    base: &[&CalibrationItem],
    candidate: &[&CalibrationItem],
    assume_random: bool,
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<PoweredDifference, String> {
    let side_items = |side: &[&CalibrationItem], name: &str| -> Result<Vec<SideItem<String>>, String> {
        let labelled: Vec<&CalibrationItem> =
            side.iter().copied().filter(|item| item.people_mean().is_some()).collect();
        if (labelled.len() as u64) < FEW_ITEMS {
            let n = labelled.len();
            return Err(format!("it takes {FEW_ITEMS} labels of each run, and the {name} has {n}"));
        }
        let drawn = drawing_probabilities(&labelled, side.len(), assume_random)
            .map_err(|reason| format!("in the {name}, {reason}"))?;
        let mut drawn = drawn.into_iter();
        let item = |item: &&CalibrationItem| SideItem {
            // A case is the same unit in both runs, even if labels give it different clusters.
            cluster: format!("{}\u{0}{}", item.key.suite, item.key.case),
            judge: item.judge_number().unwrap_or_default(),
            label: item.people_mean().and_then(|value| Some((value, drawn.next()?))),
        };
        Ok(side.iter().map(item).collect())
    };
    let (base, candidate) = (side_items(base, "base")?, side_items(candidate, "candidate")?);
    prediction_powered_difference([&base, &candidate], range, level).map_err(|reason| reason.to_string())
}

impl LabelledDifference {
    /// Formats a value of the metric.
    fn format(&self, value: f64) -> String {
        if self.scores { format!("{value:.2}") } else { format!("{:.1}%", value * 100.0) }
    }

    fn conclude(&mut self, is_shown: bool) {
        self.call = match self.difference {
            Some(difference) if is_shown && difference > 0.0 => Conclusion::Better,
            Some(difference) if is_shown && difference < 0.0 => Conclusion::Worse,
            _ => Conclusion::Inconclusive,
        };
        let what = if self.scores { "Mean raw score of criteria" } else { "Share of criteria met" };
        let judges =
            format!("{} → {} by the judges", self.format(self.judges[0]), self.format(self.judges[1]));
        let reason = self.undefined.as_deref().unwrap_or("it is undefined");
        let (Some(difference), Some(low), Some(high), Some(people)) =
            (self.difference, self.low, self.high, self.people)
        else {
            self.says = format!("{what}: {judges}; not corrected, because {reason}.");
            return;
        };

        let (change, range) = if self.scores {
            (format!("{difference:+.2}"), format!("{low:+.2} to {high:+.2}"))
        } else {
            (MetricUnit::Rate.format_change(difference), MetricUnit::Rate.format_interval(low, high))
        };
        let word = match self.call {
            Conclusion::Better => "better",
            Conclusion::Worse => "worse",
            _ => "no significant difference",
        };
        let level = ConfidenceLevel::new(self.level).map(format_level).unwrap_or_default();
        self.says = format!(
            "{what}: {judges}; {} → {} as people decide: {change} ({level} CI {range}), {word}. {} and {} of {} labelled.",
            self.format(people[0]),
            self.format(people[1]),
            self.labels[0],
            self.labels[1],
            self.items,
        );
    }
}
