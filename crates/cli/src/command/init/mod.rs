//! `assize init`: sets up a folder in which the first run works at once.

mod files;
mod write;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use assize_engine::{ExitStatus, OFFLINE};
use assize_evalfile::load_targets;
use serde_json::json;

use crate::args::{InitArgs, InitFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

use files::ProjectSetup;
use write::{ExistingFilePolicy, WriteOutcome};

pub(crate) fn execute(args: &InitArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let given = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = context.process.working_folder.join(&given);
    let ready = super::doctor::usable_judges(context);
    let asks = !args.yes && !args.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let targets = load_targets(&folder, None, &context.process.load_options(&[])).targets;
    let check = |judge: &str| files::check_judge(judge, targets.iter().any(|target| target.name == judge));
    let judge = match &args.judge {
        Some(judge) => judge.trim().to_owned(),
        None if asks => ask_for_judge(&ready, check, context)?,
        None => OFFLINE.to_owned(),
    };
    check(&judge)?;

    let setup = ProjectSetup {
        format: args.format,
        judge_is_local: is_local(&judge, context),
        judge,
        ready,
        path_in_repository: path_in_repository(&folder),
    };
    let is_new = is_without_files(&folder);
    let existing = match (args.force, asks) {
        (true, _) => ExistingFilePolicy::Overwrite,
        (false, true) => ExistingFilePolicy::Ask,
        (false, false) => ExistingFilePolicy::Keep,
    };

    let mut done = Vec::new();
    for file in files::files(&setup) {
        let outcome =
            write::write_file(&folder, &file, existing, &mut |path| ask_to_overwrite(path, context))?;
        done.push((file.path, outcome));
    }

    done.push((".gitignore".to_owned(), write::update_gitignore(&folder, files::IGNORED)?));
    // A folder that was not empty may hold files of other people.
    let is_trusted = is_new
        && super::trust::add(&folder, context)
            .inspect_err(|failure| {
                output::print_warning(&format!("the project is not trusted: {}", failure.message), context);
            })
            .is_ok();
    report(args, &given, &setup, &done, context);
    if is_trusted {
        output::print_notice(
            &format!(
                "Files in `{}` may start programs, because this command made it; `assize trust --revoke` there ends that.\n",
                given.display()
            ),
            context,
        );
    }

    Ok(ExitStatus::Passed)
}

/// True if a folder does not exist, or contains only a repository's own folder.
fn is_without_files(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".git")),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// True if the judge is a model on this machine.
fn is_local(judge: &str, context: &CliContext) -> bool {
    let provider = judge.split_once(':').map_or("", |(provider, _)| provider);
    let host = assize_llm::usable(provider, &|name| context.variable(name)).and_then(|found| found.host);
    host.is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| host.starts_with(local)))
}

/// Path of a folder, which need not exist, within its git repository, with `/`; empty at the root and outside a
/// repository.
fn path_in_repository(folder: &Path) -> String {
    let Some(existing) = folder.ancestors().find(|above| above.exists()) else { return String::new() };
    let Ok(real) = existing.canonicalize() else { return String::new() };
    let new = folder.strip_prefix(existing).unwrap_or(Path::new(""));
    let Some(root) = real.ancestors().find(|above| above.join(".git").exists()) else { return String::new() };

    let inside = real.strip_prefix(root).unwrap_or(Path::new("")).join(new);
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Prints the written files, and commands to run next.
fn report(
    args: &InitArgs,
    folder: &Path,
    setup: &ProjectSetup,
    done: &[(String, WriteOutcome)],
    context: &CliContext,
) {
    let next = files::next_commands(setup, folder);
    if args.json {
        let paths = |wanted: WriteOutcome| -> Vec<&str> {
            done.iter().filter(|(_, done)| *done == wanted).map(|(path, _)| path.as_str()).collect()
        };
        output::print_json(&json!({
            "folder": folder,
            "judge": setup.judge,
            "written": paths(WriteOutcome::Written),
            "kept": paths(WriteOutcome::Kept),
            "unchanged": paths(WriteOutcome::Current),
            "next": next,
            "notes": files::workflow_notes(setup),
        }));

        return;
    }

    let schemas = |path: &str| path.starts_with(super::schema::FOLDER);
    for (path, outcome) in done.iter().filter(|(path, _)| !schemas(path)) {
        output::print(&format!("{}  {path}\n", outcome.padded_label()));
    }

    for outcome in [WriteOutcome::Written, WriteOutcome::Kept, WriteOutcome::Current] {
        let count = done.iter().filter(|(path, done)| schemas(path) && *done == outcome).count();
        if count > 0 {
            output::print(&format!(
                "{}  {}/ ({count} schemas)\n",
                outcome.padded_label(),
                super::schema::FOLDER
            ));
        }
    }

    if done.iter().any(|(_, outcome)| *outcome == WriteOutcome::Kept) {
        output::print_text(
            "\nExisting files differ from what `init` writes; overwrite them with `--force`.\n",
            context,
        );
    }

    for note in files::workflow_notes(setup) {
        output::print_text(&format!("\n{note}\n"), context);
    }

    output::print("\nNext:\n");

    for command in next {
        output::print(&format!("  {command}\n"));
    }

    if setup.judge == OFFLINE {
        let how = match setup.ready.first() {
            Some(judge) => format!("write `judge: {judge}` into .assize/config.yaml"),
            None => "`assize doctor --all` lists what each provider needs".to_owned(),
        };
        output::print_text(
            &format!("\nThe offline judge only compares words. For a model as judge: {how}.\n"),
            context,
        );
    }
}

/// Asks until the answer names a judge.
fn ask_for_judge(
    ready: &[String],
    check: impl Fn(&str) -> Result<(), String>,
    context: &CliContext,
) -> Result<String, CommandFailure> {
    let usable = if ready.is_empty() {
        "no model is configured".to_owned()
    } else {
        format!("usable: {}", ready.join(", "))
    };
    let question = format!("Which judge? PROVIDER:MODEL, or empty for the offline judge ({usable}):");
    loop {
        let answer = ask(&question, context)?;
        if answer.is_empty() {
            return Ok(OFFLINE.to_owned());
        }
        match check(&answer) {
            Ok(()) => return Ok(answer),
            Err(problem) => output::print_notice(&format!("{problem}\n"), context),
        }
    }
}

fn ask_to_overwrite(path: &str, context: &CliContext) -> Result<bool, CommandFailure> {
    let answer = ask(&format!("{path} exists. Overwrite it? [y/N]"), context)?;
    Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn ask(question: &str, context: &CliContext) -> Result<String, CommandFailure> {
    let failed = |error: std::io::Error| format!("can't read the answer: {error}");
    output::print_notice(question, context);
    output::print_message(" ");
    std::io::stderr().flush().map_err(failed)?;

    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;

    Ok(line.trim().to_owned())
}
