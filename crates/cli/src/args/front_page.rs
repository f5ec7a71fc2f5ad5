//! The first page of help: the commands in groups, in the order in which people need them.

use std::fmt::Write as _;

use assize_report::{LongWords, wrap_lines};
use clap::Command;

use crate::context::terminal_columns;

/// Groups of commands. Those that only programs start are in none.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["init", "try", "generate", "doctor"]),
    ("Check", &["validate", "lint"]),
    ("Run", &["eval", "grade", "score", "merge"]),
    ("Results", &["report", "view", "list", "explain", "compare"]),
    ("Judges", &["review", "calibrate", "audit"]),
    ("More", &["scorecard", "convert", "cache", "serve", "mcp"]),
];
/// Column at which descriptions begin.
const INDENT: usize = 13;
/// Widest page; the parser's other pages are no wider.
const MAX_WIDTH: usize = 100;
/// Narrowest page.
const MIN_WIDTH: usize = 40;

/// Gives the program its front page, wrapped to the terminal.
pub(crate) fn with_front_page(command: Command) -> Command {
    with_front_page_of(command, terminal_columns(&console::Term::stdout()).unwrap_or(MAX_WIDTH))
}

/// Gives the program its front page of a width in columns.
pub(super) fn with_front_page_of(command: Command, columns: usize) -> Command {
    let groups = render_groups(&command, columns.max(MIN_WIDTH));
    let groups = groups.trim_end();
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{after-help}}");

    command.help_template(template)
}

fn render_groups(command: &Command, columns: usize) -> String {
    let mut page = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(page, "\u{1b}[1m\u{1b}[4m{title}:\u{1b}[0m");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let lines = wrap_lines(&about, columns - INDENT, LongWords::Keep);
            let about = lines.replace('\n', &format!("\n{}", " ".repeat(INDENT)));
            let pad = " ".repeat(INDENT - 2 - name.len());
            let _ = writeln!(page, "  \u{1b}[1m{name}\u{1b}[0m{pad}{about}");
        }
    }

    page
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
    fn every_visible_command_is_in_one_group() {
        let command = Args::command();
        let mut shown: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
        shown.sort_unstable();
        visible.sort_unstable();
        assert_eq!(shown, visible);
    }

    #[test]
    fn the_front_page_fits_a_terminal() {
        let wide = page(80);
        assert!(wide.lines().count() <= 36, "{}:\n{wide}", wide.lines().count());
        for name in GROUPS.iter().flat_map(|(_, names)| names.iter()) {
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
