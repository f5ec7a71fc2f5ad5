//! Source files and their line tables.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{SourceId, Span};

/// A position as editors show it. Both numbers count from 1; the column counts characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Number of bytes between two offsets with a known number of characters before them.
const CHARACTER_BLOCK_BYTES: usize = 1024;

/// The text of one file with a table of its lines.
#[derive(Debug, Clone)]
pub struct SourceFile {
    path: Arc<Path>,
    text: Arc<str>,
    /// Byte offsets at which lines begin, except the first.
    later_starts: Vec<usize>,
    /// Number of characters before each multiple of [`CHARACTER_BLOCK_BYTES`] bytes. Columns are computed from
    /// the nearest of them. Counting from the beginning of the line would take quadratic time in a large file
    /// with a single line.
    characters: Vec<usize>,
    /// True if every character is one byte.
    is_ascii: bool,
    /// Line number of the first line, minus one. More than 0 for a fragment of a larger file.
    line_offset: usize,
    /// The cells, if the text is a row of a spreadsheet.
    cells: Option<Arc<RowCells>>,
}

/// Cells of a row of a spreadsheet or Parquet file, as ranges of the text that represents the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCells {
    /// Name of the sheet; empty for a table that has none.
    pub sheet: Arc<str>,
    /// True for the column names of a table without sheets. They are not a row of the table.
    pub is_header: bool,
    /// For each cell, the byte of the text at which it begins, ascending, and the number of its column, from 1.
    pub starts: Vec<(usize, u32)>,
}

impl RowCells {
    /// Returns the number of the column at an offset. An offset before all cells belongs to the first one.
    fn column_at(&self, offset: usize) -> u32 {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        self.starts.get(after.saturating_sub(1)).map_or(1, |(_, column)| *column)
    }
}

/// Returns the name of a cell in the notation of spreadsheets, such as `Answers!C7` or `'Round 2'!C7`. Row and
/// column count from 1.
pub fn cell_name(sheet: &str, row: usize, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    let letters: String = letters.into_iter().rev().collect();

    if sheet.chars().all(|sign| sign.is_alphanumeric() || sign == '_') {
        format!("{sheet}!{letters}{row}")
    } else {
        format!("'{}'!{letters}{row}", sheet.replace('\'', "''"))
    }
}

impl SourceFile {
    fn new(path: Arc<Path>, text: Arc<str>, line_offset: usize) -> Self {
        let later_starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1).collect();
        let mut characters = Vec::new();
        let is_ascii = text.is_ascii();

        // A shorter text needs no table.
        if text.len() > CHARACTER_BLOCK_BYTES && !is_ascii {
            let mut before = 0;
            for block in text.as_bytes().chunks(CHARACTER_BLOCK_BYTES) {
                characters.push(before);
                before += count_characters(block);
            }
        }

        Self { path, text, later_starts, characters, is_ascii, line_offset, cells: None }
    }

    /// Returns the path as the user would write it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path as a shared pointer.
    pub fn shared_path(&self) -> Arc<Path> {
        Arc::clone(&self.path)
    }

    /// Returns the byte ranges of the non-blank lines, without line ends and byte order mark.
    pub fn lines(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let lines = (0..=self.later_starts.len()).map(|index| self.line_content(index));
        lines.filter(|range| !self.text[range.clone()].trim().is_empty())
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole text as a shared pointer.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Returns the number of the text's first line in the file on disk, from 1. It is 1 except for fragments,
    /// such as a line of a JSONL file.
    pub fn first_line(&self) -> usize {
        self.line_offset + 1
    }

    /// Returns the line and column of a byte offset. An offset past the end counts as the end.
    ///
    /// A byte order mark has no column, and neither does a line end: an offset inside `\r\n` is the position
    /// after the last character. For a row of a spreadsheet, the column is the column of the cell.
    pub fn position(&self, offset: usize) -> LineColumn {
        if let Some(cells) = &self.cells {
            return LineColumn { line: self.first_line(), column: cells.column_at(offset) as usize };
        }

        let offset = self.floor_boundary(offset);
        let line = self.line_index(offset);
        let content = self.line_content(line);
        let end = offset.clamp(content.start, content.end);
        let before = if self.is_ascii {
            end - content.start
        } else if end - content.start <= CHARACTER_BLOCK_BYTES {
            count_characters(&self.text.as_bytes()[content.start..end])
        } else {
            self.characters_before(end) - self.characters_before(content.start)
        };

        let column = before + 1;
        LineColumn { line: line + self.first_line(), column }
    }

    /// Returns the name of the cell at an offset, if the text is a row of a spreadsheet.
    pub fn cell_at(&self, offset: usize) -> Option<String> {
        let cells = self.cells.as_ref()?;
        let (row, column) = (self.first_line(), cells.column_at(offset));
        Some(match (cells.sheet.is_empty(), cells.is_header) {
            (true, true) => format!("column {column}"),
            (true, false) => format!("row {row}, column {column}"),
            (false, _) => cell_name(&cells.sheet, row, column),
        })
    }

    /// Returns the number of characters that begin before an offset inside the text.
    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / CHARACTER_BLOCK_BYTES;
        let known = self.characters.get(block).copied();
        let (from, known) = match known {
            Some(known) => (block * CHARACTER_BLOCK_BYTES, known),
            // The text ends exactly at the end of a block.
            None => match self.characters.last() {
                Some(last) => ((block - 1) * CHARACTER_BLOCK_BYTES, *last),
                None => (0, 0),
            },
        };
        known + count_characters(&self.text.as_bytes()[from..offset])
    }

    /// Returns the offset of the character of a line that has this many others before it; `None` behind its end.
    fn offset_in_line(&self, line: &Range<usize>, characters: usize) -> Option<usize> {
        let offset = if self.is_ascii {
            line.start.checked_add(characters)?
        } else {
            let wanted = self.characters_before(line.start).checked_add(characters)?;
            let block = self.characters.partition_point(|before| *before <= wanted).saturating_sub(1);
            let from = block * CHARACTER_BLOCK_BYTES;
            let known = self.characters.get(block).copied().unwrap_or_default();
            let from = self.text.ceil_char_boundary(from);
            from + self.text[from..].char_indices().nth(wanted - known)?.0
        };

        (offset < line.end).then_some(offset)
    }

    /// Returns the nearest character boundary inside the text, at or before `offset`.
    pub(crate) fn floor_boundary(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }

    /// Returns the index of the line at `offset`, from 0.
    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.later_starts.partition_point(|start| *start <= offset)
    }

    /// Returns the byte range of a line (index from 0) without its line ending and without a byte order mark.
    pub(crate) fn line_content(&self, index: usize) -> Range<usize> {
        let mut start = if index == 0 { 0 } else { self.later_starts[index - 1] };
        let mut end = self.text.len();
        if let Some(next) = self.later_starts.get(index) {
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

/// Counts the characters that begin in a slice of UTF-8. The slice may begin and end inside of a character.
fn count_characters(bytes: &[u8]) -> usize {
    // The count of a chunk fits into a byte, so the compiler can vectorise the sum.
    let begin = |piece: &[u8]| piece.iter().map(|byte| u8::from(byte & 0xC0 != 0x80)).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|piece| usize::from(begin(piece))).sum()
}

/// All files of one load. Resolves a [`Span`] to a position.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a whole file.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> SourceId {
        self.add_fragment(path, text, 1)
    }

    /// Adds a fragment of a file that begins at its line `first_line` (from 1).
    pub fn add_fragment(
        &mut self,
        path: impl Into<PathBuf>,
        text: impl Into<Arc<str>>,
        first_line: usize,
    ) -> SourceId {
        self.add_fragment_shared(Arc::from(path.into()), text, first_line)
    }

    /// Adds a fragment whose path is shared with other fragments; see [`SourceMap::add_fragment`].
    pub fn add_fragment_shared(
        &mut self,
        path: Arc<Path>,
        text: impl Into<Arc<str>>,
        first_line: usize,
    ) -> SourceId {
        let id = SourceId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile::new(path, text.into(), first_line.saturating_sub(1)));
        id
    }

    /// Adds a row of a spreadsheet, as a text of one line. Its number counts from 1.
    pub fn add_row(
        &mut self,
        path: Arc<Path>,
        text: impl Into<Arc<str>>,
        number: usize,
        cells: Arc<RowCells>,
    ) -> SourceId {
        let id = self.add_fragment_shared(path, text, number);
        self.files[id.0 as usize].cells = Some(cells);
        id
    }

    /// Adds a file of another map under this path, with a different text in which all lines and cells are at
    /// the same offsets.
    pub fn add_copy(&mut self, path: Arc<Path>, text: impl Into<Arc<str>>, file: &SourceFile) -> SourceId {
        let id = self.add_fragment_shared(path, text, file.first_line());
        self.files[id.0 as usize].cells.clone_from(&file.cells);
        id
    }

    /// Changes the path of files in diagnostics.
    pub fn rename(&mut self, path: &Path, name: &Path) {
        let name: Arc<Path> = Arc::from(name);
        for file in self.files.iter_mut().filter(|file| &*file.path == path) {
            file.path = Arc::clone(&name);
        }
    }

    /// Returns the file with an id. The id must come from the same map.
    pub fn file(&self, id: SourceId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Returns all files, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (SourceId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, file)| (SourceId(i as u32), file))
    }

    /// Returns the position at which a span begins.
    pub fn position(&self, span: Span) -> LineColumn {
        self.file(span.source).position(span.start)
    }

    /// Returns the span of the word at a position, which ends before the next blank, bracket, comma or
    /// quotation mark. `None` if there is no such position in the file.
    pub fn word_at(&self, path: &Path, line: usize, column: usize) -> Option<Span> {
        self.files().find_map(|(source, file)| {
            let index = line.checked_sub(file.first_line()).filter(|_| file.path() == path)?;
            let line = (index <= file.later_starts.len()).then(|| file.line_content(index))?;
            let start = file.offset_in_line(&line, column.checked_sub(1)?)?;
            let rest = &file.text[start..line.end];
            let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | '"' | '\'');
            let length =
                rest.find(ends).unwrap_or(rest.len()).max(rest.chars().next().map_or(0, char::len_utf8));

            Some(Span { source, start, end: start + length })
        })
    }

    /// Returns the text of a span.
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
    fn columns_of_long_lines_are_those_of_short_ones() {
        let line = "aé😀 ".repeat(CHARACTER_BLOCK_BYTES);
        for tail in ["", "x"] {
            let text = format!("first é\n{line}{tail}\n{line}");
            let mut map = SourceMap::new();
            let id = map.add("a.json", text.as_str());
            let file = map.file(id);
            for (offset, _) in text.char_indices().step_by(97).chain([(text.len(), ' ')]) {
                let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
                let column = text[start..offset].chars().count() + 1;
                assert_eq!(file.position(offset).column, column, "at {offset}");
                let found = map.word_at(Path::new("a.json"), file.position(offset).line, column);
                let is_end = text[offset..].chars().next().is_none_or(|next| next == '\n');
                assert_eq!(found.map(|span| span.start), (!is_end).then_some(offset), "at {offset}");
            }
        }
        let full = "é".repeat(CHARACTER_BLOCK_BYTES / 2);
        let mut map = SourceMap::new();
        let id = map.add("a.json", full.as_str());
        assert_eq!(map.file(id).position(CHARACTER_BLOCK_BYTES).column, CHARACTER_BLOCK_BYTES / 2 + 1);
    }

    #[test]
    fn cells_have_the_names_that_spreadsheets_give_them() {
        for (column, letters) in [(1, "A"), (26, "Z"), (27, "AA"), (703, "AAA"), (16_384, "XFD")] {
            assert_eq!(cell_name("Data_1", 7, column), format!("Data_1!{letters}7"));
        }
        assert_eq!(cell_name("Ann's", 1, 2), "'Ann''s'!B1");
    }

    #[test]
    fn positions_in_a_row_are_cells() {
        let mut map = SourceMap::new();
        let cells = Arc::new(RowCells { sheet: "S".into(), is_header: false, starts: vec![(1, 2), (6, 5)] });
        let path: Arc<Path> = Arc::from(Path::new("a.xlsx"));
        let id = map.add_row(Arc::clone(&path), "[\"ab\",\"c\"]", 9, cells);
        let copy = map.file(id).clone();
        let copied = map.add_copy(path, copy.shared_text(), &copy);
        for id in [id, copied] {
            for (offset, column, name) in [(0, 2, "S!B9"), (3, 2, "S!B9"), (6, 5, "S!E9"), (99, 5, "S!E9")] {
                assert_eq!(map.file(id).position(offset), LineColumn { line: 9, column });
                assert_eq!(map.file(id).cell_at(offset).as_deref(), Some(name));
            }
        }
    }

    #[test]
    fn fragments_keep_the_line_of_the_file() {
        let mut map = SourceMap::new();
        let id = map.add_fragment("a.jsonl", "{\"id\": 1}", 41);
        assert_eq!(map.position(Span::new(id, 1, 2)), LineColumn { line: 41, column: 2 });
    }
}
