//! `assize`: rubric evaluation on the command line.
//!
//! This crate reads the arguments and the environment of the process, calls the other crates, and prints. It
//! contains no logic of its own.
//!
//! It is a library, so that the compiler works on it while it still generates code of the crates below. A program can't
//! be begun before they are complete.

mod args;
mod command;
mod context;
mod failure;
mod observer;
mod output;
mod progress;
mod runtime;
mod stop_signal;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use assize_engine::ExitStatus;
use assize_evalfile::load_config;
use assize_load::find_suites;
use clap::{CommandFactory, FromArgMatches};

use crate::args::{
    Args, CliCommand, GlobalArgs, asks_for_json, is_bare, is_help, print_usage_error, usage_message,
    wants_json, with_composed_names, with_fitting_tips, with_front_page,
};
use crate::context::{CliContext, CommandProject};
use crate::failure::CommandFailure;

/// Argument that starts this program as the helper that ends the commands of a killed run. It is not a
/// subcommand, because users never type it.
const GUARD: &str = "__guard";

/// Runs the program with the arguments and the environment of this process, and returns its exit code.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == GUARD) {
        assize_process::run_guard(std::io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    if let Some(program) = this_program() {
        assize_process::enable_guard(program, [GUARD]);
    }

    let exit = run();
    assize_process::stop_guard();

    exit
}

/// The executable of this process, even if the file has been replaced since.
fn this_program() -> Option<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { Some(link) } else { std::env::current_exe().ok() }
}

fn run() -> ExitCode {
    let (args, wants_json) = match read_args() {
        Ok(read) => read,
        Err(error) => {
            print_usage_error(&error);
            if is_bare(&error) {
                return ExitCode::SUCCESS;
            }
            if error.use_stderr() && asks_for_json(std::env::args_os()) {
                output::print_failure_json(&usage_message(&error), ExitStatus::Invalid, None);
            }
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let GlobalArgs { color, env_file, .. } = &args.global;
    let read =
        CliContext::read(*color, env_file.as_deref(), &CommandProject::default()).and_then(|context| {
            if env_file.is_some() {
                return Ok(context);
            }

            // The configuration may name another file of variables; the command line overrides it.
            CliContext::read(*color, None, &project(args.command.first_input(), &context))
        });

    let context = match read {
        Ok(context) => {
            let process = context.process.with_stop_signal(|| Box::pin(stop_signal::interrupted()));
            CliContext { process, ..context }
        }
        Err(failure) => {
            output::print_plain_error(&failure.message);
            if wants_json {
                output::print_failure_json(&failure.message, failure.exit, None);
            }
            return ExitCode::from(failure.exit.code());
        }
    };

    let (exit, message) = match dispatch(args.command, &context) {
        Ok(exit) => (exit, None),
        Err(failure) => {
            output::print_error(&failure.message, &context);
            (failure.exit, Some(failure.message))
        }
    };
    // A program that reads stdout gets one JSON document in any case.
    if wants_json && (message.is_some() || exit == ExitStatus::Invalid) && !output::has_result() {
        let message = message.unwrap_or_else(|| "the input is invalid".to_owned());
        output::print_failure_json(&message, exit, Some(&context));
    }

    // If writing to stdout failed (the disk is full, for example), exit with 2: a script that redirects results
    // would otherwise take a truncated file for a pass.
    let exit = match output::stdout_failure() {
        Some(failure) => {
            output::print_error(&failure, &context);
            ExitStatus::strongest([exit, ExitStatus::Invalid])
        }
        None => exit,
    };

    ExitCode::from(exit.code())
}

/// Parses the command line. The flag is true if the command is to print JSON.
fn read_args() -> Result<(Args, bool), clap::Error> {
    // Laying out the help of all commands takes as long as the rest of the startup, so this waits until the user
    // requests help.
    let parsed = match with_composed_names(Args::command()).try_get_matches() {
        Err(error) if is_help(&error) => with_front_page(Args::command()).try_get_matches(),
        parsed => parsed,
    };
    let mut matches = parsed.map_err(|error| {
        let words: Vec<_> = std::env::args_os().collect();
        with_fitting_tips(error, &words)
    })?;
    let wants_json = wants_json(&matches);
    let args =
        Args::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Args::command()))?;

    Ok((args, wants_json))
}

/// Finds the project of a command by its first input, or else by the working folder. Problems of the
/// configuration are reported when the command reads it.
fn project(input: Option<&Path>, context: &CliContext) -> CommandProject {
    let process = &context.process;
    let start = match input {
        Some(path) if path.is_dir() => path,
        Some(path) => path.parent().unwrap_or(Path::new("")),
        None => &process.working_folder,
    };
    let options = process.load_options(&[]);
    let mut loaded = load_config(start, &options);
    // The input is a folder above the project: use the configuration of the files in it, as the run does.
    if loaded.path.is_none()
        && let Some(folder) = input.filter(|path| path.is_dir())
        && let Some(file) = find_suites(&[folder.to_path_buf()]).files.first()
    {
        loaded = load_config(file.parent().unwrap_or(folder), &options);
    }
    let folder = loaded.path.as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_path_buf);

    CommandProject { folder, env_file: loaded.config.env_file }
}

fn dispatch(command: CliCommand, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    output::refuse_foreign_files(&command.reports())?;
    match command {
        CliCommand::Init(args) => command::init::execute(&args, context),
        CliCommand::Eval(args) => command::eval::execute(&args, context),
        CliCommand::Grade(args) => command::grade::execute(&args, context),
        CliCommand::Try(args) => command::attempt::execute(&args, context),
        CliCommand::Validate(args) => command::validate::execute(&args, context),
        CliCommand::Lint(args) => command::lint::execute(&args, context),
        CliCommand::Generate(args) => command::generate::execute(&args, context),
        CliCommand::View(args) => command::view::execute(&args, context),
        CliCommand::Merge(args) => command::merge::execute(&args, context),
        CliCommand::List(args) => Ok(command::list::execute(&args, context)),
        CliCommand::Explain(args) => command::explain::execute(&args, context),
        CliCommand::Report(args) => command::report::execute(&args, context),
        CliCommand::Compare(args) => command::compare::execute(&args, context),
        CliCommand::Review(args) => command::review::execute(&args, context),
        CliCommand::Calibrate(args) => command::calibrate::execute(&args, context),
        CliCommand::Scorecard(args) => command::scorecard::execute(&args, context),
        CliCommand::Audit(args) => command::audit::execute(&args, context),
        CliCommand::Convert(args) => command::convert::execute(&args, context),
        CliCommand::Score(args) => command::score::execute(&args, context),
        CliCommand::Cache(args) => command::cache::execute(&args, context),
        CliCommand::Doctor(args) => command::doctor::execute(&args, context),
        CliCommand::Mcp(args) => command::mcp::execute(&args, context),
        CliCommand::Serve(args) => command::serve::execute(&args, context),
        CliCommand::Worker(args) => command::cluster::execute(&args, context),
        CliCommand::Lsp(args) => command::lsp::execute(&args, context),
        CliCommand::Trust(args) => command::trust::execute(&args, context),
        CliCommand::Schema(args) => command::schema::execute(&args, context),
        CliCommand::Completions(args) => Ok(command::completions::completions(&args)),
        CliCommand::Man(args) => command::completions::man(&args),
    }
}
