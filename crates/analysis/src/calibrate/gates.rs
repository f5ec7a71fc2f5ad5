//! Minimum values that a judge must reach to be used.
//!
//! A gate must not pass by luck. So the estimate counts only if its interval is above the value of a guessing
//! judge, too few labels always fail, and missing decisions of the judge are assumed to be wrong.

use assize_stats::{RateInterval, UndefinedReason, proportion_by};
use serde::Serialize;

use super::report::{CalibrationReport, CalibrationSection};
use crate::claims::least_pairs;
use crate::metric::MetricEstimate;

/// Value that is compared with a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateBasis {
    /// The estimate itself, provided that its interval lies above the value that guessing reaches.
    #[default]
    Estimate,
    /// Lower end of its interval, so that few labels can't pass by luck. For a share it is the end of Clopper
    /// and Pearson's interval, because only there each end errs with at most half of the error probability.
    /// Blaker's interval does not guarantee that, and its lower end may fall when another success is added.
    Lower,
}

/// Minimum required of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationGate {
    /// Name of the metric in records.
    pub figure: &'static str,
    /// Value it must reach.
    pub least: f64,
}

/// Result of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationGateResult {
    /// The gate.
    pub request: CalibrationGate,
    /// Title of the section whose items were measured.
    pub section: String,
    /// Value that was compared; an undefined metric fails.
    pub value: Result<f64, UndefinedReason>,
    /// Set if there are too few labels for any value to pass.
    pub few: Option<FewLabels>,
    /// True if every possible value of the missing decisions reaches the minimum.
    pub passed: bool,
    /// True if the judge's decisions reach the minimum, but its missing decisions could change that.
    pub undecided: bool,
}

/// Labels so few that a guessing judge would often agree with all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FewLabels {
    /// Number of labels or clusters found.
    pub found: usize,
    /// Smallest number with which a gate can be passed at this level.
    pub least: usize,
    /// True if clusters are counted, because some hold several labels.
    pub is_clustered: bool,
}

impl std::fmt::Display for FewLabels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (one, many) = if self.is_clustered {
            ("cluster with labels", "clusters with labels")
        } else {
            ("label", "labels")
        };
        let word = if self.found == 1 { one } else { many };
        write!(
            f,
            "{} {word} could agree by chance: at this level, at least {} are needed",
            self.found, self.least
        )
    }
}

/// Metrics that are shares of labels. Their exact lower bound already accounts for the number of labels.
const SHARES: [&str; 3] = ["accuracy", "sensitivity", "specificity"];

/// Returns the number of labels if it is too small for a metric. It is never too small for shares of
/// independent labels.
fn too_few(section: &CalibrationSection, figure: &MetricEstimate) -> Option<FewLabels> {
    if SHARES.contains(&figure.id) && !section.is_clustered {
        return None;
    }

    figure.value.ok()?;
    let few = FewLabels {
        found: section.clusters,
        least: least_pairs(figure.interval.ok()?.level),
        is_clustered: section.is_clustered,
    };
    (few.found < few.least).then_some(few)
}

/// Returns the value that a guessing judge reaches. Two lucky pairs make full agreement, but the interval of
/// full agreement over two pairs reaches below this value.
fn guessing_level(figure: &str) -> f64 {
    match figure {
        "accuracy" | "balanced_accuracy" | "macro_f1" | "sensitivity" | "specificity" | "auroc" => 0.5,
        _ => 0.0,
    }
}

/// Value of a metric that is compared with the minimum.
fn compared_value(figure: &MetricEstimate, on: GateBasis) -> Result<f64, UndefinedReason> {
    let low = figure
        .interval
        .map(|interval| exact_low(figure).map_or(interval.low, |exact| exact.min(interval.low)));
    match on {
        GateBasis::Estimate => figure.value.and_then(|value| {
            if low? > guessing_level(figure.id) { Ok(value) } else { Err(UndefinedReason::NotAboveGuessing) }
        }),
        GateBasis::Lower => low,
    }
}

/// Lower end of the exact interval of a share; `None` for other metrics.
fn exact_low(figure: &MetricEstimate) -> Option<f64> {
    if !SHARES.contains(&figure.id) {
        return None;
    }

    let successes = (figure.value.ok()? * figure.n as f64).round() as u64;
    let level = figure.interval.ok()?.level;
    let exact = proportion_by(RateInterval::ClopperPearson, successes, figure.n, level);

    exact.interval.ok().map(|interval| interval.low)
}

/// Checks the gates against the sections over all items. A gate on a metric that does not exist fails.
pub fn check_calibration_gates(
    calibration: &CalibrationReport,
    requests: &[CalibrationGate],
    on: GateBasis,
) -> Vec<CalibrationGateResult> {
    let overall = |section: &&CalibrationSection| section.is_overall;
    requests
        .iter()
        .flat_map(|request| {
            let mut results: Vec<CalibrationGateResult> = calibration
                .sections
                .iter()
                .filter(overall)
                .filter_map(|section| {
                    let figure = section.figures.iter().find(|figure| figure.id == request.figure)?;
                    let few = too_few(section, figure);
                    let value = match few {
                        Some(_) => Err(UndefinedReason::TooFew),
                        None => compared_value(figure, on),
                    };
                    let reaches = |value: Result<f64, UndefinedReason>| {
                        value.is_ok_and(|value| assize_rubric::at_least(value, request.least))
                    };
                    let worst = section.worst.iter().find(|worst| worst.id == request.figure);
                    let is_open = calibration.is_partial && calibration.left_out.unmatched > 0
                        || worst.is_some_and(|worst| !reaches(compared_value(worst, on)));

                    Some(CalibrationGateResult {
                        request: *request,
                        section: section.title.clone(),
                        value,
                        few,
                        passed: reaches(value) && !is_open,
                        undecided: reaches(value) && is_open,
                    })
                })
                .collect();
            if results.is_empty() {
                let (section, value) = ("all".to_owned(), Err(UndefinedReason::NoValues));
                results.push(CalibrationGateResult {
                    request: *request,
                    section,
                    value,
                    few: None,
                    passed: false,
                    undecided: false,
                });
            }

            results
        })
        .collect()
}
