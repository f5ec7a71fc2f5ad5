//! `docs/cli.md`: the help texts of the program and its commands, as it prints them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::shell;

/// The way to build the program whose help texts are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// By itself: quick when nothing else is wanted.
    Alone,
    /// As part of building all tests: nothing to do right after a test run.
    WithTests,
}

const PROGRAM: &str = "assize";
/// Columns of the help texts.
const WIDTH: &str = "100";

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from the program's own help. Change it in crates/cli/src/args. -->
# Commands

What `assize --help` and the help of each command print; the global options, which every command has, once.
";

/// The page.
pub(super) fn page(program: &Path) -> Result<String, String> {
    let main = help(program, &[])?;
    let mut page = HEAD.to_owned();
    section(&mut page, PROGRAM, &main);

    for command in commands(&main).into_iter().chain(hidden_commands(&main)) {
        let text = without_global_options(&help(program, &[command])?);
        section(&mut page, &format!("{PROGRAM} {command}"), &text);

        for inner in commands(&text) {
            let text = without_global_options(&help(program, &[command, inner])?);
            section(&mut page, &format!("{PROGRAM} {command} {inner}"), &text);
        }
    }

    Ok(page)
}

fn section(page: &mut String, title: &str, text: &str) {
    write!(page, "\n## {title}\n\n```text\n{}\n```\n", text.trim_end()).expect("a string takes everything");
}

/// Builds the program and returns where it is.
pub(super) fn built(build: Build) -> Result<PathBuf, String> {
    let arguments: &[&str] = match build {
        Build::Alone => &["build", "--package", "assize", "--quiet", "--message-format", "json"],
        Build::WithTests => &["test", "--workspace", "--no-run", "--quiet", "--message-format", "json"],
    };
    let messages = shell::output(&mut shell::cargo(arguments))?;
    let found =
        messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
            let is_program = message["target"]["name"] == PROGRAM
                && message["target"]["kind"][0] == "bin"
                && message["profile"]["test"] == false;
            if is_program { message["executable"].as_str().map(PathBuf::from) } else { None }
        });
    match (found, build) {
        (Some(program), _) => Ok(program),
        // Tests that don't start the program don't build it.
        (None, Build::WithTests) => built(Build::Alone),
        (None, Build::Alone) => Err(format!("cargo did not say where it put `{PROGRAM}`")),
    }
}

/// The help of a command.
fn help(program: &Path, command: &[&str]) -> Result<String, String> {
    let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    let text = printed(program, &arguments)?.replace("assize.exe", PROGRAM);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n"))
}

/// Runs the program and returns its output. Nothing of the surroundings reaches it, so that it is the same everywhere.
pub(crate) fn printed(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut process = Command::new(program);
    process.args(arguments);
    process.env_clear().env("COLUMNS", WIDTH).env("NO_COLOR", "1").stdin(Stdio::null());

    let output = process.output().map_err(|error| format!("can't start {}: {error}", program.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{PROGRAM} {}` failed ({}): {said}", arguments.join(" "), output.status));
    }

    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names under `Commands:`, in the order of the help text.
fn commands(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        // Deeper lines continue the text of the line above.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect()
}

/// A help text without the options that every command has, which it lists last.
fn without_global_options(help: &str) -> String {
    let Some((before, rest)) = help.split_once("\nGlobal options:\n") else { return help.to_owned() };
    let after = rest.lines().skip_while(|line| line.is_empty() || line.starts_with(' '));
    std::iter::once(before.trim_end()).chain(std::iter::once("")).chain(after).collect::<Vec<_>>().join("\n")
}

/// The names of the commands that programs start, which the list under `Commands:` leaves out.
fn hidden_commands(help: &str) -> Vec<&str> {
    help.lines()
        .find_map(|line| line.strip_prefix("For programs: assize "))
        .and_then(|line| line.split_once('.'))
        .map(|(names, _)| names.split(", ").collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_the_help_text() {
        let help = "Words\n\nUsage: assize <COMMAND>\n\nCommands:\n  eval   Run eval files\n         and more \
                    [aliases: run]\n  grade  Grade\n  help   Help\n\nOptions:\n  -h\n";
        assert_eq!(commands(help), ["eval", "grade"]);
        assert_eq!(commands("Usage: x"), Vec::<&str>::new());
        assert_eq!(
            hidden_commands("Words\n\nFor programs: assize lsp, man. Each has --help.\n"),
            ["lsp", "man"]
        );
        assert_eq!(hidden_commands(help), Vec::<&str>::new());
    }

    #[test]
    fn global_options_are_cut_out() {
        let help = "Words\n\nOutput:\n  --json\n\nGlobal options:\n  -h\n      Help\n\n  -V\n\nExamples:\n  assize\n";
        assert_eq!(without_global_options(help), "Words\n\nOutput:\n  --json\n\nExamples:\n  assize");
        assert_eq!(without_global_options("Words"), "Words");
    }
}
