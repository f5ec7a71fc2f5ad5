//! Code actions: the changes that diagnostics suggest.

use assize_lint::RULES;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, WorkspaceEdit,
};

use crate::check::DocumentCheck;
use crate::open::Open;
use crate::positions;

/// Returns the code actions for the diagnostics that touch a range of the text.
pub(crate) fn code_actions(
    document: &Open,
    checked: &DocumentCheck,
    range: Range,
) -> Vec<CodeActionOrCommand> {
    let (from, to) =
        (positions::offset(&document.text, range.start), positions::offset(&document.text, range.end));
    let mut actions = Vec::new();
    for (diagnostic, sources) in checked.diagnostics_with_sources() {
        let Some(suggestion) = &diagnostic.suggestion else { continue };
        let place = |span| positions::locate_span(span, sources, &document.path, &document.text);
        let (Some(primary), Some(part)) = (place(diagnostic.primary.span), place(suggestion.span)) else {
            continue;
        };
        if ![primary, part].iter().any(|(start, end)| *start <= to && *end >= from) {
            continue;
        }

        let edit = TextEdit {
            range: positions::range(&document.text, part),
            new_text: suggestion.replacement.clone(),
        };
        let change = TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                uri: document.uri.clone(),
                version: document.version,
            },
            edits: vec![OneOf::Left(edit)],
        };

        // Fixes that a rule declares keep the meaning; other suggestions are guesses.
        let sure = RULES.iter().any(|rule| rule.code == diagnostic.code && rule.fixes());
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("{} ({})", suggestion.title, diagnostic.code),
            kind: Some(CodeActionKind::QUICKFIX),
            is_preferred: Some(sure),
            edit: Some(WorkspaceEdit {
                document_changes: Some(DocumentChanges::Edits(vec![change])),
                ..WorkspaceEdit::default()
            }),
            ..CodeAction::default()
        }));
    }

    actions
}
