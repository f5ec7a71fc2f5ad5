//! Line wrapping of plain text.

use textwrap::{Options, WordSplitter};

/// What to do with words that are longer than a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongWords {
    /// They exceed the line, so that paths and commands can be copied.
    Keep,
    /// They are broken.
    Break,
}

/// A space at which no line is broken.
const KEPT_SPACE: &str = "\u{a0}";

/// Wraps the lines of a text to a number of columns, each line with its own indentation. Escape sequences for
/// styles take no columns. If long words are kept, `assize` commands in backticks are kept on one line too.
pub fn wrap_lines(text: &str, columns: usize, long_words: LongWords) -> String {
    let columns = columns.max(1);
    let wrap = |line: &str| {
        let words = line.trim_start_matches(' ');
        let indent = " ".repeat((line.len() - words.len()).min(columns / 2));
        let options = Options::new(columns)
            .initial_indent(&indent)
            .subsequent_indent(&indent)
            .break_words(long_words == LongWords::Break)
            .word_splitter(WordSplitter::NoHyphenation);

        if words.is_empty() {
            String::new()
        } else if long_words == LongWords::Keep && words.contains("`assize ") {
            textwrap::fill(&hold_commands(words), options).replace(KEPT_SPACE, " ")
        } else {
            textwrap::fill(words, options)
        }
    };

    text.split('\n').map(wrap).collect::<Vec<String>>().join("\n")
}

/// Replaces the spaces within commands by ones at which no line is broken.
fn hold_commands(line: &str) -> String {
    let parts: Vec<String> = line
        .split('`')
        .enumerate()
        .map(|(at, part)| {
            let is_command = at % 2 == 1 && part.starts_with("assize ");
            if is_command { part.replace(' ', KEPT_SPACE) } else { part.to_owned() }
        })
        .collect();
    parts.join("`")
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn lines_stay_below_their_indent() {
        let text = "one two three\n  four five six\n\n";
        assert_eq!(wrap_lines(text, 9, LongWords::Keep), "one two\nthree\n  four\n  five\n  six\n\n");
    }

    #[test]
    fn long_words_are_kept_or_cut() {
        let text = "see /a/long/path-with-parts.yaml 漢字漢字漢字漢字";
        assert_eq!(
            wrap_lines(text, 12, LongWords::Keep),
            "see\n/a/long/path-with-parts.yaml\n漢字漢字漢字漢字"
        );
        let broken = wrap_lines(text, 12, LongWords::Break);
        assert!(broken.lines().all(|line| line.width() <= 12), "{broken}");
        let kept = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(kept(&broken), kept(text));
    }

    #[test]
    fn commands_stay_whole() {
        let text = "40 cases; choose one: `assize explain last some-case` or none";
        let wrapped = "40 cases; choose\none:\n`assize explain last some-case`\nor none";
        assert_eq!(wrap_lines(text, 16, LongWords::Keep), wrapped);
    }

    #[test]
    fn styles_take_no_columns() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[31mred\u{1b}[0m";
        assert_eq!(wrap_lines(text, 8, LongWords::Keep), text);
    }
}
