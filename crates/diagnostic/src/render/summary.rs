//! Counts diagnostics.

use crate::{Diagnostic, Severity};

/// Returns the number of errors and the number of warnings, in this order. Notes count as neither.
pub fn count_by_severity<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> (usize, usize) {
    diagnostics.into_iter().fold((0, 0), |(errors, warnings), diagnostic| match diagnostic.severity {
        Severity::Error => (errors + 1, warnings),
        Severity::Warning => (errors, warnings + 1),
        Severity::Note => (errors, warnings),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiagnosticCode, SourceMap, Span};

    #[test]
    fn notes_are_neither_errors_nor_warnings() {
        let span = Span::new(SourceMap::new().add("a", ""), 0, 0);
        let error = Diagnostic::error(DiagnosticCode::new("E0001"), "t").at(span, "");
        let warning = Diagnostic::warning(DiagnosticCode::new("W0001"), "t").at(span, "");
        let note = Diagnostic { severity: Severity::Note, ..warning.clone() };
        let all = [error.clone(), warning, error, note];
        assert_eq!(count_by_severity(&all), (2, 1));
    }
}
