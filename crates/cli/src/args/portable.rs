//! Arguments of `assize eval` for other machines: the ones that affect which cases run and how they are judged.

use std::ffi::OsString;

use assize_cluster::EvalRequest;
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory, Parser};

use super::{Args, CliCommand};

/// Options about this process or this machine, its user's consent, and limits, which are sent as numbers.
const LOCAL_OPTIONS: &[&str] = &[
    "cluster", "cluster_credentials", "results", "unit_size", "lease", "worker_wait", "run_dir", "resume",
    "out", "force", "json", "show", "verbose", "quiet", "deadline", "prices", "budget_usd", "budget_calls",
    "budget_tokens", "requests_per_minute", "tokens_per_minute", "color", "env_file", "rerun_failed",
    "allow_code", "job_secret",
];

/// Options that workers need but that affect no decision or score: the number and order of concurrent calls,
/// timeouts, permissions to read and to spend, and leftover files. When a job is continued, these come from
/// the new command. Not in this list, although similar: `shuffle` and `seed` (which cases are in which unit),
/// `no_cache` and `cache_only` (where a decision comes from), and `keep_going` (which cases there are).
const UNDECIDING_OPTIONS: &[&str] = &[
    "workers", "max_concurrency", "warm_up", "request_timeout", "max_retries", "budget_unknown_price",
    "deny", "root", "keep_workspaces", "label",
];

/// True for a portable argument that affects decisions and scores.
pub(crate) fn decides(argument: &str) -> bool {
    let Some(option) = argument.strip_prefix("--") else { return true };
    let name = option.split('=').next().unwrap_or_default().replace('-', "_");

    !UNDECIDING_OPTIONS.contains(&name.as_str())
}

/// The arguments of `assize eval` in a canonical spelling and order. Adds `filters`, which come from a run
/// that only this machine has.
///
/// # Errors
/// When a path or a value is not text that every machine reads the same way.
pub(crate) fn portable_arguments(
    command_line: impl IntoIterator<Item = OsString>,
    filters: &[String],
) -> Result<Vec<String>, String> {
    let matches = Args::command().get_matches_from(command_line);
    let Some((name, given)) = matches.subcommand() else { return Ok(Vec::new()) };
    let mut root = Args::command();
    root.build();
    let Some(command) = root.find_subcommand(name) else { return Ok(Vec::new()) };

    let (mut options, mut places) = (Vec::new(), Vec::new());
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_known = given.try_contains_id(id).unwrap_or(false);
        if LOCAL_OPTIONS.contains(&id)
            || !is_known
            || given.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }

        let values = given.get_raw(id).into_iter().flatten();
        for value in values {
            let value = value.to_str().ok_or_else(|| {
                format!("`{}` is not UTF-8, so it can't be sent to other machines", value.display())
            })?;
            match (argument.get_long(), argument.get_action()) {
                (None, _) => places.push(value.to_owned()),
                (Some(long), ArgAction::SetTrue) => options.push(format!("--{long}")),
                (Some(long), _) => options.push(format!("--{long}={value}")),
            }
        }
    }

    options.extend(filters.iter().map(|filter| format!("--filter={filter}")));
    options.push("--".to_owned());
    Ok(options.into_iter().chain(places).collect())
}

/// Parses such arguments.
///
/// # Errors
/// When they are not arguments of this version's `assize eval`.
pub(crate) fn read_portable(arguments: &[String]) -> Result<EvalRequest, String> {
    let command_line = ["assize", "eval"].into_iter().chain(arguments.iter().map(String::as_str));
    let parsed = Args::try_parse_from(command_line).map_err(|error| error.kind().to_string())?;

    match parsed.command {
        CliCommand::Eval(eval) => Ok(eval.request()),
        _ => Err("the arguments of the job are not those of `assize eval`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn portable(words: &str) -> String {
        let words = ["assize"].into_iter().chain(words.split(' ')).map(OsString::from);
        portable_arguments(words, &[]).expect("UTF-8").join(" ")
    }

    #[test]
    fn arguments_for_others_are_in_one_order_and_leave_out_what_is_about_this_machine() {
        let one =
            "eval --keep-going evals a.yaml --judge openai:j -j 4 --shuffle --seed 7 --json --out x.json";
        let two = "eval --seed=7 --shuffle --workers 4 evals --run-dir d --budget-usd 2 --judge openai:j a.yaml --keep-going";
        assert_eq!(portable(one), portable(two));
        assert_eq!(
            portable(two),
            "--keep-going --judge=openai:j --workers=4 --shuffle --seed=7 -- evals a.yaml"
        );
        assert_eq!(portable("eval evals --cluster nats://h:1 --unit-size 9 --resume"), "-- evals");
    }

    /// Ids of options that affect results. The test below fails for options in none of these lists.
    const DECIDING_OPTIONS: &[&str] = &[
        "paths", "target", "targets", "filter", "tag", "exclude_tag", "keep_going", "judge", "judge_repeats",
        "escalate", "combine", "ties", "judge_weight", "judge_temperature", "scoring", "judging",
        "threshold", "borderline", "max_output_tokens", "no_cache", "cache_only", "context_tokens",
        "truncate", "trials", "trial_strategy", "shuffle", "seed",
    ];

    /// Options that `--cluster` refuses, and options that require one of them.
    const REFUSED_OPTIONS: &[&str] = &[
        "shard", "export_requests", "import_replies", "judge_batch", "batch_wait", "batch_storage",
        "batch_role", "bail", "stop_when", "against", "dry_run", "min_pass_rate", "retry_incomplete", "help",
        "version",
    ];

    #[test]
    fn each_option_is_of_one_class_and_those_that_decide_nothing_continue_the_same_job() {
        let mut root = Args::command();
        root.build();
        let command = root.find_subcommand("eval").expect("the command");
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let classes = [LOCAL_OPTIONS, UNDECIDING_OPTIONS, DECIDING_OPTIONS, REFUSED_OPTIONS]
                .iter()
                .filter(|of| of.contains(&id))
                .count();
            assert_eq!(classes, 1, "`{id}` is in {classes} classes: does it change a decision or a score?");
            if let Some(long) = argument.get_long() {
                assert_eq!(long.replace('-', "_"), id);
            }
        }
        let known = [LOCAL_OPTIONS, UNDECIDING_OPTIONS, DECIDING_OPTIONS, REFUSED_OPTIONS].concat();
        for id in known {
            assert!(command.get_arguments().any(|one| one.get_id() == id), "there is no option `{id}`");
        }

        let deciding = |words: &str| {
            let all = portable(&format!("eval evals {words}"));
            all.split(' ').filter(|one| decides(one)).collect::<Vec<_>>().join(" ")
        };
        let plain = deciding("--judge openai:j");
        for same in [
            "-j 3", "--max-concurrency 9", "--judge-calls 9", "--warm-up never", "--request-timeout 9m",
            "--max-retries 9", "--budget-unknown-price allow", "--deny warnings", "--root elsewhere",
            "--keep-workspaces", "--quiet", "--out x.html", "--json", "--show all", "--deadline 2h",
            "--budget-calls 9", "--requests-per-minute 9", "--resume", "--color never",
        ] {
            assert_eq!(deciding(&format!("--judge openai:j {same}")), plain, "{same}");
        }
        for other in [
            "--threshold 0.5", "--filter x", "--shuffle", "--trials 2", "--truncate head", "--no-cache",
            "--max-output-tokens 9", "--judge-repeats 3", "--context-tokens 9",
        ] {
            assert_ne!(deciding(&format!("--judge openai:j {other}")), plain, "{other}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let arguments: Vec<String> = portable("eval evals --filter a* --filter b* --threshold 0.5")
            .split(' ')
            .map(str::to_owned)
            .collect();
        let request = read_portable(&arguments).expect("arguments");
        assert_eq!(request.options.filter, ["a*", "b*"]);
        assert_eq!(request.options.run.threshold.map(assize_rubric::UnitInterval::get), Some(0.5));
        assert!(read_portable(&["--unknown".to_owned()]).is_err());
    }
}
