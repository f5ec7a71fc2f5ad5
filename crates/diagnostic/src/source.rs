//! Source files and their line tables.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Span;

/// Names one file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A position for people: both count from 1; the column counts characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One file's text with a table of its lines.
#[derive(Debug, Clone)]
pub struct SourceFile {
    path: Arc<Path>,
    text: Arc<str>,
    /// Whether every character is one byte, so that counting characters is counting bytes.
    ascii: bool,
    /// Byte offset at which each line starts; the first is 0.
    line_starts: Vec<usize>,
    /// Line number of the first line, minus one: greater than 0 for a fragment of a larger file.
    line_offset: usize,
}

impl SourceFile {
    fn new(path: Arc<Path>, text: Arc<str>, line_offset: usize) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(i, _)| i + 1));
        let ascii = text.is_ascii();
        Self { path, text, ascii, line_starts, line_offset }
    }

    /// The path as the user would write it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same, to be kept.
    pub fn shared_path(&self) -> Arc<Path> {
        Arc::clone(&self.path)
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of the text's first line in the file on disk, from 1. It is 1 except for fragments
    /// such as one line of a JSONL file.
    pub fn first_line(&self) -> usize {
        self.line_offset + 1
    }

    /// Line and column of a byte offset; an offset past the end is taken as the end.
    ///
    /// A byte order mark has no column, and neither has the end of a line: an offset inside `\r\n`
    /// is the position after the last character.
    pub fn position(&self, offset: usize) -> LineColumn {
        let offset = self.floor_boundary(offset);
        let line = self.line_index(offset);
        let content = self.line_content(line);
        let end = offset.clamp(content.start, content.end);
        let before = &self.text[content.start..end];
        let column = if self.ascii { before.len() } else { before.chars().count() } + 1;
        LineColumn { line: line + self.first_line(), column }
    }

    /// The nearest character boundary at or before `offset`, inside the text.
    pub(crate) fn floor_boundary(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }

    /// Index from 0 of the line that holds `offset`.
    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// Byte range of a line (index from 0) without its line ending and without a byte order mark.
    pub(crate) fn line_content(&self, index: usize) -> Range<usize> {
        let mut start = self.line_starts[index];
        let mut end = self.text.len();
        if let Some(next) = self.line_starts.get(index + 1) {
            end = next - 1;
            if self.text[start..end].ends_with('\r') {
                end -= 1;
            }
        }
        if start == 0 && self.text.starts_with('\u{feff}') {
            start = '\u{feff}'.len_utf8();
        }
        start..end
    }
}

/// All files of one load, so that a [`Span`] can be turned back into a place.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map with no files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a whole file.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> SourceId {
        self.add_fragment(path, text, 1)
    }

    /// Adds a part of a file whose first line is line `first_line` (from 1) of it.
    pub fn add_fragment(
        &mut self,
        path: impl Into<PathBuf>,
        text: impl Into<Arc<str>>,
        first_line: usize,
    ) -> SourceId {
        self.add_shared(Arc::from(path.into()), text, first_line)
    }

    /// The same for a path of which there are many fragments.
    pub fn add_shared(&mut self, path: Arc<Path>, text: impl Into<Arc<str>>, first_line: usize) -> SourceId {
        let id = SourceId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile::new(path, text.into(), first_line.saturating_sub(1)));
        id
    }

    /// The file an id names. Ids come from [`SourceMap::add`] of the same map.
    pub fn file(&self, id: SourceId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (SourceId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, file)| (SourceId(i as u32), file))
    }

    /// Where a span begins.
    pub fn position(&self, span: Span) -> LineColumn {
        self.file(span.source).position(span.start)
    }

    /// The text a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.file(span.source).text().get(span.start..span.end).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_lines_from_one() {
        let mut map = SourceMap::new();
        let id = map.add("a.yaml", "é: 1\nb: ü2\n");
        let second = map.file(id).text().find('2').expect("present");
        assert_eq!(map.file(id).position(0), LineColumn { line: 1, column: 1 });
        assert_eq!(map.file(id).position(second), LineColumn { line: 2, column: 5 });
        assert_eq!(map.file(id).position(9_999), LineColumn { line: 3, column: 1 });
    }

    #[test]
    fn line_endings_and_a_byte_order_mark_have_no_column() {
        let mut map = SourceMap::new();
        let id = map.add("a.yaml", "\u{feff}ab\r\nc");
        assert_eq!(map.file(id).position(0), LineColumn { line: 1, column: 1 });
        assert_eq!(map.file(id).position(3), LineColumn { line: 1, column: 1 });
        assert_eq!(map.file(id).position(5), LineColumn { line: 1, column: 3 });
        assert_eq!(map.file(id).position(6), LineColumn { line: 1, column: 3 });
        assert_eq!(map.file(id).position(7), LineColumn { line: 2, column: 1 });
    }

    #[test]
    fn fragments_keep_the_line_of_the_file() {
        let mut map = SourceMap::new();
        let id = map.add_fragment("a.jsonl", "{\"id\": 1}", 41);
        assert_eq!(map.position(Span::new(id, 1, 2)), LineColumn { line: 41, column: 2 });
    }
}
