//! The graded response model: how well each criterion distinguishes answers by ability, and how difficult the steps of
//! its scores are. A criterion that is met or unmet has one step; for such criteria alone, this is the two-parameter
//! logistic model.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason, distribution::normal_critical_value,
    symmetric_matrix::SymmetricMatrix,
};

/// Minimum number of answers. With fewer, discriminations are mostly chance.
const MIN_ANSWERS: usize = 100;

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

/// Curves of one criterion: step k or a higher one is reached with the probability `1 / (1 + exp(-a (ability - b_k)))`.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemCurve {
    /// a: the slope. At 0 the criterion does not depend on ability; below 0, worse answers reach higher steps more often.
    pub discrimination: f64,
    /// Standard error of the discrimination.
    pub discrimination_se: f64,
    /// The slope, then `-a b_k`, the logit of reaching each step at average ability.
    parameters: Vec<f64>,
    /// Covariance of the parameters.
    covariance: SymmetricMatrix,
    /// Fisher's information about each ability.
    information: Vec<f64>,
}

impl ItemCurve {
    /// Returns the lower end of the interval of the slope, by its standard error.
    pub fn slope_at_least(&self, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
        Ok(self.discrimination - normal_critical_value(level)? * self.discrimination_se)
    }

    /// Returns b of each step with its interval: the ability at which half of the answers reach the step, in standard
    /// deviations of abilities. Undefined if the discrimination may be 0: then the interval has no ends. Source: E.
    /// Fieller, Journal of the Royal Statistical Society B 16 (1954), 175-185.
    pub fn difficulties(&self, level: ConfidenceLevel) -> Result<Vec<(f64, Interval)>, UndefinedReason> {
        let square = normal_critical_value(level)?.powi(2);
        let slope = self.parameters[0];
        let known = slope * slope - square * self.covariance.get(0, 0);
        if known <= 0.0 {
            return Err(UndefinedReason::FlatCurve);
        }

        let of_step = |step: usize| {
            let cut = self.parameters[step];
            let half = slope * cut - square * self.covariance.get(0, step);
            let rest = cut * cut - square * self.covariance.get(step, step);
            let reach = (half * half - known * rest).max(0.0).sqrt();
            let (low, high) = ((-half - reach) / known, (reach - half) / known);
            (-cut / slope, Interval { low, high, level, method: IntervalMethod::Fieller })
        };
        Ok((1..self.parameters.len()).map(of_step).collect())
    }
}

/// A fitted model. Abilities of answers have mean 0 and standard deviation 1.
#[derive(Debug, Clone, PartialEq)]
pub struct GradedResponseModel {
    /// Curves of each criterion.
    pub curves: Vec<ItemCurve>,
    /// Ability of each answer: mean and standard deviation of its posterior.
    pub abilities: Vec<(f64, f64)>,
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

/// A step at one ability.
struct StepTerm {
    /// Probability of this step, and no higher one.
    probability: f64,
    /// Derivative of its logarithm in the logits.
    tilt: f64,
    /// Derivative of its logarithm in the parameters.
    score: Vec<f64>,
}

impl StepTerm {
    fn new(parameters: &[f64], ability: f64, step: usize) -> Self {
        let last = parameters.len() - 1;
        let logit = |step: usize| parameters[0] * ability + parameters[step];
        let (reached, lower) =
            if step == 0 { (1.0, 0.0) } else { (logistic(logit(step)), logistic(-logit(step))) };
        let (ended, higher) =
            if step == last { (1.0, 0.0) } else { (logistic(-logit(step + 1)), logistic(logit(step + 1))) };
        // The difference of the two logistic functions, without cancellation.
        let apart = if step == 0 || step == last {
            1.0
        } else {
            1.0 - (parameters[step + 1] - parameters[step]).exp()
        };
        let probability = (reached * ended * apart).max(1e-300);

        let mut score = vec![0.0; parameters.len()];
        score[0] = ability * (lower - higher);
        if step > 0 {
            score[step] = reached * lower / probability;
        }
        if step < last {
            score[step + 1] = -ended * higher / probability;
        }
        Self { probability, tilt: lower - higher, score }
    }

    /// Each step of each criterion at each ability.
    fn table(curves: &[Vec<f64>], nodes: &[(f64, f64)]) -> Vec<Vec<Vec<Self>>> {
        let of_step =
            |curve: &[f64], step| nodes.iter().map(|(node, _)| Self::new(curve, *node, step)).collect();
        curves.iter().map(|curve| (0..curve.len()).map(|step| of_step(curve, step)).collect()).collect()
    }
}

/// Fits the model by marginal maximum likelihood, with normally distributed abilities. `answers` has a row for each
/// answer: the step that it reached on each criterion, from 0, or `None`. Answers are assumed to be independent. Fails
/// with fewer than 100 answers or three criteria, if a criterion does not have each of its steps, and if the likelihood
/// has no maximum. Sources: F. Samejima, Psychometrika Monograph 17 (1969); A. Birnbaum in F. Lord and M. Novick (1968),
/// chapters 17-20; R. Bock and M. Aitkin, Psychometrika 46 (1981), 443-459, with one step of Fisher's scoring in place of
/// each maximisation. Standard errors come from the cross-product of scores.
pub fn graded_response_model(answers: &[Vec<Option<usize>>]) -> Result<GradedResponseModel, UndefinedReason> {
    let criteria = answers.first().map_or(0, Vec::len);
    if answers.iter().any(|answer| answer.len() != criteria) {
        return Err(UndefinedReason::UnequalLengths);
    }
    if answers.len() < MIN_ANSWERS || criteria < MIN_CRITERIA {
        return Err(UndefinedReason::TooFew);
    }

    let nodes = nodes();
    let mut curves =
        (0..criteria).map(|criterion| start(answers, criterion)).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..MAX_STEPS {
        let terms = StepTerm::table(&curves, &nodes);
        let posteriors = posteriors(answers, &terms, &nodes);
        let mut moved: f64 = 0.0;
        for (criterion, curve) in curves.iter_mut().enumerate() {
            moved = moved.max(improve(answers, &posteriors, &terms[criterion], criterion, curve)?);
        }
        if curves.iter().any(|curve| curve[0].abs() > MAX_DISCRIMINATION) {
            return Err(UndefinedReason::Unbounded);
        }
        if moved < CONVERGED {
            return finish(answers, curves, &nodes);
        }
    }

    Err(UndefinedReason::NotFinite)
}

/// Returns a slope of 1 and the logits of the shares of answers that reach each step.
fn start(answers: &[Vec<Option<usize>>], criterion: usize) -> Result<Vec<f64>, UndefinedReason> {
    let given: Vec<usize> = answers.iter().filter_map(|answer| answer[criterion]).collect();
    let last = given.iter().copied().max().unwrap_or(0);
    let reached: Vec<usize> = (0..=last).map(|step| given.iter().filter(|of| **of >= step).count()).collect();
    if last == 0 || reached.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(UndefinedReason::NoSpread);
    }

    let logit = |reached: &usize| (*reached as f64 / (given.len() - reached) as f64).ln();
    Ok(std::iter::once(1.0).chain(reached[1..].iter().map(logit)).collect())
}

/// Returns the probability of each ability for each answer.
fn posteriors(
    answers: &[Vec<Option<usize>>],
    terms: &[Vec<Vec<StepTerm>>],
    nodes: &[(f64, f64)],
) -> Vec<[f64; NODES]> {
    let logs: Vec<Vec<Vec<f64>>> = terms
        .iter()
        .map(|steps| {
            steps.iter().map(|step| step.iter().map(|term| term.probability.ln()).collect()).collect()
        })
        .collect();
    answers
        .iter()
        .map(|answer| {
            let mut found = [0.0; NODES];
            for (value, (_, share)) in found.iter_mut().zip(nodes) {
                *value = share.ln();
            }
            for (step, logs) in answer.iter().zip(&logs) {
                let Some(step) = step else { continue };
                for (value, log) in found.iter_mut().zip(&logs[*step]) {
                    *value += log;
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

/// Moves the parameters of a criterion towards the most likely ones, given the abilities, by at most 1, and returns by
/// how much.
fn improve(
    answers: &[Vec<Option<usize>>],
    posteriors: &[[f64; NODES]],
    terms: &[Vec<StepTerm>],
    criterion: usize,
    curve: &mut [f64],
) -> Result<f64, UndefinedReason> {
    let mut expected = vec![[0.0; NODES]; curve.len()];
    for (answer, posterior) in answers.iter().zip(posteriors) {
        let Some(step) = answer[criterion] else { continue };
        for (sum, p) in expected[step].iter_mut().zip(posterior) {
            *sum += p;
        }
    }

    let mut gradient = vec![0.0; curve.len()];
    let mut information = SymmetricMatrix::zero(curve.len());
    for node in 0..NODES {
        let all: f64 = expected.iter().map(|of_step| of_step[node]).sum();
        for (of_step, terms) in expected.iter().zip(terms) {
            let term = &terms[node];
            for (sum, score) in gradient.iter_mut().zip(&term.score) {
                *sum += of_step[node] * score;
            }
            information.add_outer_product(&term.score, all * term.probability);
        }
    }

    let by = information.inverse().ok_or(UndefinedReason::NotFinite)?.multiply(&gradient);
    let most = by.iter().fold(0.0, |most: f64, by| most.max(by.abs()));
    let mut share = 1.0 / most.max(1.0);
    let moved = |share: f64| -> Vec<f64> { curve.iter().zip(&by).map(|(at, by)| at + share * by).collect() };
    // A higher step is reached less often.
    while moved(share)[1..].windows(2).any(|pair| pair[0] <= pair[1]) {
        share /= 2.0;
    }
    let next = moved(share);
    curve.copy_from_slice(&next);
    Ok(share * most)
}

fn finish(
    answers: &[Vec<Option<usize>>],
    mut curves: Vec<Vec<f64>>,
    nodes: &[(f64, f64)],
) -> Result<GradedResponseModel, UndefinedReason> {
    // The likelihood does not depend on the direction of ability, so the signs are chosen such that higher steps mean
    // more ability.
    if curves.iter().map(|curve| curve[0]).sum::<f64>() < 0.0 {
        for curve in &mut curves {
            curve[0] = -curve[0];
        }
    }

    let terms = StepTerm::table(&curves, nodes);
    let posteriors = posteriors(answers, &terms, nodes);
    let starts: Vec<usize> =
        curves.iter().scan(0, |next, curve| Some(std::mem::replace(next, *next + curve.len()))).collect();
    let size = curves.iter().map(Vec::len).sum();
    let mut information = SymmetricMatrix::zero(size);
    for (answer, posterior) in answers.iter().zip(&posteriors) {
        let mut score = vec![0.0; size];
        for ((step, start), terms) in answer.iter().zip(&starts).zip(&terms) {
            let Some(step) = step else { continue };
            for (term, p) in terms[*step].iter().zip(posterior) {
                for (sum, one) in score[*start..].iter_mut().zip(&term.score) {
                    *sum += p * one;
                }
            }
        }
        information.add_outer_product(&score, 1.0);
    }
    let covariance = information.inverse().ok_or(UndefinedReason::NotFinite)?;

    let curve = |((parameters, start), steps): ((Vec<f64>, usize), &Vec<Vec<StepTerm>>)| {
        let mut own = SymmetricMatrix::zero(parameters.len());
        let size = own.size;
        for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
            own.add(row, column, covariance.get(start + row, start + column));
        }
        let of_step = |term: &StepTerm| term.probability * (parameters[0] * term.tilt).powi(2);
        ItemCurve {
            discrimination: parameters[0],
            discrimination_se: own.get(0, 0).max(0.0).sqrt(),
            information: (0..NODES).map(|node| steps.iter().map(|step| of_step(&step[node])).sum()).collect(),
            parameters,
            covariance: own,
        }
    };
    let ability = |posterior: &[f64; NODES]| {
        let mean: f64 = posterior.iter().zip(nodes).map(|(p, (ability, _))| p * ability).sum();
        let variance: f64 =
            posterior.iter().zip(nodes).map(|(p, (ability, _))| p * (ability - mean).powi(2)).sum();
        (mean, variance.max(0.0).sqrt())
    };

    Ok(GradedResponseModel {
        curves: curves.into_iter().zip(starts).zip(&terms).map(curve).collect(),
        abilities: posteriors.iter().map(ability).collect(),
    })
}

impl GradedResponseModel {
    /// Returns the reliability with which some criteria measure ability, 0 to 1: `1 - E[1 / (1 +
    /// information)]` over abilities, which is the share of the variance of ability that they explain.
    /// Source: B. Green, R. Bock, L. Humphreys, R. Linn and M. Reckase, Journal of Educational Measurement 21
    /// (1984), 347-360.
    pub fn reliability(&self, criteria: &[usize]) -> f64 {
        let unknown = nodes().into_iter().enumerate().map(|(node, (_, share))| {
            let known: f64 = criteria.iter().map(|&at| self.curves[at].information[node]).sum();
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
