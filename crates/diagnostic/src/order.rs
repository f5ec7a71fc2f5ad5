//! Order in which diagnostics are shown.

use crate::Diagnostic;

/// Sorts by file (in the order in which the files were added), then by position, then by code.
///
/// The sort is stable, so the result only depends on the input.
pub fn sort_diagnostics(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| {
        let span = d.primary.span;
        (span.source, span.start, span.end, d.code)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiagnosticCode, SourceMap, Span};

    #[test]
    fn files_then_positions_then_codes() {
        let mut map = SourceMap::new();
        let (a, b) = (map.add("b.yaml", "xyz"), map.add("a.yaml", "xyz"));
        let make =
            |source, start, code, title| Diagnostic::error(code, title).at(Span::new(source, start, 3), "");
        let (one, two) = (DiagnosticCode::new("E0001"), DiagnosticCode::new("E0002"));
        let mut all = vec![
            make(b, 0, one, "5"),
            make(a, 1, two, "3"),
            make(a, 1, one, "1"),
            make(a, 2, one, "4"),
            make(a, 1, one, "2"),
        ];
        sort_diagnostics(&mut all);
        let titles: Vec<_> = all.iter().map(|d| d.title.as_str()).collect();
        assert_eq!(titles, ["1", "2", "3", "4", "5"]);
    }
}
