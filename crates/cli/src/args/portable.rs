//! Arguments of `assize eval` for other machines: those that have an effect on what is run and how it is judged.

use std::ffi::OsString;

use assize_cluster::EvalRequest;
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory, Parser};

use super::{Args, CliCommand};

/// Options that are about this process or this machine, and limits, which travel as numbers.
const LOCAL: &[&str] = &[
    "cluster", "cluster_credentials", "results", "unit_size", "lease", "worker_wait", "run_dir", "resume",
    "out", "json", "show", "quiet", "deadline", "budget_usd", "budget_calls", "budget_tokens",
    "requests_per_minute", "tokens_per_minute", "color", "env_file", "rerun_failed",
];

/// The arguments of a command line of `assize eval` in one spelling and one order, with these filters of cases, which come from a run
/// that only this machine has.
///
/// # Errors
/// When a path or a value is no text that every machine reads the same.
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
        if LOCAL.contains(&id) || !is_known || given.value_source(id) != Some(ValueSource::CommandLine) {
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

/// Reads such arguments.
///
/// # Errors
/// When they are not those of `assize eval` of this version.
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
