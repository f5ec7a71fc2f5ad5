//! Text below the options of a help page: notes, lists and examples, laid out for a window.

use assize_report::{LongWords, wrap_lines};
use clap::{Arg, Command};

/// Widest layout of examples, in columns, so that they can be pasted anywhere.
const MAX_WIDTH: usize = 80;
/// Longest text, in lines, that `-h` prints whole; of a longer one it prints only examples.
const MAX_SHORT_LINES: usize = 12;
/// Examples that `-h` prints of a longer text.
const SHORT_EXAMPLES: usize = 3;
/// Indentation of the lines of an example after the first.
const CONTINUED: usize = 6;
/// Title of the examples.
const EXAMPLES: &str = "Examples:";

/// Options of runs that only `--help` shows, except in `eval` and `grade`.
const RARE_OPTIONS: [&str; 2] = ["out", "rerun_failed"];

/// Hides an option from `-h` that is rarely used in commands other than `eval` and `grade`.
pub(super) fn rare_beside_eval(argument: Arg) -> Arg {
    let is_rare = RARE_OPTIONS.contains(&argument.get_id().as_str());
    if is_rare { argument.hide_short_help(true) } else { argument }
}

/// Adds texts to the help pages of all commands below this one, laid out for this width: all of them to
/// `--help`, and as many as fit to `-h`. A command that already has both texts keeps them.
pub(super) fn with_help_ends(command: Command, columns: usize) -> Command {
    let path = command.get_name().to_owned();
    with_ends_below(command, &path, columns.min(MAX_WIDTH))
}

fn with_ends_below(command: Command, path: &str, columns: usize) -> Command {
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        with_ends_below(with_end(inner, &path, columns), &path, columns)
    })
}

fn with_end(command: Command, path: &str, columns: usize) -> Command {
    let Some(whole) = command.get_after_help().map(ToString::to_string) else { return command };
    let long = command.get_after_long_help().map_or_else(|| whole.clone(), ToString::to_string);
    let is_long = wrap_lines(&whole, MAX_WIDTH, LongWords::Keep).lines().count() > MAX_SHORT_LINES;
    let short =
        if is_long && command.get_after_long_help().is_none() { first_examples(&whole) } else { whole };
    let has_more = short != long || command.get_arguments().any(has_more_in_long_help);

    let mut short = lay_out(&short, columns);
    if has_more {
        short = format!("{short}\n\n`{path} --help` prints all options, in detail.");
    }
    command.after_help(short).after_long_help(lay_out(&long, columns))
}

fn has_more_in_long_help(argument: &Arg) -> bool {
    argument.is_hide_short_help_set() || argument.get_long_help().is_some()
}

/// The first examples of a text.
fn first_examples(text: &str) -> String {
    let examples = text.split_once(EXAMPLES).map(|(_, examples)| examples).unwrap_or_default();
    // Notes may follow the examples.
    let examples = examples.trim_start_matches('\n').split("\n\n").next().unwrap_or_default();
    let commands = commands(examples.lines());
    let first: Vec<String> =
        commands.into_iter().take(SHORT_EXAMPLES).map(|one| format!("  {one}")).collect();
    format!("{EXAMPLES}\n{}", first.join("\n"))
}

/// Joins each command with its continuation lines.
fn commands<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut commands, mut continues) = (Vec::<String>::new(), false);
    for line in lines {
        let part = line.trim().trim_end_matches('\\').trim_end();
        match commands.last_mut().filter(|_| continues) {
            Some(command) => {
                command.push(' ');
                command.push_str(part);
            }
            None => commands.push(part.to_owned()),
        }
        continues = line.ends_with('\\');
    }

    commands
}

/// Breaks long examples before their options, and list entries within their second column. Paragraphs are left
/// to clap.
fn lay_out(text: &str, columns: usize) -> String {
    let paragraph = |paragraph: &str| match paragraph.split_once('\n') {
        Some((EXAMPLES, examples)) => {
            let commands = commands(examples.lines());
            let shown = commands.iter().map(|command| break_command(command, columns));
            format!("{EXAMPLES}\n{}", shown.collect::<Vec<_>>().join("\n"))
        }
        _ if paragraph.starts_with("  ") => {
            paragraph.lines().map(|line| hang(line, columns)).collect::<Vec<_>>().join("\n")
        }
        _ => paragraph.to_owned(),
    };

    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Breaks a command that is too long for a line between its arguments, preferably before an option, so that
/// each option keeps its value.
fn break_command(command: &str, columns: usize) -> String {
    let room = columns.saturating_sub(" \\".len());
    let (mut lines, mut line) = (Vec::new(), " ".to_owned());
    let groups = groups(command).into_iter().flat_map(|group| split_wide(group, room)).collect::<Vec<_>>();
    for (at, group) in groups.iter().enumerate() {
        let is_last = at + 1 == groups.len();
        let width = line.chars().count() + 1 + group.chars().count();
        let is_empty = line.trim().is_empty();
        if !is_empty && width > if is_last { columns } else { room } {
            lines.push(format!("{line} \\"));
            line = " ".repeat(CONTINUED - 1);
        }
        line.push(' ');
        line.push_str(group);
    }
    lines.push(line);

    lines.join("\n")
}

/// Parts of a command that stay on one line: the program with its subcommand, quoted text, and each option with
/// its value.
fn groups(command: &str) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let mut quote = None;
    for word in command.split(' ') {
        let is_quoted = quote.is_some();
        for character in word.chars() {
            quote = match quote {
                None if matches!(character, '\'' | '"') => Some(character),
                Some(open) if open == character => None,
                other => other,
            };
        }
        let is_value = groups.last().is_some_and(|group| is_option(group) && !group.contains(' '));
        let joins = is_quoted || (!is_option(word) && (is_value || groups == ["assize"]));
        match groups.last_mut().filter(|_| joins) {
            Some(group) => {
                group.push(' ');
                group.push_str(word);
            }
            None => groups.push(word.to_owned()),
        }
    }

    groups
}

/// Separates an option from a value that does not fit on the same line.
fn split_wide(group: String, room: usize) -> Vec<String> {
    let is_wide = is_option(&group) && group.chars().count() + CONTINUED > room;
    match group.split_once(' ').filter(|_| is_wide) {
        Some((option, value)) => vec![option.to_owned(), value.to_owned()],
        None => vec![group],
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

/// Breaks a list entry within its second column.
fn hang(line: &str, columns: usize) -> String {
    let indent = line.len() - line.trim_start().len();
    let column = line[indent..].rfind("  ").map_or(indent, |gap| indent + gap + 2);
    let (head, text) = line.split_at(column);
    let room = columns.saturating_sub(column).max(columns / 3);
    let wrapped = wrap_lines(text, room, LongWords::Keep);

    format!("{head}{}", wrapped.replace('\n', &format!("\n{}", " ".repeat(column))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_break_before_their_options() {
        let command = "assize eval evals/a.eval.yaml --judge openai:gpt-4o-mini --filter 'a b --c' -j 8";
        assert_eq!(break_command(command, 90), format!("  {command}"));
        assert_eq!(
            break_command(command, 40),
            "  assize eval evals/a.eval.yaml \\\n      --judge openai:gpt-4o-mini \\\n      --filter 'a b --c' -j 8"
        );
        assert_eq!(
            break_command("assize compare runs/january runs/february --json", 30),
            "  assize compare \\\n      runs/january \\\n      runs/february --json"
        );
        assert_eq!(
            break_command("assize grade r.yaml --columns answer=gpt_4o,id=number", 30),
            "  assize grade r.yaml \\\n      --columns \\\n      answer=gpt_4o,id=number"
        );
    }

    #[test]
    fn examples_that_are_broken_already_are_joined_first() {
        let text = "Exit codes: 0.\n\nExamples:\n  assize eval \\\n      --json\n  assize list";
        assert_eq!(lay_out(text, 80), "Exit codes: 0.\n\nExamples:\n  assize eval --json\n  assize list");
        assert_eq!(first_examples(text), "Examples:\n  assize eval --json\n  assize list");
    }

    #[test]
    fn entries_of_a_list_hang_below_their_text() {
        assert_eq!(
            hang("  csv  .csv  A row for each case", 24),
            "  csv  .csv  A row for\n             each case"
        );
        assert_eq!(hang("  one two three", 10), "  one two\n  three");
    }
}
