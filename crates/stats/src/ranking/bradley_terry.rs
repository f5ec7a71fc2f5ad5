//! Strengths of systems from pairwise contests: the Bradley-Terry model, with ties.

use std::collections::BTreeMap;

use super::connectivity;
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{normal_critical_value, student_critical_value},
    symmetric_matrix::SymmetricMatrix,
    undefined::check_finite,
};

/// Outcome of a contest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContestOutcome {
    /// The first system won.
    First,
    /// The second system won.
    Second,
    /// Neither won.
    Tie,
}

/// A contest between two systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemContest {
    /// Index of the first system.
    pub first: usize,
    /// Index of the second system.
    pub second: usize,
    /// Outcome.
    pub end: ContestOutcome,
    /// Cluster of related contests, such as those on the same case; contests of one cluster are not
    /// independent.
    pub cluster: usize,
}

/// Treatment of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TieRule {
    /// Half a win for either side.
    HalfWin,
    /// A third outcome, more probable the closer the strengths are: P(i wins) is proportional to s_i, P(tie)
    /// to v sqrt(s_i s_j). Source: R. Davidson, "On extending the Bradley-Terry model to accommodate ties in
    /// paired comparison experiments", Journal of the American Statistical Association 65 (1970), 317-328.
    Davidson,
}

/// Estimated strength of one system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SystemStrength {
    /// Natural logarithm of the strength; over all systems these sum to 0.
    pub log_strength: f64,
    /// Standard error of `log_strength`.
    pub error: Result<f64, UndefinedReason>,
    /// Interval of `log_strength`.
    pub interval: Result<Interval, UndefinedReason>,
    /// Number of its contests.
    pub contests: usize,
}

/// Estimated lead of one system over another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrengthLead {
    /// Difference of the log-strengths.
    pub difference: f64,
    /// Interval of the difference, which takes into account that both strengths are estimated from the same
    /// contests.
    pub interval: Result<Interval, UndefinedReason>,
    /// Probability that the first wins a contest that does not end in a tie, 0 to 1.
    pub win_probability: f64,
}

/// Fitted strengths of all systems.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerryFit {
    /// One per system, in the order of their indices.
    pub strengths: Vec<SystemStrength>,
    /// Davidson's v, above 0: the frequency of ties; `None` without that rule or without ties.
    pub tie_weight: Option<f64>,
    /// Number of contests.
    pub contests: usize,
    /// Number of clusters.
    pub clusters: usize,
    level: ConfidenceLevel,
    covariance: Option<SymmetricMatrix>,
    reach: Result<f64, UndefinedReason>,
    method: IntervalMethod,
}

/// Maximum number of Newton steps; about six are needed.
const MAX_STEPS: usize = 200;
/// The fit has converged when a step is smaller than this; it no longer affects any printed digit.
const CONVERGED_STEP: f64 = 1e-12;

/// Fits strengths to contests by maximum likelihood.
///
/// P(i beats j) = s_i / (s_i + s_j). Source: R. Bradley and M. Terry, "Rank analysis of incomplete block
/// designs", Biometrika 39 (1952), 324-345. Intervals are Wald's around the logarithm of a strength. If a
/// cluster holds more than one contest, the covariance is cluster-robust with the factor G / (G - 1), and the
/// interval uses t with G - 1 degrees of freedom. Source: K.-Y. Liang and S. Zeger, Biometrika 73 (1986),
/// 13-22.
///
/// Undefined if no chain of contests connects a system to the others ([`UndefinedReason::NotConnected`]), if
/// a group of systems won every contest with the others, so that no finite strengths fit
/// ([`UndefinedReason::OneSided`]), or if a contest pairs a system with itself or has an index that is not
/// below `systems` ([`UndefinedReason::OutOfRange`]).
pub fn bradley_terry(
    systems: usize,
    contests: &[SystemContest],
    ties: TieRule,
    level: ConfidenceLevel,
) -> Result<BradleyTerryFit, UndefinedReason> {
    if systems < 2 || contests.is_empty() {
        return Err(UndefinedReason::NoValues);
    }

    let is_odd = |contest: &SystemContest| {
        contest.first == contest.second || contest.first.max(contest.second) >= systems
    };
    if contests.iter().any(is_odd) {
        return Err(UndefinedReason::OutOfRange);
    }

    let model = ContestLikelihood::new(systems, contests, ties);
    connectivity::check_connected(systems, |a, b| model.wins_against(a, b) > 0.0)?;

    let tied = contests.iter().filter(|contest| contest.end == ContestOutcome::Tie).count();
    if ties == TieRule::Davidson && tied == contests.len() {
        return Err(UndefinedReason::OneClass);
    }

    let fitted = model.fit()?;
    let inverse = model.information(&fitted).inverse();

    let mut clusters: BTreeMap<usize, Vec<&SystemContest>> = BTreeMap::new();
    for contest in contests {
        clusters.entry(contest.cluster).or_default().push(contest);
    }

    let groups = clusters.len();
    let is_clustered = groups < contests.len();
    let covariance = inverse.map(|inverse| {
        if !is_clustered || groups < 2 {
            return model.remove_shift(inverse);
        }

        let mut scores = SymmetricMatrix::zero(model.parameters());
        let small_sample = groups as f64 / (groups as f64 - 1.0);
        for members in clusters.values() {
            scores.add_outer_product(&model.score(members.iter().copied(), &fitted), small_sample);
        }

        inverse.sandwich(&scores)
    });

    let (reach, method) = match (is_clustered, groups) {
        (false, _) => (normal_critical_value(level), IntervalMethod::Normal),
        (true, 0 | 1) => (Err(UndefinedReason::OneCluster), IntervalMethod::ClusterT),
        (true, groups) => (student_critical_value(groups as f64 - 1.0, level), IntervalMethod::ClusterT),
    };
    let mut result = BradleyTerryFit {
        strengths: Vec::with_capacity(systems),
        tie_weight: model.tie.map(|index| fitted[index].exp()),
        contests: contests.len(),
        clusters: groups,
        level,
        covariance,
        reach,
        method,
    };
    for (system, &log_strength) in fitted.iter().enumerate().take(systems) {
        let mut direction = vec![0.0; fitted.len()];
        direction[system] = 1.0;

        result.strengths.push(SystemStrength {
            log_strength,
            error: result.error_along(&direction),
            interval: result.interval_around(log_strength, &direction),
            contests: contests
                .iter()
                .filter(|contest| [contest.first, contest.second].contains(&system))
                .count(),
        });
    }

    Ok(result)
}

impl BradleyTerryFit {
    /// Returns the lead of the first of two systems over the second, or `None` if an index is out of range.
    pub fn lead(&self, first: usize, second: usize) -> Option<StrengthLead> {
        let difference = self.strengths.get(first)?.log_strength - self.strengths.get(second)?.log_strength;
        let mut direction = vec![0.0; self.covariance.as_ref().map_or(self.strengths.len(), |c| c.size)];
        direction[first] += 1.0;
        direction[second] -= 1.0;

        Some(StrengthLead {
            difference,
            interval: self.interval_around(difference, &direction),
            win_probability: 1.0 / (1.0 + (-difference).exp()),
        })
    }

    fn error_along(&self, direction: &[f64]) -> Result<f64, UndefinedReason> {
        self.reach?;
        let covariance = self.covariance.as_ref().ok_or(UndefinedReason::NotFinite)?;
        let variance: f64 = covariance.multiply(direction).iter().zip(direction).map(|(a, b)| a * b).sum();
        // Rounding may give a value slightly below 0 if a system is compared with itself.
        check_finite(variance.max(0.0).sqrt())
    }

    fn interval_around(&self, centre: f64, direction: &[f64]) -> Result<Interval, UndefinedReason> {
        let error = self.error_along(direction)?;
        Interval::symmetric_around(centre, self.reach? * error, self.level, self.method)
    }
}

/// The likelihood of log-strengths and, with Davidson's rule, of the logarithm of v.
struct ContestLikelihood {
    systems: usize,
    ties: TieRule,
    /// Index of the logarithm of v among the parameters.
    tie: Option<usize>,
    /// Number of wins of each system over each other; here, ties count half for both.
    wins: Vec<f64>,
    contests: Vec<SystemContest>,
}

impl ContestLikelihood {
    fn new(systems: usize, contests: &[SystemContest], ties: TieRule) -> Self {
        let mut wins = vec![0.0; systems * systems];
        let mut any_tie = false;
        for contest in contests {
            let (first, second) =
                (contest.first * systems + contest.second, contest.second * systems + contest.first);
            match contest.end {
                ContestOutcome::First => wins[first] += 1.0,
                ContestOutcome::Second => wins[second] += 1.0,
                ContestOutcome::Tie => {
                    any_tie = true;
                    wins[first] += 0.5;
                    wins[second] += 0.5;
                }
            }
        }

        let tie = (ties == TieRule::Davidson && any_tie).then_some(systems);
        Self { systems, ties, tie, wins, contests: contests.to_vec() }
    }

    fn wins_against(&self, first: usize, second: usize) -> f64 {
        self.wins[first * self.systems + second]
    }

    fn parameters(&self) -> usize {
        self.systems + usize::from(self.tie.is_some())
    }

    /// Returns the direction along which the likelihood is flat: the same shift of all log-strengths.
    fn shift_direction(&self) -> Vec<f64> {
        let mut shift = vec![0.0; self.parameters()];
        shift[..self.systems].fill(1.0 / (self.systems as f64).sqrt());
        shift
    }

    fn remove_shift(&self, mut inverse: SymmetricMatrix) -> SymmetricMatrix {
        inverse.add_outer_product(&self.shift_direction(), -1.0);
        inverse
    }

    /// Returns the probabilities that the first wins, that the second wins, and of a tie.
    fn probabilities(&self, contest: &SystemContest, at: &[f64]) -> [f64; 3] {
        let (a, b) = (at[contest.first], at[contest.second]);
        let tie = self.tie.map_or(f64::NEG_INFINITY, |index| at[index] + f64::midpoint(a, b));
        let top = a.max(b).max(tie);
        let parts = [(a - top).exp(), (b - top).exp(), (tie - top).exp()];
        let sum: f64 = parts.iter().sum();

        parts.map(|part| part / sum)
    }

    /// Returns the sufficient statistic of an outcome for the parameters of first, second and tie.
    const fn sufficient_statistic(end: ContestOutcome) -> [f64; 3] {
        match end {
            ContestOutcome::First => [1.0, 0.0, 0.0],
            ContestOutcome::Second => [0.0, 1.0, 0.0],
            ContestOutcome::Tie => [0.5, 0.5, 1.0],
        }
    }

    /// Returns the derivative of the log-likelihood of some contests.
    fn score<'a>(&self, contests: impl Iterator<Item = &'a SystemContest>, at: &[f64]) -> Vec<f64> {
        let mut score = vec![0.0; self.parameters()];
        for contest in contests {
            let [p, q, t] = self.probabilities(contest, at);
            let [first, second, tie] = Self::sufficient_statistic(contest.end);
            score[contest.first] += first - p - t / 2.0;
            score[contest.second] += second - q - t / 2.0;

            if let Some(index) = self.tie {
                score[index] += tie - t;
            }
        }

        score
    }

    /// Returns the information matrix, with 1 along the flat direction so that it can be inverted.
    fn information(&self, at: &[f64]) -> SymmetricMatrix {
        let mut information = SymmetricMatrix::zero(self.parameters());
        information.add_outer_product(&self.shift_direction(), 1.0);

        for contest in &self.contests {
            let p = self.probabilities(contest, at);
            let ends = [ContestOutcome::First, ContestOutcome::Second, ContestOutcome::Tie]
                .map(Self::sufficient_statistic);
            let mean: [f64; 3] = std::array::from_fn(|k| (0..3).map(|e| p[e] * ends[e][k]).sum());
            let places = [Some(contest.first), Some(contest.second), self.tie];
            for (a, row) in places.iter().enumerate() {
                for (b, column) in places.iter().enumerate() {
                    if let (Some(row), Some(column)) = (*row, *column) {
                        let square: f64 = (0..3).map(|e| p[e] * ends[e][a] * ends[e][b]).sum();
                        information.add(row, column, square - mean[a] * mean[b]);
                    }
                }
            }
        }

        information
    }

    fn likelihood(&self, at: &[f64]) -> f64 {
        let half = self.ties == TieRule::HalfWin;
        self.contests
            .iter()
            .map(|contest| {
                let [p, q, t] = self.probabilities(contest, at);
                match contest.end {
                    ContestOutcome::First => p.ln(),
                    ContestOutcome::Second => q.ln(),
                    ContestOutcome::Tie if half => f64::midpoint(p.ln(), q.ln()),
                    ContestOutcome::Tie => t.ln(),
                }
            })
            .sum()
    }

    /// Maximises the likelihood by Newton's method; steps that overshoot are halved. The log-likelihood is
    /// concave, so there is one maximum.
    fn fit(&self) -> Result<Vec<f64>, UndefinedReason> {
        let mut at = vec![0.0; self.parameters()];
        let mut likelihood = self.likelihood(&at);
        for _ in 0..MAX_STEPS {
            let inverse = self.information(&at).inverse().ok_or(UndefinedReason::NotFinite)?;
            let mut step = inverse.multiply(&self.score(self.contests.iter(), &at));
            if step.iter().all(|step| step.abs() < CONVERGED_STEP) {
                return Ok(self.center_strengths(at));
            }

            loop {
                let next: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + step).collect();
                let reached = self.likelihood(&next);

                // Close to the maximum, the two differ only by rounding.
                if reached >= likelihood - 1e-12 * likelihood.abs() {
                    (at, likelihood) = (next, reached);
                    break;
                }
                if step.iter().all(|step| step.abs() < CONVERGED_STEP) {
                    return Ok(self.center_strengths(at));
                }

                for part in &mut step {
                    *part /= 2.0;
                }
            }
        }

        Err(UndefinedReason::NotFinite)
    }

    fn center_strengths(&self, mut at: Vec<f64>) -> Vec<f64> {
        let mean = at[..self.systems].iter().sum::<f64>() / self.systems as f64;
        at[..self.systems].iter_mut().for_each(|value| *value -= mean);
        at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn many(first: usize, second: usize, wins: usize, losses: usize, ties: usize) -> Vec<SystemContest> {
        let ends =
            [(ContestOutcome::First, wins), (ContestOutcome::Second, losses), (ContestOutcome::Tie, ties)];
        ends.iter()
            .flat_map(|&(end, times)| {
                std::iter::repeat_n(SystemContest { first, second, end, cluster: 0 }, times)
            })
            .collect()
    }

    fn apart(mut contests: Vec<SystemContest>) -> Vec<SystemContest> {
        contests.iter_mut().enumerate().for_each(|(number, contest)| contest.cluster = number);
        contests
    }

    #[test]
    fn two_systems_are_the_logit_of_the_win_rate() {
        // Closed form: difference ln(30 / 10), standard error sqrt(1 / 30 + 1 / 10).
        let fit = bradley_terry(2, &apart(many(0, 1, 30, 10, 0)), TieRule::HalfWin, ConfidenceLevel::P95)
            .expect("defined");
        let lead = fit.lead(0, 1).expect("both are there");
        assert!((lead.difference - 3.0_f64.ln()).abs() < 1e-10, "{lead:?}");
        assert!((lead.win_probability - 0.75).abs() < 1e-10);
        let interval = lead.interval.expect("defined");
        let reach = 1.959_963_984_540_054 * (1.0 / 30.0 + 1.0 / 10.0_f64).sqrt();
        assert!((interval.high - lead.difference - reach).abs() < 1e-9, "{interval:?}");
        assert_eq!(interval.method, IntervalMethod::Normal);
        let back = fit.lead(1, 0).expect("both are there");
        assert!((back.difference + lead.difference).abs() < 1e-12);
    }

    #[test]
    fn ties_between_two_systems_have_closed_forms() {
        // Davidson: s_1 / s_2 = wins / losses, v = ties / sqrt(wins losses).
        let contests = apart(many(0, 1, 16, 4, 12));
        let fit = bradley_terry(2, &contests, TieRule::Davidson, ConfidenceLevel::P95).expect("defined");
        assert!((fit.lead(0, 1).expect("there").difference - 4.0_f64.ln()).abs() < 1e-9, "{fit:?}");
        assert!((fit.tie_weight.expect("there are ties") - 12.0 / 8.0).abs() < 1e-9);
        // Half wins: (16 + 6) to (4 + 6).
        let half = bradley_terry(2, &contests, TieRule::HalfWin, ConfidenceLevel::P95).expect("defined");
        assert!((half.lead(0, 1).expect("there").difference - (22.0_f64 / 10.0).ln()).abs() < 1e-9);
        assert_eq!(half.tie_weight, None);
    }

    #[test]
    fn strengths_that_fit_exactly_are_found() {
        // Wins in the proportions of strengths 4 : 2 : 1.
        let mut contests = many(0, 1, 40, 20, 0);
        contests.extend(many(1, 2, 40, 20, 0));
        contests.extend(many(0, 2, 40, 10, 0));
        let fit =
            bradley_terry(3, &apart(contests), TieRule::HalfWin, ConfidenceLevel::P95).expect("defined");
        for (strength, expected) in fit.strengths.iter().zip([2.0_f64.ln(), 0.0, -(2.0_f64.ln())]) {
            assert!((strength.log_strength - expected).abs() < 1e-9, "{strength:?}");
        }
        assert_eq!(fit.strengths.iter().map(|s| s.contests).collect::<Vec<_>>(), [110, 120, 110]);
    }

    #[test]
    fn copies_of_a_contest_in_one_cluster_add_no_certainty() {
        let once = apart(many(0, 1, 30, 10, 0));
        let thrice: Vec<SystemContest> = once.iter().flat_map(|contest| [*contest; 3]).collect();
        let plain = bradley_terry(2, &once, TieRule::HalfWin, ConfidenceLevel::P95).expect("defined");
        let copied = bradley_terry(2, &thrice, TieRule::HalfWin, ConfidenceLevel::P95).expect("defined");
        let error = |fit: &BradleyTerryFit| fit.strengths[0].error.expect("defined");
        assert_eq!((copied.contests, copied.clusters), (120, 40));
        // The cluster-robust error of independent contests differs from the model's by the factor sqrt(G / (G - 1)).
        assert!(
            (error(&copied) / error(&plain) - (40.0_f64 / 39.0).sqrt()).abs() < 1e-6,
            "{copied:?} {plain:?}"
        );
    }

    #[test]
    fn what_has_no_strength_is_undefined() {
        let fit = |systems, contests: Vec<SystemContest>, ties| {
            bradley_terry(systems, &contests, ties, ConfidenceLevel::P95)
        };
        assert_eq!(fit(2, Vec::new(), TieRule::HalfWin), Err(UndefinedReason::NoValues));
        assert_eq!(fit(1, many(0, 0, 1, 0, 0), TieRule::HalfWin), Err(UndefinedReason::NoValues));
        assert_eq!(fit(2, many(0, 0, 1, 1, 0), TieRule::HalfWin), Err(UndefinedReason::OutOfRange));
        assert_eq!(fit(2, many(0, 1, 5, 0, 0), TieRule::HalfWin), Err(UndefinedReason::OneSided));
        assert_eq!(fit(3, many(0, 1, 5, 5, 0), TieRule::HalfWin), Err(UndefinedReason::NotConnected));
        let mut chain = many(0, 1, 3, 2, 0);
        chain.extend(many(1, 2, 4, 0, 0));
        assert_eq!(fit(3, chain, TieRule::HalfWin), Err(UndefinedReason::OneSided));
        assert_eq!(fit(2, many(0, 1, 0, 0, 4), TieRule::Davidson), Err(UndefinedReason::OneClass));
        let one_cluster = fit(2, many(0, 1, 3, 2, 0), TieRule::HalfWin).expect("strengths exist");
        assert_eq!(one_cluster.strengths[0].interval, Err(UndefinedReason::OneCluster));
    }

    proptest! {
        #[test]
        fn swapping_sides_and_names_changes_nothing(
            counts in proptest::collection::vec((1_usize..6, 1_usize..6, 0_usize..4), 3)
        ) {
            let pairs = [(0, 1), (1, 2), (0, 2)];
            let contests: Vec<SystemContest> = pairs.iter().zip(&counts)
                .flat_map(|(&(a, b), &(wins, losses, ties))| many(a, b, wins, losses, ties)).collect();
            let contests = apart(contests);
            let swapped: Vec<SystemContest> = contests.iter().map(|contest| SystemContest {
                first: 2 - contest.second,
                second: 2 - contest.first,
                end: match contest.end {
                    ContestOutcome::First => ContestOutcome::Second,
                    ContestOutcome::Second => ContestOutcome::First,
                    ContestOutcome::Tie => ContestOutcome::Tie,
                },
                cluster: contest.cluster,
            }).collect();
            for ties in [TieRule::HalfWin, TieRule::Davidson] {
                let plain = bradley_terry(3, &contests, ties, ConfidenceLevel::P95).expect("every pair won and lost");
                let other = bradley_terry(3, &swapped, ties, ConfidenceLevel::P95).expect("every pair won and lost");
                let sum: f64 = plain.strengths.iter().map(|s| s.log_strength).sum();
                prop_assert!(sum.abs() < 1e-9);
                for system in 0..3 {
                    let (a, b) = (plain.strengths[system], other.strengths[2 - system]);
                    prop_assert!((a.log_strength - b.log_strength).abs() < 1e-7);
                    prop_assert!((a.error.expect("defined") - b.error.expect("defined")).abs() < 1e-7);
                }
            }
        }
    }
}
