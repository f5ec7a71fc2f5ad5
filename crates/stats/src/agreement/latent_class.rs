//! Error rates of raters without known truth: two latent classes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    UndefinedReason,
    distribution::normal_upper_tail,
    multiplicity::{PValueAdjustment, adjust_p_values},
    undefined::check_not_empty,
};

/// A verdict of a rater on an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaterVote {
    /// Number of the item, from 0.
    pub item: usize,
    /// Number of the rater, from 0.
    pub rater: usize,
    /// The verdict.
    pub met: bool,
}

/// Error rates of a rater.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaterErrorRates {
    /// Share of truly met items that the rater finds met.
    pub sensitivity: f64,
    /// Share of truly unmet items that the rater finds unmet.
    pub specificity: f64,
    /// Number of its votes.
    pub votes: usize,
}

impl RaterErrorRates {
    /// Returns the weight of a vote: the mean change that votes for met and for unmet make to the log odds of
    /// the truth. 0 for guessing, below 0 for a rater that is wrong more often than right. Source: Dawid and
    /// Skene (1979).
    pub fn vote_weight(&self) -> f64 {
        let odds = |rate: f64| {
            let rate = rate.clamp(1e-12, 1.0 - 1e-12);
            (rate / (1.0 - rate)).ln()
        };
        f64::midpoint(odds(self.sensitivity), odds(self.specificity))
    }
}

/// Two raters whose errors coincide more often than the model allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaterDependence {
    /// The two raters.
    pub raters: (usize, usize),
    /// Covariance of their votes beyond what truth and error rates explain.
    pub excess: f64,
    /// p value of no excess, adjusted by Holm for the number of pairs.
    pub p_adjusted: f64,
}

/// Fitted latent classes.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentClasses {
    /// Share of items that are truly met.
    pub prevalence: f64,
    /// Error rates of each rater.
    pub raters: Vec<RaterErrorRates>,
    /// Probability of each item to be truly met; the prevalence for an item without votes.
    pub posterior: Vec<f64>,
    /// Number of steps until the fit converged.
    pub steps: usize,
}

/// Maximum number of steps; a fit that still changes then is given up.
const MAX_STEPS: usize = 5_000;
/// The fit has converged when no probability changes by more than this.
const CONVERGED: f64 = 1e-9;
/// Minimum number of raters: with two, several combinations of error rates explain the votes equally well.
const MIN_RATERS: usize = 3;

/// Estimates how often each rater errs, from the votes alone, by expectation-maximisation. The model assumes
/// that errors are independent given the truth. It starts from the majority, so most raters must be better
/// than guessing. `smoothing` is added to each count of right and wrong votes; 0 is plain maximum likelihood,
/// in which rates may become 0 and 1. Undefined for fewer than three raters, if no item has votes from three
/// raters, if a rater's items have no other votes, and if all votes are equal. Sources: A. P. Dawid and A. M.
/// Skene, Applied Statistics 28 (1979), 20-28; for the need of three raters: S. Hui and S. Walter, Biometrics
/// 36 (1980), 167-171.
pub fn latent_classes(
    votes: &[RaterVote],
    items: usize,
    raters: usize,
    smoothing: f64,
) -> Result<LatentClasses, UndefinedReason> {
    if votes.iter().any(|vote| vote.item >= items || vote.rater >= raters) {
        return Err(UndefinedReason::OutOfRange);
    }
    check_not_empty(votes.len())?;
    let mut counts = vec![0; raters];
    let mut met = vec![(0.0, 0.0); items];
    for vote in votes {
        counts[vote.rater] += 1;
        met[vote.item].0 += f64::from(u8::from(vote.met));
        met[vote.item].1 += 1.0;
    }
    if counts.iter().filter(|count| **count > 0).count() < MIN_RATERS {
        return Err(UndefinedReason::TooFew);
    }
    check_identified(votes, raters, &counts)?;

    let seen: Vec<bool> = met.iter().map(|(_, all)| *all > 0.0).collect();
    let mut posterior: Vec<f64> =
        met.iter().map(|(met, all)| if *all > 0.0 { met / all } else { 0.5 }).collect();
    for steps in 1..=MAX_STEPS {
        let (prevalence, rates) = estimate_rates(votes, &posterior, &seen, raters, smoothing);
        let next = estimate_posterior(votes, prevalence, &rates, items);
        let change = next.iter().zip(&posterior).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        posterior = next;
        if change < CONVERGED {
            let raters = rates
                .into_iter()
                .zip(counts)
                .map(|((sensitivity, specificity), votes)| RaterErrorRates {
                    sensitivity,
                    specificity,
                    votes,
                })
                .collect();
            return Ok(LatentClasses { prevalence, raters, posterior, steps });
        }
    }

    Err(UndefinedReason::NotFinite)
}

/// Rejects votes that do not determine the rates; a fit would only return its starting values.
fn check_identified(votes: &[RaterVote], raters: usize, counts: &[usize]) -> Result<(), UndefinedReason> {
    if votes.iter().all(|vote| vote.met == votes[0].met) {
        return Err(UndefinedReason::OneClass);
    }

    let mut by_item: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for vote in votes {
        by_item.entry(vote.item).or_default().insert(vote.rater);
    }
    // There are more rates than means and covariances of the votes, so only items with three votes determine
    // them.
    let mut linked = vec![false; raters];
    for together in by_item.values().filter(|together| together.len() > 1) {
        for rater in together {
            linked[*rater] = true;
        }
    }
    let is_linked = linked.iter().zip(counts).all(|(linked, count)| *linked || *count == 0);
    let is_tripled = by_item.values().any(|together| together.len() >= MIN_RATERS);
    if is_linked && is_tripled { Ok(()) } else { Err(UndefinedReason::NoOverlap) }
}

/// Estimates the share of met items, and each rater's sensitivity and specificity, given the probabilities of
/// items.
fn estimate_rates(
    votes: &[RaterVote],
    posterior: &[f64],
    seen: &[bool],
    raters: usize,
    smoothing: f64,
) -> (f64, Vec<(f64, f64)>) {
    let known: Vec<f64> = posterior.iter().zip(seen).filter(|(_, seen)| **seen).map(|(p, _)| *p).collect();
    let prevalence = (known.iter().sum::<f64>() + smoothing) / (known.len() as f64 + 2.0 * smoothing);
    // For met items, the right votes and all votes; then the same for unmet items.
    let mut sums = vec![[smoothing, 2.0 * smoothing, smoothing, 2.0 * smoothing]; raters];
    for vote in votes {
        let p = posterior[vote.item];
        let sum = &mut sums[vote.rater];
        sum[1] += p;
        sum[3] += 1.0 - p;
        if vote.met {
            sum[0] += p;
        } else {
            sum[2] += 1.0 - p;
        }
    }

    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.5 };
    (prevalence, sums.into_iter().map(|sum| (share(sum[0], sum[1]), share(sum[2], sum[3]))).collect())
}

/// Estimates the probability of each item to be met, given the rates.
fn estimate_posterior(votes: &[RaterVote], prevalence: f64, rates: &[(f64, f64)], items: usize) -> Vec<f64> {
    // A rate of 0 would give an infinite logarithm on both sides at once.
    let log = |rate: f64| rate.max(1e-300).ln();
    let mut logs = vec![(log(prevalence), log(1.0 - prevalence)); items];
    for vote in votes {
        let (sensitivity, specificity) = rates[vote.rater];
        let (met, unmet) = &mut logs[vote.item];
        *met += log(if vote.met { sensitivity } else { 1.0 - sensitivity });
        *unmet += log(if vote.met { 1.0 - specificity } else { specificity });
    }

    logs.into_iter().map(|(met, unmet)| 1.0 / (1.0 + (unmet - met).exp())).collect()
}

impl LatentClasses {
    /// Finds pairs of raters whose votes coincide more often than truth and error rates explain: the
    /// covariance of their votes over the items that both rated, minus
    /// `q (1 - q) (se1 + sp1 - 1) (se2 + sp2 - 1)`, divided by its standard error. Empty for three raters, whose covariances the model fits
    /// exactly. Source: Y. Qu, M. Tan and M. Kutner, Biometrics 52 (1996), 797-810.
    pub fn dependences(&self, votes: &[RaterVote]) -> Vec<RaterDependence> {
        let mut by_item: BTreeMap<usize, Vec<&RaterVote>> = BTreeMap::new();
        for vote in votes {
            by_item.entry(vote.item).or_default().push(vote);
        }
        let mut shared: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
        for votes in by_item.values() {
            for (at, a) in votes.iter().enumerate() {
                for b in &votes[at + 1..] {
                    let (a, b) = if a.rater < b.rater { (a, b) } else { (b, a) };
                    let number = |vote: &RaterVote| f64::from(u8::from(vote.met));
                    if a.rater != b.rater {
                        shared.entry((a.rater, b.rater)).or_default().push((number(a), number(b)));
                    }
                }
            }
        }

        if self.raters.iter().filter(|rater| rater.votes > 0).count() <= MIN_RATERS {
            return Vec::new();
        }

        let mut found = Vec::new();
        let mut p_values = Vec::new();
        for (raters, votes) in shared {
            let n = votes.len() as f64;
            let mean_a = votes.iter().map(|(a, _)| a).sum::<f64>() / n;
            let mean_b = votes.iter().map(|(_, b)| b).sum::<f64>() / n;
            let products: Vec<f64> = votes.iter().map(|(a, b)| (a - mean_a) * (b - mean_b)).collect();
            let covariance = products.iter().sum::<f64>() / n;
            let variance = products.iter().map(|product| (product - covariance).powi(2)).sum::<f64>() / n;
            let better = |rater: usize| self.raters[rater].sensitivity + self.raters[rater].specificity - 1.0;
            let expected = self.prevalence * (1.0 - self.prevalence) * better(raters.0) * better(raters.1);
            let excess = covariance - expected;
            let error = (variance / n).sqrt();
            p_values.push(if error > 0.0 { normal_upper_tail(excess / error) } else { 1.0 });
            found.push(RaterDependence { raters, excess, p_adjusted: 1.0 });
        }

        let adjusted = adjust_p_values(&p_values, PValueAdjustment::Holm).unwrap_or(p_values);
        for (dependence, p) in found.iter_mut().zip(adjusted) {
            dependence.p_adjusted = p;
        }
        found
    }
}
