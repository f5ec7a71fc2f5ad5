//! A job: the work that a coordinator describes to its workers.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use assize_engine::{Budget, PlanIdentity, Usd};
use assize_run::ShardNumber;
use serde::{Deserialize, Serialize};

use crate::error::ClusterError;

/// Version of the protocol between coordinators and workers.
const PROTOCOL: u32 = 1;

/// Description of a job. It holds no provider keys: each worker has its own.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct JobManifest {
    /// Version of the protocol.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// Id of the job, with letters, digits and `-` only.
    pub job: String,
    /// The plan.
    pub plan: JobPlan,
    /// Arguments of `assize eval` that affect the work, in a canonical order.
    pub arguments: Vec<String>,
    /// Number of shards.
    pub shards: u32,
    /// Location of the results: a folder or the address of a bucket; `None` for the message servers themselves.
    pub results: Option<String>,
    /// Secret of the fences, in hexadecimal digits. Workers with different secrets could not share replies.
    pub fence_key: String,
    /// Milliseconds after which a unit goes to another worker unless its lease is extended.
    pub lease_ms: u64,
    /// Limits of all workers together.
    pub limits: JobLimits,
    /// State of the job.
    pub state: JobState,
}

/// Identity of the plan, which a worker compares with its own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPlan {
    /// Hash of all cases and files.
    pub hash: String,
    /// Number of results of the whole plan.
    pub items: u64,
    /// Names of the files with their hashes.
    pub files: Vec<(String, String)>,
}

/// Limits of a job; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobLimits {
    /// Requests.
    pub calls: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Money, in picodollars.
    pub pico_usd: Option<u64>,
    /// Requests a minute for each account.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute for each account.
    pub tokens_per_minute: Option<u32>,
}

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Units are handed out.
    Running,
    /// It was stopped, and can be continued.
    Stopped,
    /// Its results were merged.
    Done,
}

impl JobLimits {
    /// The limits of a plan, wherever they are set.
    pub fn of_plan(plan: &PlanIdentity) -> Self {
        let Budget { calls, tokens, usd } = plan.budget;
        let [requests_per_minute, tokens_per_minute] =
            plan.rates.map(|rate| rate.map(std::num::NonZero::get));

        Self { calls, tokens, pico_usd: usd.map(Usd::as_pico), requests_per_minute, tokens_per_minute }
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        Budget { calls: self.calls, tokens: self.tokens, usd: self.pico_usd.map(Usd::from_pico) }
    }

    /// True if the rate of an account is limited.
    pub fn limits_rate(&self) -> bool {
        self.requests_per_minute.is_some() || self.tokens_per_minute.is_some()
    }
}

impl JobPlan {
    /// The plan, without the folders in which this machine keeps its files.
    pub fn new(identity: &PlanIdentity) -> Self {
        let name = |path: &str| {
            Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into())
        };
        let files = identity.files.iter().map(|file| (name(&file.path), file.blake3.clone())).collect();

        Self { hash: identity.hash.clone(), items: identity.items, files }
    }

    /// Describes the first difference to another plan.
    fn difference(&self, own: &Self) -> String {
        let missing = |a: &Self, b: &Self| {
            let found = a.files.iter().find(|(name, _)| b.files.iter().all(|(other, _)| other != name));
            found.map(|(name, _)| name.clone())
        };
        if let Some(name) = missing(self, own) {
            return format!("`{name}` is not read here");
        }
        if let Some(name) = missing(own, self) {
            return format!("`{name}` is read here only");
        }

        match self.files.iter().find(|file| !own.files.contains(file)) {
            Some((name, _)) => format!("`{name}` has other contents here"),
            None if self.items != own.items => {
                format!("it has {} results, and {} here", self.items, own.items)
            }
            None => "the judges, targets or settings of the cases differ".to_owned(),
        }
    }
}

impl JobManifest {
    /// A new job.
    pub fn new(job: String, plan: JobPlan, arguments: Vec<String>, shards: u32, fence_key: [u8; 32]) -> Self {
        Self {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            job,
            plan,
            arguments,
            shards,
            results: None,
            fence_key: blake3::Hash::from_bytes(fence_key).to_hex().to_string(),
            lease_ms: 30_000,
            limits: JobLimits::default(),
            state: JobState::Running,
        }
    }

    /// Time after which a unit goes to another worker.
    pub fn lease_term(&self) -> Duration {
        Duration::from_millis(self.lease_ms.max(100))
    }

    /// Refuses a description that no coordinator would write.
    ///
    /// # Errors
    /// When the id could be a path, or there are more shards than a plan may have.
    pub(crate) fn check_names(&self) -> Result<(), ClusterError> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if self.job.is_empty() || !self.job.bytes().all(is_name) {
            return Err(ClusterError::Refused(format!(
                "a record of the cluster names the job {:?}; expected letters, digits and `-`",
                self.job
            )));
        }

        ShardNumber::new(1, self.shards)
            .map(drop)
            .map_err(|error| ClusterError::Refused(format!("job {}: {error}", self.job)))
    }

    /// Refuses a job of another version of the program.
    ///
    /// # Errors
    /// When this program might not do the same as the coordinator's.
    pub fn check_version(&self) -> Result<(), ClusterError> {
        let own = env!("CARGO_PKG_VERSION");
        if self.protocol == PROTOCOL && self.version == own {
            return Ok(());
        }

        let difference = if self.version == own {
            format!("speaks protocol {} of assize {own}, and this build {PROTOCOL}", self.protocol)
        } else {
            format!("was started by assize {}, and this is {own}", self.version)
        };
        Err(ClusterError::Refused(format!(
            "job {} {difference}: install the same build on all machines",
            self.job
        )))
    }

    /// Refuses a job whose files differ from the files on this machine.
    ///
    /// # Errors
    /// When they differ, naming the first difference.
    pub fn check_plan(&self, own: &PlanIdentity) -> Result<(), ClusterError> {
        if self.plan.hash == own.hash {
            return Ok(());
        }

        Err(ClusterError::Refused(format!(
            "job {} is about other files: {}. Update this checkout to that of the coordinator; a worker looks again by itself",
            self.job,
            self.plan.difference(&JobPlan::new(own))
        )))
    }

    /// The secret of the fences.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn fence_key(&self) -> Result<[u8; 32], ClusterError> {
        let hash = blake3::Hash::from_hex(&self.fence_key);
        hash.map(|hash| *hash.as_bytes())
            .map_err(|_| ClusterError::Refused(format!("the description of job {} is damaged", self.job)))
    }
}

/// Leaves out the secret of the fences.
impl fmt::Debug for JobManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobManifest")
            .field("job", &self.job)
            .field("version", &self.version)
            .field("plan", &self.plan.hash)
            .field("shards", &self.shards)
            .field("results", &self.results)
            .field("limits", &self.limits)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_no_path_for_its_name_and_a_number_of_shards() {
        let plan = JobPlan { hash: String::new(), items: 1, files: Vec::new() };
        let checked = |job: &str, shards| {
            JobManifest::new(job.to_owned(), plan.clone(), Vec::new(), shards, [0; 32]).check_names()
        };
        assert_eq!(checked("20260102-030405-refunds-1a2b", 5), Ok(()));
        for (job, shards) in
            [("..", 1), ("../../x", 1), ("/etc", 1), ("a b", 1), ("", 1), ("a", 0), ("a", u32::MAX)]
        {
            assert!(matches!(checked(job, shards), Err(ClusterError::Refused(_))), "{job} {shards}");
        }
    }
}
