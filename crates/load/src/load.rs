//! Loading of an eval file from a path to a checked suite with its cases.

use std::path::Path;

use assize_diagnostic::{SourceId, Span};
use assize_document::file_extension;
use assize_evalfile::reading::{
    DecodeContext, SuiteWithCases, decode_suite_file, load_context, load_dataset, read_source,
    read_suite_outline, read_tree, unknown_kind,
};
use assize_evalfile::{LoadOptions, LoadedSuite};
use assize_promptfoo::{is_matrix, load_matrix};

/// Loads an eval file of either format: `.yaml`, `.yml`, `.json`, or a `.jsonl` dataset with its settings
/// file. All problems are reported at once. Only the files it refers to are read, and no program is run without a runner for
/// them.
pub fn load_suite(path: &Path, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let loaded = match file_extension(path).as_str() {
        "jsonl" => load_dataset(&mut cx, path, None),
        "yaml" | "yml" | "json" | "" => {
            read_source(&mut cx, path, None).and_then(|source| load_whole_file(&mut cx, path, source))
        }
        other => {
            let source = cx.sources.add(path, "");
            cx.problems.add(unknown_kind(other, Span::new(source, 0, 0)));
            None
        }
    };
    LoadedSuite::new(cx, loaded)
}

/// Loads an eval file with `extensions` whose tests, prompts or default test are those that they returned before the first
/// test: `changed` is the `suite` of their `SuiteExtensions` with their changes.
pub fn load_changed_suite(path: &Path, changed: &serde_json::Value, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    cx.changed_suite = Some(changed.clone());
    let loaded = read_source(&mut cx, path, None).and_then(|source| load_whole_file(&mut cx, path, source));
    LoadedSuite::new(cx, loaded)
}

/// Loads the text of an eval file, YAML, JSON or JSONL, as if it were the file at `path`: references are
/// resolved from there.
pub fn read_suite(path: &Path, text: &str, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let source = cx.sources.add(path, text);
    cx.count_text(text.len());
    let loaded = if file_extension(path) == "jsonl" {
        load_dataset(&mut cx, path, Some(text))
    } else {
        load_whole_file(&mut cx, path, source)
    };
    LoadedSuite::new(cx, loaded)
}

/// Decodes a file that is read completely, unlike a dataset.
fn load_whole_file(cx: &mut DecodeContext, path: &Path, source: SourceId) -> SuiteWithCases {
    let outline = read_suite_outline(cx, source)?;

    // The tests of a matrix are multiplied, not decoded one by one, so that all of the file is read.
    if is_matrix(&outline.root)
        && let Some(whole) = read_tree(cx, source)
        && is_matrix(&whole)
    {
        return load_matrix(cx, path, &whole);
    }

    decode_suite_file(cx, path, source, outline)
}
