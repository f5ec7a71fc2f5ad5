//! Combining several decisions on the same thing: panels, score probabilities, both orders, best of several.

use crate::{
    ConfidenceLevel, MeanAccumulator, UndefinedReason,
    compare::fair_coin,
    rank::quantile,
    undefined::{check_all_finite, check_finite},
};

/// Majority of a panel's votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PanelMajority {
    /// More passes than fails.
    Pass,
    /// More fails than passes.
    Fail,
    /// Equal numbers. This is a separate outcome and never treated as a pass.
    Tie,
}

/// Counted votes of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelTally {
    /// Votes for a pass.
    pub passes: u64,
    /// Votes for a fail.
    pub fails: u64,
    /// The majority; undefined if all abstained.
    pub verdict: Result<PanelMajority, UndefinedReason>,
    /// Share of the votes on the larger side.
    pub agreement: Result<f64, UndefinedReason>,
    /// True if all votes agree.
    pub unanimous: bool,
}

/// Counts votes; an abstention is `None` and counts for neither side. Source: majority rule, K. May,
/// Econometrica 20 (1952), 680-684.
pub fn tally_panel(votes: &[Option<bool>]) -> PanelTally {
    let count = |side: bool| votes.iter().filter(|&&vote| vote == Some(side)).count() as u64;
    let (passes, fails) = (count(true), count(false));
    let cast = passes + fails;
    let verdict = match passes.cmp(&fails) {
        _ if cast == 0 => Err(UndefinedReason::NoValues),
        std::cmp::Ordering::Greater => Ok(PanelMajority::Pass),
        std::cmp::Ordering::Less => Ok(PanelMajority::Fail),
        std::cmp::Ordering::Equal => Ok(PanelMajority::Tie),
    };

    let agreement =
        if cast == 0 { Err(UndefinedReason::NoValues) } else { Ok(passes.max(fails) as f64 / cast as f64) };
    PanelTally { passes, fails, verdict, agreement, unanimous: cast > 0 && (passes == 0 || fails == 0) }
}

/// Returns the share of the votes that are equal to the most frequent vote; undefined without votes.
pub fn majority_share<T: PartialEq>(votes: &[T]) -> Result<f64, UndefinedReason> {
    let most = votes.iter().map(|vote| votes.iter().filter(|other| *other == vote).count()).max();
    most.map(|most| most as f64 / votes.len() as f64).ok_or(UndefinedReason::NoValues)
}

/// Summary of the scores of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelScores {
    /// Number of scores.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median: the middle score, or the mean of the middle two.
    pub median: f64,
    /// Lowest score.
    pub min: f64,
    /// Highest score.
    pub max: f64,
    /// Sample standard deviation.
    pub sd: Result<f64, UndefinedReason>,
}

impl PanelScores {
    /// Returns the difference between the highest and the lowest score.
    pub fn range(&self) -> f64 {
        self.max - self.min
    }
}

/// Summarises the scores of a panel. Source: median as definition 7 of R. Hyndman and Y. Fan, The American
/// Statistician 50 (1996).
pub fn panel_scores(scores: &[f64]) -> Result<PanelScores, UndefinedReason> {
    check_all_finite(scores)?;
    let mut ascending = scores.to_vec();
    ascending.sort_by(f64::total_cmp);

    let at = |share: f64| quantile(&ascending, share).ok_or(UndefinedReason::NoValues);
    let sums = scores.iter().copied().collect::<MeanAccumulator>().mean(ConfidenceLevel::P95);
    Ok(PanelScores {
        n: scores.len(),
        mean: sums.mean?,
        median: at(0.5)?,
        min: at(0.0)?,
        max: at(1.0)?,
        sd: sums.sd,
    })
}

/// Score computed from the probabilities of the score tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedScore {
    /// Total probability of all scores, 0 to 1. Below one half, the expected score means little.
    pub mass: f64,
    /// `sum(s p(s)) / mass`.
    pub score: f64,
    /// `sum(s p(s))`, which is too low by the probability of other tokens; kept for comparison.
    pub unnormalised: f64,
    /// The most probable score; among equally probable ones, the first.
    pub likeliest: f64,
}

/// Computes the expected score from `(score, log-probability)`; `None` if a score was not among the most
/// probable tokens. Source: Y. Liu et al., G-Eval, arXiv 2303.16634, equation 1, normalised by the observed
/// mass.
pub fn expected_score(scores: &[(f64, Option<f64>)]) -> Result<ExpectedScore, UndefinedReason> {
    let seen: Vec<(f64, f64)> =
        scores.iter().filter_map(|&(score, log)| log.map(|log| (score, log))).collect();
    if seen.iter().any(|&(score, log)| !score.is_finite() || log.is_nan() || log == f64::INFINITY) {
        return Err(UndefinedReason::NotFinite);
    }

    let mut likeliest: Option<(f64, f64)> = None;
    for &(score, log) in &seen {
        if likeliest.is_none_or(|(_, most)| log > most) {
            likeliest = Some((score, log));
        }
    }

    let (likeliest, most) = likeliest.ok_or(UndefinedReason::NoMass)?;
    if most == f64::NEG_INFINITY {
        return Err(UndefinedReason::NoMass);
    }

    // Relative to the most probable score, so that very small probabilities do not underflow before the
    // division.
    let relative: f64 = seen.iter().map(|&(_, log)| (log - most).exp()).sum();
    let weighted: f64 = seen.iter().map(|&(score, log)| score * (log - most).exp()).sum();
    Ok(ExpectedScore {
        mass: check_finite(relative * most.exp())?,
        score: check_finite(weighted / relative)?,
        unnormalised: check_finite(weighted * most.exp())?,
        likeliest,
    })
}

/// A judge's preference between two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbPreference {
    /// The first of the two answers, regardless of the order in which they were shown.
    A,
    /// The second.
    B,
    /// Neither answer.
    Tie,
}

/// Counted preferences for pairs of answers shown in both orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BothOrders {
    /// Number of pairs.
    pub n: u64,
    /// Number of pairs with the same preference in both orders, ties included.
    pub consistent: u64,
    /// Share of consistent pairs.
    pub rate: Result<f64, UndefinedReason>,
    /// Pairs that A won in both orders.
    pub wins_a: u64,
    /// Pairs that B won in both orders.
    pub wins_b: u64,
    /// All other pairs.
    pub undecided: u64,
    /// How often the answer shown first was preferred, and how often the one shown second.
    pub shown: (u64, u64),
    /// Number of pairs in which the answer shown first was preferred both times, and likewise for the answer
    /// shown second.
    pub twice: (u64, u64),
}

impl BothOrders {
    /// Exact two-sided p value for a judge without position bias: the sign test over pairs in which one
    /// position won twice. The two decisions on a pair are not independent, so single decisions are not
    /// counted.
    pub fn position_p(&self) -> Result<f64, UndefinedReason> {
        match self.twice {
            (0, 0) => Err(UndefinedReason::NothingDiffers),
            (first, second) => Ok(fair_coin(first, second).p),
        }
    }

    /// Exact one-sided p value of orders that agree this rarely, or even less often, by chance: Fisher's test
    /// of the verdicts of the two orders, given how often each order names each answer. If it is small, the
    /// second verdict names the other answer. A judge that looks at the answers only does that if its
    /// verdicts were not mapped back from positions to names. A judge that always prefers one position has p
    /// = 1, because its orders are not associated although they never agree; a binomial test of their
    /// agreement would accuse it. Source: R. A. Fisher, Journal of the Royal Statistical Society 98 (1935),
    /// 39-82.
    pub fn exchange_p(&self) -> f64 {
        let (both, named_first, named_second) =
            (self.wins_a, self.wins_a + self.twice.0, self.wins_a + self.twice.1);
        let n = self.wins_a + self.wins_b + self.twice.0 + self.twice.1;
        let least = (named_first + named_second).saturating_sub(n);

        // Terms relative to the term of the observed table. Each is computed from the previous one.
        let cells = |both: u64| {
            let (first, second) = (named_first - both, named_second - both);
            let neither = n + both - named_first - named_second;
            [both, first, second, neither].map(|count| count as f64)
        };
        let below = |both: u64| {
            let [both, first, second, neither] = cells(both);
            both * neither / ((first + 1.0) * (second + 1.0))
        };
        let above = |both: u64| {
            let [both, first, second, neither] = cells(both);
            first * second / ((both + 1.0) * (neither + 1.0))
        };
        let (mut lower, mut share) = (1.0, 1.0);
        for count in (least + 1..=both).rev() {
            share *= below(count);
            lower += share;
        }

        let (mut upper, mut share) = (0.0, 1.0_f64);
        for count in both..named_first.min(named_second) {
            share *= above(count);
            upper += share;
        }

        // With very many pairs one of the sums may be infinite; the other one is then negligible.
        if lower.is_infinite() { 1.0 } else { lower / (lower + upper) }
    }
}

/// Counts pairs of (preference with A shown first, preference with B shown first); both name answers and not
/// positions. A win needs both orders. Source: L. Zheng et al., MT-Bench, arXiv 2306.05685, section 3.4.
pub fn count_both_orders(pairs: &[(AbPreference, AbPreference)]) -> BothOrders {
    let count = |keep: &dyn Fn(AbPreference, AbPreference) -> bool| {
        pairs.iter().filter(|&&(ab, ba)| keep(ab, ba)).count() as u64
    };
    let n = pairs.len() as u64;
    let consistent = count(&|ab, ba| ab == ba);
    let wins_a = count(&|ab, ba| ab == AbPreference::A && ba == AbPreference::A);
    let wins_b = count(&|ab, ba| ab == AbPreference::B && ba == AbPreference::B);
    let first = count(&|ab, _| ab == AbPreference::A) + count(&|_, ba| ba == AbPreference::B);
    let second = count(&|ab, _| ab == AbPreference::B) + count(&|_, ba| ba == AbPreference::A);

    BothOrders {
        n,
        consistent,
        rate: if n == 0 { Err(UndefinedReason::NoValues) } else { Ok(consistent as f64 / n as f64) },
        wins_a,
        wins_b,
        undecided: n - wins_a - wins_b,
        shown: (first, second),
        twice: (
            count(&|ab, ba| ab == AbPreference::A && ba == AbPreference::B),
            count(&|ab, ba| ab == AbPreference::B && ba == AbPreference::A),
        ),
    }
}

/// Result of the right answer among several: best-of-n credit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestOf {
    /// True if the right answer alone has the highest score.
    pub strict: bool,
    /// True if it shares the highest score.
    pub tied: bool,
    /// 1 divided by the number of answers that share the highest score; 0 if the right answer is not among
    /// them.
    pub credit: f64,
}

/// Checks whether the answer at position `right` has the highest score. Scores that differ by less than 1e-9
/// are tied, because means of repeats may differ by rounding only. Source: S. Malik et al., RewardBench 2,
/// arXiv 2506.01937, best of four.
pub fn best_of(scores: &[f64], right: usize) -> Result<BestOf, UndefinedReason> {
    check_all_finite(scores)?;
    let own = *scores.get(right).ok_or(UndefinedReason::NoValues)?;
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shared = scores.iter().filter(|&&score| highest - score < 1e-9).count();
    let leads = highest - own < 1e-9;

    Ok(BestOf {
        strict: leads && shared == 1,
        tied: leads && shared > 1,
        credit: if leads { 1.0 / shared as f64 } else { 0.0 },
    })
}
