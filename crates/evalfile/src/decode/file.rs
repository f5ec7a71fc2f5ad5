//! Reading of whole files of cases and settings.

use std::fs;
use std::path::Path;

use assize_diagnostic::{Diagnostic, SourceId, Span};

use super::DecodeContext;
use crate::codes;
use crate::tree::{TreeNode, read_json, read_yaml};

/// Maximum size of a file that is read as a whole: a tree of its values takes many times the memory.
pub(crate) const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file as text and adds it to the sources. `from` is the reference that names it; without one,
/// problems are reported at the beginning of the file.
pub(crate) fn read_source(cx: &mut DecodeContext, path: &Path, from: Option<Span>) -> Option<SourceId> {
    let at = |cx: &mut DecodeContext| {
        from.unwrap_or_else(|| {
            let source = cx.sources.add(path, "");
            Span::new(source, 0, 0)
        })
    };

    if let Some(text) = cx.reach.open.get(path).cloned() {
        return Some(cx.sources.add(path, text));
    }

    let shown = path.display();
    let bytes = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let at = at(cx);
            cx.problems.add(
                Diagnostic::error(codes::FILE_NOT_FOUND, "file not found", at, format!("`{shown}`"))
                    .with_help("check the path; it is relative to the working folder"),
            );

            return None;
        }
        Err(error) => Err(error.to_string()),
        Ok(meta) if meta.is_dir() => Err("it is a folder".to_owned()),
        Ok(meta) if meta.len() > MAX_FILE_BYTES => {
            let at = at(cx);
            cx.problems.add(
                Diagnostic::error(
                    codes::FILE_TOO_LARGE,
                    "the file is too large",
                    at,
                    format!("`{shown}` has {:.1} MiB", meta.len() as f64 / 1024.0 / 1024.0),
                )
                .with_note(format!(
                    "files that are read as a whole may have {} MiB",
                    MAX_FILE_BYTES / 1024 / 1024
                ))
                .with_help("put the cases into a JSONL file, one on each line: it may be of any size"),
            );

            return None;
        }
        Ok(_) => fs::read(path).map_err(|error| error.to_string()),
    };
    match bytes.map(String::from_utf8) {
        Ok(Ok(text)) => Some(cx.sources.add(path, text)),
        Ok(Err(error)) => {
            let place = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let byte = error.as_bytes().get(place).copied().unwrap_or(0);
            let source = cx.sources.add(path, text);
            cx.problems.add(not_utf8(Span::new(source, place, place + '\u{fffd}'.len_utf8()), byte, place));

            None
        }
        Err(reason) => {
            let at = at(cx);
            cx.problems.add(
                Diagnostic::error(
                    codes::FILE_UNREADABLE,
                    "file can't be read",
                    at,
                    format!("`{shown}`: {reason}"),
                )
                .with_help("check the path and the file's permissions"),
            );

            None
        }
    }
}

/// Returns the diagnostic for a byte that is not UTF-8.
pub(crate) fn not_utf8(at: Span, byte: u8, offset: usize) -> Diagnostic {
    let now = if offset == 0 && matches!(byte, 0xFE | 0xFF) { "UTF-16" } else { "Latin-1" };
    Diagnostic::error(
        codes::NOT_UTF8,
        "the file is not UTF-8 text",
        at,
        format!("found the byte 0x{byte:02X}"),
    )
    .with_help(format!("save the file as UTF-8 (it is probably {now} now)"))
}

/// Parses the tree of a source, in the syntax of its file extension.
pub(crate) fn read_tree(cx: &mut DecodeContext, source: SourceId) -> Option<TreeNode> {
    let is_json = file_extension(cx.sources.file(source).path()) == "json";
    if is_json && !cx.sources.file(source).text().trim().is_empty() {
        read_json(&cx.sources, source, &mut cx.problems)
    } else {
        read_yaml(&cx.sources, source, &mut cx.problems)
    }
}

/// Returns the extension of a file name in lower case, without its dot.
pub(crate) fn file_extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
