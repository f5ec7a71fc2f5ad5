//! Keys that may stand here, and the words that a key takes.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use crate::check::Kind;
use crate::keys::{self, Key};
use crate::place::{Line, section, siblings};
use crate::server::Open;
use crate::text;

/// What may be written at a position.
pub(crate) fn complete(document: &Open, position: Position) -> Vec<CompletionItem> {
    let kind = Kind::of(&document.path, &document.text);
    let is_json = document.path.extension().is_some_and(|ending| ending == "json");
    if kind == Kind::Other || is_json {
        return Vec::new();
    }
    let mut lines: Vec<&str> = document.text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let row = position.line as usize;
    let Some(text) = lines.get(row).copied() else { return Vec::new() };
    let start = text::offset(&document.text, Position { line: position.line, character: 0 });
    let written = text::offset(&document.text, position).saturating_sub(start).min(text.len());
    // What stands behind the cursor does not tell what is to stand at it.
    let before = &text[..written];
    lines[row] = before;
    let mut line = Line::of(before);
    if line.content.is_empty() {
        // The cursor says how deep a line goes that holds nothing yet.
        line.column = before.len();
    }
    let section = section(kind, &lines, row, line.column);
    if let Some((name, _)) = line.key() {
        return keys::find(section, name).into_iter().flat_map(words).collect();
    }
    if line.content.contains([':', ' ', '"', '\'', '#', '{', '[']) {
        return Vec::new();
    }
    let taken = siblings(&lines, row, line.column);
    keys::of(section).filter(|key| !taken.contains(&key.name)).map(item).collect()
}

fn item(key: &'static Key) -> CompletionItem {
    CompletionItem {
        label: key.name.to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        insert_text: Some(format!("{}: ", key.name)),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: key.about.to_owned(),
        })),
        ..CompletionItem::default()
    }
}

fn words(key: &'static Key) -> impl Iterator<Item = CompletionItem> {
    key.values.iter().map(|word| CompletionItem {
        label: (*word).to_owned(),
        kind: Some(CompletionItemKind::ENUM_MEMBER),
        ..CompletionItem::default()
    })
}
