//! Completion of keys and of their values.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use crate::kind::Kind;
use crate::open::Open;
use crate::shape::Key;
use crate::spot::{At, is_json, spot};
use crate::text;

/// Returns the completions at a position.
pub(crate) fn complete(document: &Open, position: Position) -> Vec<CompletionItem> {
    let kind = Kind::of(&document.path, &document.text);
    let Some(schema) = kind.schema() else { return Vec::new() };
    let spot = spot(document, position, true);
    let Some(shape) = spot.shape(schema) else { return Vec::new() };
    let json = is_json(document);
    let offset = text::offset(&document.text, position);
    let quoted =
        json && document.text[..offset].ends_with(|c: char| c == '"' || c.is_alphanumeric() || c == '_');
    match &spot.at {
        At::Key(_) => {
            let keys = shape.keys(&spot.beside).into_iter();
            keys.filter(|key| !key.deprecated && !spot.beside.contains_key(&key.name))
                .map(|key| item(key, json, quoted))
                .collect()
        }
        At::Value { key, .. } if key.is_empty() => words(shape.words(), json && !quoted),
        At::Value { key, .. } => words(shape.below(key).words(), json && !quoted),
        At::Nothing => Vec::new(),
    }
}

fn item(key: Key, json: bool, quoted: bool) -> CompletionItem {
    let insert = match (json, quoted) {
        (false, _) => format!("{}: ", key.name),
        (true, false) => format!("\"{}\": ", key.name),
        // The quotation marks are there already.
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
fn words(words: Vec<String>, quote: bool) -> Vec<CompletionItem> {
    let item = |word: String| CompletionItem {
        insert_text: (quote && word != "true" && word != "false").then(|| format!("\"{word}\"")),
        label: word,
        kind: Some(CompletionItemKind::ENUM_MEMBER),
        ..CompletionItem::default()
    };
    words.into_iter().map(item).collect()
}
