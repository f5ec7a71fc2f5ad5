//! Hover texts: the meaning of a key, the share of a criterion in the score, the error index page of a
//! diagnostic.

use assize_document::codes;
use assize_lint::RULES;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::check::DocumentCheck;
use crate::cursor::cursor_context;
use crate::cursor_context::CursorItem;
use crate::document_kind::DocumentKind;
use crate::open::Open;
use crate::positions;
use crate::score_share::describe_share;

/// Returns the hover text at a position, if there is any.
pub(crate) fn describe_at(document: &Open, checked: &DocumentCheck, position: Position) -> Option<Hover> {
    let offset = positions::offset(&document.text, position);
    let parts: Vec<String> = describe_key(document, position)
        .into_iter()
        .chain(describe_share(checked, &document.path, &document.text, offset))
        .chain(list_code_pages(document, checked, offset))
        .collect();
    (!parts.is_empty()).then(|| Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n---\n\n"),
        }),
        range: None,
    })
}

fn describe_key(document: &Open, position: Position) -> Option<String> {
    let schema = DocumentKind::detect(&document.path, &document.text).schema_name()?;
    let spot = cursor_context(document, position, false);
    let CursorItem::Key(name) = &spot.at else { return None };
    let shape = spot.schema_place(schema)?;
    let key = shape.keys(&spot.beside).into_iter().find(|key| key.name == *name)?;
    let about = format!("**`{}`**: {}", key.name, key.about);
    if key.words.is_empty() {
        return Some(about);
    }

    let words: Vec<String> = key.words.iter().map(|word| format!("`{word}`")).collect();
    Some(format!("{about}\n\nOne of {}.", words.join(", ")))
}

/// Returns the error index pages of the diagnostics at this place.
fn list_code_pages(document: &Open, checked: &DocumentCheck, at: usize) -> Vec<String> {
    let mut pages = Vec::new();
    for (diagnostic, sources) in checked.diagnostics_with_sources() {
        let here = positions::locate_span(diagnostic.primary.span, sources, &document.path, &document.text);
        if !here.is_some_and(|(start, end)| (start..=end).contains(&at)) {
            continue;
        }

        let code = diagnostic.code;
        let rule = RULES.iter().find(|rule| rule.code == code).map(|rule| {
            format!("**{code} {}**: {}\n\n{}\n\n*{}*", rule.name, rule.title, rule.reason, rule.source)
        });
        let page = codes::ALL.iter().find(|page| page.code == code);
        let page = rule.or_else(|| page.map(|page| format!("**{code}**: {}\n\n{}", page.title, page.text)));

        pages.extend(page.filter(|page| !pages.contains(page)));
    }

    pages
}
