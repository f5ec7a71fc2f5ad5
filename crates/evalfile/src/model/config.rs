//! Settings of a project, for all of its suites.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{EvidencePolicy, Judging, Truncate};

use super::{LineOverrides, PanelSpec};

/// What a config file says. Every setting may be absent; a suite and the command line win over it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The judge: a model name, `offline`, or a target's name.
    pub judge: Option<String>,
    /// Several judges, or one asked several times.
    pub panel: PanelSpec,
    /// How many cases at once, 1 to 50.
    pub workers: Option<usize>,
    /// Requests in flight to one account at most.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Requests sent to one account in a minute at most.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens read and written on one account in a minute at most.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Time that one request to a model may take.
    pub request_timeout: Option<Duration>,
    /// `threshold` and `borderline`.
    pub lines: LineOverrides,
    /// How criteria are put to the judge.
    pub judging: Option<Judging>,
    /// Whether evidence must be found in the answer.
    pub evidence: Option<EvidencePolicy>,
    /// What is done when a judge can't read all there is to be judged.
    pub truncate: Option<Truncate>,
    /// The targets file to use instead of searching for one.
    pub targets: Option<PathBuf>,
    /// The file of environment variables to read instead of `.env` in the working folder.
    pub env_file: Option<PathBuf>,
}
