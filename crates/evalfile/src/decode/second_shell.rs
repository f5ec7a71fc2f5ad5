//! Finds placeholders that a second shell, or another interpreter, would read as code.
//!
//! Placeholders in a command are safe by themselves: the words of a command are passed without a shell, and
//! values are inserted into a script for `sh -c` in such a way that they stay data. But a command can pass one
//! of its words on to another interpreter as code, as `bash -c "echo {PROMPT}"` does. Then the text of a case
//! would be executed, and datasets come from strangers. Such commands are refused.
//!
//! There is no full shell parser here. The words of a command, or of each command in a script, are searched for
//! known interpreters and for the options that take code. The check looks for mistakes of honest authors, so it
//! may miss code that is hidden deliberately; but an author who wants to run code can do so anyway.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;

const SHELLS: [&str; 9] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"];

/// Interpreters with the options that take code.
const INTERPRETERS: [(&str, &[&str]); 11] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("su", &["-c", "--command"]),
    ("script", &["-c", "--command"]),
];

/// Words that may precede the name of a command in a script.
const BEFORE_COMMANDS: [&str; 13] =
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "command", "builtin", "exec"];

/// A placeholder that is part of a script.
#[derive(Debug, PartialEq, Eq)]
struct ScriptPlaceholder {
    placeholder: String,
    program: String,
}

/// Returns a diagnostic if one of the placeholders in the words of a command is part of code for another
/// interpreter.
pub(crate) fn check_words(words: &[String], placeholders: &[&str], span: Span) -> Option<Diagnostic> {
    find_in_words(words, placeholders).map(|found| diagnostic(&found, span))
}

/// Returns a diagnostic if one of the placeholders in a shell script is part of a script inside of it.
pub(crate) fn check_script(script: &str, placeholders: &[&str], span: Span) -> Option<Diagnostic> {
    find_in_script(script, placeholders).map(|found| diagnostic(&found, span))
}

fn diagnostic(found: &ScriptPlaceholder, span: Span) -> Diagnostic {
    let ScriptPlaceholder { placeholder, program } = found;
    Diagnostic::error(
        codes::BAD_COMMAND,
        format!("the value of `{placeholder}` would be run as a script by `{program}`"),
    )
    .at(span, format!("`{placeholder}` is part of a script here"))
    .with_help(format!(
        "pass it as an argument of the script: `[sh, -c, 'echo \"$1\"', sh, \
         \"{placeholder}\"]`, or pass it in a file or on stdin"
    ))
}

fn find_in_words(words: &[String], placeholders: &[&str]) -> Option<ScriptPlaceholder> {
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = |(program, code): (&str, Vec<&str>)| {
        let placeholder = code.iter().find_map(|word| find_placeholder(word, placeholders, false))?;
        Some(ScriptPlaceholder { placeholder, program: program.to_owned() })
    };
    let split = texts.windows(2).filter(|pair| pair[0] == "-S").map(|pair| pair[1]);
    code_words(&texts)
        .into_iter()
        .find_map(found)
        .or_else(|| split.into_iter().find_map(|text| find_in_script(text, placeholders)))
}

fn find_in_script(script: &str, placeholders: &[&str]) -> Option<ScriptPlaceholder> {
    let anywhere = find_placeholder(script, placeholders, true)?;
    let parsed = split_script(script);
    for segment in &parsed.segments {
        let words: Vec<&str> = segment.iter().map(String::as_str).collect();
        for (program, code) in code_words(&words).into_iter().chain(evaluated(&words)) {
            let found = code.iter().find_map(|word| find_placeholder(word, placeholders, true));
            if let Some(placeholder) = found {
                return Some(ScriptPlaceholder { placeholder, program: program.to_owned() });
            }
        }

        // A shell without a script reads it from its input, which any placeholder may reach.
        if let Some(program) = stdin_shell(&words) {
            return Some(ScriptPlaceholder { placeholder: anywhere, program: program.to_owned() });
        }
    }

    parsed.nested.iter().find_map(|inner| find_in_script(inner, placeholders))
}

/// Returns each program that takes code, with the words that are its code.
fn code_words<'a>(words: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = program_name(word);
        let rest = &words[at + 1..];
        let code = if SHELLS.contains(&name.as_str()) {
            shell_code(rest)
        } else if name == "cmd" {
            let command = |word: &&str| {
                word.get(..2)
                    .is_some_and(|start| ["/c", "/k", "/r"].contains(&start.to_ascii_lowercase().as_str()))
            };
            rest.iter().position(command).map(|at| rest[at..].to_vec()).unwrap_or_default()
        } else if name == "powershell" || name == "pwsh" {
            let file = |word: &&str| word.eq_ignore_ascii_case("-file") || word.eq_ignore_ascii_case("-f");
            if rest.iter().any(file) { Vec::new() } else { rest.to_vec() }
        } else if name == "ssh" {
            rest.to_vec()
        } else if let Some((_, options)) = INTERPRETERS.iter().find(|(known, _)| *known == name) {
            interpreter_code(rest, options)
        } else {
            Vec::new()
        };
        if !code.is_empty() {
            found.push((*word, code));
        }
    }

    found
}

/// Returns the code of a shell: the first word that is not an option, if one of the options contains `c`.
/// Options are included.
fn shell_code<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let mut has_script = false;
    let mut code = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(['-', '+']) {
            // An option whose value is the next word.
            Some("o" | "O" | "-rcfile" | "-init-file") => drop(words.next()),
            Some("-command") => has_script = true,
            Some(options) => {
                has_script |= !options.starts_with('-') && options.contains('c');
                code.push(*word);
            }
            None => {
                code.push(*word);
                break;
            }
        }
    }

    if has_script { code } else { Vec::new() }
}

fn interpreter_code<'a>(rest: &[&'a str], options: &[&str]) -> Vec<&'a str> {
    let mut code = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        let is_joined = |option: &&str| word.len() > option.len() && word.starts_with(*option);
        if options.contains(word) {
            code.extend(rest.get(at + 1));
        } else if options.iter().any(is_joined) {
            code.push(*word);
        }
    }

    code
}

/// Returns the arguments of `eval`, if that is the command.
fn evaluated<'a>(words: &[&'a str]) -> Option<(&'a str, Vec<&'a str>)> {
    let at = command_at(words)?;
    (words[at] == "eval").then(|| (words[at], words[at + 1..].to_vec()))
}

/// Returns the shell that reads its script from its input, which is the case if it only has options.
fn stdin_shell<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = command_at(words)?;
    let is_shell = SHELLS.contains(&program_name(words[at]).as_str());
    let has_words = words[at + 1..].iter().take_while(|word| !word.starts_with(['<', '>'])).any(|word| {
        // With `-s`, a shell reads its script from its input even if it has other words.
        !word.starts_with(['-', '+']) && !words.contains(&"-s")
    });
    (is_shell && !has_words).then_some(words[at])
}

/// Returns the index of the name of a command, after assignments and words such as `if`.
fn command_at(words: &[&str]) -> Option<usize> {
    let is_assignment = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    words.iter().position(|word| !BEFORE_COMMANDS.contains(word) && !is_assignment(word))
}

/// Returns the name of a program without its folder, version and extension.
fn program_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned()
}

/// Returns the first of the placeholders that would be replaced in a text.
fn find_placeholder(text: &str, placeholders: &[&str], script: bool) -> Option<String> {
    placeholders.iter().find_map(|name| {
        let spaced = format!("{{{{ {name} }}}}");
        if text.contains(&spaced) {
            return Some(spaced);
        }

        let plain = format!("{{{name}}}");
        let is_filled = |(at, _): &(usize, &str)| !script || !text[..*at].ends_with(['$', '\\']);
        let (at, _) = text.match_indices(&plain).find(is_filled)?;
        Some(if text[..at].ends_with('{') { format!("{{{plain}}}") } else { plain })
    })
}

/// A script, split into its commands.
#[derive(Debug, Default)]
struct SplitScript {
    /// Words of each command, without quotes.
    segments: Vec<Vec<String>>,
    /// Strings in double quotes that contain commands (`$(...)`).
    nested: Vec<String>,
}

fn split_script(script: &str) -> SplitScript {
    let mut split = SplitScript::default();
    let mut segment: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => word.get_or_insert_default().extend(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => {
                let quoted = read_quoted(&mut chars);
                if let Some((_, inner)) = quoted.split_once("$(").or_else(|| quoted.split_once('`')) {
                    split.nested.push(inner.to_owned());
                }

                word.get_or_insert_default().push_str(&quoted);
            }
            '\\' => {
                let escaped = chars.next().filter(|c| *c != '\n');
                let word = word.get_or_insert_default();
                if escaped == Some('{') {
                    word.push('\\');
                }
                word.extend(escaped);
            }
            '#' if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            ';' | '&' | '|' | '\n' | '(' | ')' | '`' => {
                segment.extend(word.take());
                split.segments.push(std::mem::take(&mut segment));
            }
            c if c.is_whitespace() => segment.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }

    segment.extend(word);
    split.segments.push(segment);
    split.segments.retain(|segment| !segment.is_empty());

    split
}

/// Reads up to the closing double quote. Quotes inside `$(...)` do not close it.
fn read_quoted(chars: &mut impl Iterator<Item = char>) -> String {
    let mut quoted = String::new();
    let mut depth = 0_usize;
    while let Some(c) = chars.next() {
        match c {
            '"' if depth == 0 => break,
            '(' if depth > 0 || quoted.ends_with('$') => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }

        quoted.push(c);
        if c == '\\' {
            quoted.extend(chars.next());
        }
    }

    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["PROMPT", "test_id"];

    fn in_words(words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        find_in_words(&words, &NAMES).map(|found| found.placeholder)
    }

    fn in_script(script: &str) -> Option<String> {
        find_in_script(script, &NAMES).map(|found| found.placeholder)
    }

    #[test]
    fn words_that_a_program_runs_hold_no_placeholder() {
        for words in [
            &["sh", "-c", "echo {PROMPT}"][..],
            &["/bin/bash", "-lc", "echo '{PROMPT}'"],
            &["bash", "-e", "-o", "pipefail", "-c", "echo {PROMPT}"],
            &["bash", "--norc", "-c", "echo {PROMPT}"],
            &["env", "A=b", "sh", "-c", "echo {PROMPT}"],
            &["env", "-S", "sh -c 'echo {PROMPT}'"],
            &["timeout", "5", "zsh", "-c", "{PROMPT}"],
            &["busybox", "sh", "-c", "{PROMPT}"],
            &["sh", "-c", "echo ${PROMPT}"],
            &["CMD.EXE", "/C", "echo", "{PROMPT}"],
            &[r"C:\Windows\System32\cmd.exe", "/d", "/c", "echo {PROMPT}"],
            &["powershell", "-Command", "echo {PROMPT}"],
            &["pwsh", "-NoProfile", "-c", "echo {PROMPT}"],
            &["python3.12", "-c", "print('{PROMPT}')"],
            &["node", "--eval=console.log('{PROMPT}')"],
            &["perl", "-e", "print q({PROMPT})"],
            &["ssh", "host", "run", "{PROMPT}"],
        ] {
            assert_eq!(in_words(words).as_deref(), Some("{PROMPT}"), "{words:?}");
        }
        assert_eq!(in_words(&["sh", "-c", "echo {{test_id}}"]).as_deref(), Some("{{test_id}}"));
        assert_eq!(in_words(&["sh", "-c", "echo {{ test_id }}"]).as_deref(), Some("{{ test_id }}"));
    }

    #[test]
    fn scripts_inside_a_script_hold_no_placeholder() {
        for script in [
            r#"sh -c "echo {PROMPT}""#,
            "cd x && bash -c 'echo {PROMPT}'",
            "FOO=1 exec /usr/bin/env bash -c \"run {PROMPT}\"",
            "eval echo {PROMPT}",
            "if true; then eval \"echo {PROMPT}\"; fi",
            r#"echo "$(sh -c "echo {PROMPT}")""#,
            r#"echo "$(eval {PROMPT})""#,
            "x=$(bash -c \"{PROMPT}\")",
            "echo {PROMPT} | sh",
            "sh <<EOF\necho {PROMPT}\nEOF",
            "printf %s {PROMPT} | bash -s -- a",
            "find . -exec sh -c 'echo {PROMPT}' {} +",
        ] {
            assert_eq!(in_script(script).as_deref(), Some("{PROMPT}"), "{script}");
        }
    }

    #[test]
    fn arguments_of_a_script_are_data() {
        for words in [
            &["sh", "-c", "echo \"$1\"", "sh", "{PROMPT}"][..],
            &["sh", "run.sh", "{PROMPT}"],
            &["bash", "-e", "run.sh", "-c", "{PROMPT}"],
            &["python3", "run.py", "{PROMPT}"],
            &["sh", "-c", "run < {PROMPT_FILE} > {OUTPUT_FILE}"],
            &["tool", "eval", "-c", "{PROMPT}"],
            &["powershell", "-File", "run.ps1", "{PROMPT}"],
            &["cmd", "{PROMPT}"],
        ] {
            assert_eq!(in_words(words), None, "{words:?}");
        }
        for script in [
            "echo {PROMPT}", r#"sh -c 'echo "$1"' sh {PROMPT}"#, "sh run.sh {PROMPT} > out",
            "promptfoo eval -c {PROMPT}", "# sh -c {PROMPT}\nrun {PROMPT_FILE}",
            "sh -c 'echo ${PROMPT}' x {PROMPT}", "cat {PROMPT} | sh run.sh", "run {PROMPT} 'sh'",
        ] {
            assert_eq!(in_script(script), None, "{script}");
        }
    }
}
