//! `assize eval --cluster`, and `assize worker`.

use std::path::Path;
use std::sync::Arc;

use assize_cluster::{
    Cluster, ClusterAddress, ClusterError, ClusterOptions, ClusterRunError, ConnectionObserver, Coordinator,
    JobEvent, JobSecret, NatsCluster, SealedCluster, Worker, WorkerEnd, WorkerEvent,
};
use assize_engine::{Engine, ExitStatus, FinishedRun, runs};

use crate::args::{
    EvalCommandArgs, WorkerArgs, decides, portable_arguments, read_portable, resume_command, shell_word,
};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;
use crate::stop_signal;

impl From<ClusterError> for CommandFailure {
    fn from(error: ClusterError) -> Self {
        error.to_string().into()
    }
}

impl From<ClusterRunError> for CommandFailure {
    fn from(error: ClusterRunError) -> Self {
        match error {
            ClusterRunError::Engine(error) => error.into(),
            ClusterRunError::Cluster(error) => error.into(),
            stopped @ ClusterRunError::Stopped(_) => {
                Self { message: stopped.to_string(), exit: ExitStatus::Interrupted }
            }
            left @ ClusterRunError::NoWorker { .. } => {
                Self { message: left.to_string(), exit: ExitStatus::Incomplete }
            }
        }
    }
}

/// The failure of a job, with the commands that continue it. `worker` is the command that starts a worker for
/// it.
fn with_commands(error: ClusterRunError, worker: &str, context: &CliContext) -> CommandFailure {
    let again = resume_command(&context.command_line, false);
    let next = match &error {
        ClusterRunError::Engine(_) | ClusterRunError::Cluster(_) => return error.into(),
        ClusterRunError::Stopped(_) => format!("; continue it with `{again}`"),
        ClusterRunError::NoWorker { .. } => format!(
            "; start workers with `{worker}`, and continue with `{again}`. `--worker-wait TIME` waits longer for workers"
        ),
    };
    let CommandFailure { message, exit } = error.into();

    CommandFailure { message: message + &next, exit }
}

/// Most bytes of case names in a job: its description has to fit into one message.
const MAX_FILTER_BYTES: usize = 512 * 1024;

/// Variable with the secret of a job.
const SECRET_VARIABLE: &str = "ASSIZE_JOB_SECRET";
/// The largest file with a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 4096;

/// The secret of a job, from a file or the user's own environment.
///
/// # Errors
/// When the file can't be read, or the secret is too short.
pub(super) fn job_secret(
    file: Option<&Path>,
    context: &CliContext,
) -> Result<Option<JobSecret>, ClusterError> {
    let text = match file {
        Some(file) => {
            let bytes = assize_files::read_bytes(&context.process.resolve(file), MAX_SECRET_BYTES);
            let bytes = bytes.map_err(|error| {
                ClusterError::Refused(format!("`--job-secret {}`: {error}", file.display()))
            })?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        None => context.process.user_variable(SECRET_VARIABLE),
    };

    text.map(|text| JobSecret::new(&text)).transpose()
}

/// The cluster at an address. Warns if data is not signed and the servers are not on this machine.
async fn connect(
    address: &ClusterAddress,
    secret: Option<JobSecret>,
    context: &CliContext,
) -> Result<Arc<dyn Cluster>, ClusterError> {
    if secret.is_none() && !address.is_loopback() {
        output::print_warning(
            "there is no secret of the job, so whoever can write to its servers can change replies and verdicts, and make workers \
             run any eval file; give coordinator and workers the same `--job-secret FILE` or `ASSIZE_JOB_SECRET`",
            context,
        );
    }
    let variables = context.process.variables().clone();
    let servers = NatsCluster::connect(address, variables, connection_observer(context)).await?;

    Ok(Arc::new(SealedCluster::new(Arc::new(servers), secret)))
}

/// Prints a message when the servers are unreachable, and when they are back.
fn connection_observer(context: &CliContext) -> ConnectionObserver {
    let context = context.clone();
    Arc::new(move |what| output::print_warning(&what, &context))
}

/// Has workers run eval files.
pub(super) fn coordinate(
    args: &EvalCommandArgs,
    address: ClusterAddress,
    options: ClusterOptions,
    engine: Engine,
    context: &CliContext,
) -> Result<FinishedRun, CommandFailure> {
    let mut request = args.request();
    let mut filters = Vec::new();
    // Workers do not have the run, so they get the names of its failed cases.
    if let Some(run) = request.options.rerun_failed.take() {
        filters = runs::failed_case_patterns(&run, engine.process())?;
        if filters.iter().map(String::len).sum::<usize>() > MAX_FILTER_BYTES {
            let what = "`--rerun-failed` names more cases than a job can describe; use `--shard` instead of `--cluster`";
            return Err(what.to_owned().into());
        }
        request.options.filter.clone_from(&filters);
    }
    let arguments = portable_arguments(std::env::args_os(), &filters)?;
    let quiet = args.eval.run.quiet;
    let worker = format!("assize worker --cluster {}", shell_word(&address.to_string()));
    let observe = |event: JobEvent| match event {
        JobEvent::Warning(why) => output::print_warning(&why, context),
        JobEvent::Refused { workers, reason } => {
            let who = if workers == 1 {
                "a worker refuses".to_owned()
            } else {
                format!("{workers} workers refuse")
            };
            output::print_warning(&format!("{who} this job and will check again: {reason}"), context);
        }
        JobEvent::NoWorker { waited, limit } => {
            let (waited, limit) = (waited.as_secs(), limit.as_secs());
            let what = format!(
                "no worker has worked on this job for {waited}s; the run ends after {limit}s. Start workers with `{worker}`"
            );
            output::print_warning(&what, context);
        }
        _ if quiet => {}
        JobEvent::Begun { job, shards, goes_on } => {
            let begun = if goes_on { "continues" } else { "started" };
            output::print_notice(
                &format!("job {job} {begun}: {shards} units; start workers with `{worker}`\n"),
                context,
            );
        }
        JobEvent::Waiting => {
            output::print_notice(
                "another coordinator is working on this job; waiting for it to finish\n",
                context,
            );
        }
        JobEvent::Stopping => {
            output::print_notice(
                "stopping: the workers are told to stop; interrupt again to exit at once\n",
                context,
            );
        }
        JobEvent::Progress { done, shards } => {
            output::print_notice(&format!("{done} of {shards} units are done\n"), context);
        }
    };

    stop_signal::note_for_second(
        "Workers that were not told continue: run the same command with `--resume`, and interrupt it once",
    );
    let secret = job_secret(args.cluster.job_secret.as_deref(), context)?;
    block_on(async {
        let cluster = connect(&address, secret, context).await?;
        let coordinator = Coordinator { cluster, engine, options, decides: &decides, observe: &observe };
        let ended = coordinator.run(&request, arguments).await;
        ended.map_err(|error| with_commands(error, &worker, context))
    })
}

pub(crate) fn execute(args: &WorkerArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let quiet = args.quiet;
    let observe = |event: WorkerEvent| match event {
        WorkerEvent::Warning(why) => output::print_warning(&why, context),
        _ if quiet => {}
        WorkerEvent::Joined { job, items } => {
            output::print_notice(&format!("working on job {job}, {items} results\n"), context);
        }
        WorkerEvent::UnitDone { unit, items } => {
            output::print_notice(&format!("unit {unit} is done, {items} results\n"), context);
        }
    };

    let options = args.options()?;
    let secret = job_secret(args.job_secret.as_deref(), context)?;
    let end = block_on(async {
        let cluster = connect(&args.address(), secret, context).await?;
        let worker = Worker {
            cluster,
            engine: context.run_engine(true, true),
            arguments: &read_portable,
            options,
            observe: &observe,
        };
        worker.work().await
    })?;

    if end == WorkerEnd::Stopped && !quiet {
        output::print_notice("stopped; unfinished units are back in the queue\n", context);
    }

    Ok(match end {
        WorkerEnd::Stopped => ExitStatus::Interrupted,
        WorkerEnd::Idle => ExitStatus::Passed,
    })
}
