//! `docs/terminal.svg`: the picture of a terminal in the README, made from the program's output.

use std::path::Path;
use std::process::{Command, Stdio};

use super::terminal_svg;
use xtask::shell;

/// Path of the picture.
pub(super) const FILE: &str = "docs/terminal.svg";
/// The command in the picture, without the program.
const ARGUMENTS: [&str; 4] =
    ["grade", "examples/tutorial/rubric.yaml", "--answers", "examples/tutorial/before.csv"];
/// Example files that the command reads.
const FILES: [&str; 2] = [ARGUMENTS[1], ARGUMENTS[3]];
/// Width of the terminal in columns.
const WIDTH: usize = 88;
/// Beginnings of the paragraphs in the picture. A line of dots replaces everything else.
const SHOWN_PARAGRAPHS: [&str; 4] = ["verdict  score", "── Summary", "met  95% CI", "Result"];
/// Beginnings of lines that differ from run to run and are omitted.
const VARYING_LINES: [&str; 2] = ["Time", "Run"];

/// Draws the picture.
pub(super) fn picture(program: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("can't make a folder: {error}"))?;
    for file in FILES {
        let copy = folder.path().join(file);
        let made = copy.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::copy(shell::root().join(file), &copy))
            .map_err(|error| format!("can't copy {file}: {error}"))?;
    }

    let mut command = Command::new(program);
    command.args(ARGUMENTS).args(["--color", "always"]).current_dir(folder.path());
    command.env_clear().env("COLUMNS", WIDTH.to_string()).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("can't start {}: {error}", program.display()))?;

    // The exit code is 1 because some of the answers fail.
    if output.status.code() != Some(1) {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`assize {}` did not end with 1: {errors}", ARGUMENTS.join(" ")));
    }

    let shown = session(&String::from_utf8_lossy(&output.stdout))?;
    Ok(terminal_svg::draw(&shown, WIDTH))
}

/// The command and the selected parts of its output.
fn session(output: &str) -> Result<String, String> {
    let plain = terminal_svg::without_styles(output);
    if let Some(start) = SHOWN_PARAGRAPHS.iter().find(|start| !plain.contains(**start)) {
        return Err(format!("nothing in the output of the picture's command begins with `{start}`"));
    }

    let mut text = format!("\x1b[32m$\x1b[0m \x1b[1massize {}\x1b[0m\n", ARGUMENTS.join(" "));
    let mut is_cut = false;
    for paragraph in output.trim_end().split("\n\n") {
        let plain = terminal_svg::without_styles(paragraph);
        if !SHOWN_PARAGRAPHS.iter().any(|start| plain.trim_start().starts_with(start)) {
            if !is_cut {
                text.push_str("\x1b[2m⋯\x1b[0m\n\n");
            }
            is_cut = true;
            continue;
        }

        let is_stable = |line: &&str| {
            let plain = terminal_svg::without_styles(line);
            !VARYING_LINES.contains(&plain.split_whitespace().next().unwrap_or_default())
        };
        for line in paragraph.lines().filter(is_stable) {
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        is_cut = false;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_the_command_and_the_chosen_paragraphs_without_times() {
        let output = "one\n\ntwo\n\n  verdict  score\n  \x1b[31m✗ fail\x1b[0m  0.8\n\nthree\n\n── Summary\n\n   met  95% CI\n\n\
                      Result  4 failed\n\x1b[2mTime\x1b[0m  10 ms\nTimes";
        let text = terminal_svg::without_styles(&session(output).expect("all is there"));
        let (command, rest) = text.split_once('\n').expect("a command");
        assert!(command.starts_with("$ assize grade "), "{command}");
        assert_eq!(
            rest,
            "⋯\n\n  verdict  score\n  ✗ fail  0.8\n\n⋯\n\n── Summary\n\n   met  95% CI\n\nResult  4 failed\nTimes\n"
        );
        assert!(session("Result  1 failed").is_err());
    }
}
