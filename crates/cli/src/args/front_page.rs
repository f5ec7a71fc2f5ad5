//! The first page of help: the commands in the order in which people need them.

use std::fmt::Write as _;

use assize_report::{LongWords, wrap_lines};
use clap::Command;

use super::help_end::with_help_ends;
use crate::context::terminal_columns;

/// Commands with their descriptions, in the order in which people need them.
const MAIN: [&str; 16] = [
    "init", "eval", "grade", "try", "validate", "lint", "generate", "report", "view", "list", "explain",
    "compare", "review", "calibrate", "scorecard", "convert",
];
/// Commands that few people need; named without a description.
const OTHER: [&str; 13] = [
    "audit", "score", "merge", "cache", "doctor", "trust", "serve", "worker", "mcp", "lsp", "schema",
    "completions", "man",
];
/// Column at which descriptions begin.
const INDENT: usize = 14;
/// Widest page, as wide as clap's own pages.
const MAX_WIDTH: usize = 100;
/// Narrowest page.
const MIN_WIDTH: usize = 40;

/// Adds the front page to the program and the texts at the end to its commands, laid out for the terminal.
pub(crate) fn with_front_page(command: Command) -> Command {
    let page = with_front_page_of(command, terminal_columns(&console::Term::stdout()).unwrap_or(MAX_WIDTH));
    if std::env::args_os().any(|word| word == "-h") { without_values(page) } else { page }
}

/// Lists possible values only in `--help`, so that each option has one line in `-h`. Errors about wrong values
/// still list them.
pub(super) fn without_values(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let has_values = argument.get_action().takes_values();
        if has_values { argument.hide_possible_values(true) } else { argument }
    });
    command.mut_subcommands(without_values)
}

/// Lays out the program's help pages for this width in columns.
pub(super) fn with_front_page_of(command: Command, columns: usize) -> Command {
    let columns = columns.max(MIN_WIDTH);
    let commands = render_commands(&command, columns);
    let commands = commands.trim_end();
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{{after-help}}");
    let end = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let end = format!("{}\n{end}", render_other_commands(&command, columns));

    with_help_ends(command.help_template(template).after_long_help(end), columns)
}

fn render_commands(command: &Command, columns: usize) -> String {
    let mut page = heading("Commands");
    for name in MAIN {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        push_row(&mut page, name, &about, columns);
    }

    page.push('\n');
    let others = wrap_lines(&format!("Also: {}.", OTHER.join(", ")), columns, LongWords::Keep);
    page.push_str(&others);
    page.push('\n');

    page
}

/// Descriptions of the commands that the page only names.
fn render_other_commands(command: &Command, columns: usize) -> String {
    let mut text = heading("Further commands");
    for name in OTHER {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        push_row(&mut text, name, &about.map(ToString::to_string).unwrap_or_default(), columns);
    }

    text
}

fn heading(title: &str) -> String {
    format!("\u{1b}[1m\u{1b}[4m{title}:\u{1b}[0m\n")
}

fn push_row(page: &mut String, name: &str, about: &str, columns: usize) {
    let lines = wrap_lines(about, columns - INDENT, LongWords::Keep);
    let about = lines.replace('\n', &format!("\n{}", " ".repeat(INDENT)));
    let pad = " ".repeat(INDENT - 2 - name.len());
    let _ = writeln!(page, "  \u{1b}[1m{name}\u{1b}[0m{pad}{about}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    fn page(columns: usize) -> String {
        let mut command = with_front_page_of(Args::command(), columns).term_width(columns);
        command.render_help().to_string()
    }

    #[test]
    fn every_command_is_named_once() {
        let command = Args::command();
        let mut named: Vec<&str> = MAIN.iter().chain(&OTHER).copied().collect();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        named.sort_unstable();
        all.sort_unstable();
        assert_eq!(named, all);
    }

    #[test]
    fn the_front_page_fits_a_terminal() {
        let wide = page(80);
        assert!(wide.lines().count() <= 28, "{}:\n{wide}", wide.lines().count());
        for name in MAIN {
            let starts = wide.lines().filter(|line| line.starts_with(&format!("  {name} "))).count();
            assert_eq!(starts, 1, "{name}:\n{wide}");
        }
        assert!(!wide.contains(&" ".repeat(INDENT)), "a command takes two lines:\n{wide}");

        for columns in [40, 80] {
            let page = page(columns);
            assert!(page.lines().all(|line| line.chars().count() <= columns), "{page}");
        }
    }
}
