//! A YAML or JSON file as plain values with line numbers, for files in formats of other tools.

use std::path::Path;

use assize_diagnostic::{Diagnostic, SourceMap};
use serde_json::Value;

use crate::diagnostic_collector::DiagnosticCollector;
use crate::file_ending::file_extension;
use crate::finish::finish_diagnostics;
use crate::tree::{TreeNode, read_json, read_yaml};

/// A parsed file.
#[derive(Debug, Clone)]
pub struct ParsedDocument {
    root: TreeNode,
    sources: SourceMap,
}

impl ParsedDocument {
    /// Parses a text; the extension of the path decides whether it is JSON. Scalars follow YAML 1.2, so `Yes`
    /// and dates stay strings. The error holds the diagnostics and their sources.
    pub fn parse(path: &Path, text: &str) -> Result<Self, (Vec<Diagnostic>, SourceMap)> {
        let mut sources = SourceMap::new();
        let source = sources.add(path, text);
        let mut problems = DiagnosticCollector::default();
        let root = match file_extension(path).as_str() {
            "json" | "jsonl" => read_json(&sources, source, &mut problems),
            _ => read_yaml(&sources, source, &mut problems),
        };
        match root {
            Some(root) if problems.error_count() == 0 => Ok(Self { root, sources }),
            _ => Err((finish_diagnostics(problems, &sources), sources)),
        }
    }

    /// Returns the values, with aliases and merge keys resolved.
    pub fn value(&self) -> Value {
        self.root.to_json()
    }

    /// Returns the line, from 1, of the value at a JSON pointer (RFC 6901), or of its nearest enclosing value
    /// if there is none.
    pub fn line(&self, pointer: &str) -> usize {
        let mut node = &self.root;
        for part in pointer.split('/').skip(1) {
            let key = part.replace("~1", "/").replace("~0", "~");
            let next = node.get(&key).or_else(|| node.as_seq()?.get(key.parse::<usize>().ok()?));
            match next {
                Some(inner) => node = inner,
                None => break,
            }
        }

        self.sources.position(node.use_span()).line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let text = "a:\n  - x: Yes\n  - y/z: 2\n";
        let document = ParsedDocument::parse(Path::new("a.yaml"), text).expect("sound");
        assert_eq!(document.value()["a"][0]["x"], "Yes");
        assert_eq!(document.line("/a/1/y~1z"), 3);
        assert_eq!(document.line("/a/0/nothing/here"), 2);
        assert!(ParsedDocument::parse(Path::new("a.json"), "{").is_err());
    }
}
