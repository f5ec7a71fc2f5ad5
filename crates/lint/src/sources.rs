//! Source texts of the files that findings point into.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assize_diagnostic::{SourceId, SourceMap, Span};
use assize_model::SourceMark;

/// Contents of files on disk. Each file is read once.
#[derive(Default)]
pub(crate) struct LintSources {
    pub(crate) map: SourceMap,
    known: HashMap<PathBuf, Option<IndexedFile>>,
}

struct IndexedFile {
    id: SourceId,
    /// Byte offset at which each line begins.
    lines: Vec<usize>,
}

impl LintSources {
    /// Returns the span of a mark. `None` if the file can't be read, or has changed so that the mark no longer
    /// fits.
    pub(crate) fn span(&mut self, mark: &SourceMark) -> Option<Span> {
        let (id, base) = self.line_base(mark)?;
        let text = self.map.file(id).text();
        let range = base + mark.start..base + mark.end;
        text.get(range.clone())?;
        Some(Span::new(id, range.start, range.end))
    }

    /// Returns the span of a part of a text that was read from `mark`, if the source contains exactly these
    /// words, exactly once.
    pub(crate) fn part_span(&mut self, mark: &SourceMark, text: &str, range: Range<usize>) -> Option<Span> {
        let span = self.span(mark)?;
        let needle = text.get(range).filter(|needle| !needle.trim().is_empty())?;
        let slice = self.map.slice(span);
        let at = slice.find(needle)?;
        if slice.rfind(needle) != Some(at) {
            return None;
        }

        let start = span.start + at;
        Some(Span::new(span.source, start, start + needle.len()))
    }

    fn line_base(&mut self, mark: &SourceMark) -> Option<(SourceId, usize)> {
        let known = self.indexed_file(mark.path())?;
        let (id, start) = (known.id, *known.lines.get(mark.first_line.checked_sub(1)?)?);

        // The text of a dataset's line does not include the byte order mark, the text of a whole file does.
        let dataset = mark.path().extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"));
        let skipped = if dataset && mark.first_line == 1 && self.map.file(id).text().starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Some((id, start + skipped))
    }

    /// Adds texts that are loaded already, so that their files are not read again.
    pub(crate) fn add_loaded(&mut self, given: &SourceMap) {
        for (_, file) in given.files().filter(|(_, file)| file.first_line() == 1 && !file.text().is_empty()) {
            // The first line of a dataset is also a text with this path. The whole file was added before it.
            if self.known.contains_key(file.path()) {
                continue;
            }

            let known = self.add(file.path(), file.text().to_owned());
            self.known.insert(file.path().to_path_buf(), Some(known));
        }
    }

    fn add(&mut self, path: &Path, text: String) -> IndexedFile {
        let mut lines = vec![0];
        lines.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1));
        IndexedFile { id: self.map.add(path, text), lines }
    }

    fn indexed_file(&mut self, path: &Path) -> Option<&IndexedFile> {
        if !self.known.contains_key(path) {
            let read = assize_files::read_text(path).ok().map(|text| self.add(path, text));
            self.known.insert(path.to_path_buf(), read);
        }
        self.known.get(path)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use assize_model::FilePosition;

    use super::*;

    #[test]
    fn parts_are_found_only_where_they_are_sure() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "\u{feff}\"é é ü\"\n\"ü x\"\n").expect("written");
        let mark = |line, end| SourceMark {
            place: FilePosition::new(&path, line, 1),
            first_line: line,
            start: 0,
            end,
        };
        let mut sources = LintSources::default();
        let found = |sources: &mut LintSources, mark: &SourceMark, text: &str, range| {
            let span = sources.part_span(mark, text, range)?;
            Some((span.start, sources.map.slice(span).to_owned()))
        };
        let first = mark(1, 10);
        assert_eq!(found(&mut sources, &first, "é é ü", 6..8), Some((10, "ü".to_owned())));
        assert_eq!(found(&mut sources, &first, "é é ü", 0..2), None, "it stands there twice");
        assert_eq!(found(&mut sources, &first, "é é x", 6..7), None, "other words stand there");
        assert_eq!(found(&mut sources, &mark(2, 6), "ü x", 3..4), Some((18, "x".to_owned())));
        assert_eq!(sources.span(&mark(2, 60)), None, "the file is shorter now");
        assert_eq!(sources.span(&mark(9, 1)), None);
    }
}
