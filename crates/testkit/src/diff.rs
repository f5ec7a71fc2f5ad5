//! Line diff of two texts.

/// Number of lines shown around each change.
const CONTEXT: usize = 3;

/// Maximum size of the table of line pairs; beyond it, everything that differs is one change.
const MAX_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Expected(&'a str),
    Actual(&'a str),
}

/// Formats the diff: `-` before expected lines, `+` before actual lines, with a few common lines around them.
pub(crate) fn lines(expected: &str, actual: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (split(expected), split(actual));
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_mid, b_mid) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    let mut all: Vec<Line<'_>> = a[..start].iter().map(|line| Line::Same(line)).collect();
    middle(a_mid, b_mid, &mut all);
    all.extend(a[a.len() - end..].iter().map(|line| Line::Same(line)));
    render(&all)
}

/// Splits a text into lines with their line breaks, so that a missing last one is a difference.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Computes a longest common subsequence by dynamic programming.
fn middle<'a>(a: &[&'a str], b: &[&'a str], out: &mut Vec<Line<'a>>) {
    let width = b.len() + 1;
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        out.extend(a.iter().map(|line| Line::Expected(line)));
        out.extend(b.iter().map(|line| Line::Actual(line)));
        return;
    }
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push(Line::Same(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            out.push(Line::Expected(a[i]));
            i += 1;
        } else {
            out.push(Line::Actual(b[j]));
            j += 1;
        }
    }
}

fn render(all: &[Line<'_>]) -> String {
    let changed: Vec<usize> =
        all.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(_))).map(|(i, _)| i).collect();
    let mut out = String::new();
    let mut shown_to = 0;
    for at in changed {
        let from = at.saturating_sub(CONTEXT).max(shown_to);
        let to = (at + CONTEXT + 1).min(all.len());
        if from > shown_to {
            out.push_str("  ...\n");
        }
        for line in all.get(from..to).unwrap_or_default() {
            let (mark, text) = match line {
                Line::Same(text) => (' ', text),
                Line::Expected(text) => ('-', text),
                Line::Actual(text) => ('+', text),
            };
            out.push(mark);
            out.push(' ');
            out.push_str(text.trim_end_matches('\n'));
            out.push_str(if text.ends_with('\n') { "\n" } else { " (no line break)\n" });
        }
        shown_to = shown_to.max(to);
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
        assert_eq!(lines(expected, actual), "  ...\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n");
        assert_eq!(lines("a\nb\n", "b\na\n"), "- a\n  b\n+ a\n");
        assert_eq!(lines("a", "a\n"), "- a (no line break)\n+ a\n");
        assert_eq!(lines("", "x\n"), "+ x\n");
        assert_eq!(lines("same\n", "same\n"), "");
    }
}
