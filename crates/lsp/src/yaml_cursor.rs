//! Cursor context in YAML by indentation, also in text that is not valid YAML yet.

/// A parsed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct YamlLine<'a> {
    /// Column of the last `-` that begins an item on this line.
    dash: Option<usize>,
    /// Column, in bytes, of the content after spaces and dashes.
    pub(crate) column: usize,
    /// Content after spaces and dashes.
    pub(crate) content: &'a str,
}

impl<'a> YamlLine<'a> {
    /// Parses a line.
    pub(crate) fn parse(text: &'a str) -> Self {
        let mut column = text.len() - text.trim_start_matches(' ').len();
        let mut dash = None;
        loop {
            let rest = &text[column..];
            if let Some(behind) = rest.strip_prefix("- ") {
                dash = Some(column);
                column = text.len() - behind.trim_start_matches(' ').len();
            } else if rest.trim_end() == "-" {
                dash = Some(column);
                column = text.len();
            } else {
                return Self { dash, column, content: rest.trim_end() };
            }
        }
    }

    /// Returns the key of the line and the text after it.
    pub(crate) fn key_and_value(&self) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.content.split_once(':')?;
        let plain = key.trim_matches(['"', '\'']);
        let is_word = !plain.is_empty() && plain.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
        (is_word && (value.is_empty() || value.starts_with(' '))).then_some((plain, value.trim_start()))
    }
}

/// Returns the enclosing keys of a line, innermost first. `column` is the column at which its content begins
/// or would begin.
pub(crate) fn enclosing_keys<'a>(lines: &[&'a str], row: usize, column: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut limit, mut same) = match lines.get(row).map(|line| YamlLine::parse(line)) {
        Some(YamlLine { dash: Some(dash), .. }) => (dash, true),
        _ => (column, false),
    };
    for text in lines[..row.min(lines.len())].iter().rev() {
        let line = YamlLine::parse(text);
        if line.content.starts_with('#') || (line.content.is_empty() && line.dash.is_none()) {
            continue;
        }

        let is_outer = line.column < limit || (same && line.column == limit && line.dash.is_none());
        if is_outer {
            found.extend(line.key_and_value().map(|(key, _)| key));
        } else if line.column != limit || line.dash.is_none() || same {
            continue;
        }

        (limit, same) = match line.dash {
            Some(dash) => (dash, true),
            None => (line.column, false),
        };

        if limit == 0 && !same {
            break;
        }
    }

    found
}

/// Returns the keys in the same map as a line, each with the text after it.
pub(crate) fn sibling_entries<'a>(lines: &[&'a str], row: usize, column: usize) -> Vec<(&'a str, &'a str)> {
    let here = |at: usize| YamlLine::parse(lines[at]);
    let mut found = Vec::new();
    let begins_item = |line: &YamlLine<'_>| line.dash.is_some() && line.column == column;
    if !lines.get(row).is_some_and(|line| begins_item(&YamlLine::parse(line))) {
        for at in (0..row.min(lines.len())).rev() {
            let line = here(at);
            if !line.content.is_empty() && line.column < column {
                break;
            }

            if line.column == column {
                found.extend(line.key_and_value());
                if begins_item(&line) {
                    break;
                }
            }
        }
    }

    for at in row + 1..lines.len() {
        let line = here(at);
        if !line.content.is_empty() && (line.column < column || begins_item(&line)) {
            break;
        }
        if line.column == column {
            found.extend(line.key_and_value());
        }
    }

    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: a\nexecution:\n  judge: x\ntests:\n- id: b\n  input: q\n  assertions:\n    - type: rubrics\n      criteria:\n        - outcome: c\n          score_ranges:\n            - score_range: [0, 10]\n          weight: 2\n    - Says so\n  tags: [x]\n";

    #[test]
    fn the_keys_around_a_line_are_told_by_indentation() {
        let lines: Vec<&str> = TEXT.lines().collect();
        for (row, expected) in [
            (0, &[][..]),
            (2, &["execution"]),
            (4, &["tests"]),
            (6, &["tests"]),
            (7, &["assertions", "tests"]),
            (9, &["criteria", "assertions", "tests"]),
            (11, &["score_ranges", "criteria", "assertions", "tests"]),
            (12, &["criteria", "assertions", "tests"]),
            (13, &["assertions", "tests"]),
        ] {
            assert_eq!(
                enclosing_keys(&lines, row, YamlLine::parse(lines[row]).column),
                expected,
                "{}",
                lines[row]
            );
        }
    }

    #[test]
    fn siblings_stay_in_their_map() {
        let lines: Vec<&str> = TEXT.lines().collect();
        let keys = |row, column| -> Vec<&str> {
            sibling_entries(&lines, row, column).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(12, 10), ["score_ranges", "outcome"]);
        assert_eq!(keys(4, 2), ["input", "assertions", "tags"]);
        assert_eq!(keys(99, 0), ["tests", "execution", "name"]);
        assert_eq!(sibling_entries(&lines, 8, 6), [("type", "rubrics")]);
    }

    #[test]
    fn no_text_is_too_broken() {
        for text in ["", "-", "- - -", ":", "- :", "\t- x: [", "ü:\n  - é: {", "  \n\n   - "] {
            let lines: Vec<&str> = text.split('\n').collect();
            for row in 0..lines.len() + 2 {
                for column in 0..5 {
                    enclosing_keys(&lines, row, column);
                    sibling_entries(&lines, row, column);
                }
            }
        }
    }
}
