//! Reading of whole files of cases and settings.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_document::{
    DeferredList, TreeNode, YamlListReader, codes, file_extension, near_path, read_json, read_json_in,
    read_json_outline, read_yaml_outline,
};
use assize_files::{MAX_FILE_BYTES, read_bytes};
use assize_table::{RowFault, RowProblem, decode_text, is_table, utf8_text};
use serde_json::value::RawValue;

use super::DecodeContext;
use super::context::unreadable_help;

/// Reads a file as text and adds it to the sources. `from` is the reference that names it; without one,
/// problems are reported at the beginning of the file.
pub fn read_source(cx: &mut DecodeContext, path: &Path, from: Option<Span>) -> Option<SourceId> {
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
            // If nothing refers to the file, the header of the diagnostic names it.
            let label = if from.is_some() { format!("`{shown}`") } else { "no such file".to_owned() };
            let at = at(cx);
            let complaint = Diagnostic::error(codes::FILE_NOT_FOUND, "file not found")
                .at(at, label)
                .with_help("check the path; it is relative to the working folder");
            return cx.problems.reject(match near_path(path) {
                Some(near) => complaint.with_help(format!("did you mean `{}`?", near.display())),
                None => complaint,
            });
        }
        Err(error) => Err(error.to_string()),
        Ok(meta) if meta.is_dir() => Err("it is a folder".to_owned()),
        Ok(meta) if meta.len() > MAX_FILE_BYTES => {
            let at = at(cx);
            return Diagnostic::error(codes::FILE_TOO_LARGE, "the file is too large")
                .at(at, format!("`{shown}` has {:.1} MiB", meta.len() as f64 / 1024.0 / 1024.0))
                .with_note(format!("such files can have at most {} MiB", MAX_FILE_BYTES / 1024 / 1024))
                .with_help("put the cases into a JSONL file, one per line; it can have any size")
                .reject_in(&mut cx.problems);
        }
        Ok(_) => read_bytes(path, MAX_FILE_BYTES).map_err(|error| error.to_string()),
    };
    let text = |bytes| if is_table(path) { decode_text(bytes, None) } else { utf8_text(bytes) };
    match bytes.map(text) {
        Ok(Ok(text)) => cx.count_file(path, text.len(), from).then(|| cx.sources.add(path, text)),
        Ok(Err(row)) => {
            add_fault(cx, &Arc::from(path), row.number, &row.fault, false);
            None
        }
        Err(reason) => {
            let at = at(cx);
            Diagnostic::error(codes::FILE_UNREADABLE, "file can't be read")
                .at(at, format!("`{shown}`: {reason}"))
                .with_help(unreadable_help(&reason))
                .reject_in(&mut cx.problems)
        }
    }
}

/// Reports a line or row that can't be read, with the text that can be shown of it. `names_encoding` is true
/// where the option `--encoding` is read.
pub(crate) fn add_fault(
    cx: &mut DecodeContext,
    path: &Arc<Path>,
    number: usize,
    fault: &RowFault,
    names_encoding: bool,
) {
    let source = cx.sources.add_fragment_shared(Arc::clone(path), Arc::clone(&fault.text), number);
    let at = Span::new(source, fault.at.start, fault.at.end);
    cx.problems.add(fault_diagnostic(fault, at, names_encoding));
}

/// Returns the diagnostic for a line or row that can't be read.
pub(crate) fn fault_diagnostic(fault: &RowFault, at: Span, names_encoding: bool) -> Diagnostic {
    let code = match fault.problem {
        RowProblem::NotText { .. } => codes::NOT_UTF8,
        RowProblem::TooLong | RowProblem::TooManyCells => codes::FILE_TOO_LARGE,
        RowProblem::OpenQuote | RowProblem::TextAfterQuote | RowProblem::Width { .. } => codes::BAD_TABLE,
    };
    Diagnostic::error(code, fault.problem.title())
        .at(at, fault.problem.found())
        .with_help(fault.problem.help(names_encoding))
}

/// Parses the tree of a source, in the syntax of its file extension.
pub fn read_tree(cx: &mut DecodeContext, source: SourceId) -> Option<TreeNode> {
    if is_json(cx, source) {
        return cx.read_counted(|cx| read_json(&cx.sources, source, &mut cx.problems));
    }

    cx.read_yaml(source)
}

/// Tree of a file whose list of cases may be parsed later.
pub struct FileOutline {
    /// The tree, with empty lists of cases.
    pub root: TreeNode,
    /// Items of the lists that are empty in the tree.
    pub(crate) deferred: DeferredItems,
}

/// Items of a list that are parsed one at a time, because the tree of all cases would take many times the
/// memory of the cases.
pub(crate) enum DeferredItems {
    /// All items are in the tree.
    None,
    /// The items of YAML lists.
    Yaml,
    /// The ranges of the items of JSON lists.
    Json(Vec<DeferredList>),
}

/// Parses the tree of a source like [`read_tree`], but skips the lists under `keys` of its outermost map.
pub(crate) fn read_outline(cx: &mut DecodeContext, source: SourceId, keys: &[&str]) -> Option<FileOutline> {
    if is_json(cx, source) {
        // `unless` is empty, because no kind of document needs a complete parse.
        let (root, lists) = read_json_outline(&cx.sources, source, keys, "", &mut cx.problems)?;
        return Some(FileOutline { root, deferred: DeferredItems::Json(lists) });
    }

    let (root, is_outline) = read_yaml_outline(&cx.sources, source, keys, &mut cx.problems)?;
    let deferred = if is_outline { DeferredItems::Yaml } else { DeferredItems::None };
    Some(FileOutline { root, deferred })
}

/// Calls `take` with each item of the list under `key`, in order. Returns `None` after a syntax error, because then no
/// part of the file can be used.
pub(crate) fn for_each_item(
    cx: &mut DecodeContext,
    source: SourceId,
    key: &str,
    deferred: DeferredItems,
    mut take: impl FnMut(&mut DecodeContext, TreeNode),
) -> Option<()> {
    match deferred {
        DeferredItems::None => {}
        DeferredItems::Yaml => {
            let text = cx.sources.file(source).shared_text();
            let Some(mut items) = YamlListReader::new(&text, source, key) else { return Some(()) };
            while let Some(item) = items.next_item(&mut cx.problems).ok()? {
                cx.count_tree(&item).then(|| take(cx, item))?;
            }
        }
        DeferredItems::Json(lists) => {
            for range in lists.into_iter().filter(|list| list.key == key).flat_map(|list| list.items) {
                let item = read_json_in(&cx.sources, source, range, &mut cx.problems)?;
                cx.count_tree(&item).then(|| take(cx, item))?;
            }
        }
    }

    Some(())
}

/// Returns true for a source that is read as JSON. A YAML file that holds JSON is one too: the reader of JSON needs far
/// less memory.
fn is_json(cx: &DecodeContext, source: SourceId) -> bool {
    let file = cx.sources.file(source);
    let text = file.text().trim_start_matches('\u{feff}').trim_start();
    match file_extension(file.path()).as_str() {
        "json" => !text.is_empty(),
        _ => text.starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(text).is_ok(),
    }
}
