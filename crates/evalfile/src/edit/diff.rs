//! Unified diff of two texts.

use std::fmt::Write as _;

/// Number of unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Number of consecutive equal lines that count as a resynchronisation.
const ALIKE: usize = 3;
/// Maximum number of lines searched for a resynchronisation; texts that differ in more are shown as
/// completely different from there on.
const MAX_DISTANCE: usize = 2000;

/// One line of a diff with its line end: kept, removed or added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Out(&'t str),
    In(&'t str),
}

/// Returns the difference of two texts as a unified diff with three lines of context; empty for equal texts.
/// `name` is the file name in the header.
pub fn unified_diff(old: &str, new: &str, name: &str) -> String {
    let lines = compare(old, new);
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Kept(_)))
        .map(|(at, _)| at)
        .collect();
    let mut out = String::new();
    let mut next = 0;
    while next < changed.len() {
        if out.is_empty() {
            out = format!("--- {name}\n+++ {name}\n");
        }
        let mut last = next;
        while changed.get(last + 1).is_some_and(|at| at - changed[last] <= 2 * CONTEXT) {
            last += 1;
        }
        let start = changed[next].saturating_sub(CONTEXT);
        let end = (changed[last] + CONTEXT + 1).min(lines.len());
        hunk(&lines, start, end, &mut out);
        next = last + 1;
    }
    out
}

fn hunk(lines: &[Line<'_>], start: usize, end: usize, out: &mut String) {
    let count = |range: &[Line<'_>]| {
        let old = range.iter().filter(|line| !matches!(line, Line::In(_))).count();
        let new = range.iter().filter(|line| !matches!(line, Line::Out(_))).count();
        (old, new)
    };
    let (before_old, before_new) = count(&lines[..start]);
    let (old, new) = count(&lines[start..end]);
    // An empty side is located by the line before it.
    let first = |before: usize, count: usize| before + usize::from(count > 0);
    let _ = writeln!(out, "@@ -{},{old} +{},{new} @@", first(before_old, old), first(before_new, new));
    for line in &lines[start..end] {
        let (sign, text) = match line {
            Line::Kept(text) => (' ', text),
            Line::Out(text) => ('-', text),
            Line::In(text) => ('+', text),
        };
        out.push(sign);
        out.push_str(text);
        if !text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Compares two texts line by line; where they differ, it searches the nearest point where they agree again.
fn compare<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut lines = Vec::with_capacity(new.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Kept(old[i]));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (out, put) = resume(&old[i..], &new[j..]);
        lines.extend(old[i..i + out].iter().map(|line| Line::Out(line)));
        lines.extend(new[j..j + put].iter().map(|line| Line::In(line)));
        (i, j) = (i + out, j + put);
    }
    lines
}

/// Returns the number of lines to remove and to add until both texts agree again.
fn resume(old: &[&str], new: &[&str]) -> (usize, usize) {
    // A single equal line may be a coincidence; several in a row are the same passage.
    nearest(old, new, ALIKE).or_else(|| nearest(old, new, 1)).unwrap_or((old.len(), new.len()))
}

fn nearest(old: &[&str], new: &[&str], alike: usize) -> Option<(usize, usize)> {
    let most = (old.len() + new.len()).min(MAX_DISTANCE);
    (1..=most).find_map(|distance| {
        (distance.saturating_sub(new.len())..=distance.min(old.len())).find_map(|out| {
            let put = distance - out;
            let ahead =
                |lines: &[&str]| lines.iter().take(alike).map(ToString::to_string).collect::<Vec<_>>();
            (old[out..].first() == new[put..].first() && ahead(&old[out..]) == ahead(&new[put..]))
                .then_some((out, put))
        })
    })
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
        assert_eq!(unified_diff("", "a\n", "f"), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
    }
}
