//! `assize merge`: merges shards into one run.

#[cfg(feature = "cluster")]
use assize_cluster::{ClusterError, UnpackedJob, is_job, unpack_job};
use assize_engine::{ExitStatus, LabelOptions, MergeOptions, labelled_run};

use super::present;
use super::scorecard::{CardOutput, print_run};
use crate::args::MergeArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
#[cfg(feature = "cluster")]
use crate::runtime::block_on;

/// Stands for the results of a job in a build that knows none.
#[cfg(not(feature = "cluster"))]
struct UnpackedJob {
    runs: Vec<std::path::PathBuf>,
}

/// In a build without jobs of many machines, every name is the name of a run.
#[cfg(not(feature = "cluster"))]
fn unpack_jobs(args: &MergeArgs, _: &CliContext) -> Result<Vec<Option<UnpackedJob>>, CommandFailure> {
    let names = &args.runs;
    match names.iter().any(|name| name.contains("://")) {
        true => Err(super::missing::failure("merge of results in a bucket")),
        false => Ok(names.iter().map(|_| None).collect()),
    }
}

/// The unpacked results of each name that is a job; `None` for each name that is a run.
#[cfg(feature = "cluster")]
fn unpack_jobs(args: &MergeArgs, context: &CliContext) -> Result<Vec<Option<UnpackedJob>>, CommandFailure> {
    let variables = context.process.variables();
    let secret = super::cluster::job_secret(args.job_secret.as_deref(), context)?;
    let unpack = async |name: &String| {
        let place = if name.contains("://") {
            name.clone()
        } else {
            context.process.resolve(name).display().to_string()
        };
        if !is_job(&place) {
            return Ok::<_, ClusterError>(None);
        }
        unpack_job(&place, variables, &context.process.working_folder, secret.as_ref()).await.map(Some)
    };

    block_on(async {
        let mut unpacked = Vec::with_capacity(args.runs.len());
        for name in &args.runs {
            unpacked.push(unpack(name).await?);
        }
        Ok::<_, ClusterError>(unpacked)
    })
}

pub(crate) fn execute(args: &MergeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let engine = context.run_engine(true, args.output.json);
    let unpacked = unpack_jobs(args, context)?;
    let runs = unpacked.iter().zip(&args.runs).flat_map(|(job, name)| match job {
        None => vec![name.clone()],
        Some(job) => job.runs.iter().map(|run| run.display().to_string()).collect(),
    });
    let stored_job = unpacked.iter().any(Option::is_some);
    let finished = engine.merge(&MergeOptions { runs: runs.collect(), stored_job, ..args.options() })?;
    drop(unpacked);
    let delivery = args.output.delivery(false);

    if finished.info.scorecard.is_none() {
        present::finished_run(&finished, delivery, args.output.show(), context)?;
        return Ok(finished.exit);
    }

    let labels = LabelOptions::default();
    let counted = labelled_run(&finished.folder, &labels, &context.process)?.labels.unwrap_or_default();
    let card = CardOutput { depth: None, labels: &labels, delivery, show: args.output.show() };
    print_run(&finished, &counted, &card, context)?;

    Ok(finished.exit)
}
