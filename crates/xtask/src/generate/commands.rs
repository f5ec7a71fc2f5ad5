//! `docs/cli.md`: the commands of the program and their options, from its own help texts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::help_text::{CommandHelp, GLOBAL, HelpEntry};

const PROGRAM: &str = "assize";
/// Terminal width for the help texts, large enough that no line is wrapped.
const WIDTH: &str = "100000";
/// Minimum number of commands that share an option before it is listed once for all of them.
const COMMON_FROM: usize = 3;
/// Maximum number of examples per command on the page; the help has all of them.
const MAX_EXAMPLES: usize = 3;

const HEAD: &str = "\
<!-- Made by `cargo xtask generate` from the program's own help. Change it in crates/cli/src/args. -->
# Commands

`assize COMMAND -h` prints the usual options of a command; `--help` prints all of them, with more detail and examples than
here. Options of several commands are described once, under [Common options](#common-options).
";

/// The whole page.
pub(super) fn page(program: &Path) -> Result<String, String> {
    let main = help(program, &[])?;
    let mut commands = Vec::new();
    for name in names(&main).into_iter().chain(hidden_commands(&help_text(program, &[])?)) {
        let outer = help(program, &[&name])?;
        let inner = names(&outer);
        commands.push((name.clone(), outer));

        for inner in inner {
            commands.push((format!("{name} {inner}"), help(program, &[&name, &inner])?));
        }
    }

    let common = common_options(&commands);
    let mut page = HEAD.to_owned();
    overview(&mut page, &commands);
    common_section(&mut page, &commands, &common);

    for (name, help) in commands.iter().filter(|(_, help)| !is_group(help)) {
        command_section(&mut page, name, help, &common);
    }

    Ok(page)
}

/// List of the commands, with their subcommands.
fn overview(page: &mut String, commands: &[(String, CommandHelp)]) {
    page.push('\n');
    let link = |name: &str, shown: &str| format!("[`{shown}`](#assize-{})", name.replace(' ', "-"));

    for (name, help) in commands.iter().filter(|(name, _)| !name.contains(' ')) {
        let inner: Vec<String> = commands
            .iter()
            .filter_map(|(other, help)| {
                Some((other, other.strip_prefix(name.as_str())?.strip_prefix(' ')?, help))
            })
            .map(
                |(other, shown, help)| if is_group(help) { format!("`{shown}`") } else { link(other, shown) },
            )
            .collect();
        let title = if is_group(help) { format!("`{name}`") } else { link(name, name) };
        if inner.is_empty() {
            line(page, format_args!("- {title}: {}", cell(&help.about)));
        } else {
            line(page, format_args!("- {title}: {} ({})", cell(&help.about), inner.join(", ")));
        }
    }
}

/// Whether a command only groups subcommands.
fn is_group(help: &CommandHelp) -> bool {
    !help.commands.is_empty() && help.entries.iter().all(|entry| entry.heading == GLOBAL)
}

/// Common options by heading.
fn common_section(page: &mut String, commands: &[(String, CommandHelp)], common: &[HelpEntry]) {
    page.push_str("\n## Common options\n");
    let first = commands.first().map(|(_, help)| help.entries.as_slice()).unwrap_or_default();
    let global: Vec<&HelpEntry> = first.iter().filter(|entry| entry.heading == GLOBAL).collect();
    table(page, Some(GLOBAL), &global);

    for heading in headings(common.iter()) {
        let entries: Vec<&HelpEntry> = common.iter().filter(|entry| entry.heading == heading).collect();
        table(page, Some(heading), &entries);
    }
}

fn command_section(page: &mut String, name: &str, help: &CommandHelp, common: &[HelpEntry]) {
    line(page, format_args!("\n## {PROGRAM} {name}"));
    // Subcommands are not described in the overview.
    if name.contains(' ') {
        line(page, format_args!("\n{}.", cell(&help.about)));
    }
    let plain = format!("{PROGRAM} {name} [OPTIONS]");
    if help.usage.iter().any(|usage| *usage != plain) {
        line(page, format_args!("\n```text\n{}\n```", help.usage.join("\n")));
    }

    let of_command = help.entries.iter().filter(|entry| entry.heading != GLOBAL);
    let is_common = |entry: &HelpEntry| common.iter().any(|other| is_same(entry, other));
    let (shared, own): (Vec<&HelpEntry>, Vec<&HelpEntry>) = of_command.partition(|entry| is_common(entry));

    table(page, None, &own);

    let shared: Vec<String> = headings(common.iter())
        .into_iter()
        .filter_map(|heading| {
            let all: Vec<&HelpEntry> = common.iter().filter(|entry| entry.heading == heading).collect();
            let (taken, lacking): (Vec<&HelpEntry>, Vec<&HelpEntry>) =
                all.into_iter().partition(|entry| shared.iter().any(|other| is_same(entry, other)));
            let heading = shown_heading(heading);
            let link = format!("[{heading}](#{})", heading.to_lowercase().replace(' ', "-"));
            match (taken.len(), lacking.len()) {
                (0, _) => None,
                (_, 0) => Some(format!("all of {link}")),
                (taken, lacked) if lacked < taken => Some(format!("{link} but {}", options(&lacking))),
                _ => Some(format!("{link}: {}", options(&taken))),
            }
        })
        .collect();
    if !shared.is_empty() {
        line(page, format_args!("\nCommon options: {}.", shared.join("; ")));
    }

    if !help.examples.is_empty() {
        line(page, format_args!("\n```sh\n{}\n```", first_examples(&help.examples).join("\n")));
    }
}

/// Options that several commands share. If the text differs, the most frequent one is used.
fn common_options(commands: &[(String, CommandHelp)]) -> Vec<HelpEntry> {
    let entries = || {
        let all = commands.iter().flat_map(|(_, help)| &help.entries);
        all.filter(|entry| entry.is_option() && entry.heading != GLOBAL)
    };
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for entry in entries() {
        *counts.entry((&entry.name, &entry.text)).or_default() += 1;
    }
    let count = |entry: &HelpEntry| counts[&(entry.name.as_str(), entry.text.as_str())];

    let mut common: Vec<HelpEntry> = Vec::new();
    for entry in entries().filter(|entry| count(entry) >= COMMON_FROM) {
        match common.iter_mut().find(|other| other.name == entry.name) {
            None => common.push(entry.clone()),
            Some(other) if count(other) < count(entry) => entry.clone_into(other),
            Some(_) => {}
        }
    }
    common
}

/// Whether two options have the same name and text, even under different headings.
fn is_same(a: &HelpEntry, b: &HelpEntry) -> bool {
    a.name == b.name && a.text == b.text
}

/// The headings of the entries without duplicates, in order of appearance.
fn headings<'a>(entries: impl Iterator<Item = &'a HelpEntry>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for entry in entries {
        if !found.contains(&entry.heading.as_str()) {
            found.push(&entry.heading);
        }
    }
    found
}

/// The long names of options, as a list.
fn options(entries: &[&HelpEntry]) -> String {
    let long = |entry: &&HelpEntry| {
        let name = entry.name.split([' ', ',', '[', '=']).find(|word| word.starts_with("--"));
        format!("`{}`", name.unwrap_or(&entry.name))
    };
    entries.iter().map(long).collect::<Vec<_>>().join(", ")
}

fn table(page: &mut String, title: Option<&str>, entries: &[&HelpEntry]) {
    if entries.is_empty() {
        return;
    }
    if let Some(title) = title {
        line(page, format_args!("\n### {}", shown_heading(title)));
    }

    page.push('\n');
    for entry in entries {
        line(page, format_args!("- `{}`: {}", entry.name, cell(&entry.text)));
    }
}

/// Heading of common options on the page. Commands without own headings have their options under `Options`, which needs
/// another name here.
fn shown_heading(heading: &str) -> &str {
    if heading == "Options" { "Other options" } else { heading }
}

/// The first examples, each with its continuation lines.
fn first_examples(lines: &[String]) -> &[String] {
    let ends = lines.iter().enumerate().filter(|(_, line)| !line.ends_with('\\'));
    let end = ends.map(|(at, _)| at + 1).nth(MAX_EXAMPLES - 1).unwrap_or(lines.len());
    &lines[..end]
}

/// Escapes `<` outside of code, so that nothing becomes an HTML tag.
fn cell(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts =
        parts.map(|(index, part)| if index % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string takes everything");
}

/// The help text of a command.
fn help_text(program: &Path, command: &[&str]) -> Result<String, String> {
    let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    Ok(printed(program, &arguments)?.replace("assize.exe", PROGRAM))
}

/// The help of a command.
fn help(program: &Path, command: &[&str]) -> Result<CommandHelp, String> {
    Ok(CommandHelp::parse(&help_text(program, command)?))
}

/// The names of the subcommands.
fn names(help: &CommandHelp) -> Vec<String> {
    help.commands.iter().map(|(name, _)| name.clone()).collect()
}

/// Runs the program and returns its output. The environment does not affect it, so the output is the same on every
/// machine.
pub(super) fn printed(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut process = Command::new(program);
    process.args(arguments);
    process.env_clear().env("COLUMNS", WIDTH).env("NO_COLOR", "1").stdin(Stdio::null());

    let output = process.output().map_err(|error| format!("can't start {}: {error}", program.display()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{PROGRAM} {}` failed ({}): {errors}", arguments.join(" "), output.status));
    }

    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names of the commands meant for programs, which the list under `Commands:` leaves out.
fn hidden_commands(help: &str) -> Vec<String> {
    help.lines()
        .find_map(|line| line.strip_prefix("For programs: assize "))
        .and_then(|line| line.split_once('.'))
        .map(|(names, _)| names.split(", ").map(str::to_owned).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(heading: &str, name: &str, text: &str) -> HelpEntry {
        HelpEntry { heading: heading.to_owned(), name: name.to_owned(), text: text.to_owned() }
    }

    fn command(entries: &[HelpEntry]) -> CommandHelp {
        CommandHelp { about: "Does it".to_owned(), entries: entries.to_vec(), ..CommandHelp::default() }
    }

    #[test]
    fn options_of_many_commands_are_described_once() {
        let json = entry("Output", "--json", "Print JSON");
        let workers = entry("Limits", "-j, --workers <N>", "Cases at once");
        let own = entry("Output", "--json", "Print one object");
        let mut commands: Vec<(String, CommandHelp)> =
            (0..COMMON_FROM).map(|n| (format!("c{n}"), command(&[json.clone(), workers.clone()]))).collect();
        commands.push(("other".to_owned(), command(&[own, workers.clone()])));

        let common = common_options(&commands);
        assert_eq!(common, [json, workers]);

        let mut page = String::new();
        command_section(&mut page, "c0", &commands[0].1, &common);
        assert!(
            page.ends_with("Common options: all of [Output](#output); all of [Limits](#limits).\n"),
            "{page}"
        );
        page.clear();
        command_section(&mut page, "other", &commands[COMMON_FROM].1, &common);
        assert!(page.contains("- `--json`: Print one object\n"), "{page}");
        assert!(page.ends_with("Common options: all of [Limits](#limits).\n"), "{page}");
    }

    #[test]
    fn texts_hold_no_tags() {
        assert_eq!(cell("a|b `<X>` <Y>"), "a|b `<X>` &lt;Y>");
    }

    #[test]
    fn commands_for_programs_are_found() {
        let help = "Words\n\nFor programs: assize lsp, man. Each has --help.\n";
        assert_eq!(hidden_commands(help), ["lsp", "man"]);
        assert_eq!(hidden_commands("Words"), Vec::<String>::new());
    }
}
