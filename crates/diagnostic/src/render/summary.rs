//! Counts of diagnostics and their wording.

use crate::{Diagnostic, Severity};

/// Returns the number of errors and the number of warnings, in this order. Notes count as neither.
pub fn count_by_severity(diagnostics: &[Diagnostic]) -> (usize, usize) {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning))
}

/// Returns the counts in words: `2 errors, 1 warning`; `no problems` if there are none.
pub fn summary_line(diagnostics: &[Diagnostic]) -> String {
    let counted = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    match count_by_severity(diagnostics) {
        (0, 0) => "no problems".to_owned(),
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiagnosticCode, SourceMap, Span};

    #[test]
    fn counts_and_words_agree() {
        let span = Span::new(SourceMap::new().add("a", ""), 0, 0);
        let error = Diagnostic::error(DiagnosticCode::new("E0001"), "t", span, "");
        let warning = Diagnostic::warning(DiagnosticCode::new("W0001"), "t", span, "");
        let note = Diagnostic { severity: Severity::Note, ..warning.clone() };
        assert_eq!(summary_line(std::slice::from_ref(&note)), "no problems");
        let all = [error.clone(), warning.clone(), error.clone(), note];
        assert_eq!(count_by_severity(&all), (2, 1));
        assert_eq!(summary_line(&all), "2 errors, 1 warning");
        assert_eq!(summary_line(&[warning.clone(), warning]), "2 warnings");
        assert_eq!(summary_line(&[error]), "1 error");
        assert_eq!(summary_line(&[]), "no problems");
    }
}
