//! `run.json`: the inputs, settings and results of a run.

use std::collections::BTreeMap;

use assize_rubric::{Cost, DerivedMetricSpec, JudgeIdentity, PartialCost, Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CriterionRate, EarlyStop, MergeInfo, PanelSummary, PassRateGate, RowCounts, RunConclusion, RunMetrics,
    ScorecardInfo, ShardInfo, VerdictCounts,
};

/// Version of the layout of a run folder. Raised when an older reader would misread a newer run.
pub const FORMAT_VERSION: u32 = 2;
/// Version since which `run.json` ends with a checksum.
pub(crate) const SUMMED_VERSION: u32 = 2;

/// Description of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// Version of the layout of the run folder.
    pub format_version: u32,
    /// Run id. Default: the name of the folder.
    pub run_id: String,
    /// Version of Assize.
    pub assize_version: String,
    /// Start time (RFC 3339, UTC).
    pub started_at: String,
    /// End time; null while the run is in progress or if it was killed.
    pub finished_at: Option<String>,
    /// Command: `eval`, `grade`, `score` or `scorecard run`.
    pub command: String,
    /// Name that the user gave the run; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Suites in the order they ran.
    pub suites: Vec<SuiteInfo>,
    /// Files that were read, with their hashes.
    pub inputs: Vec<InputHash>,
    /// Judges of the run. The default judge is first.
    pub judges: Vec<JudgeInfo>,
    /// Targets.
    pub targets: Vec<TargetInfo>,
    /// Effective settings.
    pub settings: RunSettings,
    /// Warnings, such as a judge that grades its own answers or a setting without effect.
    pub warnings: Vec<String>,
    /// Tree of the scorecard; absent if no scorecard was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardInfo>,
    /// Shard that was run; absent if everything was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
    /// Shards that the run was merged from; absent if it is not a merged run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeInfo>,
    /// Row counts of a finished run; absent while it is in progress, after a write error, and in runs of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowCounts>,
    /// Summary; null until the run ends.
    pub summary: Option<RunSummary>,
}

impl RunInfo {
    /// File with the answers that were graded: the first input of `grade` that is not a suite. `None` if targets
    /// answered.
    pub fn answers_file(&self) -> Option<&str> {
        let is_suite = |path: &str| self.suites.iter().any(|suite| suite.path == path);
        let is_grade = self.command == "grade" && self.targets.is_empty();
        let mut answers = self.inputs.iter().map(|input| &*input.path).filter(|path| !is_suite(path));
        answers.next().filter(|_| is_grade)
    }

    /// Name of the file with the answers that were graded, without its folder.
    pub fn answers_name(&self) -> Option<&str> {
        self.answers_file().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path))
    }

    /// What a list calls the run: its suites, the file with the answers, and its label.
    pub fn title(&self) -> String {
        let suites = match self.suites_with_cases().as_slice() {
            [] => "no suite".to_owned(),
            [only] => only.name.clone(),
            [first, rest @ ..] => format!("{} +{}", first.name, rest.len()),
        };
        let parts = std::iter::once(suites.as_str()).chain(self.answers_name()).chain(self.label.as_deref());
        parts.collect::<Vec<_>>().join(" · ")
    }

    /// Returns true if its cases are probes of a judge or pairs of answers, whose verdicts decide nothing
    /// about the run.
    pub fn is_measurement(&self) -> bool {
        self.command == "pairwise" || self.command.starts_with("audit ")
    }

    /// Returns true if it stopped before its last case because its result was clear.
    pub fn ended_by_result(&self) -> bool {
        let early_stop = self.summary.as_ref().and_then(|summary| summary.early_stop.as_ref());
        early_stop.is_some_and(EarlyStop::is_early)
    }

    /// Returns the suites with selected cases; all suites if no case was selected.
    pub fn suites_with_cases(&self) -> Vec<&SuiteInfo> {
        let all = self.suites.iter();
        let selected: Vec<&SuiteInfo> = all.clone().filter(|suite| suite.cases > 0).collect();
        if selected.is_empty() { all.collect() } else { selected }
    }
}

/// A suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteInfo {
    /// Name.
    pub name: String,
    /// Path of the file as given.
    pub path: String,
    /// Eval-file format: 1 (the `evalcases` format) or 2 (the `tests` format); null for a rubric file.
    pub format: Option<u8>,
    /// Number of selected cases.
    pub cases: usize,
    /// Number of cases in the file, selected or not; null if unknown, as in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_cases: Option<usize>,
    /// Metrics that are computed from named scores, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_metrics: Vec<DerivedMetricSpec>,
}

/// A file that the run read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputHash {
    /// Path of the file.
    pub path: String,
    /// BLAKE3 hash of the file, in hexadecimal.
    pub blake3: String,
}

/// A judge of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeInfo {
    /// The judge.
    #[serde(flatten)]
    pub identity: JudgeIdentity,
    /// Source of the choice of the judge, such as `--judge` or `default`.
    pub chosen_by: String,
}

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Name.
    pub name: String,
    /// Provider, such as `openai` or `command`.
    pub kind: String,
    /// Model, if the target names one.
    pub model: Option<String>,
}

/// Settings of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunSettings {
    /// Maximum number of cases to run at once.
    pub workers: usize,
    /// Pass threshold for the whole run; null if suites and cases set their own.
    pub threshold: Option<f64>,
    /// Borderline threshold for the whole run.
    pub borderline: Option<f64>,
    /// `per_criterion`, `batched` or `batched:N`.
    pub judging: String,
    /// Globs of selected case ids; empty if all cases are selected.
    pub filter: Vec<String>,
    /// Selected tags; empty if all cases are selected.
    pub tags: Vec<String>,
    /// True if invalid cases are skipped instead of stopping the run.
    pub keep_going: bool,
    /// Further settings of the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// Summary of a run. Everything except `sent` can be recomputed from the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Results by verdict. A case with several trials counts once per trial; `metrics.repeats` counts cases.
    pub counts: VerdictCounts,
    /// Selected cases that did not finish, because of an interrupt or a limit.
    pub not_run: usize,
    /// Cases excluded because they are invalid.
    pub excluded: usize,
    /// Mean score over the cases with a score.
    pub mean_score: Option<MeanScore>,
    /// Metrics of the run with their intervals; null in runs of older versions.
    #[serde(default, rename = "metrics", alias = "figures")]
    pub figures: Option<RunMetrics>,
    /// Total tokens reported by targets and judges; null if none reported any.
    pub tokens: Tokens,
    /// Cost in US dollars; null if not fully known.
    pub cost_usd: Option<Usd>,
    /// Known part of the cost, if the cost is not fully known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Judge calls, including failed ones.
    pub judge_calls: u64,
    /// Judge calls answered from the cache.
    pub judge_calls_cached: u64,
    /// Ungraded criteria.
    pub criteria_ungraded: u64,
    /// Criteria whose material did not fit into the judge's context window.
    #[serde(default)]
    pub criteria_truncated: u64,
    /// Total number of criteria.
    pub criteria: u64,
    /// Rates of criteria that several results share, lowest first. At most 2,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criterion_rates: Vec<CriterionRate>,
    /// Pass rates of graders without criteria, such as text checks and programs, that several results share, lowest
    /// first. At most 2,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_rates: Vec<CriterionRate>,
    /// Number of quotes that judges gave; null in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<u64>,
    /// Number of quotes found in the material that the judge saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes_found: Option<u64>,
    /// Agreement among votes; null if no decision has several votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelSummary>,
    /// Required pass rate and its result; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_gate: Option<PassRateGate>,
    /// Requests sent by the process that finished the run, including those for unfinished cases; for a merged run, by all
    /// processes that worked on its shards. Null in runs of older versions. Can't be recomputed from the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentRequests>,
    /// Earlier invocations of a resumed run; null in a run of one invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<ResumedPart>,
    /// Result of the early-stop rule; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
    /// Wall-clock time in milliseconds. For a merged run: the sum over its shards.
    pub duration_ms: u64,
    /// Exit code of the command.
    pub exit_code: u8,
    /// Reason for the exit code.
    pub exit_reason: String,
    /// Facts that a reader must know beside the exit code; absent if there are none.
    #[serde(default, skip_serializing_if = "RunConclusion::is_plain")]
    pub conclusion: RunConclusion,
}

impl RunSummary {
    /// Requests of all invocations that worked on the run; `None` if one was killed, and in runs of older
    /// versions.
    pub fn sent_in_all(&self) -> Option<SentRequests> {
        self.resumed.as_ref().map_or(self.sent, |resumed| resumed.sent)
    }
}

/// Part of a resumed run that earlier invocations of the command worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumedPart {
    /// Number of results kept from earlier invocations.
    pub kept: usize,
    /// Requests of all invocations, the last one included; null if an earlier one was killed before it recorded them.
    pub sent: Option<SentRequests>,
}

/// Requests sent to models by one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentRequests {
    /// Number of requests that were answered or failed, including retries.
    pub requests: u64,
    /// Number of requests canceled when the run stopped. Some may have been sent and charged.
    pub given_up: u64,
    /// Cost in US dollars of the requests that were answered or failed; null if not fully known. For a job with a budget in
    /// dollars: at least what the budget counts as spent, including what killed workers had borrowed.
    pub cost_usd: Option<Usd>,
    /// Known part of the cost, if the cost is not fully known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
}

impl SentRequests {
    /// No requests.
    pub const NONE: Self = Self { requests: 0, given_up: 0, cost_usd: Some(Usd::ZERO), cost_partial: None };

    /// Adds the requests of another process.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let [own, added] = [self, other].map(|one| Cost::from_parts(one.cost_usd, one.cost_partial));
        let cost = own + added;

        Self {
            requests: self.requests.saturating_add(other.requests),
            given_up: self.given_up.saturating_add(other.given_up),
            cost_usd: cost.total(),
            cost_partial: cost.to_partial(),
        }
    }
}

/// A mean with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanScore {
    /// Mean, 0 to 1.
    pub mean: f64,
    /// Number of cases.
    pub n: u64,
    /// Lower end of the interval; null if undefined.
    pub low: Option<f64>,
    /// Upper end of the interval; null if undefined.
    pub high: Option<f64>,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// Method of the interval, or why there is none.
    pub method: String,
}
