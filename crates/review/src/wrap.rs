//! Line wrapping of arbitrary text.

use assize_report::{LongWords, escape_unsafe, wrap_lines};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Wraps a text into lines of at most `width` columns. Line breaks of the text are kept; words longer than a
/// line are cut; characters that control a terminal are escaped.
pub(crate) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let clean: Vec<String> = text.lines().map(escape_unsafe).collect();
    let wrapped = wrap_lines(&clean.join("\n"), width, LongWords::Break);
    if clean.is_empty() { Vec::new() } else { wrapped.split('\n').map(str::to_owned).collect() }
}

/// Fits a text into one line of at most `width` columns, marking a cut.
pub(crate) fn fit_line(text: &str, width: usize) -> String {
    let clean = escape_unsafe(text);
    if clean.width() <= width {
        return clean;
    }

    let mut out = String::new();
    for c in clean.chars() {
        if out.width() + c.width().unwrap_or(0) + 1 > width {
            break;
        }
        out.push(c);
    }

    if width > 0 {
        out.push('…');
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_asked_and_no_word_is_lost() {
        let text = "One two three.\n\n  indented words here\nlong-word-without-any-break 漢字漢字漢字漢字";
        for width in [1, 2, 7, 12, 80] {
            let lines = wrap_text(text, width);
            // A character that is two columns wide doesn't fit into one.
            assert!(lines.iter().all(|line| line.width() <= width.max(2)), "{width}: {lines:?}");
            let kept = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(kept(&lines.concat()), kept(text), "{width}");
        }
        assert_eq!(wrap_text("One two three.", 8), ["One two", "three."]);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(wrap_text("a\u{1b}[2Jb", 40), ["a\\u{1b}[2Jb"]);
        assert_eq!(fit_line("abcdef", 4), "abc…");
    }
}
