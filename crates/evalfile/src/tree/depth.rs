//! Limit of the nesting depth of values.

use assize_diagnostic::{Diagnostic, Span};

use crate::codes;

/// Maximum nesting depth: deeper values would exhaust the stack.
pub(super) const MAX_DEPTH: usize = 96;

/// Returns the diagnostic for a value nested deeper than [`MAX_DEPTH`].
pub(super) fn too_deep(span: Span) -> Diagnostic {
    let title = format!("values nested more than {MAX_DEPTH} levels deep");
    Diagnostic::error(codes::TOO_DEEP, title, span, "too deep here")
        .with_help("eval files need fewer than ten levels; check the brackets and the indentation")
}
