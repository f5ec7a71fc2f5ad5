//! Line wrapping of arbitrary text.

use assize_report::escape_unsafe;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Wraps a text into lines of at most `width` columns. Line breaks of the text are kept; words longer than a
/// line are cut; characters that control a terminal are escaped.
pub(crate) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let clean = escape_unsafe(paragraph);
        let indent: String = clean.chars().take_while(|c| *c == ' ').take(width / 2).collect();
        let (mut line, mut used) = (indent.clone(), indent.len());
        let mut empty = true;
        for word in clean.split_whitespace() {
            let gap = usize::from(!empty);
            if !empty && used + gap + word.width() > width {
                lines.push(std::mem::replace(&mut line, indent.clone()));
                (used, empty) = (indent.len(), true);
            }
            if !empty {
                line.push(' ');
                used += 1;
            }

            for c in word.chars() {
                let wide = c.width().unwrap_or(0);
                if used + wide > width && used > indent.len() {
                    lines.push(std::mem::replace(&mut line, indent.clone()));
                    used = indent.len();
                }

                line.push(c);
                used += wide;
            }

            empty = false;
        }

        lines.push(if empty { String::new() } else { line });
    }

    lines
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
            // A character of two columns can't be cut to fit into one.
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
