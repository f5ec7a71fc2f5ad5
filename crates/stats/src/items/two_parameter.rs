//! The two-parameter logistic model: how well each criterion distinguishes answers by ability, and how difficult it is.

use crate::{UndefinedReason, symmetric_matrix::SymmetricMatrix};

/// Minimum number of answers. With fewer, discriminations are mostly chance.
pub const MIN_ANSWERS: usize = 100;

/// Minimum number of criteria: two only determine the product of their discriminations.
const MIN_CRITERIA: usize = 3;

/// Number of ability values: from -6 to 6 in steps of 0.2.
const NODES: usize = 61;

/// Maximum number of steps; a fit that still changes then is given up.
const MAX_STEPS: usize = 3_000;

/// The fit has converged when no parameter changes by more than this.
const CONVERGED: f64 = 1e-7;

/// A discrimination beyond this is taken as a sign that the likelihood has no maximum.
const MAX_DISCRIMINATION: f64 = 15.0;

/// Curve of one criterion: it is met with the probability `1 / (1 + exp(-a (ability - b)))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemCurve {
    /// a: the slope. At 0 the criterion does not depend on ability; below 0, worse answers meet it more often.
    pub discrimination: f64,
    /// Standard error of the discrimination.
    pub discrimination_se: f64,
    /// b: the ability at which half of the answers meet the criterion, in standard deviations of abilities.
    /// Undefined if the discrimination is 0.
    pub difficulty: Result<f64, UndefinedReason>,
    /// -a b: the logit of being met at average ability.
    intercept: f64,
}

impl ItemCurve {
    /// Probability that an answer of this ability meets the criterion.
    fn probability(&self, ability: f64) -> f64 {
        logistic(self.discrimination * ability + self.intercept)
    }

    /// Fisher's information about the ability.
    fn information(&self, ability: f64) -> f64 {
        let p = self.probability(ability);
        self.discrimination * self.discrimination * p * (1.0 - p)
    }
}

/// A fitted model. Abilities of answers have mean 0 and standard deviation 1.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoParameterModel {
    /// Curve of each criterion.
    pub curves: Vec<ItemCurve>,
    /// Ability of each answer: mean and standard deviation of its posterior.
    pub abilities: Vec<(f64, f64)>,
    /// Number of steps until the fit converged.
    pub steps: usize,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Abilities, and the share of answers at each of them.
fn nodes() -> Vec<(f64, f64)> {
    let at = |index: usize| 12.0 * index as f64 / (NODES - 1) as f64 - 6.0;
    let density = |ability: f64| (-ability * ability / 2.0).exp();
    let all: f64 = (0..NODES).map(|index| density(at(index))).sum();
    (0..NODES).map(|index| (at(index), density(at(index)) / all)).collect()
}

/// Fits the model by marginal maximum likelihood, with normally distributed abilities. `answers` has a row
/// for each answer: met, unmet, or not decided. Answers are assumed to be independent. Fails with fewer than
/// 100 answers or three criteria, if a criterion is always or never met, and if the likelihood has no
/// maximum. Sources: A. Birnbaum in F. Lord and M. Novick (1968), chapters 17-20; R. Bock and M. Aitkin,
/// Psychometrika 46 (1981), 443-459. Standard errors come from the cross-product of scores.
pub fn two_parameter_model(
    answers: &[Vec<Option<bool>>],
    criteria: usize,
) -> Result<TwoParameterModel, UndefinedReason> {
    if answers.iter().any(|answer| answer.len() != criteria) {
        return Err(UndefinedReason::UnequalLengths);
    }
    if answers.len() < MIN_ANSWERS || criteria < MIN_CRITERIA {
        return Err(UndefinedReason::TooFew);
    }
    let met = |criterion: usize, wanted: bool| answers.iter().any(|answer| answer[criterion] == Some(wanted));
    if (0..criteria).any(|criterion| !met(criterion, true) || !met(criterion, false)) {
        return Err(UndefinedReason::NoSpread);
    }

    let nodes = nodes();
    let mut curves = vec![(1.0, 0.0); criteria];
    for steps in 1..=MAX_STEPS {
        let posteriors = posteriors(answers, &curves, &nodes);
        let mut moved: f64 = 0.0;
        for (criterion, curve) in curves.iter_mut().enumerate() {
            let next = best_curve(answers, &posteriors, &nodes, criterion, *curve)?;
            moved = moved.max((next.0 - curve.0).abs()).max((next.1 - curve.1).abs());
            *curve = next;
        }
        if curves.iter().any(|(slope, _)| slope.abs() > MAX_DISCRIMINATION) {
            return Err(UndefinedReason::Unbounded);
        }
        if moved < CONVERGED {
            return finish(answers, curves, &nodes, steps);
        }
    }

    Err(UndefinedReason::NotFinite)
}

/// Returns the probability of each ability for each answer.
fn posteriors(
    answers: &[Vec<Option<bool>>],
    curves: &[(f64, f64)],
    nodes: &[(f64, f64)],
) -> Vec<[f64; NODES]> {
    let log = |p: f64| p.max(1e-300).ln();
    let logs: Vec<Vec<(f64, f64)>> = curves
        .iter()
        .map(|(slope, intercept)| {
            let at = |(ability, _): &(f64, f64)| {
                let logit = slope * ability + intercept;
                (log(logistic(logit)), log(logistic(-logit)))
            };
            nodes.iter().map(at).collect()
        })
        .collect();

    answers
        .iter()
        .map(|answer| {
            let mut found = [0.0; NODES];
            for (value, (_, share)) in found.iter_mut().zip(nodes) {
                *value = share.ln();
            }
            for (decided, logs) in answer.iter().zip(&logs) {
                let Some(met) = decided else { continue };
                for (value, (yes, no)) in found.iter_mut().zip(logs) {
                    *value += if *met { *yes } else { *no };
                }
            }

            let most = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for value in &mut found {
                *value = (*value - most).exp();
                sum += *value;
            }
            found.map(|value| value / sum)
        })
        .collect()
}

/// Returns the most likely slope and intercept of a criterion, given the abilities: logistic regression by
/// Newton's method.
fn best_curve(
    answers: &[Vec<Option<bool>>],
    posteriors: &[[f64; NODES]],
    nodes: &[(f64, f64)],
    criterion: usize,
    (mut slope, mut intercept): (f64, f64),
) -> Result<(f64, f64), UndefinedReason> {
    let (mut all, mut met) = ([0.0; NODES], [0.0; NODES]);
    for (answer, posterior) in answers.iter().zip(posteriors) {
        let Some(decided) = answer[criterion] else { continue };
        for node in 0..NODES {
            all[node] += posterior[node];
            if decided {
                met[node] += posterior[node];
            }
        }
    }

    for _ in 0..25 {
        let (mut gradient, mut curvature) = ((0.0, 0.0), (0.0, 0.0, 0.0));
        for (node, (ability, _)) in nodes.iter().enumerate() {
            let p = logistic(slope * ability + intercept);
            let (rest, weight) = (met[node] - all[node] * p, all[node] * p * (1.0 - p));
            gradient = (gradient.0 + rest * ability, gradient.1 + rest);
            curvature = (
                curvature.0 + weight * ability * ability,
                curvature.1 + weight * ability,
                curvature.2 + weight,
            );
        }

        let determinant = curvature.0 * curvature.2 - curvature.1 * curvature.1;
        if determinant <= 0.0 || determinant.is_nan() {
            return Err(UndefinedReason::NotFinite);
        }
        let by = (
            (curvature.2 * gradient.0 - curvature.1 * gradient.1) / determinant,
            (curvature.0 * gradient.1 - curvature.1 * gradient.0) / determinant,
        );
        slope += by.0.clamp(-2.0, 2.0);
        intercept += by.1.clamp(-2.0, 2.0);
        if by.0.abs().max(by.1.abs()) < CONVERGED / 100.0 {
            break;
        }
    }

    Ok((slope, intercept))
}

fn finish(
    answers: &[Vec<Option<bool>>],
    mut curves: Vec<(f64, f64)>,
    nodes: &[(f64, f64)],
    steps: usize,
) -> Result<TwoParameterModel, UndefinedReason> {
    // The likelihood does not depend on the direction of ability, so the signs are chosen such that meeting
    // more criteria means more ability.
    if curves.iter().map(|(slope, _)| slope).sum::<f64>() < 0.0 {
        for curve in &mut curves {
            curve.0 = -curve.0;
        }
    }

    let posteriors = posteriors(answers, &curves, nodes);
    let mut information = SymmetricMatrix::zero(2 * curves.len());
    for (answer, posterior) in answers.iter().zip(&posteriors) {
        let mut score = vec![0.0; 2 * curves.len()];
        for (criterion, (slope, intercept)) in curves.iter().enumerate() {
            let Some(met) = answer[criterion] else { continue };
            for ((ability, _), p) in nodes.iter().zip(posterior) {
                let rest = f64::from(u8::from(met)) - logistic(slope * ability + intercept);
                score[2 * criterion] += p * rest * ability;
                score[2 * criterion + 1] += p * rest;
            }
        }
        information.add_outer_product(&score, 1.0);
    }
    let covariance = information.inverse().ok_or(UndefinedReason::NotFinite)?;

    let curve = |(criterion, (slope, intercept)): (usize, &(f64, f64))| ItemCurve {
        discrimination: *slope,
        discrimination_se: covariance.get(2 * criterion, 2 * criterion).max(0.0).sqrt(),
        difficulty: if slope.abs() < 1e-3 { Err(UndefinedReason::NoSpread) } else { Ok(-intercept / slope) },
        intercept: *intercept,
    };
    let ability = |posterior: &[f64; NODES]| {
        let mean: f64 = posterior.iter().zip(nodes).map(|(p, (ability, _))| p * ability).sum();
        let variance: f64 =
            posterior.iter().zip(nodes).map(|(p, (ability, _))| p * (ability - mean).powi(2)).sum();
        (mean, variance.max(0.0).sqrt())
    };

    Ok(TwoParameterModel {
        curves: curves.iter().enumerate().map(curve).collect(),
        abilities: posteriors.iter().map(ability).collect(),
        steps,
    })
}

impl TwoParameterModel {
    /// Returns the reliability with which some criteria measure ability, 0 to 1: `1 - E[1 / (1 +
    /// information)]` over abilities, which is the share of the variance of ability that they explain.
    /// Source: B. Green, R. Bock, L. Humphreys, R. Linn and M. Reckase, Journal of Educational Measurement 21
    /// (1984), 347-360.
    pub fn reliability(&self, criteria: &[usize]) -> f64 {
        let unknown = nodes().into_iter().map(|(ability, share)| {
            let known: f64 = criteria.iter().map(|&at| self.curves[at].information(ability)).sum();
            share / (1.0 + known)
        });
        1.0 - unknown.sum::<f64>()
    }

    /// Orders the criteria so that each adds the most to the reliability of the ones before it; the first k are a short
    /// form. Each has the reliability of the form that ends with it.
    pub fn short_form(&self) -> Vec<(usize, f64)> {
        let mut left: Vec<usize> = (0..self.curves.len()).collect();
        let (mut chosen, mut found) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let with = |at: usize| {
                let mut form: Vec<usize> = chosen.clone();
                form.push(at);
                self.reliability(&form)
            };
            let mut best = (0, f64::NEG_INFINITY);
            for (place, &at) in left.iter().enumerate() {
                let reliability = with(at);
                if reliability > best.1 {
                    best = (place, reliability);
                }
            }

            let at = left.remove(best.0);
            chosen.push(at);
            found.push((at, best.1));
        }

        found
    }
}
