//! Sanitising and truncating text from files and models.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Maximum length of an id or name, in characters.
pub(crate) const MAX_NAME: usize = 60;
/// Maximum length of a criterion text, in characters.
pub(crate) const MAX_CRITERION_TEXT: usize = 400;
/// Maximum length of a reason or error message, in characters.
pub(crate) const MAX_REASON: usize = 800;
/// Maximum length of a quote, in characters.
pub(crate) const MAX_QUOTE: usize = 300;

/// Escapes characters that control a terminal or reorder text: `\u{1b}` for an escape. Line breaks and tabs
/// become spaces.
pub fn escape_unsafe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }

    out
}

/// Escapes like [`escape_unsafe`], but keeps line breaks and tabs, for text that keeps its layout.
pub fn escape_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\n' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\t' => out.push('\t'),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }

    out
}

/// Cuts a text to `limit` characters. A cut text ends with a note of its full length.
pub(crate) fn cut_text(text: &str, limit: usize) -> String {
    match truncate_text(text, limit) {
        (kept, None) => kept.to_owned(),
        (kept, Some(total)) => {
            format!("{kept}… [cut, {} characters]", crate::number::grouped(total as u64))
        }
    }
}

/// Escapes text that a CI runner would run as a command if it appeared in its log: `::` at the beginning of a line, and
/// `##` before `[`, `vso[` and similar words anywhere, because wrapping may move it to the beginning of a line.
pub fn escape_commands(text: &str) -> Cow<'_, str> {
    let text = escape_marks(text, "\\u{23}");
    let is_command = |line: &str| line.trim_start().starts_with("::");
    if !text.split(['\n', '\r']).any(is_command) {
        return text;
    }

    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive(['\n', '\r']) {
        if is_command(line) {
            out.push_str(&line.replacen("::", "\\u{3a}:", 1));
        } else {
            out.push_str(line);
        }
    }

    Cow::Owned(out)
}

/// Like [`escape_commands`], for JSON, without changing the value: no line of JSON begins with untrusted text. Also
/// used for annotations, which are intended as commands.
pub fn escape_commands_in_json(text: &str) -> Cow<'_, str> {
    escape_marks(text, "\\u0023")
}

/// Replaces each `#` by `instead` if another `#` and then such a word follows it.
fn escape_marks<'a>(text: &'a str, instead: &str) -> Cow<'a, str> {
    let is_mark = |at: &usize| {
        text[at + 1..].starts_with('#')
            && text[at + 1..]
                .trim_start_matches('#')
                .trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .starts_with('[')
    };
    let marks: Vec<usize> = text.match_indices('#').map(|(at, _)| at).filter(is_mark).collect();
    if marks.is_empty() {
        return Cow::Borrowed(text);
    }

    let mut out = String::with_capacity(text.len() + 8 * marks.len());
    let mut done = 0;
    for at in marks {
        out.push_str(&text[done..at]);
        out.push_str(instead);
        done = at + 1;
    }

    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Sanitises like [`escape_unsafe`], collapses runs of white space, and cuts to `limit` characters. A cut
/// text ends with a note of its full length.
pub(crate) fn sanitize_text(text: &str, limit: usize) -> String {
    let (kept, whole) = truncate_text(text, limit);
    let mut out = String::with_capacity(kept.len());
    for word in escape_unsafe(kept).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }

    if let Some(total) = whole {
        let _ = write!(out, "… [cut, {} characters]", crate::number::grouped(total as u64));
    }

    out
}

/// Sanitises a name for one line, like [`sanitize_text`]; a cut name ends with an ellipsis.
pub(crate) fn sanitize_name(text: &str) -> String {
    let (kept, whole) = truncate_text(text, MAX_NAME);
    let mut out = escape_unsafe(kept).trim().to_owned();
    if whole.is_some() {
        out.push('…');
    }

    if out.is_empty() { "(empty)".to_owned() } else { out }
}

/// Returns the first `limit` characters, and the full length if that is more.
fn truncate_text(text: &str, limit: usize) -> (&str, Option<usize>) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

/// Returns true for controls, invisible characters and everything that changes the direction of text. The
/// joiners that some scripts and emoji need are allowed.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_spelled_out() {
        assert_eq!(escape_unsafe("a\u{1b}[31mb\u{7}"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(escape_unsafe("x\u{202e}y\u{9b}1m"), "x\\u{202e}y\\u{9b}1m");
        assert_eq!(sanitize_text(" two\n\n  words\r\n", 100), "two words");
    }

    #[test]
    fn nothing_is_a_command_of_a_ci_job() {
        for (text, shown) in [
            ("::set-output name=a::b", "\\u{3a}:set-output name=a::b"),
            ("a ::b\n   ::c\r\n\u{a0}::d", "a ::b\n   \\u{3a}:c\r\n\u{a0}\\u{3a}:d"),
            ("a\r::b", "a\r\\u{3a}:b"),
            ("x ##vso[task.x]y ##[error]", "x \\u{23}#vso[task.x]y \\u{23}#[error]"),
            ("##VSO[a] ##teamcity[b]", "\\u{23}#VSO[a] \\u{23}#teamcity[b]"),
            ("### a [b] a::b", "### a [b] a::b"),
        ] {
            assert_eq!(escape_commands(text), shown);
            assert_eq!(escape_commands(shown), shown);
        }
        let json = serde_json::json!({"##[a]": "\\###vso[b] ::c"}).to_string();
        let escaped = escape_commands_in_json(&json);
        assert!(!escaped.contains("##["), "{escaped}");
        assert!(!escaped.contains("##vso["), "{escaped}");
        let same: serde_json::Value = serde_json::from_str(&escaped).expect("JSON");
        assert_eq!(same.to_string(), json);
    }

    #[test]
    fn cuts_are_marked() {
        assert_eq!(sanitize_text(&"é".repeat(2000), 3), "ééé… [cut, 2,000 characters]");
        assert_eq!(sanitize_name(&"x".repeat(61)), format!("{}…", "x".repeat(60)));
        assert_eq!(sanitize_name(" \n"), "(empty)");
    }
}
