//! Results of samples, made from their records. Scores are copied; only the reward is chosen here.

use std::collections::BTreeMap;

use assize_rubric::{Cost, OutcomeKind, PartialCost, Tokens, UngradedKind, UngradedReason, Usd, Verdict};
use assize_store::{CaseRecord, CriterionRow, GateRow, ResultRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scorecard_part::ScorecardPartResult;

assize_rubric::named_enum! {
    /// Number that a sample gets as its reward.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum RewardKind {
        /// The score of the rubric, or of the top of the scorecard.
        #[default]
        Score = "score",
        /// The score, or 0 if a gate failed.
        Gated = "gated",
        /// 1 for the verdict `pass`, 0 for `borderline` and `fail`.
        Pass = "pass",
    }
}

/// Reward of a sample whose reward is not known: null, a word, or `{"value": X}`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OnUngraded {
    /// None.
    #[default]
    Null,
    /// A policy by its name.
    Named(UngradedPolicy),
    /// This number.
    Value {
        /// The number.
        value: f64,
    },
}

assize_rubric::named_enum! {
    /// Policy for samples whose reward is not known.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum UngradedPolicy {
        /// The result is omitted and counted. A result with a known reward is kept, even without a group score.
        Drop = "drop",
        /// The request fails with 502. It lists each such sample, and each one without a requested group score.
        Error = "error",
        /// The lowest reward that is possible, whatever the sign of the weights; 0 where nothing is known of it.
        Low = "low",
        /// The highest reward that is possible; 1 where nothing is known of it.
        High = "high",
    }
}

assize_rubric::named_enum! {
    /// Degree to which a sample was graded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum GradeStatus {
        /// Every criterion, or benchmark, is decided.
        Graded = "graded",
        /// Some of them are ungraded.
        Partial = "partial",
        /// None of them is decided, or none applies.
        Ungraded = "ungraded",
    }
}

/// Result of one sample. Unknown values are null, never made up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SampleResult {
    /// Place of the sample in the request, from 0.
    pub index: usize,
    /// Id of the sample.
    pub id: String,
    /// Its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Degree to which it was graded.
    pub status: GradeStatus,
    /// The reward; null when it is not known and the request asked for nothing else.
    pub reward: Option<f64>,
    /// True if the reward is that of `on_ungraded`.
    pub reward_assumed: bool,
    /// Reward by each criterion, by its id, 0 to 1: larger is better. It is the value of the decision; of a penalty,
    /// 1 minus it, so that it is 0 when the fault is there. Null for a criterion that is ungraded or does not apply. Of a
    /// scorecard, the score of each part below the top by its code.
    pub reward_components: BTreeMap<String, Option<f64>>,
    /// Score of the rubric, or of the top of the scorecard, 0 to 1. A failed gate of a scorecard does not change it.
    pub score: Option<f64>,
    /// Lowest score that the ungraded criteria could lead to; 0 where nothing applies.
    pub score_low: Option<f64>,
    /// Highest score that the ungraded criteria could lead to; 1 where nothing applies.
    pub score_high: Option<f64>,
    /// Share of the applicable weight that was judged, 0 to 1.
    pub coverage: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The gates that failed. Of a scorecard, each hard gate by its code.
    pub gates_failed: Vec<GateRow>,
    /// The decisions on criteria, in the order of the rubric.
    pub decisions: Vec<DecisionResult>,
    /// Parts of the scorecard, the top first and each before those below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scorecard: Vec<ScorecardPartResult>,
    /// Reason why something is ungraded, or could not be compared; null when nothing is.
    pub error: Option<String>,
    /// Share of the comparisons within its group that it won, ties as half, 0 to 1; null when some were not decided and the
    /// request asked for nothing else, and for a sample that is alone in its group. Absent without `compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_score: Option<Option<f64>>,
    /// True if the share is that of `on_ungraded`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub group_score_assumed: bool,
    /// Rank within its group by that share, 1 for the best; samples of one share have the mean of their ranks. Null when a
    /// comparison of the group was not decided. Absent without `compare: ranked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_rank: Option<Option<f64>>,
    /// Numbers of decided and of requested comparisons within its group. Absent without `compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_comparisons: Option<(usize, usize)>,
    /// Calls of judges, those answered from the reply cache included.
    pub judge_calls: u64,
    /// Calls of judges that were answered from the reply cache.
    pub judge_calls_cached: u64,
    /// Tokens of the judge calls.
    pub tokens: Tokens,
    /// Cost of the judge calls in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// From the start of the grading to its end, in milliseconds; the wait in the queue is not part of it.
    pub duration_ms: u64,
    /// Hash of everything that decides about the result beside the sample: judges, models, prompts, rubric, mode. A judge that
    /// changes in the middle of a training run changes it.
    pub judge_config_hash: String,
    /// True if a judge was skipped because it had failed before.
    #[serde(skip)]
    pub is_unavailable: bool,
}

/// Decision on one criterion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionResult {
    /// The decision, as a run stores it.
    #[serde(flatten)]
    pub decision: CriterionRow,
    /// Reason there is none; null for a criterion that was decided.
    pub ungraded: Option<UngradedReason>,
}

/// Sums over the results of a request.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct GradeSummary {
    /// Samples of the request.
    pub samples: usize,
    /// Samples with a decision on every criterion.
    pub graded: usize,
    /// Samples with some ungraded criteria.
    pub partial: usize,
    /// Samples with no decided criterion, or with none that applies.
    pub ungraded: usize,
    /// Samples that were left out because of `on_ungraded: drop`.
    pub dropped: usize,
    /// Calls of judges.
    pub judge_calls: u64,
    /// Calls of judges that were answered from the reply cache.
    pub judge_calls_cached: u64,
    /// Cost in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Calls whose cost is not known.
    pub unpriced_calls: u64,
    /// From the acceptance of the request to its last result, in milliseconds.
    pub duration_ms: u64,
    #[serde(skip)]
    cost: Cost,
}

/// Index and names of a sample within its request.
#[derive(Debug, Clone)]
pub struct SamplePlace {
    /// Place in the list, from 0.
    pub index: usize,
    /// Id, which the result has too.
    pub id: String,
    /// Name of its group.
    pub group: Option<String>,
}

/// The known reward, with the lowest and the highest that are possible.
pub(super) struct RewardBounds {
    pub(super) known: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl RewardBounds {
    /// A reward that is known.
    pub(super) const fn certain(reward: f64) -> Self {
        Self { known: Some(reward), low: Some(reward), high: Some(reward) }
    }

    /// The reward under this policy for unknown rewards, and whether it was assumed.
    pub(super) fn choose(&self, on_ungraded: OnUngraded) -> (Option<f64>, bool) {
        // Ungraded criteria may not affect the reward.
        let known = self.known.or_else(|| self.low.filter(|low| Some(*low) == self.high));
        match (known, on_ungraded) {
            (Some(known), _) => (Some(known), false),
            (None, OnUngraded::Value { value }) => (Some(value), true),
            // Without bounds, every value from 0 to 1 is possible.
            (None, OnUngraded::Named(UngradedPolicy::Low)) => (Some(self.low.unwrap_or(0.0)), true),
            (None, OnUngraded::Named(UngradedPolicy::High)) => (Some(self.high.unwrap_or(1.0)), true),
            (None, _) => (None, false),
        }
    }
}

impl SampleResult {
    /// The result of a sample, made from its record. `config_hash` is the rubric's.
    pub fn new(
        place: SamplePlace,
        record: CaseRecord,
        reward: RewardKind,
        on_ungraded: OnUngraded,
        config_hash: &str,
    ) -> Self {
        let is_unavailable = is_unavailable(&record);
        let CaseRecord { result, decisions } = record;
        let (mut calls, mut cached, mut tokens) = (0_u64, 0_u64, Tokens::default());
        let mut causes: BTreeMap<String, UngradedReason> = BTreeMap::new();
        for row in decisions {
            let spent = &row.decision.spent;
            calls += u64::from(spent.attempts) + u64::from(spent.cached_calls);
            cached += u64::from(spent.cached_calls);
            tokens.add(spent.tokens);
            if let (Some(criterion), Some(reason)) = (row.decision.criterion(), &row.decision.ungraded) {
                causes.entry(criterion.id.to_string()).or_insert_with(|| reason.clone());
            }
        }

        let bounds = reward_bounds(&result, reward);
        let status = status_of(&result);
        let (reward, reward_assumed) = bounds.choose(on_ungraded);

        let error = reason_of(&result, &causes);
        let rows = result.graders.into_iter().flat_map(|grader| grader.criteria);
        let decisions: Vec<DecisionResult> = rows
            .map(|decision| {
                let is_ungraded = decision.outcome == OutcomeKind::Ungraded;
                let ungraded = if is_ungraded { causes.remove(&*decision.id) } else { None };
                DecisionResult { decision, ungraded }
            })
            .collect();

        Self {
            index: place.index,
            id: place.id,
            group: place.group,
            status,
            reward,
            reward_assumed,
            reward_components: decisions
                .iter()
                .map(|row| (row.decision.id.to_string(), component_of(&row.decision)))
                .collect(),
            score: result.score,
            score_low: result.score_low.or(Some(0.0)),
            score_high: result.score_high.or(Some(1.0)),
            coverage: result.coverage,
            verdict: result.verdict,
            gates_failed: result.gates_failed,
            decisions,
            scorecard: Vec::new(),
            error,
            group_score: None,
            group_score_assumed: false,
            group_rank: None,
            group_comparisons: None,
            judge_calls: calls,
            judge_calls_cached: cached,
            tokens,
            cost_usd: result.cost_usd,
            cost_partial: result.cost_partial,
            duration_ms: result.duration_ms,
            judge_config_hash: config_hash.to_owned(),
            is_unavailable,
        }
    }

    /// Sets the share of comparisons that it won: `points` out of the decided ones. As with rewards, an undecided
    /// comparison counts as neither won nor lost.
    pub fn set_group_score(
        &mut self,
        points: f64,
        (decided, asked): (usize, usize),
        on_ungraded: OnUngraded,
    ) {
        self.group_comparisons = Some((decided, asked));
        if asked == 0 {
            self.group_score = Some(None);
            return;
        }

        let share = |points: f64| Some(points / asked as f64);
        let (low, high) = (share(points), share(points + asked.saturating_sub(decided) as f64));
        let bounds = RewardBounds { known: None, low, high };
        let (score, is_assumed) = bounds.choose(on_ungraded);
        (self.group_score, self.group_score_assumed) = (Some(score), is_assumed);
        if decided < asked && self.status == GradeStatus::Graded {
            self.status = GradeStatus::Partial;
        }
    }

    /// Whether its reward is unknown.
    pub const fn lacks_reward(&self) -> bool {
        self.reward.is_none() || self.reward_assumed
    }

    /// Whether its group score was requested and is unknown.
    pub const fn lacks_group_score(&self) -> bool {
        matches!(self.group_comparisons, Some((decided, asked)) if decided < asked)
            && (self.group_score_assumed || matches!(self.group_score, None | Some(None)))
    }

    /// Whether no criterion or benchmark applies to it.
    pub fn is_not_applicable(&self) -> bool {
        let mut decisions = self.decisions.iter();
        let mut parts = self.scorecard.iter();
        !(self.decisions.is_empty() && self.scorecard.is_empty())
            && decisions.all(|row| row.decision.outcome == OutcomeKind::NotApplicable)
            && parts.all(|part| part.decision.is_none())
    }

    /// Whether the policy excludes it from the results, because its reward is unknown. A sample that only lacks
    /// a group score stays; otherwise its reward would be lost too.
    pub fn is_dropped(&self, on_ungraded: OnUngraded) -> bool {
        on_ungraded == OnUngraded::Named(UngradedPolicy::Drop) && self.lacks_reward()
    }
}

/// Whether no request was sent to a judge, because it failed before.
pub(super) fn is_unavailable(record: &CaseRecord) -> bool {
    let mut causes = record.decisions.iter().filter_map(|row| row.decision.ungraded.as_ref());
    causes.any(|cause| cause.kind == UngradedKind::Unavailable)
}

/// The value of a criterion as a part of a reward, where larger is better. A penalty counts by the absence of
/// its fault.
fn component_of(row: &CriterionRow) -> Option<f64> {
    let value = row.value?;
    Some(if row.weight < 0.0 { 1.0 - value } else { value })
}

fn status_of(result: &ResultRow) -> GradeStatus {
    let rows = || result.graders.iter().flat_map(|grader| &grader.criteria);
    let ungraded = rows().filter(|row| row.outcome == OutcomeKind::Ungraded).count();
    match rows().count() {
        // Graders other than rubrics decide as a whole.
        0 if result.score.is_some() => GradeStatus::Graded,
        0 => GradeStatus::Ungraded,
        _ if rows().all(|row| row.outcome == OutcomeKind::NotApplicable) => GradeStatus::Ungraded,
        _ if ungraded == 0 => GradeStatus::Graded,
        all if ungraded == all => GradeStatus::Ungraded,
        _ => GradeStatus::Partial,
    }
}

/// The bounds of a reward. They follow from the bounds of the score, so the worst case depends on the sign of
/// the weights.
fn reward_bounds(result: &ResultRow, reward: RewardKind) -> RewardBounds {
    match reward {
        RewardKind::Gated if !result.gates_failed.is_empty() => RewardBounds::certain(0.0),
        RewardKind::Gated if has_open_gate(result) => {
            RewardBounds { known: None, low: result.score_low.map(|_| 0.0), high: result.score_high }
        }
        RewardKind::Score | RewardKind::Gated => {
            RewardBounds { known: result.score, low: result.score_low, high: result.score_high }
        }
        RewardKind::Pass => match result.verdict {
            Verdict::Pass => RewardBounds::certain(1.0),
            Verdict::Borderline | Verdict::Fail => RewardBounds::certain(0.0),
            Verdict::Incomplete => RewardBounds { known: None, low: Some(0.0), high: Some(1.0) },
        },
    }
}

/// Whether a criterion with a gate is ungraded.
fn has_open_gate(result: &ResultRow) -> bool {
    let mut rows = result.graders.iter().flat_map(|grader| &grader.criteria);
    rows.any(|row| row.gate.is_some() && row.outcome == OutcomeKind::Ungraded)
}

/// Why a part of the result is ungraded: the reason of the case, or else of the grader, or else of the first
/// ungraded criterion.
fn reason_of(result: &ResultRow, causes: &BTreeMap<String, UngradedReason>) -> Option<String> {
    if let Some(error) = &result.error {
        return Some(error.message.clone());
    }
    if let Some(error) = result.graders.iter().find_map(|grader| grader.error.clone()) {
        return Some(error);
    }

    let rows = result.graders.iter().flat_map(|grader| &grader.criteria);
    let open: Vec<_> = rows.filter(|row| row.outcome == OutcomeKind::Ungraded).collect();
    let Some(first) = open.first() else {
        return (status_of(result) == GradeStatus::Ungraded).then(|| "no criterion applies".to_owned());
    };
    let reason = causes.get(&*first.id).map_or(first.reason.as_str(), |cause| &cause.message);
    Some(match open.len() {
        1 => format!("{}: {reason}", first.id),
        more => format!("{}: {reason} (and {} more)", first.id, more - 1),
    })
}

impl GradeSummary {
    /// Adds a result.
    pub fn add(&mut self, result: &SampleResult, on_ungraded: OnUngraded) {
        self.samples += 1;
        match result.status {
            GradeStatus::Graded => self.graded += 1,
            GradeStatus::Partial => self.partial += 1,
            GradeStatus::Ungraded => self.ungraded += 1,
        }
        self.dropped += usize::from(result.is_dropped(on_ungraded));
        self.judge_calls += result.judge_calls;
        self.judge_calls_cached += result.judge_calls_cached;

        self.cost += Cost::from_parts(result.cost_usd, result.cost_partial);
        self.cost_usd = self.cost.total();
        self.cost_partial = self.cost.to_partial();
        self.unpriced_calls = self.cost.unpriced_calls();
    }
}
