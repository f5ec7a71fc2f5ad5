//! `assize merge`.

use std::path::PathBuf;

use assize_engine::MergeOptions;

use super::run_output::RunOutputArgs;

/// Merge the runs of shards (`--shard i/n`) into one run.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("run_dir", |argument| argument.help("Folder of the merged run [default: .assize/runs/ID]")),
    after_help = "The merged run has the rows of all shards, in the order of the files, and the metrics and the exit code \
    of a run of all cases. Shards must be of the same plan: the same cases, settings, judges and version.\n\n\
    Examples:\n  \
    assize eval evals/ --shard 1/2 --run-dir shards/1\n  \
    assize eval evals/ --shard 2/2 --run-dir shards/2\n  \
    assize merge shards/1 shards/2 --run-dir runs/nightly\n  \
    assize merge shards/* --allow-missing --out report.html"
)]
pub(crate) struct MergeArgs {
    /// Shards: run folders or ids; or the results of a job, PLACE/JOB of `eval --cluster --results PLACE`.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Merge even if shards are missing or were stopped.
    ///
    /// The exit code is then 3, or 1 if a case failed.
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// File with the secret of the job.
    ///
    /// Results that are not signed with it are refused. Or set `ASSIZE_JOB_SECRET`.
    #[arg(long, value_name = "FILE")]
    pub(crate) job_secret: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: RunOutputArgs,
}

impl MergeArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> MergeOptions {
        MergeOptions {
            runs: self.runs.clone(),
            label: self.output.label.clone(),
            run_dir: self.output.run_dir.clone(),
            allow_missing: self.allow_missing,
            ..MergeOptions::default()
        }
    }
}
