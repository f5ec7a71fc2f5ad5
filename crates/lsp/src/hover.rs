//! What the word under the cursor means: a key, or the complaint that is made there.

use assize_lint::RULES;
use assize_spec::codes;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::check::{Checked, Kind, is_here};
use crate::keys;
use crate::place::{Line, section};
use crate::server::Open;
use crate::text;

/// The hint at a position, if there is anything to say.
pub(crate) fn hover(document: &Open, checked: &Checked, position: Position) -> Option<Hover> {
    let parts: Vec<String> =
        key(document, position).into_iter().chain(complaints(document, checked, position)).collect();
    (!parts.is_empty()).then(|| Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n---\n\n"),
        }),
        range: None,
    })
}

fn key(document: &Open, position: Position) -> Option<String> {
    let kind = Kind::of(&document.path, &document.text);
    if kind == Kind::Other {
        return None;
    }
    let lines: Vec<&str> = document.text.lines().collect();
    let row = position.line as usize;
    let line = Line::of(lines.get(row)?);
    let (name, _) = line.key()?;
    let start = text::offset(&document.text, Position { line: position.line, character: 0 });
    let at = text::offset(&document.text, position).checked_sub(start + line.column)?;
    if at > line.content.find(':')? {
        return None;
    }
    let key = keys::find(section(kind, &lines, row, line.column), name)?;
    let about = format!("**`{}`**: {}", key.name, key.about);
    if key.values.is_empty() {
        return Some(about);
    }
    let words: Vec<String> = key.values.iter().map(|word| format!("`{word}`")).collect();
    Some(format!("{about}\n\nOne of {}.", words.join(", ")))
}

/// The pages of the codes of what is said about this place.
fn complaints(document: &Open, checked: &Checked, position: Position) -> Vec<String> {
    let at = text::offset(&document.text, position);
    let mut pages = Vec::new();
    for (diagnostic, sources) in checked.each() {
        let span = diagnostic.primary.span;
        if !is_here(span, sources, &document.path, &document.text) || !(span.start..=span.end).contains(&at) {
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
