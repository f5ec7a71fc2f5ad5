//! Test whether a judge that decides the same items again and again has changed.

use crate::{UndefinedReason, undefined::check_finite};

/// Values of epsilon over which the bets are spread.
const BETS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// Result of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftStep {
    /// Number of items that this run and an earlier one decided.
    pub items: usize,
    /// Number of these that were decided differently in some earlier run.
    pub varied: usize,
    /// Share of the items that are met in this run, minus their mean share in the runs before.
    pub shift: f64,
    /// Two-sided p value of the number met in this run, given how often each item was met in all runs so far.
    pub p: f64,
    /// Evidence of this and all earlier runs against a judge that stays the same. If the judge stays the
    /// same, it reaches 20 with a probability of at most 5 %, however many runs there are.
    pub evidence: f64,
}

/// Test of a judge that decides the same items in one run after another.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTest {
    /// Number of runs, and of met decisions, for each item so far.
    seen: Vec<(u32, u32)>,
    /// Capital of each bet.
    capital: [f64; BETS.len()],
}

impl DriftTest {
    /// Creates a test of this many items without runs.
    pub fn new(items: usize) -> Self {
        Self { seen: vec![(0, 0); items], capital: [1.0; BETS.len()] }
    }

    /// Adds a run: met, unmet, or not decided, for each item. Returns `None` if the run has no item in common
    /// with an earlier run.
    ///
    /// If the judge stays the same, decisions on an item could as well have been made in any other order.
    /// Given how often an item was met, it is met in the last of t runs with the probability s/t, and p is
    /// the probability of a number over all items that is at least as extreme. Such p values are independent
    /// of each other, so the product of the bets `e p^(e - 1)` is a test martingale, and so is the mean over
    /// several e. Sources: V. Vovk, I. Nouretdinov and A. Gammerman, "Testing exchangeability on-line", ICML
    /// 2003; J. Ville, Étude critique de la notion de collectif (1939).
    pub fn add(&mut self, decisions: &[Option<bool>]) -> Result<Option<DriftStep>, UndefinedReason> {
        if decisions.len() != self.seen.len() {
            return Err(UndefinedReason::UnequalLengths);
        }

        let (mut shares, mut met, mut before) = (Vec::new(), 0usize, 0.0);
        for (seen, decided) in self.seen.iter_mut().zip(decisions) {
            let Some(decided) = *decided else { continue };
            let (runs, count) = *seen;
            *seen = (runs + 1, count + u32::from(decided));
            if runs > 0 {
                shares.push(f64::from(seen.1) / f64::from(seen.0));
                met += usize::from(decided);
                before += f64::from(count) / f64::from(runs);
            }
        }
        if shares.is_empty() {
            return Ok(None);
        }

        let varied: Vec<f64> = shares.iter().copied().filter(|share| *share > 0.0 && *share < 1.0).collect();
        let certain = shares.iter().filter(|share| **share >= 1.0).count();
        let p = two_sided(&poisson_binomial(&varied), met - certain);
        for (capital, bet) in self.capital.iter_mut().zip(BETS) {
            *capital *= bet * p.powf(bet - 1.0);
        }

        Ok(Some(DriftStep {
            items: shares.len(),
            varied: varied.len(),
            shift: (met as f64 - before) / shares.len() as f64,
            p,
            evidence: check_finite(self.capital.iter().sum::<f64>() / BETS.len() as f64)?,
        }))
    }
}

/// Returns the probabilities of 0, 1, ... successes in independent trials.
fn poisson_binomial(shares: &[f64]) -> Vec<f64> {
    let mut found = vec![1.0];
    for share in shares {
        found.push(0.0);
        for at in (0..found.len()).rev() {
            let below = if at > 0 { found[at - 1] } else { 0.0 };
            found[at] = found[at] * (1.0 - share) + below * share;
        }
    }
    found
}

/// Twice the smaller tail, at most 1.
fn two_sided(probabilities: &[f64], count: usize) -> f64 {
    let below: f64 = probabilities[..=count].iter().sum();
    let above: f64 = probabilities[count..].iter().sum();
    (2.0 * below.min(above)).clamp(f64::MIN_POSITIVE, 1.0)
}
