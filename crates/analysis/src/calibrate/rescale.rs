//! Rescaling of a judge's scores and probabilities to people's scores, measured by cross-validation.

use std::collections::{BTreeMap, BTreeSet};

use assize_stats::{
    ConfidenceLevel, UndefinedReason, bounded_mean_clustered,
    judge_quality::{ConfusionTable, IsotonicFit, PlattFit, choose_threshold, conformal_radius, fit_line},
};

use super::item::{CalibrationItem, DecisionValue};
use super::material::{CalibrationMaterial, MaterialError};
use super::pairing::{JudgePeoplePair, confusion_table, pair_up};
use super::report::{CalibrationOptions, clamp_to_scale, score_range, unify_codes};
use crate::metric::MetricEstimate;

/// Maximum number of folds of the cross-validation.
const MAX_FOLDS: usize = 10;
/// Minimum number of clusters: with fewer, a fold says little about the others.
const MIN_CLUSTERS: usize = 10;

/// A method of rescaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RescaleMethod {
    /// The judge's number unchanged.
    None,
    /// A straight line, for scores.
    Line,
    /// A logistic curve, for probabilities of verdicts.
    Platt,
    /// A non-decreasing step function.
    Isotonic,
}

impl RescaleMethod {
    /// Returns the name shown to people and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "as it is",
            Self::Line => "line",
            Self::Platt => "Platt",
            Self::Isotonic => "isotonic",
        }
    }
}

/// A fitted function from the judge's number to people's.
#[derive(Debug, Clone, PartialEq)]
pub enum RescaleFit {
    /// The number unchanged.
    Identity,
    /// `offset + slope x`.
    Line {
        /// Increase per unit.
        slope: f64,
        /// Value at 0.
        offset: f64,
    },
    /// `1 / (1 + exp(slope x + offset))`.
    Platt(PlattFit),
    /// Interpolation between points.
    Isotonic(IsotonicFit),
}

impl RescaleFit {
    fn fit(method: RescaleMethod, x: &[f64], y: &[f64]) -> Result<Self, UndefinedReason> {
        match method {
            RescaleMethod::None => Ok(Self::Identity),
            RescaleMethod::Line => fit_line(x, y, ConfidenceLevel::P95)
                .map(|fit| Self::Line { slope: fit.slope, offset: fit.intercept }),
            RescaleMethod::Platt => {
                let met: Vec<bool> = y.iter().map(|value| *value > 0.5).collect();
                PlattFit::fit(x, &met).map(Self::Platt)
            }
            RescaleMethod::Isotonic => IsotonicFit::fit(x, y, None).map(Self::Isotonic),
        }
    }

    /// Returns the expected number of people for a number of the judge.
    pub fn predict(&self, x: f64) -> Result<f64, UndefinedReason> {
        match self {
            Self::Identity => Ok(x),
            Self::Line { slope, offset } => Ok(slope.mul_add(x, *offset)),
            Self::Platt(fit) => Ok(fit.predict(x)),
            Self::Isotonic(fit) => fit.predict(x),
        }
    }
}

/// A method, its error on items that it was not fitted to, and its fit to all items.
#[derive(Debug, Clone, PartialEq)]
pub struct RescaleResult {
    /// The method.
    pub method: RescaleMethod,
    /// Mean error by cross-validation: squared for verdicts (Brier), absolute for scores.
    pub error: MetricEstimate,
    /// Fit to all items.
    pub fit: Result<RescaleFit, UndefinedReason>,
    /// Half-width of the conformal interval for a person's score, in units of that score; `None` for
    /// verdicts.
    pub radius: Option<Result<f64, UndefinedReason>>,
}

/// A threshold for probabilities: its choice, and how well that choice works.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdReport {
    /// The threshold chosen on all items; an item counts as met at or above it.
    pub threshold: f64,
    /// Mean of sensitivity and specificity by cross-validation: each fold is judged with a threshold chosen
    /// on the others.
    pub chosen: Result<f64, UndefinedReason>,
    /// The same mean with the threshold 0.5.
    pub half: Result<f64, UndefinedReason>,
}

/// Rescalings of a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct RescaleReport {
    /// True if people gave scores instead of verdicts.
    pub scores: bool,
    /// Number of pairs of a judge's and a person's number.
    pub pairs: usize,
    /// Number of clusters. Cross-validation never splits a cluster.
    pub clusters: usize,
    /// Number of folds.
    pub folds: usize,
    /// Level of the conformal intervals.
    pub level: f64,
    /// All methods, the unchanged number first.
    pub methods: Vec<RescaleResult>,
    /// Index of the method with the smallest error.
    pub best: usize,
    /// Half-widths of the best method for each system separately; empty for verdicts, and unless there are
    /// several systems.
    pub systems: Vec<SystemRadius>,
    /// Threshold for probabilities; `None` for scores.
    pub threshold: Option<Result<ThresholdReport, UndefinedReason>>,
}

/// Half-width of the conformal interval for people's scores of the answers of one system. Its coverage holds
/// for this system and not only on average over all systems, because the judge may be more precise on some of
/// them. Source: V. Vovk, D. Lindsay, I. Nouretdinov and A. Gammerman, Mondrian Confidence Machine (2003).
#[derive(Debug, Clone, PartialEq)]
pub struct SystemRadius {
    /// Name of the system.
    pub system: String,
    /// Number of pairs.
    pub pairs: usize,
    /// The half-width, in units of people's scores; undefined with too few pairs.
    pub radius: Result<f64, UndefinedReason>,
}

/// Fits and cross-validates rescalings of the judge's scores, or of its probabilities if people gave
/// verdicts. All criteria are fitted together. Fails if verdicts and scores are mixed, or if the judge gave
/// no numbers.
pub fn rescale(
    mut material: CalibrationMaterial,
    options: &CalibrationOptions,
) -> Result<RescaleReport, RescaleError> {
    let mut problems = unify_codes(&mut material.items, options.scale.is_some());
    problems.extend(clamp_to_scale(&mut material.items, options));
    if !problems.is_empty() {
        return Err(MaterialError::Problems(problems).into());
    }

    let items: Vec<&CalibrationItem> = material.items.iter().collect();
    let (pairs, _) = pair_up(&items, options.truth);
    let is_score = |pair: &JudgePeoplePair| {
        items[pair.item].truths().any(|said| matches!(said, DecisionValue::Score(_)))
    };
    let scores = pairs.iter().filter(|pair| is_score(pair)).count();
    if scores > 0 && scores < pairs.len() {
        return Err(RescaleError::Mixed);
    }

    let scores = scores > 0;
    let known: Vec<(f64, JudgePeoplePair)> = pairs
        .iter()
        .filter_map(|pair| {
            let probability = items[pair.item].judge.as_ref()?.probability;
            Some((if scores { Some(pair.judge) } else { probability }?, *pair))
        })
        .collect();
    if known.is_empty() {
        return Err(RescaleError::NoNumbers);
    }

    let clusters = known.iter().map(|(_, pair)| pair.cluster).collect::<BTreeSet<_>>();
    if clusters.len() < MIN_CLUSTERS {
        return Err(RescaleError::TooFew(clusters.len()));
    }

    let range = if scores { score_range(&items, options) } else { (0.0, 1.0) };
    let systems: Vec<String> =
        known.iter().map(|(_, pair)| items[pair.item].key.system.to_string()).collect();
    let level = options.resampling.level;
    Ok(CrossValidation::new(known, &clusters).report(scores, range, &systems, level))
}

/// Reason why nothing can be rescaled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RescaleError {
    /// The labels can't be used.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// Some items have verdicts and others scores.
    #[error("some criteria have verdicts and others scores; rescale them one table at a time")]
    Mixed,
    /// The judge gave no probabilities, or there are no pairs.
    #[error(
        "no labelled item has a number of the judge to rescale: a score, or a probability beside a verdict of people"
    )]
    NoNumbers,
    /// There are too few clusters; holds their number.
    #[error("only {0} independent cases are labelled; rescaling needs at least {MIN_CLUSTERS}")]
    TooFew(usize),
}

/// Pairs divided into folds, each cluster within one fold.
struct CrossValidation {
    x: Vec<f64>,
    pairs: Vec<JudgePeoplePair>,
    /// Fold of each pair.
    part: Vec<usize>,
    clusters: usize,
    folds: usize,
}

impl CrossValidation {
    fn new(known: Vec<(f64, JudgePeoplePair)>, clusters: &BTreeSet<usize>) -> Self {
        let folds = clusters.len().min(MAX_FOLDS);
        let (x, pairs): (Vec<f64>, Vec<JudgePeoplePair>) = known.into_iter().unzip();
        // Ordered by hash, so that no pattern in the order of cases determines the folds.
        let mut order: Vec<usize> = clusters.iter().copied().collect();
        order.sort_by_key(|cluster| *blake3::hash(&cluster.to_le_bytes()).as_bytes());
        let parts: BTreeMap<usize, usize> =
            order.into_iter().enumerate().map(|(at, cluster)| (cluster, at % folds)).collect();
        let part = pairs.iter().map(|pair| parts.get(&pair.cluster).copied().unwrap_or_default()).collect();

        Self { x, pairs, part, clusters: clusters.len(), folds }
    }

    /// The judge's and people's numbers of the folds that `takes` accepts.
    fn select(&self, takes: impl Fn(usize) -> bool) -> (Vec<f64>, Vec<f64>) {
        let chosen = (0..self.x.len()).filter(|&at| takes(self.part[at]));
        chosen.map(|at| (self.x[at], self.pairs[at].people)).unzip()
    }

    /// People's numbers minus the predictions of fits to the other folds.
    fn residuals(&self, method: RescaleMethod) -> Result<Vec<f64>, UndefinedReason> {
        let mut residuals = vec![0.0; self.x.len()];
        for part in 0..self.folds {
            let (x, y) = self.select(|other| other != part);
            let fit = RescaleFit::fit(method, &x, &y)?;
            for at in (0..self.x.len()).filter(|&at| self.part[at] == part) {
                residuals[at] = self.pairs[at].people - fit.predict(self.x[at])?;
            }
        }

        Ok(residuals)
    }

    fn result(
        &self,
        method: RescaleMethod,
        scores: bool,
        (least, most): (f64, f64),
        level: ConfidenceLevel,
    ) -> RescaleResult {
        let residuals = self.residuals(method);
        let power = if scores { 1 } else { 2 };
        let clusters: Vec<usize> = self.pairs.iter().map(|pair| pair.cluster).collect();
        let mean = residuals.as_ref().map_err(|reason| *reason).and_then(|residuals| {
            let sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs().powi(power)).collect();
            // The predictions of a line may be outside the scale.
            let farthest = sizes.iter().copied().fold((most - least).powi(power), f64::max);
            bounded_mean_clustered(&sizes, &clusters, (0.0, farthest), level)
        });
        let (x, y) = self.select(|_| true);

        RescaleResult {
            method,
            error: MetricEstimate {
                id: if scores { "mae" } else { "brier" },
                name: if scores { "mean absolute error" } else { "Brier score" },
                value: mean.map(|mean| mean.mean),
                interval: mean.and_then(|mean| mean.interval),
                n: self.pairs.len() as u64,
                of: "pairs",
                says: "Error on items that were not fitted to; 0 is best.",
            },
            fit: RescaleFit::fit(method, &x, &y),
            radius: scores.then(|| conformal_radius(&residuals?, level)),
        }
    }

    /// Half-widths for each system, if there are several.
    fn radii(&self, method: RescaleMethod, systems: &[String], level: ConfidenceLevel) -> Vec<SystemRadius> {
        let mut by_system: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (system, residual) in systems.iter().zip(self.residuals(method).unwrap_or_default()) {
            by_system.entry(system.as_str()).or_default().push(residual);
        }
        if by_system.len() < 2 {
            return Vec::new();
        }

        by_system
            .into_iter()
            .map(|(system, residuals)| SystemRadius {
                system: system.to_owned(),
                pairs: residuals.len(),
                radius: conformal_radius(&residuals, level),
            })
            .collect()
    }

    fn threshold(&self) -> Result<ThresholdReport, UndefinedReason> {
        let met = |y: &[f64]| y.iter().map(|value| *value > 0.5).collect::<Vec<bool>>();
        let verdicts = |threshold: &dyn Fn(usize) -> f64| -> ConfusionTable {
            let judged: Vec<JudgePeoplePair> = (0..self.x.len())
                .map(|at| {
                    let judge = f64::from(u8::from(self.x[at] >= threshold(self.part[at])));
                    JudgePeoplePair { judge, ..self.pairs[at] }
                })
                .collect();
            confusion_table(&judged)
        };

        let (x, y) = self.select(|_| true);
        let all = choose_threshold(&x, &met(&y))?;
        let of_parts: Result<Vec<f64>, UndefinedReason> = (0..self.folds)
            .map(|part| {
                let (x, y) = self.select(|other| other != part);
                choose_threshold(&x, &met(&y)).map(|found| found.threshold)
            })
            .collect();

        Ok(ThresholdReport {
            threshold: all.threshold,
            chosen: of_parts.and_then(|of| verdicts(&|part| of[part]).balanced_accuracy()),
            half: verdicts(&|_| 0.5).balanced_accuracy(),
        })
    }

    /// `systems` has the system of each pair.
    fn report(
        &self,
        scores: bool,
        range: (f64, f64),
        systems: &[String],
        level: ConfidenceLevel,
    ) -> RescaleReport {
        let other = if scores { RescaleMethod::Line } else { RescaleMethod::Platt };
        let methods: Vec<RescaleResult> = [RescaleMethod::None, other, RescaleMethod::Isotonic]
            .into_iter()
            .map(|method| self.result(method, scores, range, level))
            .collect();
        let error = |result: &RescaleResult| result.error.value.unwrap_or(f64::INFINITY);
        let mut best = 0;
        for at in 1..methods.len() {
            if error(&methods[at]) < error(&methods[best]) - assize_rubric::TOLERANCE {
                best = at;
            }
        }

        RescaleReport {
            scores,
            pairs: self.pairs.len(),
            clusters: self.clusters,
            folds: self.folds,
            level: level.get(),
            systems: if scores { self.radii(methods[best].method, systems, level) } else { Vec::new() },
            methods,
            best,
            threshold: (!scores).then(|| self.threshold()),
        }
    }
}
