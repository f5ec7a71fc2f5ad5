//! Errors of the command line, with helpful tips.

use std::ffi::OsString;

use assize_diagnostic::did_you_mean_name;
use assize_report::{LongWords, wrap_lines};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory};

use assize_evalfile::{AGENTV_KEYS, AgentvPlace, AgentvSupport};

use super::{Args, FormatChoice};
use crate::context::terminal_columns;

/// Commands that users give a file as an argument although it belongs to an option, each with the option.
const FILE_OPTIONS: &[(&str, &str)] = &[("assize grade", "--answers"), ("assize calibrate", "--labels")];

/// Options of other tools and commands. A line holds the commands that they are given to, the options, and the tip, separated
/// by tabs. Braces hold a placeholder for the given value.
const FOREIGN_OPTIONS: &str = include_str!("foreign_options.tsv");

/// Names that people try, with the command that does the same.
const FOREIGN_COMMANDS: &[(&str, &str)] = &[
    ("test", "eval"),
    ("evaluate", "eval"),
    ("plan", "eval --dry-run"),
    ("resume", "eval --resume"),
    ("retry", "eval --resume --retry-incomplete"),
    ("new", "init"),
    ("check", "validate"),
    ("diff", "compare"),
    ("trend", "compare --trend"),
    ("pairwise", "compare pairwise"),
    ("agreement", "calibrate agreement"),
    ("noise", "calibrate noise"),
    ("repeats", "calibrate noise"),
    ("power", "calibrate power"),
    ("import", "convert"),
    ("export", "report"),
    ("rescore", "score"),
    ("ls", "list"),
    ("runs", "list"),
    ("show", "report"),
    ("open", "view"),
    ("ui", "view"),
    ("help", "--help"),
    ("version", "--version"),
];

/// Adds the tips of this program to an error of clap.
pub(crate) fn with_fitting_tips(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if let Some(error) = out_of_range(&error) {
        return error;
    }
    hide_login(&mut error);
    add_tips(&mut error, words);
    show_plain_usage(&mut error);
    error
}

/// Shows a server address without user and password. The end of the login in an invalid address is unclear,
/// so all text up to the last `@` is hidden.
fn hide_login(error: &mut clap::Error) {
    let value = text(error, ContextKind::InvalidValue);
    if text(error, ContextKind::InvalidArg).starts_with("--cluster ")
        && let Some((_, host)) = value.rsplit_once('@')
    {
        let scheme = value.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
        error.insert(ContextKind::InvalidValue, ContextValue::String(format!("{scheme}LOGIN@{host}")));
    }
}

/// Describes the numbers that an option accepts, in place of clap's `0 is not in 1..=1000`.
fn out_of_range(error: &clap::Error) -> Option<clap::Error> {
    let source = std::error::Error::source(error)?.to_string();
    let (number, range) = source.split_once(" is not in ")?;
    let (least, most) = range.split_once("..=")?;
    let option = text(error, ContextKind::InvalidArg);
    let limits = match (least.parse::<i64>(), most.parse::<i64>()) {
        (Ok(least), Ok(most)) if most < i64::from(u32::MAX) => format!("a number from {least} to {most}"),
        (Ok(least), _) => format!("a number of at least {least}"),
        _ => return None,
    };

    let message = format!("`{option}` takes {limits}, not {number}\n");
    Some(clap::Error::raw(ErrorKind::ValueValidation, message))
}

fn add_tips(error: &mut clap::Error, words: &[OsString]) {
    if error.get(ContextKind::InvalidSubcommand).is_some() {
        let given = text(error, ContextKind::InvalidSubcommand);
        let usage = text(error, ContextKind::Usage);
        if let Some((_, ours)) = FOREIGN_COMMANDS.iter().find(|(other, _)| *other == given) {
            suggest(error, &format!("'assize {ours}' does this"));
        } else if usage.contains("assize calibrate") && given.contains('.') {
            suggest(error, &format!("pass the file as '--labels {given}'"));
        }
        return;
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }

    // clap takes a misspelt option for a possible value. No value of this program begins with two hyphens.
    if text(error, ContextKind::Suggested).contains("as a value") {
        error.remove(ContextKind::Suggested);
    }

    let argument = text(error, ContextKind::InvalidArg);
    let usage = text(error, ContextKind::Usage);
    let of_command = |command: &str| usage.split_once(command).is_some_and(|(_, rest)| rest.starts_with(' '));
    let foreign = foreign_options().find(|[commands, options, _]| {
        options.split(' ').any(|option| option == argument)
            && commands.split(' ').any(|command| of_command(&format!("assize {command}")))
    });
    let option = FILE_OPTIONS.iter().find(|(command, _)| of_command(command)).map(|(_, option)| option);
    if let Some([.., tip]) = foreign {
        suggest(error, &with_value(tip, value_of(&argument, words)));
    } else if let Some(tip) = agentv_tip(&argument).filter(|_| of_command("assize eval")) {
        suggest(error, tip);
    } else if let Some(option) = option.filter(|_| !argument.starts_with('-')) {
        suggest(error, &format!("pass the file as '{option} {argument}'"));
    } else if error.get(ContextKind::SuggestedArg).is_some() {
        suggest_near_option(error, &argument, &usage);
    }
}

/// The lines of [`FOREIGN_OPTIONS`].
fn foreign_options() -> impl Iterator<Item = [&'static str; 3]> {
    FOREIGN_OPTIONS.lines().filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// The value that a command line gives to an option: `--option VALUE` or `--option=VALUE`.
fn value_of<'w>(option: &str, words: &'w [OsString]) -> Option<&'w str> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let given = words.find_map(|word| word.strip_prefix(option))?;
    let value = if given.is_empty() { words.next()? } else { given.strip_prefix('=')? };
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@".contains(c);
    (!value.is_empty() && !value.starts_with('-') && value.chars().all(is_plain)).then_some(value)
}

/// Puts a value into a tip in place of its braces; without a value, puts their content.
fn with_value(tip: &str, value: Option<&str>) -> String {
    let parts = tip.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    parts.map_or_else(
        || tip.to_owned(),
        |(before, (example, after))| format!("{before}{}{after}", value.unwrap_or(example)),
    )
}

/// Suggests the option with the most similar name. clap's own measure prefers names with the same beginning.
fn suggest_near_option(error: &mut clap::Error, argument: &str, usage: &str) {
    error.remove(ContextKind::SuggestedArg);
    let command = command_of(usage);
    let names: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    if let Some(near) = did_you_mean_name(argument.trim_start_matches('-'), names.iter().copied()) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}")));
    }
}

/// The command that a usage line is about.
fn command_of(usage: &str) -> clap::Command {
    let mut command = Args::command();
    command.build();
    for word in usage.split_whitespace().skip_while(|word| *word != "assize").skip(1) {
        match command.find_subcommand(word) {
            Some(inner) => command = inner.clone(),
            None => break,
        }
    }

    command
}

/// The equivalent of an option of AgentV.
fn agentv_tip(option: &str) -> Option<&'static str> {
    let is_refused = |place, support| place == AgentvPlace::Option && support == AgentvSupport::Refused;
    AGENTV_KEYS
        .iter()
        .find(|key| key.name == option && is_refused(key.place, key.support))
        .map(|key| key.remark)
}

/// Shows the usage of the command as in its help. clap lists the given options as if they were required.
fn show_plain_usage(error: &mut clap::Error) {
    let usage = text(error, ContextKind::Usage);
    let mut command = command_of(&usage);
    if command.get_name() != "assize" {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    }
}

/// Replaces the tip of an error.
fn suggest(error: &mut clap::Error, tip: &str) {
    let mut styled = StyledStr::new();
    styled.push_str(tip);

    for other in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        error.remove(other);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![styled]));
}

/// Tests if an error is a page of help.
pub(crate) fn is_help(error: &clap::Error) -> bool {
    is_bare(error) || error.kind() == ErrorKind::DisplayHelp
}

/// Tests if a subcommand is missing. Then help is printed, and the program ends as after `--help`.
pub(crate) fn is_bare(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// Prints an error, wrapped to the terminal, or a help page.
pub(crate) fn print_usage_error(error: &clap::Error) {
    if is_bare(error) {
        let text = error.render();
        let text = if console::colors_enabled() { text.ansi().to_string() } else { text.to_string() };
        crate::output::print(&text);
        return;
    }

    let columns = terminal_columns(&console::Term::stderr()).filter(|_| error.use_stderr());
    let Some(columns) = columns.map(|columns| columns.max(40)) else {
        let _ = error.print();
        return;
    };

    let text = error.render();
    let text = if console::colors_enabled_stderr() { text.ansi().to_string() } else { text.to_string() };
    crate::output::print_message(&wrap_lines(&text, columns, LongWords::Keep));
}

/// The message of an error in one paragraph, without the usage.
pub(crate) fn usage_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or_default();
    let words: Vec<&str> = message.trim_start_matches("error: ").split_whitespace().collect();

    words.join(" ")
}

/// Returns true if the command has `--json` or `--format json` and it was given.
pub(crate) fn wants_json(matches: &ArgMatches) -> bool {
    let flag = matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or_default();
    let format = matches.try_get_one::<FormatChoice>("format").ok().flatten().copied();
    let here = flag || format == Some(FormatChoice::Json);

    here || matches.subcommand().is_some_and(|(_, inner)| wants_json(inner))
}

/// Returns true if the words of a command line ask for JSON, even if the rest is invalid.
pub(crate) fn asks_for_json(words: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = words.collect();
    words.iter().any(|word| word == "--json" || word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Text of a part of an error, without styles.
fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::StyledStr(text)) => text.to_string(),
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn message(words: &[&str]) -> String {
        let error = Args::try_parse_from([&["assize"], words].concat()).expect_err("a mistake");
        with_fitting_tips(error, &words.iter().map(OsString::from).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn values_without_their_option_lead_to_it() {
        let answers = message(&["grade", "rubric.yaml", "answers.csv"]);
        assert!(answers.contains("tip: pass the file as '--answers answers.csv'"), "{answers}");
        assert!(!message(&["explain", "last", "a", "b"]).contains("tip:"));
    }

    #[test]
    fn errors_are_wrapped_to_the_terminal() {
        let text = message(&["convert", "a", "--to", "nothing"]);
        let wrapped = wrap_lines(&text, 40, LongWords::Keep);
        assert!(text.lines().any(|line| line.len() > 40), "{text}");
        assert!(wrapped.lines().all(|line| line.len() <= 40), "{wrapped}");
        assert_eq!(
            wrapped.split_whitespace().collect::<Vec<_>>(),
            text.split_whitespace().collect::<Vec<_>>()
        );
    }

    #[test]
    fn options_and_commands_of_other_tools_lead_to_ours() {
        for (words, tip) in [
            (&["eval", "-c", "promptfooconfig.yaml"][..], "assize eval promptfooconfig.yaml"),
            (&["eval", "a.yaml", "--provider", "openai:gpt-4o"], "'--target openai:gpt-4o'"),
            (&["eval", "a.yaml", "--grader=openai:gpt-4o"], "'--judge openai:gpt-4o'"),
            (&["eval", "a.yaml", "-k", "refund"], "--filter 'refund-*'"),
            (&["eval", "a.yaml", "--column", "answer=a"], "--columns answer=COLUMN"),
            (&["eval", "a.yaml", "--grader"], "'--judge openai:gpt-4o-mini'"),
            (&["eval", "a.yaml", "--epochs", "2"], "'--trials 2'"),
            (&["eval", "a.yaml", "--repeat"], "'--trials 3'"),
            (&["eval", "a.yaml", "--no-table"], "'--show none'"),
            (&["eval", "a.yaml", "--limit", "3"], "no option takes the first cases"),
            (&["eval", "a.yaml", "-n", "3"], "'--filter' or '--tag'"),
            (&["eval", "a.yaml", "--max-samples", "3"], "'--workers 3'"),
            (&["grade", "r.yaml", "--answers", "a.csv", "--no-table"], "'--show none'"),
            (&["eval", "a.yaml", "--no-cach"], "'--no-cache'"),
            (&["eval", "a.yaml", "--concurrency", "3"], "'--max-concurrency'"),
            (&["eval", "a.yaml", "--threshhold", "1"], "'--threshold'"),
            (&["serve", "--judge-calls", "4"], "--max-concurrency"),
            (&["test", "evals"], "'assize eval' does this"),
            (&["plan", "evals"], "'assize eval --dry-run' does this"),
            (&["power"], "'assize calibrate power' does this"),
            (&["import", "a.jsonl"], "'assize convert' does this"),
            (&["runs"], "'assize list' does this"),
            (&["new"], "'assize init' does this"),
            (&["trend"], "'assize compare --trend' does this"),
            (&["agreement", "a.csv"], "'assize calibrate agreement' does this"),
            (&["noise", "a.csv"], "'assize calibrate noise' does this"),
            (&["pairwise", "a", "b"], "'assize compare pairwise' does this"),
            (&["open"], "'assize view' does this"),
            (&["ui"], "'assize view' does this"),
            (&["help"], "'assize --help' does this"),
            (&["version"], "'assize --version' does this"),
            (&["calibrate", "agreement", "--labels", "a.csv"], "assize calibrate agreement labels.csv"),
            (&["calibrate", "last", "labels.csv"], "--labels labels.csv"),
        ] {
            let message = message(words);
            assert_eq!(message.matches("tip:").count(), 1, "{message}");
            assert!(message.contains(tip), "{message}");
        }
    }

    #[test]
    fn options_that_only_begin_alike_are_not_suggested() {
        for words in [["--prompt-prefix", "x"], ["--suggest-prompts", "3"], ["--no-colour", "x"]] {
            let message = message(&[&["eval", "a.yaml"][..], &words].concat());
            assert!(!message.contains("tip:"), "{message}");
        }
    }

    #[test]
    fn every_option_of_a_tip_exists() {
        assert_eq!(foreign_options().count(), FOREIGN_OPTIONS.lines().count(), "each line has three parts");
        for [commands, options, tip] in foreign_options() {
            // The tip about labels is for subcommands of `calibrate`.
            for name in
                commands.split(' ').filter(|name| *name != "calibrate").map(|name| format!("assize {name}"))
            {
                let command = command_of(&format!("Usage: {name} [OPTIONS]"));
                let known = |option: &str| {
                    command.get_arguments().any(|one| one.get_long() == option.strip_prefix("--"))
                };
                for option in options.split(' ').filter(|option| option.starts_with("--")) {
                    let is_alias = command
                        .get_arguments()
                        .any(|one| one.get_all_aliases().is_some_and(|all| all.contains(&&option[2..])));
                    assert!(!known(option) && !is_alias, "{name} has {option}");
                }
                if tip.contains("assize ") {
                    continue;
                }
                for word in tip.split(|c: char| c.is_whitespace() || "'\",".contains(c)) {
                    assert!(!word.starts_with("--") || known(word), "{name} has no {word}: {tip}");
                }
            }
        }
    }

    #[test]
    fn every_tip_names_a_command_that_exists() {
        for (name, ours) in FOREIGN_COMMANDS {
            let root = Args::command();
            assert!(root.find_subcommand(name).is_none(), "`{name}` is a command of ours");
            let mut command = &root;
            for word in ours.split(' ').filter(|word| !word.starts_with('-')) {
                command = command.find_subcommand(word).expect(ours);
            }
            for option in ours.split(' ').filter_map(|word| word.strip_prefix("--")) {
                let is_known = command.get_arguments().any(|one| one.get_long() == Some(option));
                assert!(is_known, "`{ours}`");
            }
        }
    }

    #[test]
    fn every_option_of_agentv_is_read_or_leads_to_ours() {
        for key in AGENTV_KEYS.iter().filter(|key| key.place == AgentvPlace::Option) {
            let value = Some(key.example).filter(|value| !value.is_empty());
            let words: Vec<&str> = ["assize", "eval", "a.yaml", key.name].into_iter().chain(value).collect();
            match Args::try_parse_from(&words) {
                Ok(_) => assert_eq!(key.support, AgentvSupport::Read, "{}", key.name),
                Err(error) => {
                    let message = with_fitting_tips(error, &[]).to_string();
                    assert_eq!(key.support, AgentvSupport::Refused, "{message}");
                    let tip: Vec<&str> =
                        message.split("tip: ").nth(1).unwrap_or_default().split_whitespace().collect();
                    assert!(tip.join(" ").starts_with(key.remark), "{}: {message}", key.name);
                }
            }
        }
    }

    #[test]
    fn the_usage_shows_no_option_as_required_that_is_not() {
        let message = message(&["score", "-o", "report.html"]);
        assert!(message.contains("Usage: assize score [OPTIONS] <RUN>"), "{message}");
    }

    #[test]
    fn messages_are_one_paragraph() {
        let error = Args::try_parse_from(["assize", "grade", "r.yaml"]).expect_err("no answers");
        assert_eq!(
            usage_message(&error),
            "the following required arguments were not provided: --answers <FILE>"
        );
    }

    #[test]
    fn json_is_wanted_where_a_command_says_so() {
        let wanted = |words: &[&str]| {
            let matches = Args::command().try_get_matches_from([&["assize"], words].concat());
            wants_json(&matches.expect("valid"))
        };
        assert!(wanted(&["list", "--json"]) && wanted(&["calibrate", "power", "--json"]));
        assert!(wanted(&["validate", "a.yaml", "--format", "json"]));
        assert!(!wanted(&["list"]) && !wanted(&["lsp"]) && !wanted(&["lint", "a.yaml", "--format", "sarif"]));
    }

    #[test]
    fn misspelt_options_are_no_values() {
        for words in [&["explain", "last", "--foo"][..], &["view", "--fo"], &["grade", "r.yaml", "--foo"]] {
            let message = message(words);
            assert!(message.contains("unexpected argument") && !message.contains("as a value"), "{message}");
        }
        assert!(
            message(&["grade", "r.yaml", "--answer", "a"]).contains("similar argument exists: '--answers'")
        );
    }
}
