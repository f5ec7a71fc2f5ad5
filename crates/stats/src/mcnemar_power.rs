//! Exact power of McNemar's test, for the exact and the mid-p value.

use crate::{
    UndefinedReason,
    multiplicity::is_significant,
    power::PowerDesign,
    special_functions::{beta_tails, fair_coin_tail},
};

/// Number of pairs up to which the power is computed exactly. Beyond that, Connor's formula is close.
const MAX_EXACT_PAIRS: u64 = 1_000;
/// A number of differing pairs is ignored if its probability, relative to the most likely one, is below this.
const NEGLIGIBLE: f64 = 1e-15;
/// The search for the exact number of pairs starts at this share of Connor's number; the exact number is
/// larger.
const SEARCH_START: f64 = 0.8;
/// Number of bisection steps in the search for a difference between 0 and 1.
const HALVINGS: u32 = 40;

/// The p value that decides whether McNemar's test is significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum McNemarVariant {
    /// The exact one.
    #[default]
    Exact,
    /// Mid-p: the observed split counts with half of its probability.
    MidP,
}

impl McNemarVariant {
    /// Two-sided p value if `few` of `count` differing pairs go one way. `few` is less than half.
    fn p(self, few: u64, count: u64) -> f64 {
        let tail = fair_coin_tail(few, count).0;
        match self {
            Self::Exact => 2.0 * tail,
            Self::MidP => tail + few.checked_sub(1).map_or(0.0, |fewer| fair_coin_tail(fewer, count).0),
        }
    }
}

/// Numbers of differing pairs that are not negligible, and the splits that are significant for each.
struct DifferingPairs {
    /// Number of differing pairs, its probability, and the largest number that may go one way in a significant split.
    counts: Vec<(u64, f64, u64)>,
}

impl DifferingPairs {
    /// Considers `n` pairs that each differ with the probability `share`, 0 to 1.
    fn new(n: u64, share: f64, alpha: f64, variant: McNemarVariant) -> Self {
        let mut counts = binomial_weights(n, share);
        counts.sort_by_key(|(count, _)| *count);
        let total: f64 = counts.iter().map(|(_, weight)| weight).sum();

        // One more differing pair allows at most one more to go the other way.
        let mut fewer = None;
        let counts = counts
            .into_iter()
            .filter_map(|(count, weight)| {
                let is_enough = |few: u64| 2 * few < count && is_significant(variant.p(few, count), alpha);
                let mut next = fewer.map_or(0, |few| few + 1);
                while is_enough(next) {
                    fewer = Some(next);
                    next += 1;
                }

                fewer.map(|few| (count, weight / total, few))
            })
            .collect();

        Self { counts }
    }

    /// Probability of a significant split if a share `first` of the differing pairs goes one way.
    fn power(&self, first: f64) -> f64 {
        let tail = |count: u64, few: u64, share: f64| {
            if share <= 0.0 {
                return 1.0;
            }
            if share >= 1.0 {
                return 0.0;
            }
            // At most `few` of `count`: the binomial distribution expressed as a beta distribution.
            beta_tails((count - few) as f64, (few + 1) as f64, 1.0 - share, share).0
        };

        self.counts
            .iter()
            .map(|(count, weight, few)| {
                weight * (tail(*count, *few, first) + tail(*count, *few, 1.0 - first))
            })
            .sum()
    }
}

/// Relative weights of the non-negligible numbers of successes in `n` trials.
fn binomial_weights(n: u64, share: f64) -> Vec<(u64, f64)> {
    if share >= 1.0 {
        return vec![(n, 1.0)];
    }

    let odds = share / (1.0 - share);
    let mode = (((n + 1) as f64 * share).floor() as u64).min(n);
    let mut weights = vec![(mode, 1.0)];

    let mut weight = 1.0;
    for count in mode..n {
        weight *= (n - count) as f64 / (count + 1) as f64 * odds;
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push((count + 1, weight));
    }

    let mut weight = 1.0;
    for count in (1..=mode).rev() {
        weight *= count as f64 / (n - count + 1) as f64 / odds;
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push((count - 1, weight));
    }

    weights
}

impl PowerDesign {
    /// Returns the power of McNemar's test in `n` pairs if a share `discordant` of them differ and the pass rates
    /// differ by `difference`: the sum, over the numbers of differing pairs, of the probability of the number times the
    /// probability of a significant split. Source: R. Connor, Biometrics 43 (1987), 207-211, section 2 (the
    /// unconditional power).
    pub fn mcnemar_variant_power(
        self,
        variant: McNemarVariant,
        n: u64,
        discordant: f64,
        difference: f64,
    ) -> Result<f64, UndefinedReason> {
        check_shares(discordant, difference)?;
        if n == 0 {
            return Err(UndefinedReason::NoValues);
        }
        if n > MAX_EXACT_PAIRS {
            return Err(UndefinedReason::OutOfRange);
        }

        let pairs = DifferingPairs::new(n, discordant, self.alpha(), variant);
        Ok(pairs.power(first_share(discordant, difference)))
    }

    /// Returns the smallest number of pairs with which McNemar's test has this power. Up to 1,000 pairs it
    /// uses the exact power, which rises in jumps; beyond that, Connor's formula,
    /// [`mcnemar_pairs`](Self::mcnemar_pairs).
    pub fn mcnemar_variant_pairs(
        self,
        variant: McNemarVariant,
        discordant: f64,
        difference: f64,
    ) -> Result<f64, UndefinedReason> {
        let near = self.mcnemar_pairs(discordant, difference)?;
        let start = (near * SEARCH_START).floor().max(1.0);
        if start > MAX_EXACT_PAIRS as f64 {
            return Ok(near);
        }

        let is_enough = |n: u64| -> Result<bool, UndefinedReason> {
            Ok(self.mcnemar_variant_power(variant, n, discordant, difference)? >= self.power())
        };
        // With mid-p, small numbers of pairs may need even fewer.
        let mut start = start as u64;
        while start > 1 && is_enough(start)? {
            start /= 2;
        }
        for n in start..=MAX_EXACT_PAIRS {
            if is_enough(n)? {
                return Ok(n as f64);
            }
        }

        Ok(near)
    }

    /// Returns the smallest difference of pass rates that McNemar's test detects with this power in `n` pairs if a
    /// share `discordant` of them differ. Beyond 1,000 pairs it uses Connor's formula,
    /// [`mcnemar_difference`](Self::mcnemar_difference).
    pub fn mcnemar_variant_difference(
        self,
        variant: McNemarVariant,
        n: u64,
        discordant: f64,
    ) -> Result<f64, UndefinedReason> {
        if n > MAX_EXACT_PAIRS {
            return self.mcnemar_difference(n, discordant);
        }
        if n == 0 {
            return Err(UndefinedReason::NoValues);
        }
        if discordant == 0.0 {
            return Err(UndefinedReason::Undetectable);
        }

        check_shares(discordant, discordant)?;
        let pairs = DifferingPairs::new(n, discordant, self.alpha(), variant);
        self.smallest(discordant, |difference| pairs.power(first_share(discordant, difference)))
    }

    /// Returns the smallest difference that McNemar's test detects with this power in `n` pairs if all
    /// differing pairs favour the same side: a lower bound if no pair has differed yet. Beyond 1,000 pairs it
    /// uses Connor's formula, [`mcnemar_one_way_difference`](Self::mcnemar_one_way_difference).
    pub fn mcnemar_variant_one_way_difference(
        self,
        variant: McNemarVariant,
        n: u64,
    ) -> Result<f64, UndefinedReason> {
        if n > MAX_EXACT_PAIRS {
            return self.mcnemar_one_way_difference(n);
        }
        if n == 0 {
            return Err(UndefinedReason::NoValues);
        }

        self.smallest(1.0, |share| DifferingPairs::new(n, share, self.alpha(), variant).power(1.0))
    }

    /// Returns the smallest value up to `most` at which an increasing power reaches the wanted one.
    fn smallest(self, most: f64, power: impl Fn(f64) -> f64) -> Result<f64, UndefinedReason> {
        if power(most) < self.power() {
            return Err(UndefinedReason::Undetectable);
        }

        let (mut low, mut high) = (0.0, most);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if power(middle) >= self.power() { high = middle } else { low = middle }
        }

        Ok(high)
    }
}

/// Share of the differing pairs that favour the better side.
fn first_share(discordant: f64, difference: f64) -> f64 {
    f64::midpoint(1.0, (difference.abs() / discordant).min(1.0))
}

fn check_shares(discordant: f64, difference: f64) -> Result<(), UndefinedReason> {
    let apart = difference.abs();
    if !(0.0..=1.0).contains(&discordant) || apart.is_nan() || apart > discordant {
        Err(UndefinedReason::OutOfRange)
    } else if discordant == 0.0 {
        Err(UndefinedReason::Unreachable)
    } else {
        Ok(())
    }
}
