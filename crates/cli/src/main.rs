//! `assize`: rubric evaluation on the command line.
//!
//! This crate reads arguments and the process it lives in, has the other crates do the work, and prints. It holds no
//! logic of its own.

mod args;
mod command;
mod context;
mod failure;
mod observer;
mod output;
mod progress;
mod runtime;

use std::path::PathBuf;
use std::process::ExitCode;

use assize_engine::Exit;
use assize_evalfile::load_config;
use clap::Parser;

use crate::args::{Args, Command, GlobalArgs};
use crate::context::Context;
use crate::failure::Failure;

/// Requests and replies are made of many small texts, which the system's allocator takes a good part of a call for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The word that makes this program the helper that ends what a killed one has left running. No command of its own:
/// nobody types it.
const GUARD: &str = "__guard";

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == GUARD) {
        assize_process::guard(std::io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    if let Some(program) = this_program() {
        assize_process::guarded_by(program, [GUARD]);
    }
    let exit = run();
    assize_process::unguarded();
    exit
}

/// The file this program was started from, also where it has been replaced since.
fn this_program() -> Option<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { Some(link) } else { std::env::current_exe().ok() }
}

fn run() -> ExitCode {
    let args = Args::parse();
    let GlobalArgs { color, env_file } = &args.global;
    let read = Context::read(*color, env_file.as_deref()).and_then(|context| {
        // The configuration may name another file of variables; the command line beats it.
        match configured_env_file(&context) {
            Some(path) if env_file.is_none() => Context::read(*color, Some(&path)),
            _ => Ok(context),
        }
    });
    let context = match read {
        Ok(context) => context,
        Err(message) => {
            output::complain_plain(&message);
            return ExitCode::from(Exit::Invalid.code());
        }
    };
    let exit = dispatch(args.command, &context).unwrap_or_else(|failure| {
        output::complain(&failure.message, &context);
        failure.exit
    });
    ExitCode::from(exit.code())
}

/// The file of variables that the configuration names. Problems of the configuration are told when a command reads it.
fn configured_env_file(context: &Context) -> Option<PathBuf> {
    let process = &context.process;

    load_config(&process.working_folder, &process.load_options(&[])).config.env_file
}

fn dispatch(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => command::init::execute(&args, context),
        Command::Eval(args) => command::eval::execute(&args, context),
        Command::Plan(mut args) => {
            args.eval.dry_run = true;
            command::eval::execute(&args, context)
        }
        Command::Grade(args) => command::grade::execute(&args, context),
        Command::Try(args) => command::attempt::execute(&args, context),
        Command::Validate(args) => command::validate::execute(&args, context),
        Command::Lint(args) => command::lint::execute(&args, context),
        Command::Convert(args) => command::convert::execute(&args, context),
        Command::Generate(args) => command::generate::execute(&args, context),
        Command::Score(args) => command::score::execute(&args, context),
        Command::Scorecard(args) => command::scorecard::execute(&args, context),
        Command::Audit(args) => command::audit::execute(&args, context),
        Command::Review(args) => command::review::execute(&args, context),
        Command::Calibrate(args) => command::calibrate::execute(&args, context),
        Command::Agreement(args) => command::agreement::execute(&args, context),
        Command::Repeats(args) => command::repeats::execute(&args, context),
        Command::Compare(args) => command::compare::execute(&args, context),
        Command::Pairwise(args) => command::pairwise::execute(&args, context),
        Command::Trend(args) => command::trend::execute(&args, context),
        Command::Power(args) => command::power::execute(&args, context),
        Command::Import(args) => command::import::execute(&args, context),
        Command::Cache(args) => command::cache::execute(&args, context),
        Command::Explain(args) => command::explain::execute(&args, context),
        Command::Schema(args) => command::schema::execute(&args),
        Command::Completions(args) => Ok(command::completions::completions(&args)),
        Command::Man(args) => command::completions::man(&args),
        Command::Lsp(args) => command::lsp::execute(&args, context),
        Command::Doctor(args) => command::doctor::execute(&args, context),
    }
}
