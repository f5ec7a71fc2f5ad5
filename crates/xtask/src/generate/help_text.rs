//! Parses the program's help texts into commands, options and examples.

/// Help of one command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandHelp {
    /// First line: a description of the command.
    pub(super) about: String,
    /// Lines under `Usage:`.
    pub(super) usage: Vec<String>,
    /// Names and texts under `Commands:`.
    pub(super) commands: Vec<(String, String)>,
    /// Arguments and options, in their order.
    pub(super) entries: Vec<HelpEntry>,
    /// Lines under `Examples:`.
    pub(super) examples: Vec<String>,
}

/// An argument or option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HelpEntry {
    /// Heading above the entry.
    pub(super) heading: String,
    /// Name with its value, such as `-j, --workers <N>`.
    pub(super) name: String,
    /// First paragraph, with the possible values and the default.
    pub(super) text: String,
}

impl HelpEntry {
    /// Whether the entry is an option rather than an argument.
    pub(super) fn is_option(&self) -> bool {
        self.name.starts_with('-')
    }
}

/// Heading of the options that every command accepts.
pub(super) const GLOBAL: &str = "Global options";

impl CommandHelp {
    /// Parses the output of `--help` from a terminal so wide that no line is wrapped.
    pub(super) fn parse(text: &str) -> Self {
        let mut help = Self { about: text.lines().next().unwrap_or_default().to_owned(), ..Self::default() };
        let mut heading = "";
        for line in text.lines().skip(1) {
            if let Some(usage) = line.strip_prefix("Usage: ") {
                heading = "Usage";
                help.usage.push(usage.to_owned());
            } else if let Some(name) = line.strip_suffix(':').filter(|name| is_heading(name)) {
                heading = name;
            } else if !line.is_empty() && !line.starts_with(' ') {
                heading = "";
            } else {
                help.add(heading, line);
            }
        }
        help
    }

    fn add(&mut self, heading: &str, line: &str) {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        match heading {
            "" => {}
            _ if text.is_empty() => {}
            "Usage" => self.usage.push(text.to_owned()),
            // The continuation lines of an example are indented.
            "Examples" if self.examples.last().is_some_and(|before| before.ends_with('\\')) => {
                self.examples.push(format!("    {text}"));
            }
            "Examples" => self.examples.push(text.to_owned()),
            "Commands" => {
                let (name, about) = text.split_once("  ").unwrap_or((text, ""));
                self.commands.push((name.to_owned(), about.trim().to_owned()));
            }
            _ if indent < 10 && text.starts_with(['-', '<', '[']) => self.entries.push(HelpEntry {
                heading: heading.to_owned(),
                name: text.to_owned(),
                text: String::new(),
            }),
            // Commands that are grouped under several headings.
            _ if indent == 2 && text.starts_with(char::is_lowercase) && text.contains("  ") => {
                let (name, about) = text.split_once("  ").unwrap_or((text, ""));
                self.commands.push((name.to_owned(), about.trim().to_owned()));
            }
            _ => {
                if let Some(entry) = self.entries.last_mut() {
                    add_line(&mut entry.text, text);
                }
            }
        }
    }
}

/// Whether a line is a heading, given without its colon: headings are short and begin with a capital letter.
fn is_heading(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.split(' ').count() <= 3
}

/// Adds a line of a description: the first line, possible values and defaults. Further paragraphs are only in
/// `--help`.
fn add_line(text: &mut String, line: &str) {
    if text.is_empty() {
        // The full stop separates the first paragraph from the next. Here it would be the end of a list entry,
        // which has none.
        line.trim_end_matches('.').clone_into(text);
    } else if let Some(value) = line.strip_prefix("- ") {
        let name = value.split(':').next().unwrap_or(value);
        text.push_str(if text.ends_with('`') { ", `" } else { ": `" });
        text.push_str(name);
        text.push('`');
    } else if let Some(inner) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        && inner.contains(": ")
    {
        for part in [" [", inner, "]"] {
            text.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "\
Grade answers

Usage: assize grade [OPTIONS] <RUBRIC>
       assize grade --list

Commands:
  one  Does one thing
  two  Does two

Arguments:
  <RUBRIC>
          The rubric

Output:
  -j, --workers <N>
          Cases at once.

          More about that.

          [default: 4]

      --ties <WHAT>
          Result of a tie

          Possible values:
          - fail: Unmet
          - pass: Met

          [default: fail]

Prose that ends the options: it is skipped.
  with - what stands in it

Examples:
  assize grade a.yaml
";

    fn entry(heading: &str, name: &str, text: &str) -> HelpEntry {
        HelpEntry { heading: heading.to_owned(), name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_help_text_is_read_back() {
        let help = CommandHelp::parse(HELP);
        assert_eq!(help.about, "Grade answers");
        assert_eq!(help.usage, ["assize grade [OPTIONS] <RUBRIC>", "assize grade --list"]);
        let commands = [("one", "Does one thing"), ("two", "Does two")];
        assert_eq!(help.commands, commands.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(help.examples, ["assize grade a.yaml"]);
        assert_eq!(
            help.entries,
            [
                entry("Arguments", "<RUBRIC>", "The rubric"),
                entry("Output", "-j, --workers <N>", "Cases at once [default: 4]"),
                entry("Output", "--ties <WHAT>", "Result of a tie: `fail`, `pass` [default: fail]"),
            ]
        );
    }
}
