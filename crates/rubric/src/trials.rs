//! Several trials of one case, and their combined verdict.
//!
//! Design: `docs/design/scoring.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::CombinedGateState;
use crate::{Cost, Usd, Verdict, VerdictThresholds};

crate::named_enum! {
    /// Rule that combines the trials of a case into one verdict and score.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
    )]
    #[schemars(rename = "RepeatStrategy")]
    pub enum TrialStrategy {
        /// One passing trial is enough. The score is the best one.
        #[default]
        PassAtK = "pass_at_k",
        /// Every trial must pass. The score is the worst one.
        PassAll = "pass_all",
        /// The mean score is compared with the thresholds.
        Mean = "mean",
        /// The lower end of the mean's confidence interval is compared with the thresholds.
        ConfidenceInterval = "confidence_interval",
    }
}

/// Settings of the trials of a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RepeatPlan")]
pub struct TrialPlan {
    /// Maximum number of trials, at least 1.
    pub count: u32,
    /// Rule that combines the trials.
    pub strategy: TrialStrategy,
    /// True if no trial starts after one that passes.
    #[serde(default)]
    pub early_stop: bool,
    /// Budget for the trials of the case in US dollars. No trial starts once it is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_limit_usd: Option<Usd>,
    /// Thresholds for the combined score of the trials.
    pub thresholds: VerdictThresholds,
}

/// Result of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialResult {
    /// Its verdict.
    pub verdict: Verdict,
    /// Its score, if known.
    pub score: Option<f64>,
    /// Lowest possible score, 0 to 1.
    pub low: f64,
    /// Highest possible score, 0 to 1.
    pub high: f64,
    /// True if one of its gates failed.
    pub gate_failed: bool,
    /// Cost of the trial.
    pub cost: Cost,
}

impl TrialResult {
    /// Creates the result of a trial. If its score is unknown, it is within `bounds`; missing bounds are 0
    /// and 1.
    pub fn new(
        verdict: Verdict,
        score: Option<f64>,
        bounds: (Option<f64>, Option<f64>),
        gate_failed: bool,
        cost: Cost,
    ) -> Self {
        let (low, high) = (score.or(bounds.0).unwrap_or(0.0), score.or(bounds.1).unwrap_or(1.0));
        Self { verdict, score, low, high, gate_failed, cost }
    }

    /// A trial without any known result.
    pub const UNKNOWN: Self = Self {
        verdict: Verdict::Incomplete,
        score: None,
        low: 0.0,
        high: 1.0,
        gate_failed: false,
        cost: Cost::ZERO,
    };
}

/// Result of the trials of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSummary {
    /// Verdict.
    pub verdict: Verdict,
    /// Score of the case; `None` if unknown results could change it.
    pub score: Option<f64>,
    /// Number of trials that passed.
    pub passed: u32,
    /// Number of trials with a verdict.
    pub decided: u32,
    /// Number of trials that ran.
    pub run: u32,
}

impl TrialPlan {
    /// Creates a plan of a single trial.
    pub const fn single(thresholds: VerdictThresholds) -> Self {
        Self {
            count: 1,
            strategy: TrialStrategy::PassAtK,
            early_stop: false,
            cost_limit_usd: None,
            thresholds,
        }
    }

    /// Returns true if trials must run one after another, because an earlier one may make later ones
    /// unnecessary.
    pub const fn is_in_sequence(&self) -> bool {
        self.count > 1 && (self.early_stop || self.cost_limit_usd.is_some())
    }

    /// Returns true if no further trial should start after these.
    pub fn is_finished(&self, trials: &[TrialResult]) -> bool {
        let spent = || trials.iter().fold(Usd::ZERO, |sum, trial| sum + trial.cost.lower_bound());
        trials.len() >= self.count as usize
            || (self.early_stop && trials.iter().any(|trial| trial.verdict == Verdict::Pass))
            || (!trials.is_empty() && self.cost_limit_usd.is_some_and(|limit| spent() >= limit))
    }

    /// Combines the trials. Missing trials may still have any result, unless the sequence ended early.
    ///
    /// `lower` returns the lower end of the interval around the mean of some scores; if there is none, the
    /// case is incomplete. There is a verdict only if unknown results can't change it. If scores are
    /// averaged, a failed gate in one trial fails the case, because no mean compensates for a gate.
    pub fn conclude(&self, trials: &[TrialResult], lower: impl Fn(&[f64]) -> Option<f64>) -> TrialSummary {
        let missing =
            if self.is_finished(trials) { 0 } else { (self.count as usize).saturating_sub(trials.len()) };
        let all: Vec<TrialResult> =
            trials.iter().copied().chain(std::iter::repeat_n(TrialResult::UNKNOWN, missing)).collect();
        let (verdict, score) = match self.strategy {
            _ if all.is_empty() => (Verdict::Incomplete, None),
            TrialStrategy::PassAtK => most_extreme(&all, BEST_FIRST, f64::max),
            TrialStrategy::PassAll => most_extreme(&all, WORST_FIRST, f64::min),
            TrialStrategy::Mean => self.average_scores(&all, |scores| Some(mean_score(scores))),
            TrialStrategy::ConfidenceInterval => self.average_scores(&all, lower),
        };

        let count = |is: fn(&TrialResult) -> bool| trials.iter().filter(|trial| is(trial)).count() as u32;
        TrialSummary {
            verdict,
            score,
            passed: count(|trial| trial.verdict == Verdict::Pass),
            decided: count(|trial| trial.verdict != Verdict::Incomplete),
            run: trials.len() as u32,
        }
    }

    /// Returns the verdict and score for a statistic of all scores.
    fn average_scores(
        &self,
        all: &[TrialResult],
        figure: impl Fn(&[f64]) -> Option<f64>,
    ) -> (Verdict, Option<f64>) {
        let known: Option<Vec<f64>> = all.iter().map(|trial| trial.score).collect();
        let score = known.as_deref().and_then(figure);

        // A trial with a known score may still have an ungraded gate.
        let gates = if all.iter().any(|trial| trial.gate_failed) {
            CombinedGateState::Failed
        } else if all.iter().any(|trial| trial.verdict == Verdict::Incomplete) {
            CombinedGateState::Open
        } else {
            CombinedGateState::Hold
        };
        // The lower end of an interval is not monotonic: more spread makes the interval wider, so the
        // extremes of the scores do not bound it.
        let bounds = match (score, self.strategy) {
            (Some(score), _) => Some((score, score)),
            (None, TrialStrategy::Mean) => {
                let mean_of =
                    |part: fn(&TrialResult) -> f64| mean_score(&all.iter().map(part).collect::<Vec<_>>());
                Some((mean_of(|trial| trial.low), mean_of(|trial| trial.high)))
            }
            (None, _) => None,
        };
        (self.thresholds.verdict_within(bounds, gates), score)
    }
}

/// Order in which verdicts decide if one passing trial is enough. An incomplete trial may still pass.
const BEST_FIRST: [Verdict; 4] = [Verdict::Pass, Verdict::Incomplete, Verdict::Borderline, Verdict::Fail];
/// Order in which verdicts decide if every trial must pass. An incomplete trial may still fail.
const WORST_FIRST: [Verdict; 4] = [Verdict::Fail, Verdict::Incomplete, Verdict::Borderline, Verdict::Pass];

/// Returns the verdict that comes first in `order`, and the best or worst score of the trials with that
/// verdict.
fn most_extreme(
    all: &[TrialResult],
    order: [Verdict; 4],
    pick: fn(f64, f64) -> f64,
) -> (Verdict, Option<f64>) {
    let present = |verdict: &&Verdict| all.iter().any(|trial| trial.verdict == **verdict);
    let verdict = order.iter().find(present).copied().unwrap_or(Verdict::Incomplete);
    if verdict == Verdict::Incomplete {
        return (verdict, None);
    }

    let scores = all.iter().filter(|trial| trial.verdict == verdict).map(|trial| trial.score);
    let known: Option<Vec<f64>> = scores.collect();
    (verdict, known.and_then(|scores| scores.into_iter().reduce(pick)))
}

fn mean_score(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnitInterval;

    fn plan(count: u32, strategy: TrialStrategy) -> TrialPlan {
        let unit = |value| UnitInterval::new(value).expect("in range");
        let thresholds = VerdictThresholds::new(unit(0.8), Some(unit(0.6))).expect("in order");
        TrialPlan { count, strategy, ..TrialPlan::single(thresholds) }
    }

    fn scored(score: f64) -> TrialResult {
        let thresholds = plan(1, TrialStrategy::Mean).thresholds;
        TrialResult {
            verdict: thresholds.verdict(score),
            score: Some(score),
            low: score,
            high: score,
            gate_failed: false,
            cost: Cost::ZERO,
        }
    }

    /// The lower end used in tests: the smallest of at least two scores.
    fn smallest(scores: &[f64]) -> Option<f64> {
        (scores.len() > 1).then(|| scores.iter().copied().fold(1.0, f64::min))
    }

    fn settled(strategy: TrialStrategy, trials: &[TrialResult]) -> (Verdict, Option<f64>) {
        let case = plan(trials.len() as u32, strategy).conclude(trials, smallest);
        (case.verdict, case.score)
    }

    #[test]
    fn each_strategy_settles_by_its_own_rule() {
        let mixed = [scored(1.0), scored(0.7), scored(0.2), scored(0.9)];
        assert_eq!(settled(TrialStrategy::PassAtK, &mixed), (Verdict::Pass, Some(1.0)));
        assert_eq!(settled(TrialStrategy::PassAll, &mixed), (Verdict::Fail, Some(0.2)));
        let (verdict, score) = settled(TrialStrategy::Mean, &mixed);
        assert_eq!(
            (verdict, score.map(|score| (score * 1000.0).round())),
            (Verdict::Borderline, Some(700.0))
        );
        assert_eq!(settled(TrialStrategy::ConfidenceInterval, &mixed), (Verdict::Fail, Some(0.2)));
        assert_eq!(settled(TrialStrategy::ConfidenceInterval, &mixed[..1]), (Verdict::Incomplete, None));
    }

    #[test]
    fn what_is_not_known_is_never_a_score() {
        let open = TrialResult { low: 0.5, ..TrialResult::UNKNOWN };
        assert_eq!(settled(TrialStrategy::PassAtK, &[open, scored(0.9)]).0, Verdict::Pass);
        assert_eq!(settled(TrialStrategy::PassAtK, &[open, scored(0.1)]), (Verdict::Incomplete, None));
        assert_eq!(settled(TrialStrategy::PassAll, &[open, scored(0.1)]).0, Verdict::Fail);
        assert_eq!(settled(TrialStrategy::PassAll, &[open, scored(1.0)]), (Verdict::Incomplete, None));
        // With any score of the missing trial, the mean stays below both thresholds.
        assert_eq!(settled(TrialStrategy::Mean, &[open, scored(0.1)]), (Verdict::Fail, None));
        assert_eq!(settled(TrialStrategy::Mean, &[open, scored(0.9)]), (Verdict::Incomplete, None));
        assert_eq!(settled(TrialStrategy::ConfidenceInterval, &[open, scored(0.0)]).0, Verdict::Incomplete);
        let unfinished = plan(3, TrialStrategy::Mean).conclude(&[scored(1.0)], smallest);
        assert_eq!((unfinished.verdict, unfinished.score, unfinished.run), (Verdict::Incomplete, None, 1));
    }

    #[test]
    fn no_mean_makes_up_for_a_gate() {
        let gated = TrialResult { verdict: Verdict::Fail, gate_failed: true, ..scored(1.0) };
        for strategy in [TrialStrategy::PassAll, TrialStrategy::Mean, TrialStrategy::ConfidenceInterval] {
            assert_eq!(settled(strategy, &[gated, scored(1.0)]).0, Verdict::Fail, "{}", strategy.name());
        }
        assert_eq!(settled(TrialStrategy::PassAtK, &[gated, scored(0.9)]), (Verdict::Pass, Some(0.9)));
    }

    #[test]
    fn a_sequence_ends_at_a_pass_or_at_its_limit_and_what_was_not_begun_is_not_missing() {
        let early = TrialPlan { early_stop: true, ..plan(4, TrialStrategy::PassAtK) };
        assert!(early.is_in_sequence() && !early.is_finished(&[]) && !early.is_finished(&[scored(0.5)]));
        let stopped = [scored(0.5), scored(0.9)];
        assert!(early.is_finished(&stopped));
        let case = early.conclude(&stopped, smallest);
        assert_eq!((case.verdict, case.passed, case.decided, case.run), (Verdict::Pass, 1, 2, 2));
        let dollar = Usd::from_dollars(1.0).expect("countable");
        let limited = TrialPlan { cost_limit_usd: Some(dollar), ..plan(4, TrialStrategy::Mean) };
        let dear = TrialResult { cost: Cost::from_known(dollar), ..scored(0.9) };
        assert!(limited.is_finished(&[dear]) && !limited.is_finished(&[scored(0.9)]));
        assert_eq!(limited.conclude(&[dear], smallest).verdict, Verdict::Pass);
    }
}
