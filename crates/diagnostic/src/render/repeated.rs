//! Shows a mistake that a file repeats on many lines only once, with the number of further lines.

use std::collections::HashMap;
use std::path::Path;

use crate::{Diagnostic, DiagnosticCode, Severity, SourceMap};

/// From this number of equal diagnostics on, only the first is shown.
pub const MIN_REPEATS: usize = 3;
/// Maximum number of diagnostics that are shown with the same code and title in one file. Their other texts
/// may differ.
pub const MAX_VARIANTS: usize = 5;
/// Maximum number of line numbers that are listed.
const MAX_LISTED_LINES: usize = 6;

/// All diagnostics with the same code, severity and title in one file.
#[derive(Default)]
struct RepeatedMistake<'a> {
    /// Indexes of the diagnostics, grouped by their words. The groups are in the order of their first
    /// diagnostics.
    variants: Vec<(MistakeWords<'a>, Vec<usize>)>,
}

/// The label, the notes and the help of a diagnostic.
type MistakeWords<'a> = (&'a str, &'a [String], &'a [String]);

/// Returns the diagnostics to show, in order, each with a note about the lines that repeat it.
pub(super) fn collapse_repeated<'a>(
    diagnostics: &'a [Diagnostic],
    sources: &SourceMap,
) -> Vec<(&'a Diagnostic, Option<String>)> {
    let mut mistakes: HashMap<(DiagnosticCode, Severity, &str, &Path), RepeatedMistake<'_>> = HashMap::new();
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        let file = sources.file(diagnostic.primary.span.source).path();
        let mistake =
            mistakes.entry((diagnostic.code, diagnostic.severity, &diagnostic.title, file)).or_default();
        let words: MistakeWords<'_> = (&diagnostic.primary.text, &diagnostic.notes, &diagnostic.help);
        match mistake.variants.iter().position(|(known, _)| *known == words) {
            Some(known) => mistake.variants[known].1.push(index),
            // If the words differ on every line, all lines beyond the shown ones share a group.
            None if mistake.variants.len() == MAX_VARIANTS => {
                mistake.variants[MAX_VARIANTS - 1].1.push(index);
            }
            None => mistake.variants.push((words, vec![index])),
        }
    }

    let mut shown: Vec<(usize, Option<String>)> = Vec::new();
    for (_, indices) in mistakes.into_values().flat_map(|mistake| mistake.variants) {
        if indices.len() < MIN_REPEATS {
            shown.extend(indices.into_iter().map(|index| (index, None)));
        } else {
            let lines: Vec<usize> =
                indices[1..].iter().map(|index| line_of(&diagnostics[*index], sources)).collect();
            shown.push((indices[0], Some(describe_lines(&lines))));
        }
    }

    shown.sort_unstable_by_key(|(index, _)| *index);
    shown.into_iter().map(|(index, note)| (&diagnostics[index], note)).collect()
}

fn line_of(diagnostic: &Diagnostic, sources: &SourceMap) -> usize {
    let span = diagnostic.primary.span;
    sources.file(span.source).position(span.start).line
}

/// Describes the further lines of a mistake that is shown only once.
pub fn describe_lines(lines: &[usize]) -> String {
    let listed: Vec<String> = lines.iter().take(MAX_LISTED_LINES).map(usize::to_string).collect();
    let more = if lines.len() > listed.len() { ", ..." } else { "" };

    format!("the same in {} further lines: {}{more}", lines.len(), listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    /// Returns the collapsed diagnostics for a file with an error on each line, whose label is made from the
    /// line number.
    fn collapsed(lines: usize, label: fn(usize) -> String) -> Vec<(usize, Option<String>)> {
        let mut sources = SourceMap::new();
        let diagnostics: Vec<Diagnostic> = (1..=lines)
            .map(|line| {
                let source = sources.add_fragment("a.jsonl", "{}", line);
                Diagnostic::error(DiagnosticCode::new("E0001"), "bad")
                    .at(Span::new(source, 0, 1), label(line))
            })
            .collect();
        let shown = collapse_repeated(&diagnostics, &sources);
        shown.into_iter().map(|(one, note)| (line_of(one, &sources), note)).collect()
    }

    #[test]
    fn equal_mistakes_are_shown_once_and_counted() {
        let found = collapsed(200, |_| "here".to_owned());
        assert_eq!(found, [(1, Some("the same in 199 further lines: 2, 3, 4, 5, 6, 7, ...".to_owned()))]);
        assert_eq!(
            collapsed(3, |_| String::new())[0].1.as_deref(),
            Some("the same in 2 further lines: 2, 3")
        );
        assert_eq!(collapsed(2, |_| String::new()), [(1, None), (2, None)], "two are worth showing both");
    }

    #[test]
    fn labels_that_all_differ_are_shown_for_a_few_lines() {
        let found = collapsed(200, |line| format!("found {line}"));
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert!(
            found[4].1.as_deref().is_some_and(|note| note.starts_with("the same in 195 further lines: 6, "))
        );
        assert!(found[..4].iter().all(|(_, note)| note.is_none()));
    }
}
