//! How much may be made of the files of a configuration.

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{ValueSize, codes};
use assize_evalfile::reading::DecodeContext;
use assize_limits::{
    EXPANSION_FACTOR, MATRIX_ANSWERS, MATRIX_BYTES, MATRIX_CASES, MATRIX_VALUE_BYTES,
    MATRIX_VALUE_BYTES_OF_LARGE_FILES, MEMBER_BYTES, VALUE_BYTES,
};

/// True if this is more than may be made of the files.
pub(super) fn exceeds_allowance(cx: &DecodeContext, made: ValueSize) -> bool {
    let ValueSize { texts, values } = made;
    texts > MATRIX_BYTES
        || values
            > cx.allowed(EXPANSION_FACTOR as usize, MATRIX_VALUE_BYTES, MATRIX_VALUE_BYTES_OF_LARGE_FILES)
}

/// The error for more than that.
pub(super) fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error(codes::MATRIX_TOO_LARGE, "prompts, tests and variables make too many cases")
        .at(
            span,
            format!(
                "more than {MATRIX_CASES} cases, {MATRIX_ANSWERS} answers, {} MiB of texts, or {} MiB of values in them",
                MATRIX_BYTES >> 20,
                MATRIX_VALUE_BYTES >> 20
            ),
        )
        .with_note(format!(
            "the tests count too; for large files, {EXPANSION_FACTOR} times their size of values, up to {} MiB; a value counts as \
             {VALUE_BYTES} bytes, a member of a map as {MEMBER_BYTES} more",
            MATRIX_VALUE_BYTES_OF_LARGE_FILES >> 20
        ))
        .with_help("name fewer values, or put the cases into a JSONL file")
}
