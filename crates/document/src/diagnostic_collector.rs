//! Diagnostics of one load.

use std::collections::{BTreeMap, HashMap, HashSet};

use assize_diagnostic::{Diagnostic, DiagnosticCode, Severity, SourceId, Span, SpanLabel};
use assize_limits::FILE_PROBLEMS as MAX_PER_FILE;

use crate::codes;

/// Collects diagnostics, so that decoding can continue after each.
#[derive(Debug, Default)]
pub struct DiagnosticCollector {
    list: Vec<Diagnostic>,
    /// Number of diagnostics for each file and severity, including diagnostics that are counted but not kept.
    counts: BTreeMap<(SourceId, bool), FileCount>,
    /// Diagnostics reported so far. A part that is used several times by aliases is reported only once.
    said: HashSet<(DiagnosticCode, Span, String, String)>,
    errors: usize,
    hidden: Vec<HiddenValue>,
    unset: HashSet<Span>,
    /// Keys whose value is an unset variable, by the span at which missing keys of their map are reported.
    unset_keys: HashMap<Span, Vec<String>>,
    /// True while a variable that is not set is only noted.
    pub notes_unset: bool,
}

/// Number of diagnostics of one severity in a file.
#[derive(Debug, Default)]
struct FileCount {
    kept: usize,
    /// How many were not kept, and the span of the first of them.
    dropped: Option<(usize, Span)>,
}

/// A value from the environment. It may be a secret, so no diagnostic may show it.
#[derive(Debug, Clone)]
struct HiddenValue {
    value: String,
    shown: String,
    span: Span,
}

/// Codes of missing keys, with alternative names of the key.
const MISSING_KEY_CODES: &[(DiagnosticCode, &[&str])] = &[
    (codes::MISSING_TEXT, &["outcome", "expected_outcome", "description"]),
    (codes::MISSING_SETTING, &[]),
    (codes::NO_ID, &[]),
    (codes::NO_INPUT, &["input", "input_messages", "output", "turns"]),
    (codes::NOTHING_TO_GRADE, &["assert", "evaluators", "expected_outcome", "outcome", "rubrics", "turns"]),
    (codes::BAD_MESSAGE, &[]),
    (codes::NOT_A_RUBRIC, &[]),
    (codes::TEMPLATE_BROKEN, &[]),
    (codes::NO_TARGETS, &[]),
];

/// Shorter values are hidden only in diagnostics about the span that they were inserted at, and only as whole
/// words. Replacing every `1` in every message would garble the messages.
const MIN_HIDDEN_LENGTH: usize = 4;

impl DiagnosticCollector {
    /// Adds a diagnostic, unless the same one has been added, or it only repeats that a variable is not set.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        // A problem with an unset value would only repeat that it is not set.
        let unset_keys = self.unset_keys.get(&diagnostic.primary.span).map(Vec::as_slice).unwrap_or_default();
        if self.unset.contains(&diagnostic.primary.span)
            || unset_keys.iter().any(|key| speaks_of_missing(&diagnostic, key))
        {
            return;
        }

        self.errors += usize::from(diagnostic.severity == Severity::Error);
        let Diagnostic { code, title, primary, .. } = &diagnostic;
        let key = (*code, primary.span, title.clone(), primary.text.clone());
        if self.said.contains(&key) {
            return;
        }

        let is_error = diagnostic.severity == Severity::Error;
        let count = self.counts.entry((primary.span.source, is_error)).or_default();
        if count.kept >= MAX_PER_FILE {
            let (dropped, _) = count.dropped.get_or_insert((0, primary.span));
            *dropped += 1;
            return;
        }

        self.said.insert(key);
        count.kept += 1;

        let diagnostic = if self.hidden.is_empty() { diagnostic } else { self.redact(diagnostic) };
        self.list.push(diagnostic);
    }

    /// Counts an error that has been reported elsewhere.
    pub fn count_error(&mut self) {
        self.errors += 1;
    }

    /// Removes diagnostics at `head` which say that one of `names` is missing: the key is given under another
    /// name, and that is reported.
    pub(crate) fn retract_missing(&mut self, head: Span, names: &[&str]) {
        let errors = &mut self.errors;
        self.list.retain(|found| {
            let stays =
                found.primary.span != head || !names.iter().any(|name| speaks_of_missing(found, name));
            *errors -= usize::from(!stays);

            stays
        });
    }

    /// Returns the number of errors so far. A part is valid if decoding it leaves this unchanged.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns the diagnostics, with one more for each file that has more than are kept.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        let Self { mut list, counts, .. } = self;
        for ((_, is_error), count) in counts {
            if let Some((dropped, first)) = count.dropped {
                list.push(more_problems(dropped, first, is_error));
            }
        }

        list
    }

    /// Returns the diagnostics so far.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Returns an empty collector that hides the same values.
    pub fn fork(&self) -> Self {
        Self { hidden: self.hidden.clone(), ..Self::default() }
    }

    /// Hides the same diagnostics as a fork of this collector.
    pub fn hide_as_in(&mut self, fork: &Self) {
        self.hidden.clone_from(&fork.hidden);
    }

    /// Adds the diagnostics of a fork.
    pub(crate) fn append(&mut self, fork: Self) {
        self.extend(fork.into_vec());
    }

    /// Hides `value`, substituted from the environment at `span`: diagnostics show `shown` instead.
    pub fn hide(&mut self, value: &str, shown: &str, span: Span) {
        if !value.trim().is_empty() {
            self.hidden.push(HiddenValue { value: value.trim().to_owned(), shown: shown.to_owned(), span });
        }
    }

    /// Reports that the value at a span is not set. No other diagnostic is reported about that span.
    pub fn add_unset(&mut self, mut diagnostic: Diagnostic) {
        if self.notes_unset {
            diagnostic.severity = Severity::Note;
        }

        let span = diagnostic.primary.span;
        let unset = std::mem::take(&mut self.unset);
        self.add(diagnostic);
        self.unset = unset;
        self.unset.insert(span);
    }

    /// Suppresses reports at `head` that `key` is missing, if the value at `span` was reported as not set.
    pub fn mark_unset_key(&mut self, head: Span, key: &str, span: Span) {
        if self.unset.contains(&span) {
            self.unset_keys.entry(head).or_default().push(key.to_owned());
        }
    }

    fn redact(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let at = diagnostic.primary.span;
        let clean = |text: &mut String| {
            for hidden in &self.hidden {
                if hidden.value.len() >= MIN_HIDDEN_LENGTH {
                    for form in [hidden.value.clone(), hidden.value.escape_debug().to_string()] {
                        if text.contains(&form) {
                            *text = text.replace(&form, &hidden.shown);
                        }
                    }
                } else if touches(hidden.span, at) {
                    *text = replace_words(text, &hidden.value, &hidden.shown);
                }
            }
        };

        clean(&mut diagnostic.title);
        clean(&mut diagnostic.primary.text);

        for SpanLabel { text, .. } in &mut diagnostic.secondary {
            clean(text);
        }

        diagnostic.notes.iter_mut().for_each(clean);
        diagnostic.help.iter_mut().for_each(clean);

        if let Some(suggestion) = &mut diagnostic.suggestion {
            let before = suggestion.replacement.clone();
            clean(&mut suggestion.title);
            clean(&mut suggestion.replacement);

            if suggestion.replacement != before {
                diagnostic.suggestion = None;
            }
        }

        diagnostic
    }
}

impl Extend<Diagnostic> for DiagnosticCollector {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: T) {
        diagnostics.into_iter().for_each(|diagnostic| self.add(diagnostic));
    }
}

/// Returns true if the diagnostic says that the key is missing.
fn speaks_of_missing(diagnostic: &Diagnostic, key: &str) -> bool {
    let Some((_, others)) = MISSING_KEY_CODES.iter().find(|(code, _)| *code == diagnostic.code) else {
        return false;
    };
    let quoted = [format!("`{key}`"), format!("`{key}:")];
    let mentions = |text: &String| quoted.iter().any(|quoted| text.contains(quoted));

    others.contains(&key) || mentions(&diagnostic.title) || diagnostic.help.iter().any(mentions)
}

/// Turns errors about unset environment variables into notes, for commands that only check files.
pub fn note_unset_variables(diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics.iter_mut().filter(|found| found.code == codes::VARIABLE_NOT_SET) {
        diagnostic.severity = Severity::Note;
    }
}

fn more_problems(dropped: usize, first: Span, is_error: bool) -> Diagnostic {
    let ending = if dropped == 1 { "" } else { "s" };
    let label = "the first of them";
    let diagnostic = if is_error {
        let title = format!("{dropped} more error{ending} in this file");
        Diagnostic::error(codes::MORE_PROBLEMS, title).at(first, label)
    } else {
        let title = format!("{dropped} more warning{ending} in this file");
        Diagnostic::warning(codes::MORE_WARNINGS, title).at(first, label)
    };

    diagnostic.with_help("fix those above and validate again")
}

fn touches(a: Span, b: Span) -> bool {
    a.source == b.source && a.start <= b.end && b.start <= a.end
}

fn replace_words(text: &str, word: &str, shown: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let after = at + word.len();
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let inside_word = joined(rest[..at].chars().next_back().or_else(|| result.chars().next_back()))
            || joined(rest[after..].chars().next());

        result.push_str(&rest[..at]);
        result.push_str(if inside_word { word } else { shown });

        rest = &rest[after..];
    }

    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use assize_diagnostic::SourceMap;

    use super::*;
    use crate::codes;

    #[test]
    fn problems_beyond_the_limit_are_counted_by_severity() {
        let mut sources = SourceMap::new();
        let source = sources.add("a.yaml", "x".repeat(1_000));
        let mut problems = DiagnosticCollector::default();
        for at in 0..MAX_PER_FILE + 3 {
            let span = Span::new(source, at, at + 1);
            problems.add(Diagnostic::warning(codes::NO_EFFECT, "a").at(span, "b"));
            problems.add(Diagnostic::error(codes::WRONG_TYPE, "a").at(span, "b"));
            problems.add(Diagnostic::error(codes::WRONG_TYPE, "a").at(span, "b"));
        }

        // Diagnostics that are not kept still make the file invalid.
        assert!(problems.error_count() > MAX_PER_FILE);
        let found = problems.into_vec();
        let titles: Vec<&str> = found[2 * MAX_PER_FILE..].iter().map(|found| found.title.as_str()).collect();
        assert_eq!(titles, ["3 more warnings in this file", "6 more errors in this file"]);
        assert_eq!(found.last().map(|found| found.severity), Some(Severity::Error));
    }

    #[test]
    fn hidden_values_appear_in_no_part_of_a_complaint() {
        let mut sources = SourceMap::new();
        let source = sources.add("a.yaml", "key: ${{ TOKEN }}");
        let span = Span::new(source, 5, 17);
        let mut problems = DiagnosticCollector::default();
        problems.hide("s3cret\"value", "${{ TOKEN }}", span);
        problems.hide("7", "${{ N }}", span);
        Diagnostic::error(codes::WRONG_TYPE, "bad s3cret\"value")
            .at(span, format!("{:?}", "s3cret\"value"))
            .with_note("17 of 7")
            .with_suggestion("s3cret\"value", span, "s3cret\"value")
            .add_to(&mut problems);
        let found = problems.into_vec().remove(0);
        assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
        assert_eq!(found.notes, ["17 of ${{ N }}"]);
        assert_eq!(found.suggestion, None);
    }
}
