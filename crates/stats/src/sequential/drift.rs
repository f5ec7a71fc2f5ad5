//! Test whether a judge that decides the same items again and again has changed.

use crate::{UndefinedReason, undefined::check_finite};

/// Values of epsilon over which the bets are spread.
const BETS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
/// Probabilities below this are omitted at both ends of the distribution of a sum, because they change no displayed p
/// value.
const NEGLIGIBLE: f64 = 1e-18;
/// The smallest p value; larger than the sum of all negligible probabilities.
const SMALLEST_P: f64 = 1e-12;

/// Result of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftStep {
    /// Number of items that this run and an earlier one decided.
    pub items: usize,
    /// Number of units in which not every run had the same number of items met.
    pub varied: usize,
    /// Share of the items that are met in this run, minus their mean share in earlier runs.
    pub shift: f64,
    /// Two-sided p value of the number of items met in this run, given the numbers of all runs so far.
    pub p: f64,
    /// Evidence from this and earlier runs that the judge changed in one of them. If the judge stays the same, the
    /// evidence first reaches a value e after at least e runs on average.
    pub evidence: f64,
}

/// Test of a judge that decides the same items in one run after another. Items are grouped in units, such as the
/// criteria of one case. Items of one unit may depend on each other in any way.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftTest {
    /// Number of items of each unit.
    units: Vec<usize>,
    /// The decisions of each run so far, unit by unit.
    runs: Vec<Vec<Option<bool>>>,
    /// Evidence of each bet.
    evidence: [f64; BETS.len()],
}

impl DriftTest {
    /// Creates a test without runs, of units with this many items each.
    pub fn new(units: Vec<usize>) -> Self {
        Self { units, runs: Vec::new(), evidence: [0.0; BETS.len()] }
    }

    /// Adds a run: met, unmet, or not decided, for each item, unit by unit. Returns `None` if the run has no item in
    /// common with an earlier run.
    ///
    /// If the judge stays the same, the numbers of items met in a unit could have any order. So the last of t numbers
    /// is each of them with the probability 1/t, and p is the probability of a sum over all units that is at least as
    /// extreme. Such p values are independent of each other, so each bet `e p^(e - 1)` multiplies the evidence by 1 on
    /// average. The judge may change before any run, so 1 is added to the evidence before each bet: evidence of a
    /// change then does not fade with the number of unchanged runs before it.
    ///
    /// Sources: V. Vovk, I. Nouretdinov and A. Gammerman, "Testing exchangeability on-line", ICML 2003; J. Shin,
    /// A. Ramdas and A. Rinaldo, "E-detectors", New England Journal of Statistics in Data Science 2 (2024), with the sum
    /// of A. Shiryaev and S. Roberts.
    ///
    /// # Errors
    /// If the number of decisions differs from the number of items.
    pub fn add(&mut self, decisions: &[Option<bool>]) -> Result<Option<DriftStep>, UndefinedReason> {
        if decisions.len() != self.units.iter().sum::<usize>() {
            return Err(UndefinedReason::UnequalLengths);
        }

        let mut sum = SumDistribution::default();
        let (mut items, mut varied, mut met, mut before, mut first) = (0, 0, 0, 0.0, 0);
        for &size in &self.units {
            let range = first..first + size;
            first += size;
            let decided: Vec<usize> = range.filter(|item| decisions[*item].is_some()).collect();
            let count =
                |run: &[Option<bool>]| decided.iter().filter(|item| run[**item] == Some(true)).count();
            let earlier = self.runs.iter().filter(|run| decided.iter().all(|item| run[*item].is_some()));
            let mut counts: Vec<usize> = earlier.map(|run| count(run)).collect();
            if decided.is_empty() || counts.is_empty() {
                continue;
            }

            let now = count(decisions);
            items += decided.len();
            met += now;
            before += counts.iter().sum::<usize>() as f64 / counts.len() as f64;
            counts.push(now);
            varied += usize::from(counts.iter().any(|count| *count != now));
            sum.add_one_of(&counts);
        }
        self.runs.push(decisions.to_vec());
        if items == 0 {
            return Ok(None);
        }

        let p = sum.two_sided(met);
        for (evidence, bet) in self.evidence.iter_mut().zip(BETS) {
            *evidence = (*evidence + 1.0) * bet * p.powf(bet - 1.0);
        }

        Ok(Some(DriftStep {
            items,
            varied,
            shift: (met as f64 - before) / items as f64,
            p,
            evidence: check_finite(self.evidence.iter().sum::<f64>() / BETS.len() as f64)?,
        }))
    }
}

/// The distribution of a sum of independent counts.
#[derive(Debug)]
struct SumDistribution {
    /// The smallest sum that is not negligible.
    smallest: usize,
    /// The probabilities of that and the next sums.
    probabilities: Vec<f64>,
}

impl Default for SumDistribution {
    /// A sum of nothing.
    fn default() -> Self {
        Self { smallest: 0, probabilities: vec![1.0] }
    }
}

impl SumDistribution {
    /// Adds a count that is any of these, all equally likely.
    fn add_one_of(&mut self, counts: &[usize]) {
        let least = counts.iter().copied().min().unwrap_or(0);
        let most = counts.iter().copied().max().unwrap_or(0);
        self.smallest += least;
        if least == most {
            return;
        }

        let share = 1.0 / counts.len() as f64;
        let mut sums = vec![0.0; self.probabilities.len() + most - least];
        for count in counts {
            let moved = sums[count - least..].iter_mut().zip(&self.probabilities);
            moved.for_each(|(sum, probability)| *sum += share * probability);
        }
        let is_relevant = |probability: &f64| *probability > NEGLIGIBLE;
        let from = sums.iter().position(is_relevant).unwrap_or(0);
        let to = sums.iter().rposition(is_relevant).map_or(sums.len(), |last| last + 1);
        self.smallest += from;
        self.probabilities = sums[from..to].to_vec();
    }

    /// Twice the probability of the smaller tail that this sum belongs to, at most 1.
    fn two_sided(&self, sum: usize) -> f64 {
        let at = (self.smallest..).zip(&self.probabilities);
        let below: f64 = at.clone().filter(|(at, _)| *at <= sum).map(|(_, probability)| probability).sum();
        let above: f64 = at.filter(|(at, _)| *at >= sum).map(|(_, probability)| probability).sum();
        (2.0 * below.min(above)).clamp(SMALLEST_P, 1.0)
    }
}
