//! Cursor context: the keys around the cursor, the siblings, and the key or value that it touches.

use crate::shape::{Shape, Siblings};
use crate::yaml_place::{Line, around, siblings};
use crate::{json_place, text};
use lsp_types::Position;

use crate::open::Open;

/// Context of a cursor position in a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Spot {
    /// Enclosing keys, outermost first.
    pub(crate) way: Vec<String>,
    /// Scalars of the same map, by their keys.
    pub(crate) beside: Siblings,
    /// Item that the cursor touches.
    pub(crate) at: At,
}

/// Item that the cursor touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum At {
    /// A key, or the beginning of one.
    Key(String),
    /// The value of a key, or an item of its list; the key is blank where there is none.
    Value {
        key: String,
        /// Value as written, without quotation marks.
        text: String,
    },
    /// Neither.
    #[default]
    Nothing,
}

/// Syntax of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Yaml,
    Json,
    Lines,
}

fn notation(document: &Open) -> Notation {
    let ending = document.path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("json") => Notation::Json,
        Some("jsonl") => Notation::Lines,
        _ => Notation::Yaml,
    }
}

/// Returns true if the document is JSON, as a whole or line by line.
pub(crate) fn is_json(document: &Open) -> bool {
    notation(document) != Notation::Yaml
}

/// Returns the cursor context at a position. With `cut` the line ends at the cursor: text after it does not
/// tell what belongs before it.
pub(crate) fn spot(document: &Open, position: Position, cut: bool) -> Spot {
    let whole = document.text.as_str();
    let offset = text::offset(whole, position);
    match notation(document) {
        Notation::Yaml => yaml(whole, position, offset, cut),
        Notation::Json => json_place::spot(whole, offset),
        Notation::Lines => {
            let start = whole[..offset].rfind('\n').map_or(0, |at| at + 1);
            let line = whole[start..].split('\n').next().unwrap_or_default();
            json_place::spot(line, offset - start)
        }
    }
}

impl Spot {
    /// Returns the place in the schema, navigating from the root of the schema named.
    pub(crate) fn shape(&self, schema: &str) -> Option<Shape<'static>> {
        let top = Shape::top(schema)?;
        Some(self.way.iter().fold(top, |shape, key| shape.below(key)))
    }
}

fn yaml(whole: &str, position: Position, offset: usize, cut: bool) -> Spot {
    let mut lines: Vec<&str> = whole.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let row = position.line as usize;
    let Some(full) = lines.get(row).copied() else { return Spot::default() };
    let start = text::offset(whole, Position { line: position.line, character: 0 });
    let written = offset.saturating_sub(start).min(full.len());
    let content = if cut { &full[..written] } else { full };
    lines[row] = content;
    let mut line = Line::of(content);
    if line.content.is_empty() {
        // On a blank line the cursor column is the indentation.
        line.column = written;
    }
    let mut way: Vec<String> = around(&lines, row, line.column).into_iter().map(str::to_owned).collect();
    way.reverse();
    let beside = siblings(&lines, row, line.column)
        .into_iter()
        .map(|(key, value)| (key.to_owned(), plain(value).to_owned()))
        .collect();
    let at = match line.key() {
        Some((key, value)) => {
            let colon = line.column + line.content.find(':').unwrap_or(0);
            if !cut && written <= colon {
                At::Key(key.to_owned())
            } else {
                At::Value {
                    key: key.to_owned(),
                    text: item_at(value, written.saturating_sub(colon + 1)).to_owned(),
                }
            }
        }
        None if line.content.contains([':', ' ', '"', '\'', '#', '{', '[']) || !cut => {
            At::Value { key: String::new(), text: plain(line.content).to_owned() }
        }
        None => At::Key(line.content.to_owned()),
    };
    Spot { way, beside, at }
}

/// Returns the item of a list in brackets that the cursor touches, or the whole scalar.
fn item_at(value: &str, written: usize) -> &str {
    let Some(inner) = value.strip_prefix('[') else { return plain(value) };
    let inner = inner.split(']').next().unwrap_or_default();
    // The blank and the bracket before the items.
    let at = written.saturating_sub(2).min(inner.len());
    let at = (0..=at).rev().find(|at| inner.is_char_boundary(*at)).unwrap_or(0);
    let from = inner[..at].rfind(',').map_or(0, |comma| comma + 1);
    let to = inner[at..].find(',').map_or(inner.len(), |comma| at + comma);
    plain(&inner[from..to])
}

/// Returns a scalar without quotation marks and without the comment after it.
pub(crate) fn plain(value: &str) -> &str {
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
            assert_eq!(plain(written), value, "{written}");
        }
    }

    #[test]
    fn items_of_a_list_are_told_apart() {
        let value = "[A-REF1, 'B', ü]";
        for (written, item) in [(0, "A-REF1"), (5, "A-REF1"), (11, "B"), (15, "ü"), (99, "ü")] {
            assert_eq!(item_at(value, written), item, "{written}");
        }
        assert_eq!(item_at("one", 9), "one");
    }
}
