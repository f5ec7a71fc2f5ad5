//! Unified diff of two texts.

use std::time::Duration;

use similar::TextDiff;

/// Number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// Time for finding the shortest diff. After it, a longer diff is used, which is equally correct.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the difference of two texts as a unified diff with three lines of context; empty for equal texts.
/// `name` is the file name in the header.
pub fn unified_diff(old: &str, new: &str, name: &str) -> String {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);

    diff.unified_diff().context_radius(CONTEXT_LINES).header(name, name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertions_have_context_and_equal_texts_no_patch() {
        assert_eq!(unified_diff("a\n", "a\n", "f"), "");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = old.replace("2\n3\n", "2\nx\ny\n3\n").replace("12\n", "12\nz");
        assert_eq!(
            unified_diff(old, &new, "f"),
            "--- f\n+++ f\n@@ -1,5 +1,7 @@\n 1\n 2\n+x\n+y\n 3\n 4\n 5\n@@ -10,3 +12,4 @@\n 10\n 11\n 12\n+z\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn changes_of_a_line_and_of_everything() {
        assert_eq!(
            unified_diff("a\nb\nc", "a\nB\nc", "f"),
            "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_diff("", "a\n", "f"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
    }
}
