//! Last step of every load: sorts the diagnostics, and converts suggestions to the syntax of their file.

use assize_diagnostic::{Diagnostic, SourceMap, SuggestedEdit};

use crate::diagnostic_collector::DiagnosticCollector;

/// Returns the diagnostics of a load, sorted by file and position.
pub fn finish_diagnostics(problems: DiagnosticCollector, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut diagnostics = problems.into_vec();
    for suggestion in diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.suggestion.as_mut()) {
        let path = sources.file(suggestion.span.source).path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
            convert_to_json(suggestion, sources);
        }
    }

    assize_diagnostic::sort_diagnostics(&mut diagnostics);
    diagnostics
}

/// Converts a suggestion from YAML, where words need no quotes, to JSON. The span of a key excludes its
/// quotation marks, the span of a string includes them.
fn convert_to_json(suggestion: &mut SuggestedEdit, sources: &SourceMap) {
    let written = sources.slice(suggestion.span);
    let is_text = written.len() > 1 && written.starts_with('"') && written.ends_with('"');
    if is_text {
        let is_json = serde_json::from_str::<serde_json::Value>(&suggestion.replacement).is_ok();
        if !is_json {
            suggestion.replacement = serde_json::Value::from(suggestion.replacement.as_str()).to_string();
        }
    } else if written.contains("\":")
        && let Some((key, value)) = suggestion.replacement.split_once(": ")
    {
        suggestion.replacement = format!("{key}\": {value}");
    }
}

#[cfg(test)]
mod tests {
    use assize_diagnostic::Span;

    use super::*;
    use crate::codes;

    #[test]
    fn changes_of_json_files_are_json() {
        let text = "{\"type\": \"contians\", \"min_score\": 7, \"weight\": \"2\"}";
        for (path, part, replacement, expected) in [
            ("a.json", "\"contians\"", "contains", "\"contains\""),
            ("a.jsonl", "min_score\": 7", "required: true", "required\": true"),
            ("a.json", "\"2\"", "2", "2"),
            ("a.json", "weight", "width", "width"),
            ("a.yaml", "\"contians\"", "contains", "contains"),
        ] {
            let mut sources = SourceMap::new();
            let source = sources.add(path, text);
            let start = text.find(part).expect("there");
            let span = Span::new(source, start, start + part.len());
            let mut problems = DiagnosticCollector::default();
            Diagnostic::error(codes::WRONG_TYPE, "a")
                .at(span, "b")
                .with_suggestion("c", span, replacement)
                .add_to(&mut problems);
            let found = finish_diagnostics(problems, &sources).remove(0).suggestion.expect("kept");
            assert_eq!(found.replacement, expected, "{path} {part}");
        }
    }
}
