//! Placeholders of command templates.
//!
//! A value never becomes part of a shell script. The script refers to it by a variable, quoted as its position in the
//! template requires, and the value itself is passed as a positional parameter. So every value arrives unchanged, and
//! would not be executed even if a position were parsed wrongly.

use std::ffi::OsString;
use std::fmt::Write;

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceholderValue {
    /// One text.
    One(OsString),
    /// One text for each attached file, each written with its own format.
    Each {
        /// Format, with its own placeholders.
        format: String,
        /// Values of the format's placeholders, for each file.
        items: Vec<Vec<(&'static str, OsString)>>,
    },
}

/// Looks up a placeholder by name. `None` leaves it as written.
pub type PlaceholderLookup<'a> = dyn Fn(&str) -> Option<PlaceholderValue> + 'a;

/// A script whose placeholders became variables, and the values of `$1`, `$2`, ...
#[derive(Debug, PartialEq, Eq)]
pub struct FilledScript {
    /// The script for `sh -c`.
    pub script: String,
    /// Values of its variables.
    pub parameters: Vec<OsString>,
}

/// Fills a shell template.
///
/// A placeholder becomes a separate word whether it is bare, in double quotes or in single quotes, and also
/// inside `$(...)` and backticks. `${NAME}` is a shell variable and `\{NAME}` is plain text; comments are
/// unchanged.
pub fn fill_script(template: &str, lookup: &PlaceholderLookup<'_>) -> FilledScript {
    let mut writer = ScriptWriter::default();
    writer.write(template, lookup);

    let count = writer.parameters.len();
    let mut script = String::new();
    for number in 1..=count {
        let _ = writeln!(script, "assize_{number}=${{{number}}}");
    }

    if count > 0 {
        let _ = writeln!(script, "shift {count}");
    }

    script.push_str(&writer.script);
    FilledScript { script, parameters: writer.parameters }
}

/// Quoting context within a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuoteContext {
    Single,
    Double,
    Parentheses,
    Backticks,
}

#[derive(Default)]
struct ScriptWriter {
    script: String,
    parameters: Vec<OsString>,
    places: Vec<QuoteContext>,
}

impl ScriptWriter {
    fn write(&mut self, text: &str, lookup: &PlaceholderLookup<'_>) {
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let place = self.places.last().copied();
            let bare = !matches!(place, Some(QuoteContext::Single | QuoteContext::Double));

            rest = after;

            match character {
                '{' if !self.script.ends_with('$') => {
                    if let Some((name, behind)) = split_placeholder(after)
                        && let Some(value) = lookup(name)
                    {
                        self.write_reference(value);
                        rest = behind;
                        continue;
                    }
                }
                '\\' if place != Some(QuoteContext::Single) => {
                    self.script.push('\\');

                    if let Some(escaped) = after.chars().next() {
                        self.script.push(escaped);
                        rest = &after[escaped.len_utf8()..];
                    }

                    continue;
                }
                '\'' if place == Some(QuoteContext::Single) => self.leave_context(),
                '\'' if bare => self.places.push(QuoteContext::Single),
                '"' if place == Some(QuoteContext::Double) => self.leave_context(),
                '"' if bare => self.places.push(QuoteContext::Double),
                '`' if place == Some(QuoteContext::Backticks) => self.leave_context(),
                '`' if place != Some(QuoteContext::Single) => self.places.push(QuoteContext::Backticks),
                '(' if bare || (place == Some(QuoteContext::Double) && self.script.ends_with('$')) => {
                    self.places.push(QuoteContext::Parentheses);
                }
                ')' if place == Some(QuoteContext::Parentheses) => self.leave_context(),
                '#' if bare && self.at_word_start() => {
                    let end = after.find('\n').unwrap_or(after.len());
                    self.script.push('#');
                    self.script.push_str(&after[..end]);
                    rest = &after[end..];
                    continue;
                }
                _ => {}
            }

            self.script.push(character);
        }
    }

    fn leave_context(&mut self) {
        self.places.pop();
    }

    fn at_word_start(&self) -> bool {
        self.script.is_empty()
            || self.script.ends_with(|c: char| c.is_ascii_whitespace() || ";&|(`".contains(c))
    }

    fn write_reference(&mut self, value: PlaceholderValue) {
        match value {
            PlaceholderValue::One(value) => {
                self.parameters.push(value);
                let (open, close) = match self.places.last() {
                    Some(QuoteContext::Double) => ("", ""),
                    Some(QuoteContext::Single) => ("'\"", "\"'"),
                    _ => ("\"", "\""),
                };
                let _ = write!(self.script, "{open}${{assize_{}}}{close}", self.parameters.len());
            }
            PlaceholderValue::Each { format, items } => {
                for (index, item) in items.into_iter().enumerate() {
                    if index > 0 {
                        self.script.push(' ');
                    }
                    self.write(&format, &|name| item_value(&item, name));
                }
            }
        }
    }
}

/// Fills the arguments of a command that runs without a shell.
///
/// An argument that consists of one placeholder for several files becomes the words of each file's format,
/// split at white space before the paths are inserted; within a longer argument the files are joined by
/// spaces.
pub fn fill_arguments(template: &[String], lookup: &PlaceholderLookup<'_>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for argument in template {
        let whole =
            argument.strip_prefix('{').and_then(split_placeholder).filter(|(_, rest)| rest.is_empty());
        match whole.and_then(|(name, _)| lookup(name)) {
            Some(PlaceholderValue::Each { format, items }) => {
                for item in &items {
                    let words = format.split_whitespace();
                    arguments.extend(words.map(|word| fill_text(word, &|name| item_value(item, name))));
                }
            }
            _ => arguments.push(fill_text(argument, lookup)),
        }
    }

    arguments
}

fn fill_text(text: &str, lookup: &PlaceholderLookup<'_>) -> OsString {
    let mut filled = OsString::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push(before);
        rest = &from[1..];

        match split_placeholder(rest).and_then(|(name, behind)| Some((lookup(name)?, behind))) {
            Some((PlaceholderValue::One(value), behind)) => {
                filled.push(value);
                rest = behind;
            }
            Some((PlaceholderValue::Each { format, items }, behind)) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        filled.push(" ");
                    }
                    filled.push(fill_text(&format, &|name| item_value(item, name)));
                }
                rest = behind;
            }
            None => filled.push("{"),
        }
    }

    filled.push(rest);
    filled
}

/// Splits off the name of a placeholder whose opening brace was just read.
fn split_placeholder(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = text.split_once('}')?;
    let sound = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    sound.then_some((name, behind))
}

fn item_value(item: &[(&'static str, OsString)], name: &str) -> Option<PlaceholderValue> {
    item.iter().find(|(known, _)| *known == name).map(|(_, value)| PlaceholderValue::One(value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<PlaceholderValue> {
        match name {
            "PROMPT" => Some(PlaceholderValue::One("it's".into())),
            "FILES" => Some(PlaceholderValue::Each {
                format: "--file {path}".into(),
                items: vec![vec![("path", "/a b".into())], vec![("path", "/c".into())]],
            }),
            _ => None,
        }
    }

    fn body(template: &str) -> String {
        let filled = fill_script(template, &lookup);
        let lines = if filled.parameters.is_empty() { 0 } else { filled.parameters.len() + 1 };
        filled.script.lines().skip(lines).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn references_are_quoted_as_their_place_asks() {
        for (template, wanted) in [
            ("a {PROMPT} b", r#"a "${assize_1}" b"#),
            (r#"a "p: {PROMPT}""#, r#"a "p: ${assize_1}""#),
            ("a 'p: {PROMPT}'", r#"a 'p: '"${assize_1}"''"#),
            (r#""$(x {PROMPT})" {PROMPT}"#, r#""$(x "${assize_1}")" "${assize_2}""#),
            (r#""`x {PROMPT}`""#, r#""`x "${assize_1}"`""#),
            (r#"a \" {PROMPT}"#, r#"a \" "${assize_1}""#),
            (r#""(" '"' {PROMPT}"#, r#""(" '"' "${assize_1}""#),
            ("# don't {PROMPT}\na#b {PROMPT}", "# don't {PROMPT}\na#b \"${assize_1}\""),
        ] {
            assert_eq!(body(template), wanted, "{template}");
        }
    }

    #[test]
    fn what_is_no_placeholder_is_left_alone() {
        for template in ["${PROMPT}", r"\{PROMPT}", "{UNKNOWN}", "{}", "{a,b}", "{PROMPT", "awk '{print $1}'"]
        {
            let filled = fill_script(template, &lookup);
            assert_eq!(filled, FilledScript { script: template.to_owned(), parameters: vec![] });
        }
    }

    #[test]
    fn files_are_written_one_by_one() {
        let filled = fill_script("x {FILES}", &lookup);
        assert_eq!(filled.parameters, ["/a b", "/c"]);
        assert!(
            filled.script.ends_with(r#"x --file "${assize_1}" --file "${assize_2}""#),
            "{}",
            filled.script
        );
    }

    #[test]
    fn arguments_are_filled_without_a_shell() {
        let template =
            ["run", "-p={PROMPT}{PROMPT}", "{FILES}", "all: {FILES}", "{X}", "{"].map(String::from);
        let wanted = [
            "run", "-p=it'sit's", "--file", "/a b", "--file", "/c", "all: --file /a b --file /c", "{X}", "{",
        ];
        assert_eq!(fill_arguments(&template, &lookup), wanted.map(OsString::from));
    }
}
