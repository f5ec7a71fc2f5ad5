//! Converts spans and paths for an output form.

use std::ops::Range;
use std::path::{Component, Path};

use crate::{LineColumn, SourceFile, SourceMap, Span};

/// Returns the positions of a span's first character and of the character after its last.
pub(super) fn start_and_end(sources: &SourceMap, span: Span) -> (LineColumn, LineColumn) {
    let file = sources.file(span.source);
    (file.position(span.start), file.position(span.end.max(span.start)))
}

/// Returns the visible part of a span: inside the file, on character boundaries, and without trailing line
/// ends. A block that ends with its line would otherwise seem to reach the next line.
pub(super) fn visible_range(file: &SourceFile, span: Span) -> Range<usize> {
    let start = file.floor_boundary(span.start);
    let end = file.floor_boundary(span.end.max(start));
    start..start + file.text()[start..end].trim_end_matches(['\r', '\n']).len()
}

/// Returns a path with forward slashes on every system.
pub(super) fn forward_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

/// Returns a path as a percent-encoded URI reference: `file:///` for an absolute path, otherwise relative.
pub fn to_uri(path: &Path) -> String {
    let mut uri = String::new();
    let absolute = path.is_absolute();
    if absolute {
        uri.push_str("file://");
    }

    for component in path.components() {
        let part = match component {
            Component::CurDir | Component::RootDir => continue,
            // The colon of `C:` is kept only after a scheme. Elsewhere it would be read as the end of a scheme.
            Component::Prefix(prefix) => prefix.as_os_str().to_string_lossy().replace('\\', "/"),
            Component::ParentDir => "..".to_owned(),
            Component::Normal(name) => percent_encode(name.as_encoded_bytes()),
        };

        if absolute || !uri.is_empty() {
            uri.push('/');
        }

        uri.push_str(&part);
    }

    uri
}

/// Percent-encodes everything except the unreserved characters of RFC 3986, section 2.3.
fn percent_encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_encoded_by_segment() {
        assert_eq!(to_uri(Path::new("./evals/a b#1.yaml")), "evals/a%20b%231.yaml");
        assert_eq!(to_uri(Path::new("../x/über:1%.yaml")), "../x/%C3%BCber%3A1%25.yaml");
        #[cfg(unix)]
        assert_eq!(to_uri(Path::new("/srv/a.yaml")), "file:///srv/a.yaml");
    }

    #[test]
    fn visible_ranges_lie_inside_the_text() {
        let mut map = SourceMap::new();
        let id = map.add("a", "ä: 1\r\n\r\n");
        let range = |start, end| visible_range(map.file(id), Span::new(id, start, end));
        assert_eq!(range(0, 9), 0..5);
        assert_eq!(range(1, 1), 0..0);
        assert_eq!(range(5, 9), 5..5);
        assert_eq!(range(7, 2), 7..7);
        assert_eq!(range(usize::MAX, usize::MAX), 9..9);
    }
}
