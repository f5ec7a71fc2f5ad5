//! Where in a YAML file a line stands, told by indentation: that works on texts that are no YAML yet.

use crate::check::Kind;
use crate::keys::Section;

/// A line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Column of the last `-` that begins an item on this line.
    dash: Option<usize>,
    /// Column, in bytes, of what stands behind spaces and dashes.
    pub(crate) column: usize,
    /// What stands there.
    pub(crate) content: &'a str,
}

impl<'a> Line<'a> {
    /// Takes a line apart.
    pub(crate) fn of(text: &'a str) -> Self {
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

    /// The key of the line and what stands behind it.
    pub(crate) fn key(&self) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.content.split_once(':')?;
        let plain = key.trim_matches(['"', '\'']);
        let is_word = !plain.is_empty() && plain.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
        (is_word && (value.is_empty() || value.starts_with(' '))).then_some((plain, value.trim_start()))
    }
}

/// The keys around a line, the nearest first. `column` is where its content begins or would begin.
fn around<'a>(lines: &[&'a str], row: usize, column: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut limit, mut same) = match lines.get(row).map(|line| Line::of(line)) {
        Some(Line { dash: Some(dash), .. }) => (dash, true),
        _ => (column, false),
    };
    for text in lines[..row.min(lines.len())].iter().rev() {
        let line = Line::of(text);
        if line.content.starts_with('#') || (line.content.is_empty() && line.dash.is_none()) {
            continue;
        }
        let is_outer = line.column < limit || (same && line.column == limit && line.dash.is_none());
        if is_outer {
            found.extend(line.key().map(|(key, _)| key));
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

fn begins_item(line: Option<&&str>) -> bool {
    line.is_some_and(|line| Line::of(line).dash.is_some())
}

/// The section that the keys of a line belong to.
pub(crate) fn section(kind: Kind, lines: &[&str], row: usize, column: usize) -> Section {
    let around = around(lines, row, column);
    match around.first().copied() {
        // A rubric file may be a list without a key above it.
        None if kind == Kind::Rubric && (column > 0 || begins_item(lines.get(row))) => Section::Criterion,
        None if kind == Kind::Rubric => Section::Rubric,
        None => Section::Suite,
        Some("criteria" | "rubrics") => Section::Criterion,
        Some("score_ranges") => Section::ScoreRange,
        Some("assertions" | "assert" | "evaluators") => Section::Grader,
        Some("execution") => Section::Execution,
        Some("tests" | "evalcases" | "eval_cases") => Section::Case,
        Some("input" | "input_messages" | "expected_messages" | "expected_output" | "output") => {
            Section::Message
        }
        Some(_) => Section::Other,
    }
}

/// The keys that stand in the same map as a line.
pub(crate) fn siblings<'a>(lines: &[&'a str], row: usize, column: usize) -> Vec<&'a str> {
    let here = |at: usize| Line::of(lines[at]);
    let mut found = Vec::new();
    let begins_item = |line: &Line<'_>| line.dash.is_some() && line.column == column;
    if !lines.get(row).is_some_and(|line| begins_item(&Line::of(line))) {
        for at in (0..row.min(lines.len())).rev() {
            let line = here(at);
            if !line.content.is_empty() && line.column < column {
                break;
            }
            if line.column == column {
                found.extend(line.key().map(|(key, _)| key));
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
            found.extend(line.key().map(|(key, _)| key));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: a\nexecution:\n  judge: x\ntests:\n- id: b\n  input: q\n  assertions:\n    - type: rubrics\n      criteria:\n        - outcome: c\n          score_ranges:\n            - score_range: [0, 10]\n          weight: 2\n    - Says so\n  tags: [x]\n";

    #[test]
    fn sections_are_told_by_indentation() {
        let lines: Vec<&str> = TEXT.lines().collect();
        let expected = [
            Section::Suite,
            Section::Suite,
            Section::Execution,
            Section::Suite,
            Section::Case,
            Section::Case,
            Section::Case,
            Section::Grader,
            Section::Grader,
            Section::Criterion,
            Section::Criterion,
            Section::ScoreRange,
            Section::Criterion,
            Section::Grader,
            Section::Case,
        ];
        for (row, expected) in expected.into_iter().enumerate() {
            let column = Line::of(lines[row]).column;
            assert_eq!(section(Kind::Suite, &lines, row, column), expected, "line {row}: {}", lines[row]);
        }
        assert_eq!(section(Kind::Rubric, &["- id: a"], 0, 2), Section::Criterion);
        assert_eq!(section(Kind::Rubric, &["- id: a", "  w"], 1, 2), Section::Criterion);
    }

    #[test]
    fn siblings_stay_in_their_map() {
        let lines: Vec<&str> = TEXT.lines().collect();
        assert_eq!(siblings(&lines, 12, 10), ["score_ranges", "outcome"]);
        assert_eq!(siblings(&lines, 4, 2), ["input", "assertions", "tags"]);
        assert_eq!(siblings(&lines, 99, 0), ["tests", "execution", "name"]);
    }

    #[test]
    fn no_text_is_too_broken() {
        for text in ["", "-", "- - -", ":", "- :", "\t- x: [", "ü:\n  - é: {", "  \n\n   - "] {
            let lines: Vec<&str> = text.split('\n').collect();
            for row in 0..lines.len() + 2 {
                for column in 0..5 {
                    section(Kind::Suite, &lines, row, column);
                    siblings(&lines, row, column);
                }
            }
        }
    }
}
