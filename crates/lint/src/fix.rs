//! Applies fixes that keep the meaning, byte for byte.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assize_diagnostic::{Diagnostic, SourceMap};
use assize_document::{TextChange, apply_changes};

use crate::rules::RULES;

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFix {
    /// First byte to replace.
    pub start: usize,
    /// One past the last byte to replace.
    pub end: usize,
    /// Line on which the change begins, from 1.
    pub line: usize,
    /// Current text of the range.
    pub old: String,
    /// Replacement text.
    pub new: String,
}

/// Returns the safe fixes among the suggestions, by file, in the order of the file. If fixes overlap, only the
/// first is returned; the others will be found again after it is applied.
pub fn collect_fixes(diagnostics: &[Diagnostic], sources: &SourceMap) -> BTreeMap<PathBuf, Vec<LintFix>> {
    let mut by_file: BTreeMap<PathBuf, Vec<LintFix>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let sure = RULES.iter().any(|rule| rule.fixes && rule.code == diagnostic.code);
        let Some(suggestion) = diagnostic.suggestion.as_ref().filter(|_| sure) else { continue };
        let span = suggestion.span;
        by_file.entry(sources.file(span.source).path().to_path_buf()).or_default().push(LintFix {
            start: span.start,
            end: span.end,
            line: sources.position(span).line,
            old: sources.slice(span).to_owned(),
            new: suggestion.replacement.clone(),
        });
    }

    for fixes in by_file.values_mut() {
        fixes.sort_by_key(|fix| (fix.start, fix.end));
        let mut end = 0;
        fixes.retain(|fix| {
            let free = fix.start >= end;
            if free {
                end = fix.end;
            }
            free
        });
    }

    by_file
}

/// Returns the text with the fixes applied. All other bytes are unchanged. Returns `None` if the fixes were made for a
/// different text.
pub fn apply_fixes(text: &str, fixes: &[LintFix]) -> Option<String> {
    if fixes.iter().any(|fix| text.get(fix.start..fix.end) != Some(fix.old.as_str())) {
        return None;
    }

    let changes: Vec<TextChange> = fixes
        .iter()
        .map(|fix| TextChange { start: fix.start, end: fix.end, text: fix.new.clone() })
        .collect();
    apply_changes(text, &changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(start: usize, old: &str, new: &str) -> LintFix {
        LintFix { start, end: start + old.len(), line: 1, old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn only_the_marked_bytes_change() {
        let text = "a: \"é\"  # c\r\nb: two\r\n";
        let changed = apply_fixes(text, &[fix(4, "é", "e"), fix(text.len() - 5, "two", "2")]);
        assert_eq!(changed.as_deref(), Some("a: \"e\"  # c\r\nb: 2\r\n"));
    }

    #[test]
    fn a_text_that_was_changed_meanwhile_is_left_alone() {
        assert_eq!(apply_fixes("abc", &[fix(1, "x", "y")]), None);
        assert_eq!(apply_fixes("abc", &[fix(3, "d", "y")]), None);
    }
}
