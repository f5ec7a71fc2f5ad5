//! Makes untrusted text safe to display on a terminal.
//!
//! Source text, and messages that quote it, can contain escape sequences, text-direction marks and other
//! characters that change how a terminal displays the text after them. None of these is printed.

use unicode_width::UnicodeWidthChar;

/// Replaces a tab. It is not aligned to tab stops, so that carets need no alignment.
const TAB: &str = "    ";

/// Marks omitted text.
pub(super) const ELLIPSIS: &str = "...";

/// Private-use character that the text renderer uses as a mark. It is removed from all input.
pub(super) const HEADER_MARK: char = '\u{e000}';

/// Returns the visible replacement for a character that is unsafe to print, or `None` if it is safe.
pub(super) fn replacement_for(c: char) -> Option<CharReplacement> {
    match c {
        '\t' => Some(CharReplacement::Text(TAB)),
        // Unicode has a visible picture for each control character, in the same order.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).map(CharReplacement::Char),
        '\u{7f}' => Some(CharReplacement::Char('\u{2421}')),
        // C1 controls, soft hyphen, direction marks, invisible spaces, separators, byte order mark.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | HEADER_MARK => Some(CharReplacement::Char('\u{fffd}')),
        _ => None,
    }
}

/// Replacement for an unsafe character.
pub(super) enum CharReplacement {
    Char(char),
    Text(&'static str),
}

/// Appends the safe form of a character.
pub(super) fn push_sanitized(out: &mut String, c: char) {
    match replacement_for(c) {
        None => out.push(c),
        Some(CharReplacement::Char(shown)) => out.push(shown),
        Some(CharReplacement::Text(shown)) => out.push_str(shown),
    }
}

/// Returns the number of columns of the safe form of a character.
pub(super) fn display_width(c: char) -> usize {
    match replacement_for(c) {
        None => c.width().unwrap_or(1),
        Some(CharReplacement::Char(_)) => 1,
        Some(CharReplacement::Text(shown)) => shown.len(),
    }
}

/// Returns safe text on a single line, from at most `limit` characters of the original. Line ends become
/// spaces.
pub(super) fn sanitize_line(text: &str, limit: usize) -> String {
    sanitize(text, limit, ' ')
}

/// Returns safe text that may have several lines, from at most `limit` characters of the original. `\r\n`
/// becomes `\n`.
pub(super) fn sanitize_block(text: &str, limit: usize) -> String {
    sanitize(text, limit, '\n')
}

fn sanitize(text: &str, limit: usize, newline: char) -> String {
    let text = text.trim_end_matches(['\r', '\n']);
    let mut out = String::with_capacity(text.len().min(limit));
    let mut chars = text.chars().peekable();
    for _ in 0..limit {
        match chars.next() {
            None => return out,
            Some('\r') if chars.peek() == Some(&'\n') => {}
            Some('\n') => out.push(newline),
            Some(c) => push_sanitized(&mut out, c),
        }
    }

    if chars.peek().is_some() {
        out.push_str(ELLIPSIS);
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(
            sanitize_line("a\u{1b}[31mb\r\nc\u{9b}0m\u{202e}\u{7f}\0\u{feff}", 99),
            "a␛[31mb c\u{fffd}0m\u{fffd}␡␀\u{fffd}"
        );
        assert_eq!(sanitize_block("a\r\nb\tc\n\n", 99), "a\nb    c");
        assert_eq!(sanitize_line("naïve 日本 👩‍🔬", 99), "naïve 日本 👩‍🔬");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(sanitize_line("abcdef", 3), "abc...");
        assert_eq!(sanitize_line("abc", 3), "abc");
    }
}
