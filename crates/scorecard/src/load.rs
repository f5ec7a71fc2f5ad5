//! Loading of a scorecard from a path to a checked model.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span, SpannedValue};
use assize_document::{
    DeferredList, MapReader, NodeValue, TreeNode, codes, file_extension, read_json_in, read_json_outline,
    wrong_type,
};
use assize_evalfile::LoadOptions;
use assize_evalfile::reading::{DecodeContext, load_context, parent_folder, read_source, read_tree};
use assize_model::Scorecard;

use super::benchmark::decode_benchmark;
use super::cases::decode_scorecard_case;
use super::draft::ScorecardDraft;
use super::folder::{ScorecardFiles, list_files, list_labels};
use super::index::{decode_index, looks_like_index};
use super::labels::decode_label;
use super::rubric::decode_scorecard_rubric;
use super::{link, prompts};

/// A loaded scorecard.
#[derive(Debug)]
pub struct LoadedScorecard {
    /// Decoded scorecard; `None` when there are errors.
    pub scorecard: Option<Scorecard>,
    /// Number of files read.
    pub files: usize,
    /// Number of cases found, including invalid ones.
    pub cases: usize,
    /// Texts that the diagnostics point into.
    pub sources: SourceMap,
    /// All diagnostics, sorted by file and position.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads a scorecard, from a folder or from a single file that contains everything. All problems are reported
/// at once. Only the files of the folder and files that they refer to are read.
pub fn load_scorecard(path: &Path, options: &LoadOptions) -> LoadedScorecard {
    read_scorecard(path, BTreeMap::new(), options)
}

/// Loads a scorecard with additional labels from another folder. A single-file scorecard has no folder for
/// labels.
pub fn load_scorecard_with_labels(
    path: &Path,
    labels: Option<&Path>,
    options: &LoadOptions,
) -> LoadedScorecard {
    read_parts(path, BTreeMap::new(), labels, options)
}

/// Loads a scorecard, with texts that replace the files at these paths, such as unsaved texts in an editor. The
/// paths are as found in the folder.
pub fn read_scorecard(
    path: &Path,
    open: BTreeMap<PathBuf, String>,
    options: &LoadOptions,
) -> LoadedScorecard {
    read_parts(path, open, None, options)
}

/// Decodes a scorecard from a text, as if it were the file at `path`. It is parsed as JSON if `path` has the extension
/// of JSON, else as YAML. Reads no files: `prompts` contains the texts of the prompt files, by the names that the
/// benchmarks use.
pub fn read_scorecard_text(path: &Path, text: &str, prompts: &BTreeMap<String, String>) -> LoadedScorecard {
    let mut cx = DecodeContext::new(Arc::new(|_| None), Vec::new(), Vec::new());
    Arc::make_mut(&mut cx.reach).open = BTreeMap::from([(path.to_path_buf(), text.to_owned())]);

    let mut draft = ScorecardDraft::default();
    for (name, text) in prompts {
        prompts::take_prompt(&mut cx, name, text, &mut draft);
    }
    decode_single_file(&mut cx, path, &mut draft);

    finish(cx, draft, path, parent_folder(path), 1 + prompts.len())
}

fn read_parts(
    path: &Path,
    open: BTreeMap<PathBuf, String>,
    labels: Option<&Path>,
    options: &LoadOptions,
) -> LoadedScorecard {
    let is_folder = path.is_dir();
    let inside = if is_folder { path.join("index.yaml") } else { path.to_path_buf() };
    let mut cx = load_context(&inside, options);
    Arc::make_mut(&mut cx.reach).open = open;

    let root = if is_folder { path.to_path_buf() } else { parent_folder(path) };
    let mut draft = ScorecardDraft::default();
    let files = if is_folder {
        let files = list_files(&root);
        read_folder(&mut cx, &root, &files, &mut draft)
    } else {
        decode_single_file(&mut cx, path, &mut draft);
        1
    };

    // If this is the scorecard's own folder, its labels have been read already.
    let labels = labels.filter(|labels| !is_folder || !is_same_folder(labels, &root.join("labels")));
    let files = files + labels.map_or(0, |folder| read_labels(&mut cx, folder, &mut draft));

    finish(cx, draft, path, root, files)
}

fn finish(
    mut cx: DecodeContext,
    draft: ScorecardDraft,
    path: &Path,
    root: PathBuf,
    files: usize,
) -> LoadedScorecard {
    let cases = draft.cases.len();
    let scorecard = link::link_scorecard(&mut cx, draft, root, scorecard_name(path), path.is_dir());
    let sound = cx.problems.error_count() == 0;
    let DecodeContext { sources, problems, .. } = cx;
    let mut diagnostics = problems.into_vec();
    assize_diagnostic::sort_diagnostics(&mut diagnostics);

    LoadedScorecard { scorecard: sound.then_some(scorecard), files, cases, sources, diagnostics }
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// Reads the labels of a folder. If the folder does not exist, there are none yet.
fn read_labels(cx: &mut DecodeContext, folder: &Path, draft: &mut ScorecardDraft) -> usize {
    let (files, unread) = list_labels(folder);
    refuse_unread_labels(cx, &unread);
    for path in &files {
        decode_rows(cx, path, "labels", draft, decode_label);
    }

    files.len()
}

/// Returns the name of a folder, even if the path is `.`; for a file, its name without extension.
fn scorecard_name(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = if path.is_dir() { real.file_name() } else { real.file_stem() };
    name.map_or_else(|| "scorecard".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn read_folder(
    cx: &mut DecodeContext,
    root: &Path,
    files: &ScorecardFiles,
    draft: &mut ScorecardDraft,
) -> usize {
    if files.rubrics.is_empty() {
        let source = cx.sources.add(root, "");
        Diagnostic::error(codes::NOT_A_SCORECARD, "the folder is not a scorecard")
            .at(Span::new(source, 0, 0), "no files in `rubrics/`")
            .with_help(
                "put one file for each rubric into `rubrics/` and one for each benchmark into `benchmarks/`",
            )
            .add_to(&mut cx.problems);
    }

    for path in &files.prompts {
        prompts::load_prompt(cx, root, path, draft);
    }

    for path in &files.indexes {
        if let Some((node, _)) = read_non_empty_tree(cx, path) {
            decode_index(cx, &node, draft);
        }
    }

    for (paths, read) in [
        (
            &files.rubrics,
            decode_scorecard_rubric
                as fn(&mut DecodeContext, &TreeNode, &mut ScorecardDraft) -> Option<SpannedValue<String>>,
        ),
        (&files.benchmarks, decode_benchmark),
    ] {
        for path in paths {
            match read_non_empty_tree(cx, path).and_then(|(node, _)| read(cx, &node, draft)) {
                Some(code) => check_file_name(cx, path, &code),
                None => draft.broken.push(file_stem(path)),
            }
        }
    }

    for (paths, key, read) in [
        (
            &files.cases,
            "cases",
            decode_scorecard_case as fn(&mut DecodeContext, &TreeNode, &mut ScorecardDraft),
        ),
        (&files.labels, "labels", decode_label),
    ] {
        for path in paths {
            decode_rows(cx, path, key, draft, read);
        }
    }

    refuse_unread_labels(cx, &files.unread_labels);

    let lists =
        [&files.prompts, &files.indexes, &files.rubrics, &files.benchmarks, &files.cases, &files.labels];
    lists.iter().map(|list| list.len()).sum()
}

/// Reports other files among the labels, such as tables, as errors. Otherwise their labels would silently not
/// count.
fn refuse_unread_labels(cx: &mut DecodeContext, paths: &[PathBuf]) {
    for path in paths {
        let source = cx.sources.add(path, "");
        Diagnostic::error(
            codes::LABEL_FILE,
            format!("labels are not read from `{}`", path.file_name().unwrap_or_default().to_string_lossy()),
        )
        .at(Span::new(source, 0, 0), "this file has no effect")
        .with_help(
            "write one JSON object per line into a `.jsonl` file, or record the decisions \
             with `assize review RUN --decisions FILE`",
        )
        .add_to(&mut cx.problems);
    }
}

/// Returns the tree of a file that must not be empty.
fn read_non_empty_tree(cx: &mut DecodeContext, path: &Path) -> Option<(TreeNode, Span)> {
    let source = read_source(cx, path, None)?;
    let errors = cx.problems.error_count();
    let node = read_tree(cx, source).filter(|node| !node.is_null());
    if node.is_none() && cx.problems.error_count() == errors {
        report_empty_file(cx, source);
    }

    node.map(|node| (node, Span::new(source, 0, 0)))
}

fn report_empty_file(cx: &mut DecodeContext, source: SourceId) {
    let beginning = Span::new(source, 0, 0);
    Diagnostic::error(codes::EMPTY_FILE, "the file is empty")
        .at(beginning, "the file is empty")
        .with_help("write the fields, or remove the file")
        .add_to(&mut cx.problems);
}

fn file_stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn check_file_name(cx: &mut DecodeContext, path: &Path, code: &SpannedValue<String>) {
    let stem = file_stem(path);
    if stem != code.value {
        Diagnostic::warning(codes::FILE_NAME, "the file is not named after its code")
            .at(code.span, format!("in `{stem}.{}`", file_extension(path)))
            .with_help(format!("name the file `{}.{}`", code.value, file_extension(path)))
            .add_to(&mut cx.problems);
    }
}

/// Decodes a file of cases or labels: one per line, or a list, which may be under its key.
fn decode_rows(
    cx: &mut DecodeContext,
    path: &Path,
    key: &str,
    draft: &mut ScorecardDraft,
    read: fn(&mut DecodeContext, &TreeNode, &mut ScorecardDraft),
) {
    if file_extension(path) != "jsonl" {
        let Some((node, _)) = read_non_empty_tree(cx, path) else { return };
        let list = node.get(key).filter(|_| node.as_map().is_some_and(|map| map.len() == 1)).unwrap_or(&node);
        // The file may be a single case or label.
        if list.as_map().is_some() && list.get(key).is_none() {
            read(cx, list, draft);
        } else {
            decode_items(cx, list, key, draft, read);
        }
        return;
    }

    let Some(source) = read_source(cx, path, None) else { return };
    let lines: Vec<Range<usize>> = cx.sources.file(source).lines().collect();
    for line in lines {
        if let Some(node) = read_json_in(&cx.sources, source, line, &mut cx.problems) {
            read(cx, &node, draft);
        }
    }
}

/// Decodes one item of a list into the draft.
type RowDecoder = fn(&mut DecodeContext, &TreeNode, &mut ScorecardDraft);

fn decode_items(
    cx: &mut DecodeContext,
    node: &TreeNode,
    key: &str,
    draft: &mut ScorecardDraft,
    read: RowDecoder,
) {
    match &node.data {
        NodeValue::Seq(items) => items.iter().for_each(|item| read(cx, item, draft)),
        _ => cx.problems.add(wrong_type(node, &format!("`{key}`"), "a list")),
    }
}

/// Lists of a single-file scorecard. In a JSON file their items are decoded one at a time, because all of them
/// together would take many times the memory of the file.
const LIST_KEYS: [&str; 4] = ["rubrics", "benchmarks", "cases", "labels"];

/// Decodes a single-file scorecard.
fn decode_single_file(cx: &mut DecodeContext, path: &Path, draft: &mut ScorecardDraft) {
    if file_extension(path) != "json" {
        if let Some((node, _)) = read_non_empty_tree(cx, path) {
            decode_root(cx, &node, &[], draft);
        }
        return;
    }

    let Some(source) = read_source(cx, path, None) else { return };
    if cx.sources.file(source).text().trim().is_empty() {
        report_empty_file(cx, source);
    } else if let Some((node, later)) =
        read_json_outline(&cx.sources, source, &LIST_KEYS, "code", &mut cx.problems)
    {
        if node.is_null() {
            report_empty_file(cx, source);
        } else {
            decode_root(cx, &node, &later, draft);
        }
    }
}

/// Decodes the root of a single-file scorecard: a rubric, an index, or a map of lists.
fn decode_root(cx: &mut DecodeContext, node: &TreeNode, later: &[DeferredList], draft: &mut ScorecardDraft) {
    let is_map_of_lists = ["index", "rubrics"].iter().any(|key| node.get(key).is_some());
    let is_rubric =
        ["aggregation_method", "benchmarks", "sub_rubrics"].iter().any(|key| node.get(key).is_some());
    if node.get("code").is_some() || (is_rubric && !is_map_of_lists) {
        if looks_like_index(node) {
            decode_index(cx, node, draft);
        } else {
            decode_scorecard_rubric(cx, node, draft);
        }
        return;
    }

    if !is_map_of_lists {
        Diagnostic::error(codes::NOT_A_SCORECARD, "the file is not a scorecard")
            .at(node.use_span().start_point(), "neither `code` nor `rubrics`")
            .with_help(
                "write a rubric with a `code`, or a map with `rubrics:`, and optionally \
                 `index:`, `benchmarks:`, `cases:` and `labels:`",
            )
            .add_to(&mut cx.problems);
        return;
    }

    let Some(mut object) = MapReader::new(node, "a scorecard", &mut cx.problems) else { return };
    object.entry("$schema");

    if let Some(node) = object.value("index") {
        decode_index(cx, node, draft);
    }

    let rubric = |cx: &mut DecodeContext, node: &TreeNode, draft: &mut ScorecardDraft| {
        drop(decode_scorecard_rubric(cx, node, draft));
    };
    let benchmark = |cx: &mut DecodeContext, node: &TreeNode, draft: &mut ScorecardDraft| {
        drop(decode_benchmark(cx, node, draft));
    };
    let reads: [(&'static str, RowDecoder); 4] = [
        ("rubrics", rubric),
        ("benchmarks", benchmark),
        ("cases", decode_scorecard_case),
        ("labels", decode_label),
    ];
    for (key, read) in reads {
        let Some(node) = object.value(key) else { continue };
        decode_items(cx, node, key, draft, read);

        for place in later.iter().filter(|later| later.key == key).flat_map(|later| &later.items) {
            let source = node.span.source;
            if let Some(item) = read_json_in(&cx.sources, source, place.clone(), &mut cx.problems) {
                read(cx, &item, draft);
            }
        }
    }

    object.finish(&mut cx.problems);
}
