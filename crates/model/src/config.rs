//! Settings of a project, for all of its suites.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{EvidencePolicy, JudgingMode, TruncationMode};

use super::{PanelSpec, ThresholdOverrides};

/// Content of a config file. Every setting is optional; a suite and the command line override it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProjectConfig {
    /// Judge: a model name, `offline`, or a target's name.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// Number of worker slots, 1 to 50.
    pub workers: Option<usize>,
    /// Maximum number of concurrent requests per account.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Maximum number of requests per account and minute.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Maximum number of input and output tokens per account and minute.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Time limit of one request to a model.
    pub request_timeout: Option<Duration>,
    /// Values of `threshold` and `borderline`.
    pub thresholds: ThresholdOverrides,
    /// Grouping of criteria into calls.
    pub judging: Option<JudgingMode>,
    /// Policy for evidence that is not found in the answer.
    pub evidence: Option<EvidencePolicy>,
    /// Policy for material that exceeds a judge's limit.
    pub truncate: Option<TruncationMode>,
    /// Path of the targets file to use instead of searching for one.
    pub targets: Option<PathBuf>,
    /// File of environment variables to read instead of `.env` in the working folder.
    pub env_file: Option<PathBuf>,
}
