//! Line diff of two texts.

use similar::{ChangeTag, TextDiff};

/// Lines shown around each change.
const CONTEXT: usize = 3;

/// The differences: `-` for lines only expected, `+` for lines only found, with a few common lines around them.
pub(crate) fn diff_lines(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    let mut out = String::new();
    let mut shown_to = 0;

    for group in diff.grouped_ops(CONTEXT) {
        if group.first().is_some_and(|first| first.old_range().start > shown_to) {
            out.push_str("  ...\n");
        }

        shown_to = group.last().map_or(shown_to, |last| last.old_range().end);

        for change in group.iter().flat_map(|part| diff.iter_changes(part)) {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };

            let end = if change.missing_newline() { " (no line break)\n" } else { "" };
            out.extend([&format!("{mark} {}", change.value()), end]);
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_changes_with_context_only() {
        let expected = "1\n2\n3\n4\n5\n6\n7\n";
        let actual = "1\n2\n3\n4\nfive\n6\n7\n";
        assert_eq!(diff_lines(expected, actual), "  ...\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n");
        assert_eq!(diff_lines("a\nb\n", "b\na\n"), "+ b\n  a\n- b\n");
        assert_eq!(diff_lines("a", "a\n"), "- a (no line break)\n+ a\n");
        assert_eq!(diff_lines("", "x\n"), "+ x\n");
        assert_eq!(diff_lines("same\n", "same\n"), "");
    }
}
