//! Diagnostics of one load.

use std::collections::HashSet;

use assize_diagnostic::{Diagnostic, DiagnosticCode, Severity, Span, SpanLabel};

use crate::codes;

/// Collector of diagnostics, so that decoding can continue after each.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticCollector {
    list: Vec<Diagnostic>,
    /// Diagnostics reported so far: a part that is used several times by aliases is reported once.
    said: HashSet<(DiagnosticCode, Span, String, String)>,
    errors: usize,
    hidden: Vec<HiddenValue>,
    unset: Vec<Span>,
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

/// Values shorter than this are hidden only in diagnostics about the span they were substituted in, and only
/// as whole words: replacing every `1` of every message would garble it.
const MIN_HIDDEN_LENGTH: usize = 4;

impl DiagnosticCollector {
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        // A problem with an unset value would only repeat that it is not set.
        if self.unset.contains(&diagnostic.primary.span) {
            return;
        }

        self.errors += usize::from(diagnostic.severity == Severity::Error);
        let Diagnostic { code, title, primary, .. } = &diagnostic;
        if !self.said.insert((*code, primary.span, title.clone(), primary.text.clone())) {
            return;
        }

        let diagnostic = if self.hidden.is_empty() { diagnostic } else { self.redact(diagnostic) };
        self.list.push(diagnostic);
    }

    /// Counts an error that has been reported elsewhere.
    pub(crate) fn count_error(&mut self) {
        self.errors += 1;
    }

    /// Removes diagnostics at `head` that one of `names` is missing: it is given under another name, which is
    /// reported separately.
    pub(crate) fn retract_missing(&mut self, head: Span, names: &[&str]) {
        let errors = &mut self.errors;
        self.list.retain(|found| {
            let Some((_, others)) = MISSING_KEY_CODES.iter().find(|(code, _)| *code == found.code) else {
                return true;
            };
            let speaks_of = |name: &&str| {
                let quoted = [format!("`{name}`"), format!("`{name}:")];
                let said = |text: &String| quoted.iter().any(|quoted| text.contains(quoted));
                others.contains(name) || said(&found.title) || found.help.iter().any(said)
            };
            let stays = found.primary.span != head || !names.iter().any(speaks_of);
            *errors -= usize::from(!stays);

            stays
        });
    }

    /// Returns the number of errors so far. A part is valid if decoding it leaves this unchanged.
    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }

    /// Returns an empty collector that hides the same values.
    pub(crate) fn fork(&self) -> Self {
        Self { hidden: self.hidden.clone(), ..Self::default() }
    }

    /// Hides `value`, substituted from the environment at `span`: diagnostics show `shown` instead.
    pub(crate) fn hide(&mut self, value: &str, shown: &str, span: Span) {
        if !value.trim().is_empty() {
            self.hidden.push(HiddenValue { value: value.trim().to_owned(), shown: shown.to_owned(), span });
        }
    }

    /// Reports that the value at a span is not set. Nothing else is reported about that span.
    pub(crate) fn add_unset(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.primary.span;
        let unset = std::mem::take(&mut self.unset);
        self.add(diagnostic);
        self.unset = unset;
        self.unset.push(span);
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
    fn hidden_values_appear_in_no_part_of_a_complaint() {
        let mut sources = SourceMap::new();
        let source = sources.add("a.yaml", "key: ${{ TOKEN }}");
        let span = Span::new(source, 5, 17);
        let mut problems = DiagnosticCollector::default();
        problems.hide("s3cret\"value", "${{ TOKEN }}", span);
        problems.hide("7", "${{ N }}", span);
        problems.add(
            Diagnostic::error(codes::WRONG_TYPE, "bad s3cret\"value", span, format!("{:?}", "s3cret\"value"))
                .with_note("17 of 7")
                .with_suggestion("s3cret\"value", span, "s3cret\"value"),
        );
        let found = problems.into_vec().remove(0);
        assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
        assert_eq!(found.notes, ["17 of ${{ N }}"]);
        assert_eq!(found.suggestion, None);
    }
}
