//! `run.json`: the inputs, settings and results of a run.

use std::collections::BTreeMap;

use assize_rubric::{Cost, JudgeIdentity, PartialCost, Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CriterionRate, EarlyStop, MergeInfo, PanelSummary, PassRateGate, RowCounts, RunMetrics, ScorecardInfo,
    ShardInfo, VerdictCounts,
};

/// Version of the layout of a run folder. Raised when an older reader would misread a newer run.
pub const FORMAT_VERSION: u32 = 2;
/// Version from which on `run.json` ends with a checksum.
pub(crate) const SUMMED_VERSION: u32 = 2;

/// Description of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// The run's id: the name of its folder unless another was asked for.
    pub run_id: String,
    /// Version of the program.
    pub assize_version: String,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// When it ended; null while it runs, and for ever if it was killed.
    pub finished_at: Option<String>,
    /// The command: `eval`, `grade`, `score` or `scorecard run`.
    pub command: String,
    /// The suites, in the order they were run.
    pub suites: Vec<SuiteInfo>,
    /// Every file that was read, with the hash of its bytes.
    pub inputs: Vec<InputHash>,
    /// The judges that were available to it, the run's own first.
    pub judges: Vec<JudgeInfo>,
    /// The targets.
    pub targets: Vec<TargetInfo>,
    /// Settings after every default and override.
    pub settings: RunSettings,
    /// Warnings for the user: a judge that judges itself, a setting without effect.
    pub warnings: Vec<String>,
    /// The tree of the scorecard that was run; absent for anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard: Option<ScorecardInfo>,
    /// Part of a plan that was run; absent if all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
    /// Shards that the run was merged from; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeInfo>,
    /// Rows of a run that has ended; absent while it runs, after a failure to write, and in runs of versions that did not
    /// count them. The writer of the folder fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowCounts>,
    /// Summary of the run; null until it ends.
    pub summary: Option<RunSummary>,
}

impl RunInfo {
    /// Returns true if its cases are probes of a judge or pairs of answers: their verdicts decide nothing for the run.
    pub fn is_measurement(&self) -> bool {
        self.command == "pairwise" || self.command.starts_with("audit ")
    }
}

/// A suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteInfo {
    /// Name.
    pub name: String,
    /// The file, as the user wrote its path.
    pub path: String,
    /// Eval-file format, 1 or 2; null for a rubric file.
    pub format: Option<u8>,
    /// Cases selected from it.
    pub cases: usize,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputHash {
    /// The file.
    pub path: String,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
}

/// A judge of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeInfo {
    /// The judge.
    #[serde(flatten)]
    pub identity: JudgeIdentity,
    /// Source of the choice, such as `--judge` or `default`.
    pub chosen_by: String,
}

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Name.
    pub name: String,
    /// Kind, such as `openai` or `command`.
    pub kind: String,
    /// The model behind it, if it names one.
    pub model: Option<String>,
}

/// Settings of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunSettings {
    /// Cases worked on at once.
    pub workers: usize,
    /// Pass line given for the whole run; null leaves it to suites and cases.
    pub threshold: Option<f64>,
    /// Borderline line given for the whole run.
    pub borderline: Option<f64>,
    /// `per_criterion`, `batched` or `batched:N`.
    pub judging: String,
    /// Case ids (globs) selected; empty for all.
    pub filter: Vec<String>,
    /// Tags selected; empty for all.
    pub tags: Vec<String>,
    /// True if cases with problems were left out instead of refusing the run.
    pub keep_going: bool,
    /// Anything else a command wants to remember.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// Summary of a run. Everything here can be computed again from the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Cases by verdict; of cases that were run more than once, every run (`figures.repeats` has the cases).
    pub counts: VerdictCounts,
    /// Cases that were selected but not finished (interrupted, refused by a limit).
    pub not_run: usize,
    /// Cases excluded because their file has errors.
    pub excluded: usize,
    /// Mean over the cases whose score is known.
    pub mean_score: Option<MeanScore>,
    /// The figures of the run with their intervals; null in runs of versions that did not keep them.
    #[serde(default)]
    pub figures: Option<RunMetrics>,
    /// Tokens that targets and judges reported, added up; null when none did.
    pub tokens: Tokens,
    /// Cost in US dollars; null when not all of it is known.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
    /// Judge calls made, failed ones included.
    pub judge_calls: u64,
    /// Judge calls answered from the cache.
    pub judge_calls_cached: u64,
    /// Criteria that could not be judged.
    pub criteria_ungraded: u64,
    /// Criteria whose judge could not be shown everything at once.
    #[serde(default)]
    pub criteria_truncated: u64,
    /// Criteria in all.
    pub criteria: u64,
    /// Rates of the criteria that were asked of several results, the worst first; of at most 2,000 criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criterion_rates: Vec<CriterionRate>,
    /// Rates at which graders that decide as a whole, such as text checks and programs, passed, the worst first; of those applied
    /// to several results, at most 2,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_rates: Vec<CriterionRate>,
    /// Quotes that were looked for in what the judge was shown; null in runs of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<u64>,
    /// Quotes that were found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes_found: Option<u64>,
    /// Agreement of panels and repeats; null where every decision is one judge's only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelSummary>,
    /// The gate on the pass rate; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_gate: Option<PassRateGate>,
    /// Requests of the process that ended the run, those for cases that it did not finish included; of a merged run, of those
    /// that ended its shards. Null in runs of versions that did not count them. The only part of a summary that can't be computed from the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentRequests>,
    /// Outcome of the rule by which the run may end before its cases do; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
    /// Wall-clock time in milliseconds; of a merged run, the times of its shards added up.
    pub duration_ms: u64,
    /// Exit code of the command.
    pub exit_code: u8,
    /// Reason it ended that way, in a few words.
    pub exit_reason: String,
}

/// Requests that a process sent to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentRequests {
    /// Requests that were answered or failed, retries included.
    pub requests: u64,
    /// Requests that were given up when the run was stopped. Some of them may have been sent and charged.
    pub given_up: u64,
    /// Cost in US dollars of those that were answered or failed; null when not all of it is known. Of a job with a budget in
    /// dollars at least what the budget counts as spent, which includes what killed workers had borrowed.
    pub cost_usd: Option<Usd>,
    /// Known part of a cost that is not known as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_partial: Option<PartialCost>,
}

impl SentRequests {
    /// No request.
    pub const NONE: Self = Self { requests: 0, given_up: 0, cost_usd: Some(Usd::ZERO), cost_partial: None };

    /// Requests of both processes.
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
    /// Cases it is taken over.
    pub n: u64,
    /// Lower end of the interval; null when it is undefined.
    pub low: Option<f64>,
    /// Upper end of the interval; null when it is undefined.
    pub high: Option<f64>,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// The method, or why there is no interval.
    pub method: String,
}
