//! Completion of keys and of their values.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use crate::cursor::{cursor_context, is_json};
use crate::cursor_context::CursorItem;
use crate::document_kind::DocumentKind;
use crate::open::Open;
use crate::positions;
use crate::schema_place::SchemaKey;

/// Returns the completions at a position.
pub(crate) fn list_completions(document: &Open, position: Position) -> Vec<CompletionItem> {
    let kind = DocumentKind::detect(&document.path, &document.text);
    let Some(schema) = kind.schema_name() else { return Vec::new() };
    let spot = cursor_context(document, position, true);
    let Some(shape) = spot.schema_place(schema) else { return Vec::new() };
    let json = is_json(document);
    let offset = positions::offset(&document.text, position);
    let quoted =
        json && document.text[..offset].ends_with(|c: char| c == '"' || c.is_alphanumeric() || c == '_');
    match &spot.at {
        CursorItem::Key(_) => {
            let keys = shape.keys(&spot.beside).into_iter();
            keys.filter(|key| !key.deprecated && !spot.beside.contains_key(&key.name))
                .map(|key| completion_item(key, json, quoted))
                .collect()
        }
        CursorItem::Value { key, .. } if key.is_empty() => value_items(shape.values(), json && !quoted),
        CursorItem::Value { key, .. } => value_items(shape.child(key).values(), json && !quoted),
        CursorItem::Nothing => Vec::new(),
    }
}

fn completion_item(key: SchemaKey, json: bool, quoted: bool) -> CompletionItem {
    let insert = match (json, quoted) {
        (false, _) => format!("{}: ", key.name),
        (true, false) => format!("\"{}\": ", key.name),
        // The quotation marks exist already.
        (true, true) => key.name.clone(),
    };
    CompletionItem {
        label: key.name,
        kind: Some(CompletionItemKind::PROPERTY),
        insert_text: Some(insert),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: key.about,
        })),
        ..CompletionItem::default()
    }
}

/// Returns completion items for values; in JSON, values other than booleans are quoted.
fn value_items(words: Vec<String>, quote: bool) -> Vec<CompletionItem> {
    let item = |word: String| CompletionItem {
        insert_text: (quote && word != "true" && word != "false").then(|| format!("\"{word}\"")),
        label: word,
        kind: Some(CompletionItemKind::ENUM_MEMBER),
        ..CompletionItem::default()
    };
    words.into_iter().map(item).collect()
}
