//! Error rates of raters without known truth, drawn from their distribution given the votes.

use rand_core::RngCore;

use super::RaterVote;
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    rank::quantile,
    variates::{gamma, uniform},
};

/// Pseudo counts of right and of wrong votes on items of either class: raters are usually better than
/// guessing.
const PRIOR: (f64, f64) = (2.0, 1.0);

/// Pseudo counts of items of either class.
const CLASS_PRIOR: f64 = 1.0;

/// Number of initial rounds that are discarded.
const WARM_UP: usize = 200;

/// Drawn prevalences and error rates.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnClasses {
    /// Share of met items in each draw.
    pub prevalence: Vec<f64>,
    /// Sensitivity of each rater in each draw.
    pub sensitivity: Vec<Vec<f64>>,
    /// Specificity of each rater in each draw.
    pub specificity: Vec<Vec<f64>>,
}

impl DrawnClasses {
    /// Draws truths of items and rates in turn, starting from the majority: rates from beta distributions
    /// given the truths, and truths given the rates. As in [`latent_classes`](super::latent_classes), whose
    /// conditions apply, most raters are assumed to be better than guessing: if a draw makes them worse, its
    /// classes are swapped. Sources: A. Gelfand and A. Smith, Journal of the American Statistical Association
    /// 85 (1990), 398-409; L. Joseph, T. Gyorkos and L. Coupal, American Journal of Epidemiology 141 (1995),
    /// 263-272.
    pub fn draw<R: RngCore + ?Sized>(
        votes: &[RaterVote],
        items: usize,
        raters: usize,
        draws: usize,
        random: &mut R,
    ) -> Self {
        let mut truth = majority(votes, items, random);
        let mut seen = vec![false; items];
        for vote in votes {
            seen[vote.item] = true;
        }
        let mut found = Self {
            prevalence: Vec::with_capacity(draws),
            sensitivity: vec![Vec::with_capacity(draws); raters],
            specificity: vec![Vec::with_capacity(draws); raters],
        };
        for round in 0..WARM_UP + draws {
            let rates = draw_rates(votes, &truth, &seen, raters, random);
            truth = draw_truth(votes, &rates, items, random);
            if round >= WARM_UP {
                found.keep(&rates);
            }
        }

        found
    }

    fn keep(&mut self, rates: &ClassRates) {
        let better: f64 = rates.raters.iter().map(|(first, second)| first + second - 1.0).sum();
        let is_swapped = better < 0.0;
        self.prevalence.push(if is_swapped { 1.0 - rates.prevalence } else { rates.prevalence });
        for (rater, &(sensitivity, specificity)) in rates.raters.iter().enumerate() {
            let (first, second) =
                if is_swapped { (1.0 - specificity, 1.0 - sensitivity) } else { (sensitivity, specificity) };
            self.sensitivity[rater].push(first);
            self.specificity[rater].push(second);
        }
    }
}

/// Returns the interval between equal tails of drawn shares, widened to contain the estimate.
pub fn drawn_interval(
    shares: &[f64],
    estimate: f64,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let mut shares = shares.to_vec();
    shares.sort_by(f64::total_cmp);
    let at = |share| quantile(&shares, share).ok_or(UndefinedReason::NoValues);
    let (low, high) = (at(level.tail())?, at(1.0 - level.tail())?);
    Ok(Interval {
        low: low.min(estimate),
        high: high.max(estimate),
        level,
        method: IntervalMethod::Posterior,
    })
}

/// Prevalence, and sensitivity and specificity of each rater.
struct ClassRates {
    prevalence: f64,
    raters: Vec<(f64, f64)>,
}

/// For each item, true if most of its votes are met; random if they are tied.
fn majority<R: RngCore + ?Sized>(votes: &[RaterVote], items: usize, random: &mut R) -> Vec<bool> {
    let mut surplus = vec![0i64; items];
    for vote in votes {
        surplus[vote.item] += if vote.met { 1 } else { -1 };
    }
    surplus
        .into_iter()
        .map(|surplus| if surplus == 0 { uniform(random) < 0.5 } else { surplus > 0 })
        .collect()
}

fn beta<R: RngCore + ?Sized>(first: f64, second: f64, random: &mut R) -> f64 {
    let (first, second) = (gamma(first, random), gamma(second, random));
    // Kept away from both ends, so that logarithms are finite.
    (first / (first + second)).clamp(1e-12, 1.0 - 1e-12)
}

fn draw_rates<R: RngCore + ?Sized>(
    votes: &[RaterVote],
    truth: &[bool],
    seen: &[bool],
    raters: usize,
    random: &mut R,
) -> ClassRates {
    let met = truth.iter().zip(seen).filter(|(met, seen)| **met && **seen).count() as f64;
    let known = seen.iter().filter(|seen| **seen).count() as f64;
    // Right and wrong votes on met items, then on unmet ones.
    let mut counts = vec![[PRIOR.0, PRIOR.1, PRIOR.0, PRIOR.1]; raters];
    for vote in votes {
        let class = if truth[vote.item] { 0 } else { 2 };
        counts[vote.rater][class + usize::from(vote.met != truth[vote.item])] += 1.0;
    }

    ClassRates {
        prevalence: beta(CLASS_PRIOR + met, CLASS_PRIOR + known - met, random),
        raters: counts.into_iter().map(|[a, b, c, d]| (beta(a, b, random), beta(c, d, random))).collect(),
    }
}

fn draw_truth<R: RngCore + ?Sized>(
    votes: &[RaterVote],
    rates: &ClassRates,
    items: usize,
    random: &mut R,
) -> Vec<bool> {
    // Log odds of being met.
    let mut odds = vec![(rates.prevalence / (1.0 - rates.prevalence)).ln(); items];
    let shifts: Vec<[f64; 2]> = rates
        .raters
        .iter()
        .map(|(sensitivity, specificity)| {
            [((1.0 - sensitivity) / specificity).ln(), (sensitivity / (1.0 - specificity)).ln()]
        })
        .collect();
    for vote in votes {
        odds[vote.item] += shifts[vote.rater][usize::from(vote.met)];
    }

    odds.into_iter().map(|odds| uniform(random) < 1.0 / (1.0 + (-odds).exp())).collect()
}
