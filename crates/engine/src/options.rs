//! Options of runs, as typed values for a command line, a file or code.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use assize_grade::WarmUp;
use assize_llm::{BatchPlace, BatchRole, Budget};
use assize_model::{
    EscalateWhen, Escalation, PanelJudge, PanelSpec, ProjectConfig, ScoringMethod, ThresholdOverrides,
};
use assize_rubric::{
    JudgingMode, PanelRule, TiePolicy, TrialStrategy, TruncationMode, UnitInterval, Usd, Weight,
};
use assize_run::{ShardNumber, ShardPart};

use crate::error::EngineError;
use crate::exchange::ExchangeOptions;

/// How the reply cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheUse {
    /// Replies are looked up and stored.
    #[default]
    On,
    /// Every request is sent, and no reply is stored.
    Off,
    /// Sends no requests to models. Calls that are not in the cache stay ungraded or unanswered.
    Only,
}

/// Limits on model calls and their cost.
#[derive(Debug, Clone, Default)]
pub struct SpendingOptions {
    /// Use of the reply cache.
    pub cache: CacheUse,
    /// Limits of calls, tokens and money over all requests together.
    pub budget: Budget,
    /// Maximum tokens of a reply of any model that is not a target.
    pub max_output_tokens: Option<NonZeroU32>,
    /// List prices in place of the built-in ones: a file in the form of LiteLLM's table.
    pub prices: Option<PathBuf>,
}

impl SpendingOptions {
    /// These limits, with this one in money.
    pub(crate) fn budget_with(&self, usd: Option<Usd>) -> Budget {
        Budget { usd, ..self.budget }
    }
}

/// What to do with models of unknown price under a budget in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownPrice {
    /// The run is refused.
    #[default]
    Refuse,
    /// Their calls are not counted in money.
    Allow,
}

/// What to do with programs that eval files and targets files name: grading programs, commands and agents as
/// targets, with their workspaces and hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramUse {
    /// They are started if all files are in folders that the user trusts, or the environment allows all.
    #[default]
    AsTrusted,
    /// They are started.
    Allow,
    /// Refuses a run that needs a program before it starts, even if the user's settings allow programs.
    Refuse,
}

/// Number and order of the executions of cases.
#[derive(Debug, Clone, Default)]
pub struct SequenceOptions {
    /// Number of trials of each case; overrides suites and cases.
    pub trials: Option<u32>,
    /// How the trials of a case are aggregated.
    pub trial_strategy: Option<TrialStrategy>,
    /// Runs the cases in a random order. This holds all of them in memory.
    pub shuffle: bool,
    /// Seed of that order; random if not given.
    pub seed: Option<u64>,
    /// After this many cases that did not pass, no further case starts.
    pub bail: Option<NonZeroUsize>,
    /// The run ends as soon as its result is clearly above or below this reference. Its cases run in a random order.
    pub stop_against: Option<StopReference>,
}

/// Reference of a run that ends as soon as its result is clear.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReference {
    /// A pass rate, above 0 and below 1.
    PassRate(f64),
    /// A stored run. The mean scores over the same cases are compared.
    Run(String),
}

impl StopReference {
    /// Reads a pass rate, or else the name of a run.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(rate) if rate > 0.0 && rate < 1.0 => Ok(Self::PassRate(rate)),
            Ok(_) => Err("a pass rate lies above 0 and below 1, such as 0.8".to_owned()),
            Err(_) if text.is_empty() => {
                Err("name a run, such as `last`, or a pass rate, such as 0.8".to_owned())
            }
            Err(_) => Ok(Self::Run(text.to_owned())),
        }
    }

    /// The value between both sides: the pass rate, or a difference of 0.
    pub(crate) const fn threshold(&self) -> f64 {
        match self {
            Self::PassRate(rate) => *rate,
            Self::Run(_) => 0.0,
        }
    }

    /// Words for the record of a run.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::PassRate(rate) => rate.to_string(),
            Self::Run(name) => name.clone(),
        }
    }
}

/// Options for panels, and for judges that are called repeatedly.
#[derive(Debug, Clone, Default)]
pub struct PanelOptions {
    /// Weights of judges, for the weighted rule.
    pub weights: Vec<(String, Weight)>,
    /// The number of calls of each judge, 1 to 100.
    pub repeats: Option<u32>,
    /// Sampling temperature of the judges, 0 to 2.
    pub temperature: Option<f64>,
    /// Rule that combines votes into one decision.
    pub combine: Option<PanelRule>,
    /// How ties are decided.
    pub ties: Option<TiePolicy>,
    /// Where decisions come from: the written reply, or token probabilities.
    pub scoring: Option<ScoringMethod>,
    /// A judge that is called only if the others are unsure.
    pub escalate: Option<String>,
    /// Order of the first calls about an answer, for the provider's prompt cache.
    pub warm_up: WarmUp,
}

/// Options of judging in providers' batches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchOptions {
    /// Time limit for batches, after which the rest is sent live. Without it, the run waits until they end.
    pub wait: Option<Duration>,
    /// Where requests and replies are stored, for providers whose batches use a bucket.
    pub storage: Option<BatchPlace>,
    /// The role with which such a provider reads and writes there.
    pub role: Option<BatchRole>,
}

impl BatchOptions {
    /// Words for the record of a run.
    pub(crate) fn describe(&self) -> String {
        self.wait.map_or_else(|| "until the end".to_owned(), |wait| format!("{} s", wait.as_secs()))
    }
}

/// Conditions under which a process runs a shard for a coordinator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitOptions {
    /// Part of the shard.
    pub part: ShardPart,
    /// The hash that the plan must have; a run of another plan is refused.
    pub plan: String,
    /// Id of the run. Replies that another process paid for under this id count as paid for by this run.
    pub run_id: String,
    /// Why no case of the part should run. Each case ends with this error.
    pub given_up: Option<String>,
}

/// Options of all operations that judge.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Judges: models, targets, or `offline`; several form a panel. They override files and configuration.
    pub judges: Vec<String>,
    /// Panel of judges.
    pub panel: PanelOptions,
    /// How many criteria go into one judge call.
    pub judging: Option<JudgingMode>,
    /// Maximum number of concurrent cases.
    pub workers: Option<NonZeroUsize>,
    /// Maximum concurrent requests per account.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Maximum requests per minute and account.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Maximum input and output tokens per minute and account.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Time limit of one request to a model.
    pub request_timeout: Option<Duration>,
    /// Retries of a failed call to a target or judge; overrides `max_retries` of targets.
    pub max_retries: Option<u32>,
    /// Time limit of the run.
    pub deadline: Option<Duration>,
    /// Cache and budget.
    pub spending: SpendingOptions,
    /// Judging in batches of the providers.
    pub judge_batch: Option<BatchOptions>,
    /// What to do with models of unknown price under a budget in dollars.
    pub unknown_price: UnknownPrice,
    /// Context window of all models in tokens, instead of that in the table of models.
    pub context_tokens: Option<NonZeroU64>,
    /// What to do with material that exceeds a judge's context window.
    pub truncate: Option<TruncationMode>,
    /// Pass threshold; overrides cases and suites.
    pub threshold: Option<UnitInterval>,
    /// Borderline threshold; overrides cases and suites.
    pub borderline: Option<UnitInterval>,
    /// Share of cases that must pass. Without it, every case must.
    pub min_pass_rate: Option<UnitInterval>,
    /// What to do with programs that files name.
    pub programs: ProgramUse,
    /// Files that replace model servers.
    pub exchange: ExchangeOptions,
    /// The part of the plan to run; by default all of it.
    pub shard: Option<ShardNumber>,
    /// Conditions under which the shard is run for a coordinator.
    pub unit: Option<UnitOptions>,
    /// Files that reports of the run will be written to. A run that reads one of them does not start.
    pub reports: Vec<PathBuf>,
    /// Name of the run in lists and reports.
    pub label: Option<String>,
    /// Folder of the run; by default one in the runs folder.
    pub run_dir: Option<PathBuf>,
    /// Run to resume: a folder, an id, or [`NEWEST_RUN`](crate::NEWEST_RUN).
    pub resume: Option<String>,
    /// Runs the incomplete cases of the resumed run again.
    pub retry_incomplete: bool,
}

/// Findings that stop the run instead of only causing a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeniedFindings {
    /// A model that judges its own answers.
    pub self_judging: bool,
    /// Any warning about an input file.
    pub warnings: bool,
    /// A key that is sent unencrypted over a network, or a value of the environment that a file sends to an address that it
    /// names.
    pub exposed_keys: bool,
}

/// Options of a run of eval files.
#[derive(Debug, Clone, Default)]
pub struct EvalOptions {
    /// Eval files, or folders to look for them in.
    pub paths: Vec<PathBuf>,
    /// Targets to use instead of the ones that the files name.
    pub targets: Vec<String>,
    /// File that defines the targets.
    pub targets_file: Option<PathBuf>,
    /// Patterns of case ids; all cases if empty.
    pub filter: Vec<String>,
    /// Tags of cases; all cases if empty.
    pub tags: Vec<String>,
    /// Tags of cases to skip, even if another filter selects them.
    pub exclude_tags: Vec<String>,
    /// Name of a stored run; only cases that failed or are incomplete in it are run.
    pub rerun_failed: Option<String>,
    /// Runs the valid cases of a file that has problems.
    pub keep_going: bool,
    /// Folders that eval files may read from, in addition to their own repository.
    pub roots: Vec<PathBuf>,
    /// Findings that are refused.
    pub deny: DeniedFindings,
    /// Keeps the workspaces of the cases after the run.
    pub keep_workspaces: bool,
    /// Plans the run and sends no requests.
    pub dry_run: bool,
    /// Judging, limits, record.
    pub run: RunOptions,
}

impl RunOptions {
    /// The limits of requests and tokens per minute and account, of these options or else of the configuration.
    pub(crate) fn rates(&self, config: &ProjectConfig) -> [Option<NonZeroU32>; 2] {
        [
            self.requests_per_minute.or(config.requests_per_minute),
            self.tokens_per_minute.or(config.tokens_per_minute),
        ]
    }

    /// Thresholds that override the thresholds in files.
    pub(crate) fn thresholds(&self) -> ThresholdOverrides {
        ThresholdOverrides { pass: self.threshold, borderline: self.borderline }
    }

    /// The panel that these options describe.
    ///
    /// # Errors
    /// If judges or weights are given twice, or contradict each other.
    pub(crate) fn panel_spec(&self) -> Result<PanelSpec, EngineError> {
        let PanelOptions { weights, repeats, temperature, combine, ties, scoring, escalate, .. } =
            &self.panel;
        for (at, judge) in self.judges.iter().enumerate() {
            if let Some((first, next)) = judge.split_once(',') {
                let next = next.trim_start();
                return Err(EngineError::usage(format!(
                    "give each judge its own `--judge`: `--judge {first} --judge {next}`"
                )));
            }
            if self.judges[..at].contains(judge) {
                return Err(EngineError::usage(format!(
                    "`--judge {judge}` is given twice; to ask it several times, use `--judge-repeats`"
                )));
            }
        }

        for (at, (judge, _)) in weights.iter().enumerate() {
            if !self.judges.contains(judge) {
                return Err(EngineError::usage(format!("`--judge-weight {judge}=...` weighs no `--judge`")));
            }
            if weights[..at].iter().any(|(known, _)| known == judge) {
                return Err(EngineError::usage(format!("`--judge-weight` is given twice for `{judge}`")));
            }
        }

        let weight =
            |judge: &String| weights.iter().find(|(known, _)| known == judge).map(|(_, weight)| *weight);
        let spec = PanelSpec {
            judges: self
                .judges
                .iter()
                .map(|judge| PanelJudge { name: judge.clone(), weight: weight(judge) })
                .collect(),
            repeats: *repeats,
            combine: *combine,
            ties: *ties,
            temperature: *temperature,
            escalate: escalate.clone().map(|to| Escalation { to, when: EscalateWhen::default() }),
            scoring: *scoring,
        };

        // Judges that the eval file names have their weights there.
        match spec.conflict().filter(|_| !spec.judges.is_empty()) {
            Some(message) => Err(EngineError::usage(format!("{message} (`--judge-weight JUDGE=WEIGHT`)"))),
            None => Ok(spec),
        }
    }

    /// The settings of the panel for the record of a run, in addition to `notes`.
    pub(crate) fn panel_settings(&self, notes: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let PanelOptions { weights, repeats, temperature, combine, ties, scoring, escalate, .. } =
            &self.panel;
        let weights: Vec<String> =
            weights.iter().map(|(judge, weight)| format!("{judge}={}", weight.get())).collect();
        let scoring = scoring.map(|scoring| match scoring {
            ScoringMethod::Written => "written".to_owned(),
            ScoringMethod::Logprobs => "logprobs".to_owned(),
        });

        [
            ("judges", (self.judges.len() > 1).then(|| self.judges.join(", "))),
            ("judge_weights", (!weights.is_empty()).then(|| weights.join(", "))),
            ("judge_repeats", repeats.map(|repeats| repeats.to_string())),
            ("judge_temperature", temperature.map(|temperature| temperature.to_string())),
            ("combine", combine.map(|rule| rule.name().to_owned())),
            ("ties", ties.map(|ties| ties.name().to_owned())),
            ("scoring", scoring),
            ("escalate", escalate.clone()),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .chain(notes)
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EngineErrorKind;

    fn judges(names: &[&str]) -> RunOptions {
        RunOptions { judges: names.iter().map(|name| (*name).to_owned()).collect(), ..RunOptions::default() }
    }

    #[test]
    fn judges_and_weights_that_contradict_each_other_are_refused() {
        let weighted = |options: RunOptions, name: &str| {
            let weights = vec![(name.to_owned(), Weight::new(2.0).expect("positive"))];
            RunOptions { panel: PanelOptions { weights, ..PanelOptions::default() }, ..options }
        };

        for (options, message) in [
            (judges(&["a,b"]), "give each judge its own"),
            (judges(&["a", "a"]), "is given twice"),
            (weighted(judges(&["a"]), "b"), "weighs no `--judge`"),
        ] {
            let error = options.panel_spec().expect_err(message);
            assert_eq!(error.kind, EngineErrorKind::Usage);
            assert!(error.message.contains(message), "{}", error.message);
        }
        assert_eq!(judges(&["a", "b"]).panel_spec().expect("two judges").judges.len(), 2);
    }

    #[test]
    fn the_record_names_only_what_was_asked_for() {
        let mut options = judges(&["a", "b"]);
        options.panel.combine = Some(PanelRule::Median);

        let settings = options.panel_settings(BTreeMap::new());

        let pairs: Vec<(&str, &str)> =
            settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("combine", "median"), ("judges", "a, b")]);
    }
}
