//! Extracts the source lines that a rendered diagnostic shows, sanitised and shortened.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::sanitize::{self, ELLIPSIS};
use crate::SourceFile;

/// Number of lines that are kept around each end of a span. The renderer shows up to four lines after the start
/// of a long span.
const CONTEXT_LINES: usize = 5;

/// Minimum number of columns that are shown on either side of a point in a line that is too long.
const MIN_SIDE_COLUMNS: usize = 8;

/// Consecutive lines of a file. Lines far from all spans are empty, because they are not rendered.
pub(super) struct SourceExcerpt {
    /// Lines joined by `\n`, without a trailing one.
    pub(super) text: String,
    /// Line number of the first line in the file, from 1.
    pub(super) first_line: usize,
    /// Requested spans as ranges of `text`, in the order requested.
    pub(super) spans: Vec<Range<usize>>,
    /// True if a line was too long to be shown in full.
    pub(super) clipped: bool,
}

/// Extracts the lines that are needed to show `spans` (byte ranges of `file`, on character boundaries). Each
/// line is cut to about `columns` columns.
pub(super) fn extract_excerpt(file: &SourceFile, spans: &[Range<usize>], columns: usize) -> SourceExcerpt {
    let mut points: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for offset in spans.iter().flat_map(|span| [span.start, span.end]) {
        points.entry(file.line_index(offset)).or_default().insert(offset);
    }

    let first = points.first_key_value().map_or(0, |(line, _)| *line);
    let last = points.last_key_value().map_or(0, |(line, _)| *line);

    let mut text = String::new();
    let mut moved: BTreeMap<usize, usize> = BTreeMap::new();
    let mut clipped = false;
    for index in first..=last {
        if index > first {
            text.push('\n');
        }
        if points.range(index.saturating_sub(CONTEXT_LINES)..=index + CONTEXT_LINES).next().is_none() {
            continue;
        }

        let content = file.line_content(index);
        let line = &file.text()[content.clone()];
        let offsets: Vec<usize> = points.get(&index).into_iter().flatten().copied().collect();
        let local: Vec<usize> =
            offsets.iter().map(|o| (*o).clamp(content.start, content.end) - content.start).collect();
        let windows = visible_windows(line, &local, columns);
        clipped |= windows.len() != 1 || windows.first() != Some(&(0..line.len()));

        let base = text.len();
        let places = push_windows(&mut text, line, &windows, &local);
        moved.extend(offsets.into_iter().zip(places));

        if index == last && text.len() == base {
            // The renderer ignores an empty last line.
            text.push(' ');
        }
    }

    let place = |offset: usize| moved.get(&offset).copied().unwrap_or(0);
    SourceExcerpt {
        first_line: file.first_line() + first,
        spans: spans.iter().map(|span| place(span.start)..place(span.end)).collect(),
        text,
        clipped,
    }
}

/// Appends the parts of `line` in `windows`, and returns the new offset of each of `points`. Points must be
/// ascending, and each must be in a window or at its end.
fn push_windows(out: &mut String, line: &str, windows: &[Range<usize>], points: &[usize]) -> Vec<usize> {
    let mut places = Vec::with_capacity(points.len());
    let mut points = points.iter().peekable();
    let mut done = 0;
    for window in windows {
        if window.start > done {
            out.push_str(ELLIPSIS);
        }

        for (at, c) in line[window.clone()].char_indices() {
            while points.next_if(|p| **p <= window.start + at).is_some() {
                places.push(out.len());
            }
            sanitize::push_sanitized(out, c);
        }

        while points.next_if(|p| **p <= window.end).is_some() {
            places.push(out.len());
        }

        done = window.end;
    }

    if done < line.len() {
        out.push_str(ELLIPSIS);
    }

    places
}

/// Returns the parts of a line to show: all of it if it fits, else the surroundings of each point. Points must
/// be ascending. The returned ranges are ascending, do not touch, and contain all points.
fn visible_windows(line: &str, points: &[usize], columns: usize) -> Vec<Range<usize>> {
    if offset_right_of(line, 0, columns).0 == line.len() {
        return std::iter::once(0..line.len()).collect();
    }

    let columns = columns.saturating_sub(2 * ELLIPSIS.len());
    let (Some(&low), Some(&high)) = (points.first(), points.last()) else {
        return std::iter::once(0..offset_right_of(line, 0, columns).0).collect();
    };
    if offset_right_of(line, low, columns).0 >= high {
        let between: usize = line[low..high].chars().map(sanitize::display_width).sum();
        let spare = columns.saturating_sub(between);
        if spare >= 2 * MIN_SIDE_COLUMNS {
            let (_, left_over) = offset_left_of(line, low, spare / 3);
            let (end, right_over) = offset_right_of(line, high, spare - spare / 3 + left_over);
            let (start, _) = offset_left_of(line, low, spare / 3 + right_over);
            return std::iter::once(start..end).collect();
        }
    }

    let side = (columns / points.len() / 2).max(MIN_SIDE_COLUMNS);
    let mut windows: Vec<Range<usize>> = Vec::new();
    for point in points {
        let start = offset_left_of(line, *point, side).0;
        let end = offset_right_of(line, *point, side).0;
        match windows.last_mut() {
            // Don't replace a gap by an ellipsis that is as long as the gap.
            Some(before) if start <= before.end + ELLIPSIS.len() => before.end = before.end.max(end),
            _ => windows.push(start..end),
        }
    }

    windows
}

/// Returns the byte offset that is `columns` columns to the right of `from`, and the number of columns left
/// over.
fn offset_right_of(line: &str, from: usize, columns: usize) -> (usize, usize) {
    walk_columns(line[from..].char_indices().map(|(at, c)| (from + at + c.len_utf8(), c)), from, columns)
}

/// Returns the byte offset that is `columns` columns to the left of `from`, and the number of columns left
/// over.
fn offset_left_of(line: &str, from: usize, columns: usize) -> (usize, usize) {
    walk_columns(line[..from].char_indices().rev(), from, columns)
}

fn walk_columns(chars: impl Iterator<Item = (usize, char)>, from: usize, columns: usize) -> (usize, usize) {
    /// Limits zero-width characters, because any number of them can follow one another.
    const MAX_CHARS_PER_COLUMN: usize = 4;

    let (mut at, mut left) = (from, columns);
    for (next, c) in chars.take(columns * MAX_CHARS_PER_COLUMN) {
        let Some(rest) = left.checked_sub(sanitize::display_width(c)) else { break };
        (at, left) = (next, rest);
    }

    (at, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceMap;

    fn cut(text: &str, spans: &[Range<usize>], columns: usize) -> SourceExcerpt {
        let mut map = SourceMap::new();
        let id = map.add("a", text);
        extract_excerpt(map.file(id), spans, columns)
    }

    #[test]
    fn short_lines_are_whole_and_spans_follow_tabs() {
        let cut = cut("a\n\tb: c\r\nd", std::slice::from_ref(&(6..7)), 40);
        assert_eq!((cut.text.as_str(), cut.first_line, cut.clipped), ("    b: c", 2, false));
        assert_eq!(&cut.text[cut.spans[0].clone()], "c");
    }

    #[test]
    fn a_long_line_shrinks_to_the_surroundings() {
        let text = format!("{}here{}", "x".repeat(50_000), "y".repeat(50_000));
        let cut = cut(&text, std::slice::from_ref(&(50_000..50_004)), 60);
        assert!(cut.text.len() <= 60, "{}", cut.text);
        assert!(cut.text.starts_with("...x") && cut.text.ends_with("y..."), "{}", cut.text);
        assert_eq!(&cut.text[cut.spans[0].clone()], "here");
        assert!(cut.clipped);
    }

    #[test]
    fn places_far_apart_in_one_line_are_all_shown() {
        let text = format!("one{}two{}three", "x".repeat(50_000), "y".repeat(50_000));
        let two = 50_003;
        let cut = cut(&text, &[0..3, two..two + 3, 0..text.len()], 60);
        assert!(cut.text.len() <= 120, "{}", cut.text);
        assert_eq!(&cut.text[cut.spans[0].clone()], "one");
        assert_eq!(&cut.text[cut.spans[1].clone()], "two");
        assert_eq!(cut.spans[2], 0..cut.text.len());
    }

    #[test]
    fn lines_far_from_all_places_are_left_empty() {
        let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        let text = lines.join("\n") + "\n";
        let end = text.len() - 1;
        let cut = cut(&text, std::slice::from_ref(&(7..end)), 60);
        let lines: Vec<_> = cut.text.split('\n').collect();
        assert_eq!((cut.first_line, lines.len()), (2, 39));
        assert_eq!((lines[0], lines[5], lines[6], lines[38]), ("line 2", "line 7", "", "line 40"));
    }

    #[test]
    fn characters_without_width_do_not_fill_the_screen() {
        let text = format!("a{}", "\u{301}".repeat(100_000));
        let cut = cut(&text, std::slice::from_ref(&(0..1)), 60);
        assert!(cut.text.chars().count() < 400);
    }
}
