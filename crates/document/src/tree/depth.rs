//! Limits of the nesting depth and the number of values, and of the size of maps, whose keys occur once.

use assize_diagnostic::{Diagnostic, Span};

use crate::codes;
pub(super) use assize_limits::MAP_KEYS as MAX_KEYS;
pub(super) use assize_limits::NESTING as MAX_DEPTH;
pub(super) use assize_limits::TREE_VALUES as MAX_VALUES;

/// Returns the diagnostic for a value nested deeper than [`MAX_DEPTH`].
pub(super) fn too_deep(span: Span) -> Diagnostic {
    let title = format!("values nested more than {MAX_DEPTH} levels deep");
    Diagnostic::error(codes::TOO_DEEP, title)
        .at(span, "too deep here")
        .with_help("eval files need fewer than ten levels; check the brackets and the indentation")
}

/// Returns the diagnostic for a key that a map has a second time.
pub(super) fn duplicate_key(map: &str, key: &str, span: Span, first: Span) -> Diagnostic {
    let title = format!("duplicate key `{key}` in one {map}");
    Diagnostic::error(codes::DUPLICATE_KEY, title)
        .at(span, "second time")
        .with_secondary(first, "first time")
        .with_help("keep one of them: only one of them can count")
}

/// Returns the diagnostic for a map of more than [`MAX_KEYS`] keys.
pub(super) fn too_many_keys(span: Span) -> Diagnostic {
    Diagnostic::error(codes::LIMIT_REACHED, format!("a map of more than {MAX_KEYS} keys"))
        .at(span, "this key goes over the limit")
        .with_help("write a list; many cases belong in a JSONL file, one on each line")
}

/// Returns the diagnostic for more than [`MAX_VALUES`] values.
pub(super) fn too_many_values(span: Span) -> Diagnostic {
    Diagnostic::error(codes::LIMIT_REACHED, format!("more than {MAX_VALUES} values"))
        .at(span, "this value goes over the limit")
        .with_help("put each case on a line of a JSONL file, and long data into files of their own")
}
