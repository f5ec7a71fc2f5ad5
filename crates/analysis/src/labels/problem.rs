//! Diagnostics about label files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::render::{MAX_VARIANTS, MIN_REPEATS, describe_lines};

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelLocation {
    /// The file, as the user wrote its path.
    pub file: Arc<Path>,
    /// Line number, from 1; 0 for the file as a whole.
    pub line: u64,
}

impl fmt::Display for LabelLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            line => write!(f, "{}:{line}", self.file.display()),
        }
    }
}

/// Returns the problem with a file that can't be read. It has no line.
pub(super) fn unreadable(file: &Arc<Path>, error: &dyn fmt::Display) -> LabelProblem {
    let message = match file.try_exists() {
        Ok(false) => "no such file or folder".to_owned(),
        _ => format!("the file can't be read: {error}"),
    };
    LabelProblem { place: LabelLocation { file: Arc::clone(file), line: 0 }, message }
}

/// An error in a label file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct LabelProblem {
    /// Location of the error.
    pub place: LabelLocation,
    /// The value, the expected value, and how to fix it.
    pub message: String,
}

/// Problems in one file that share a message, apart from the values found.
struct RepeatedProblem<'p> {
    file: &'p Path,
    /// Message without numbers, names and values found.
    form: String,
    /// Indexes of the problems by message without numbers and values found, in the order of the first problem
    /// of each.
    variants: Vec<(String, Vec<usize>)>,
}

/// Describes problems, one per line. A mistake that a file repeats is one message with the number of further
/// lines.
pub fn describe_problems(problems: &[LabelProblem]) -> Vec<String> {
    let mut mistakes: Vec<RepeatedProblem<'_>> = Vec::new();
    for (index, problem) in problems.iter().enumerate() {
        let (file, form) = (&*problem.place.file, message_form(&problem.message, false));
        let words = message_form(&problem.message, true);
        let known = mistakes.iter_mut().find(|known| known.file == file && known.form == form);
        let Some(known) = known else {
            mistakes.push(RepeatedProblem { file, form, variants: vec![(words, vec![index])] });
            continue;
        };

        let count = known.variants.len();
        match known.variants.iter().position(|(other, _)| *other == words) {
            Some(at) => known.variants[at].1.push(index),
            // Variants that are not shown need not be distinguished.
            None if count == MAX_VARIANTS => known.variants[count - 1].1.push(index),
            None => known.variants.push((words, vec![index])),
        }
    }

    let mut shown: Vec<(usize, String)> = Vec::new();
    for (_, indices) in mistakes.into_iter().flat_map(|mistake| mistake.variants) {
        if indices.len() < MIN_REPEATS {
            shown.extend(indices.iter().map(|&at| (at, problems[at].to_string())));
            continue;
        }
        let lines: Vec<usize> = indices[1..]
            .iter()
            .map(|&at| usize::try_from(problems[at].place.line).unwrap_or(usize::MAX))
            .collect();
        shown.push((indices[0], format!("{} ({})", problems[indices[0]], describe_lines(&lines))));
    }

    shown.sort_unstable_by_key(|(index, _)| *index);
    shown.into_iter().map(|(_, text)| text).collect()
}

/// Returns a message without its numbers and without the value found. Unless `keeps_names`, text in backticks
/// is removed too.
fn message_form(message: &str, keeps_names: bool) -> String {
    let message = message.split(", found ").next().unwrap_or_default();
    let parts = message.split('`').enumerate();
    let kept = parts.filter(|(at, _)| keeps_names || at % 2 == 0);
    kept.flat_map(|(_, part)| part.chars()).filter(|character| !character.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(count: u64, message: impl Fn(u64) -> String) -> Vec<String> {
        let file: Arc<Path> = Arc::from(Path::new("a.csv"));
        let problems: Vec<LabelProblem> = (1..=count)
            .map(|line| LabelProblem {
                place: LabelLocation { file: Arc::clone(&file), line },
                message: message(line),
            })
            .collect();
        describe_problems(&problems)
    }

    #[test]
    fn a_mistake_on_every_line_is_one_message_with_a_count() {
        let found = described(300, |line| format!("label: expected met or unmet, found \"good {line}\""));
        assert_eq!(
            found,
            [
                "a.csv:1: label: expected met or unmet, found \"good 1\" (the same in 299 further lines: 2, 3, 4, 5, 6, 7, ...)"
            ]
        );
        assert_eq!(described(300, |line| format!("{line} cells under 3 columns")).len(), 1);
        assert_eq!(
            described(2, |_| "bad".to_owned()),
            ["a.csv:1: bad", "a.csv:2: bad"],
            "two are shown both"
        );
    }

    #[test]
    fn names_that_all_differ_are_shown_for_a_few_lines() {
        let found = described(40, |line| format!("`x{}` is not known", "y".repeat(line as usize)));
        assert_eq!(found.len(), 5);
        assert!(found[4].ends_with("(the same in 35 further lines: 6, 7, 8, 9, 10, 11, ...)"), "{found:?}");
        assert_eq!(described(3, |line| "abc"[..line as usize].to_owned()).len(), 3, "three mistakes");
    }
}
