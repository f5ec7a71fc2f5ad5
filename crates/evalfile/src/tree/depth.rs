//! How deep values may be nested.

use assize_diagnostic::{Diagnostic, Span};

use crate::codes;

/// Nesting beyond this is refused: nobody writes it, and reading it would exhaust the stack.
pub(super) const MAX_DEPTH: usize = 96;

/// What is said of a value that stands deeper than [`MAX_DEPTH`].
pub(super) fn too_deep(span: Span) -> Diagnostic {
    let title = format!("values nested more than {MAX_DEPTH} levels deep");
    Diagnostic::error(codes::TOO_DEEP, title, span, "too deep here")
        .with_help("eval files need fewer than ten levels; check the brackets and the indentation")
}
