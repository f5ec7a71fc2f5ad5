//! Cursor context: the keys around the cursor, the siblings, and the key or value that it touches.

use crate::cursor_context::{CursorContext, CursorItem};
use crate::yaml_cursor::{YamlLine, enclosing_keys, sibling_entries};
use crate::{json_cursor, positions};
use lsp_types::Position;

use crate::open::Open;

/// Syntax of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentSyntax {
    Yaml,
    Json,
    Lines,
}

fn detect_syntax(document: &Open) -> DocumentSyntax {
    let ending = document.path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("json") => DocumentSyntax::Json,
        Some("jsonl") => DocumentSyntax::Lines,
        _ => DocumentSyntax::Yaml,
    }
}

/// Returns true if the document is JSON, as a whole or line by line.
pub(crate) fn is_json(document: &Open) -> bool {
    detect_syntax(document) != DocumentSyntax::Yaml
}

/// Returns the cursor context at a position. With `cut`, the line ends at the cursor, because the text after the cursor
/// does not matter for completing the text before it.
pub(crate) fn cursor_context(document: &Open, position: Position, cut: bool) -> CursorContext {
    let whole = document.text.as_str();
    let offset = positions::offset(whole, position);
    match detect_syntax(document) {
        DocumentSyntax::Yaml => yaml_context(whole, position, offset, cut),
        DocumentSyntax::Json => json_cursor::json_context(whole, offset),
        DocumentSyntax::Lines => {
            let start = whole[..offset].rfind('\n').map_or(0, |at| at + 1);
            let line = whole[start..].split('\n').next().unwrap_or_default();
            json_cursor::json_context(line, offset - start)
        }
    }
}

fn yaml_context(whole: &str, position: Position, offset: usize, cut: bool) -> CursorContext {
    let mut lines: Vec<&str> = whole.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let row = position.line as usize;
    let Some(full) = lines.get(row).copied() else { return CursorContext::default() };
    let start = positions::offset(whole, Position { line: position.line, character: 0 });
    let written = offset.saturating_sub(start).min(full.len());
    let content = if cut { &full[..written] } else { full };
    lines[row] = content;

    let mut line = YamlLine::parse(content);
    if line.content.is_empty() {
        // On a blank line the cursor column is the indentation.
        line.column = written;
    }

    let mut path: Vec<String> =
        enclosing_keys(&lines, row, line.column).into_iter().map(str::to_owned).collect();
    path.reverse();

    let beside = sibling_entries(&lines, row, line.column)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), unquote(value).to_owned()))
        .collect();
    let at = match line.key_and_value() {
        Some((key, value)) => {
            let colon = line.column + line.content.find(':').unwrap_or(0);
            if !cut && written <= colon {
                CursorItem::Key(key.to_owned())
            } else {
                CursorItem::Value {
                    key: key.to_owned(),
                    text: list_item_at(value, written.saturating_sub(colon + 1)).to_owned(),
                }
            }
        }
        None if line.content.contains([':', ' ', '"', '\'', '#', '{', '[']) || !cut => {
            CursorItem::Value { key: String::new(), text: unquote(line.content).to_owned() }
        }
        None => CursorItem::Key(line.content.to_owned()),
    };
    CursorContext { path, beside, at }
}

/// Returns the item of a list in brackets that the cursor touches, or the whole scalar.
fn list_item_at(value: &str, written: usize) -> &str {
    let Some(inner) = value.strip_prefix('[') else { return unquote(value) };
    let inner = inner.split(']').next().unwrap_or_default();

    // Skip the blank and the bracket before the items.
    let at = written.saturating_sub(2).min(inner.len());
    let at = (0..=at).rev().find(|at| inner.is_char_boundary(*at)).unwrap_or(0);
    let from = inner[..at].rfind(',').map_or(0, |comma| comma + 1);
    let to = inner[at..].find(',').map_or(inner.len(), |comma| at + comma);

    unquote(&inner[from..to])
}

/// Returns a scalar without quotation marks and without the comment after it.
pub(crate) fn unquote(value: &str) -> &str {
    let value = value.trim();
    for mark in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(mark) {
            return inner.split(mark).next().unwrap_or_default();
        }
    }

    value.split(" #").next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_lose_quotes_and_comments() {
        for (written, value) in
            [("a.md", "a.md"), (" 'a b' # c", "a b"), ("\"x", "x"), ("a # b", "a"), ("a#b", "a#b"), ("", "")]
        {
            assert_eq!(unquote(written), value, "{written}");
        }
    }

    #[test]
    fn items_of_a_list_are_told_apart() {
        let value = "[A-REF1, 'B', ü]";
        for (written, item) in [(0, "A-REF1"), (5, "A-REF1"), (11, "B"), (15, "ü"), (99, "ü")] {
            assert_eq!(list_item_at(value, written), item, "{written}");
        }
        assert_eq!(list_item_at("one", 9), "one");
    }
}
