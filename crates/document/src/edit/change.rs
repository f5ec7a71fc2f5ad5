//! A single change of a text.

/// A byte range and its replacement. With `start == end` the text is inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// First byte to replace.
    pub start: usize,
    /// One past the last byte to replace.
    pub end: usize,
    /// New text.
    pub text: String,
}

impl TextChange {
    /// Creates an insertion of `text` before the byte `at`.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }
}

/// Applies changes to a text. All other bytes are unchanged. The changes must be in the order of the text and
/// must not overlap. Returns `None` if they overlap or are out of order, or if one is out of range.
pub fn apply_changes<'c>(text: &str, changes: impl IntoIterator<Item = &'c TextChange>) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for change in changes {
        if change.end < change.start {
            return None;
        }

        result.push_str(text.get(done..change.start)?);
        text.get(change.start..change.end)?;
        result.push_str(&change.text);

        done = change.end;
    }

    result.push_str(text.get(done..)?);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_bytes_change() {
        let changes = [TextChange { start: 0, end: 2, text: "e".into() }, TextChange::insert(4, "!")];
        assert_eq!(apply_changes("é\r\nb", &changes).as_deref(), Some("e\r\n!b"));
    }

    #[test]
    fn changes_that_do_not_fit_are_refused() {
        for (start, end) in [(1, 2), (0, 9), (2, 0), (8, 9)] {
            let change = TextChange { start, end, text: String::new() };
            assert_eq!(apply_changes("é", [&change]), None, "{start}..{end}");
        }
        let overlapping = [
            TextChange { start: 0, end: 2, text: String::new() },
            TextChange { start: 1, end: 3, text: String::new() },
        ];
        assert_eq!(apply_changes("abc", &overlapping), None);
    }
}
