//! Decoding of an eval file in the native formats: its top level and its cases, from a tree or line by line.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_document::{NodeValue, PROGRAM_ENDINGS, TreeNode, codes, file_extension};
use assize_model::Suite;
use assize_table::TABLE_ENDINGS;

use crate::cases::SuiteCases;
use crate::decode::file::FileOutline;
use crate::decode::{CaseCollector, DecodeContext, SuiteDefaults};
use crate::decode::{
    collect_cases, external, file, format, interpolate, interpolate_described, jsonl, suite,
};

/// A suite and its cases; `None` after adding a diagnostic.
pub type SuiteWithCases = Option<(Suite, SuiteCases)>;

/// Returns the diagnostic about a file whose ending is not one of eval files.
pub fn unknown_kind(ending: &str, at: Span) -> Diagnostic {
    match ending {
        ending if PROGRAM_ENDINGS.contains(&ending) => {
            Diagnostic::error(codes::NOT_AN_EVAL_FILE, "this is a program, not an eval file")
                .at(at, format!("found `.{ending}`"))
                .with_help("let it write a `.jsonl` file with one case on each line, and load that")
        }
        ending if TABLE_ENDINGS.contains(&ending) => external::unknown_kind(ending, at)
            .with_help("if it has the answers too, grade them: `assize grade RUBRIC.yaml --answers FILE`"),
        _ => Diagnostic::error(codes::NOT_AN_EVAL_FILE, "this is not an eval file")
            .at(at, format!("found `.{ending}`"))
            .with_help("eval files end in .yaml, .yml, .json or .jsonl"),
    }
}

/// Reads the tree of a file that is read as a whole, up to its cases. Returns `None` after adding a diagnostic.
pub fn read_suite_outline(cx: &mut DecodeContext, source: SourceId) -> Option<FileOutline> {
    let before = cx.problems.error_count();
    let outline = file::read_outline(cx, source, &format::case_list_keys());
    if outline.is_none() && cx.problems.error_count() > before {
        return None;
    }

    let Some(outline) = outline.filter(|outline| !outline.root.is_null()) else {
        let label = if cx.sources.file(source).text().trim().is_empty() {
            "the file is empty"
        } else {
            "only comments"
        };
        return Diagnostic::error(codes::EMPTY_FILE, "the eval file is empty")
            .at(Span::new(source, 0, 0), label)
            .with_help("write the cases under `tests:`, each with an `id`, an `input` and `assertions`")
            .reject_in(&mut cx.problems);
    };

    Some(outline)
}

/// Decodes a file that is read as a whole.
pub fn decode_suite_file(
    cx: &mut DecodeContext,
    path: &Path,
    source: SourceId,
    outline: FileOutline,
) -> SuiteWithCases {
    let FileOutline { mut root, deferred } = outline;
    if !cx.count_tree(&root) {
        return None;
    }
    let (found, key) = format::detect_format(cx, &root)?;
    cx.format = found;
    // The cases are decoded one by one, each with its own substitutions.
    let NodeValue::Map(entries) = &mut root.data else { return None };
    let mut list = None;
    for entry in entries.iter_mut().filter(|entry| entry.key == key) {
        let stub = TreeNode::new(entry.value.span, NodeValue::Null);
        list = Some((entry.key_span, std::mem::replace(&mut entry.value, stub)));
    }
    interpolate_described(cx, entries, key);

    let (suite, defaults) = suite::decode_suite(cx, &root, path, Some(key))?;
    let (key_span, list) = list?;

    drop(root);
    let read = DecodedList { key, key_span, list, source, deferred };
    Some((suite, decode_cases(cx, read, defaults)?))
}

/// The list of cases of a file: its tree, and the items that are not in the tree.
struct DecodedList {
    key: &'static str,
    key_span: Span,
    list: TreeNode,
    source: SourceId,
    deferred: file::DeferredItems,
}

fn decode_cases(cx: &mut DecodeContext, read: DecodedList, defaults: SuiteDefaults) -> Option<SuiteCases> {
    let DecodedList { key, key_span, mut list, source, deferred } = read;
    let mut collector = CaseCollector::new(defaults, cx.problems.error_count());
    let before = cx.problems.error_count();
    let place = list.use_span();
    match &mut list.data {
        NodeValue::Seq(items) => {
            collect_cases(cx, std::mem::take(items), &mut collector);
            file::for_each_item(cx, source, key, deferred, |cx, item| {
                external::collect_item(cx, item, &mut collector);
            })?;
        }
        NodeValue::Str(_) => {
            interpolate(cx, &mut list);
            if let Some(written) = list.as_str() {
                collector.add_referenced(cx, |cx, into| external::collect(cx, written, place, into));
            }
        }
        NodeValue::Null => {}
        _ => Diagnostic::error(codes::WRONG_TYPE, format!("`{key}` must be a list of cases"))
            .at(place, format!("found {}", list.type_name()))
            .with_help(match list.as_map().and_then(<[_]>::first) {
                Some(_) if ["id", "input"].iter().any(|key| list.get(key).is_some()) => {
                    "this is one case: write `- ` before its first key, and indent its other keys as far"
                        .to_owned()
                }
                Some(first) => format!("turn each key into the id of a case: `- id: {}`", first.key),
                None => {
                    "begin each case with `- id:`, or write the path of a file or folder of cases".to_owned()
                }
            })
            .add_to(&mut cx.problems),
    }

    if !collector.met && cx.problems.error_count() == before {
        Diagnostic::error(codes::NO_CASES, "the suite has no cases")
            .at(key_span, "empty list")
            .with_help("add at least one case: `- id: NAME`")
            .add_to(&mut cx.problems);
    }

    collector.check_dependencies(cx);
    Some(collector.into_cases())
}

/// Decodes a dataset that is loaded by itself, with its settings file. With a text, its cases are kept in
/// memory and the file is not read.
pub fn load_dataset(cx: &mut DecodeContext, path: &Path, text: Option<&str>) -> SuiteWithCases {
    let settings = load_settings(cx, path);
    let line = match text {
        Some(text) => jsonl::first_line_in(cx, path, text.as_bytes()),
        None => jsonl::first_line(cx, path),
    };
    if let Some(line) = &line
        && format::looks_like_result(line)
    {
        let source = cx.sources.add(path, "");
        return Diagnostic::error(codes::NOT_AN_EVAL_FILE, "this is a file of results, not of cases")
            .at(Span::new(source, 0, 0), "its first line has a score and no case")
            .with_help("load the eval file the results came from")
            .reject_in(&mut cx.problems);
    }

    cx.format = format::detect_line_format(settings.as_ref().map(|(_, root)| root), line.as_ref());
    let (suite, defaults) = if let Some((settings_path, root)) = settings {
        let (mut suite, defaults) = suite::decode_suite(cx, &root, &settings_path, None)?;
        if !["name", "dataset"].iter().any(|key| root.get(key).is_some()) {
            suite.name = suite::default_name(path);
        }

        suite.path = path.to_path_buf();
        (suite, defaults)
    } else {
        let source = cx.sources.add(path, "");
        let empty = TreeNode::new(Span::new(source, 0, 0), NodeValue::Map(Vec::new()));
        suite::decode_suite(cx, &empty, path, None)?
    };

    let mut collector = CaseCollector::new(defaults, cx.problems.error_count());
    if let Some(text) = text {
        jsonl::keep_cases(cx, path, text, &mut collector);
    } else if let Some(dataset) = jsonl::check_dataset(cx, path, None, &mut collector) {
        collector.add_dataset(dataset);
    }

    collector.check_dependencies(cx);
    Some((suite, collector.into_cases()))
}

/// Returns the settings file of a dataset: `a.yaml` for `a.jsonl`, and for `a.eval.jsonl` also `a.eval.yaml`.
fn load_settings(cx: &mut DecodeContext, path: &Path) -> Option<(PathBuf, TreeNode)> {
    let plain = path.with_extension("");
    let mut stems = vec![plain.clone()];
    if file_extension(&plain) == "eval" {
        stems.push(plain.with_extension(""));
    }

    let found = stems
        .iter()
        .flat_map(|stem| ["yaml", "yml"].map(|ending| PathBuf::from(format!("{}.{ending}", stem.display()))))
        .find(|candidate| candidate.is_file())?;
    let source = file::read_source(cx, &found, None)?;
    let mut root = file::read_tree(cx, source)?;
    if let (NodeValue::Map(entries), true) = (&root.data, format::has_cases(&root)) {
        let at = entries.first().map_or(root.use_span(), |entry| entry.key_span);
        return Diagnostic::warning(codes::NO_EFFECT, "the settings of this file are not used")
            .at(at, "it has cases of its own, so it is an eval file")
            .with_note(format!("it is next to `{}`, which is being loaded", path.display()))
            .with_help("load this file instead, or rename it")
            .reject_in(&mut cx.problems);
    }

    if let NodeValue::Map(entries) = &mut root.data {
        interpolate_described(cx, entries, "");
    }
    Some((found, root))
}
