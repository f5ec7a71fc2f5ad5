//! Loading of a scorecard from a path to a checked model.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span, Spanned};

use super::benchmark::benchmark;
use super::cases::case;
use super::draft::Draft;
use super::folder::{Files, files};
use super::index::{index, looks_like_index};
use super::labels::label;
use super::rubric::rubric;
use super::{link, prompts};
use crate::LoadOptions;
use crate::codes;
use crate::decode::file::{ending, read_source, read_tree};
use crate::decode::object::wrong_type;
use crate::decode::{Context, Object};
use crate::load::context;
use crate::model::Scorecard;
use crate::tree::{Data, Deferred, Node, read_json_in, read_json_outline};

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

/// Loads a scorecard from a folder or from one file with everything inside. All problems are reported at
/// once; only the files of the folder and those they refer to are read.
pub fn load_scorecard(path: &Path, options: &LoadOptions) -> LoadedScorecard {
    read_scorecard(path, BTreeMap::new(), options)
}

/// Loads a scorecard with texts that replace the files of these paths, such as unsaved texts in an editor.
/// Paths are those found in the folder.
pub fn read_scorecard(
    path: &Path,
    open: BTreeMap<PathBuf, String>,
    options: &LoadOptions,
) -> LoadedScorecard {
    let is_folder = path.is_dir();
    let inside = if is_folder { path.join("index.yaml") } else { path.to_path_buf() };
    let mut cx = context(&inside, options);
    Arc::make_mut(&mut cx.reach).open = open;
    let root = if is_folder { path.to_path_buf() } else { folder_of(path) };
    let mut draft = Draft::default();
    let files = if is_folder {
        let files = files(&root);
        read_folder(&mut cx, &root, &files, &mut draft)
    } else {
        whole_file(&mut cx, path, &mut draft);
        1
    };
    let cases = draft.cases.len();
    let name = name_of(path);
    let scorecard = link::link(&mut cx, draft, root, name, is_folder);
    let sound = cx.problems.errors() == 0;
    let Context { sources, problems, .. } = cx;
    let mut diagnostics = problems.into_vec();
    assize_diagnostic::sort(&mut diagnostics);
    LoadedScorecard { scorecard: sound.then_some(scorecard), files, cases, sources, diagnostics }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Returns the name of a folder, also for the path `.`; for a file, its name without extension.
fn name_of(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = if path.is_dir() { real.file_name() } else { real.file_stem() };
    name.map_or_else(|| "scorecard".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn read_folder(cx: &mut Context, root: &Path, files: &Files, draft: &mut Draft) -> usize {
    if files.rubrics.is_empty() {
        let source = cx.sources.add(root, "");
        cx.problems.add(
            Diagnostic::error(
                codes::NOT_A_SCORECARD,
                "the folder is not a scorecard",
                Span::new(source, 0, 0),
                "no files in `rubrics/`",
            )
            .with_help(
                "put one file for each rubric into `rubrics/` and one for each benchmark into `benchmarks/`",
            ),
        );
    }
    for path in &files.prompts {
        prompts::read(cx, root, path, draft);
    }
    for path in &files.indexes {
        if let Some((node, _)) = tree(cx, path) {
            index(cx, &node, draft);
        }
    }
    for (paths, read) in [
        (&files.rubrics, rubric as fn(&mut Context, &Node, &mut Draft) -> Option<Spanned<String>>),
        (&files.benchmarks, benchmark),
    ] {
        for path in paths {
            match tree(cx, path).and_then(|(node, _)| read(cx, &node, draft)) {
                Some(code) => check_name(cx, path, &code),
                None => draft.broken.push(stem(path)),
            }
        }
    }
    for (paths, key, read) in [
        (&files.cases, "cases", case as fn(&mut Context, &Node, &mut Draft)),
        (&files.labels, "labels", label),
    ] {
        for path in paths {
            rows(cx, path, key, draft, read);
        }
    }
    let lists =
        [&files.prompts, &files.indexes, &files.rubrics, &files.benchmarks, &files.cases, &files.labels];
    lists.iter().map(|list| list.len()).sum()
}

/// Returns the tree of a file that must not be empty.
fn tree(cx: &mut Context, path: &Path) -> Option<(Node, Span)> {
    let source = read_source(cx, path, None)?;
    let errors = cx.problems.errors();
    let node = read_tree(cx, source).filter(|node| !node.is_null());
    if node.is_none() && cx.problems.errors() == errors {
        empty(cx, source);
    }
    node.map(|node| (node, Span::new(source, 0, 0)))
}

fn empty(cx: &mut Context, source: SourceId) {
    let beginning = Span::new(source, 0, 0);
    cx.problems.add(
        Diagnostic::error(codes::EMPTY_FILE, "the file is empty", beginning, "there is nothing in it")
            .with_help("write the fields, or remove the file"),
    );
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn check_name(cx: &mut Context, path: &Path, code: &Spanned<String>) {
    let stem = stem(path);
    if stem != code.value {
        cx.problems.add(
            Diagnostic::warning(
                codes::FILE_NAME,
                "the file is not named after its code",
                code.span,
                format!("in `{stem}.{}`", ending(path)),
            )
            .with_help(format!("name the file `{}.{}`", code.value, ending(path))),
        );
    }
}

/// Decodes a file of cases or labels: one a line, or a list, alone or under its key.
fn rows(
    cx: &mut Context,
    path: &Path,
    key: &str,
    draft: &mut Draft,
    read: fn(&mut Context, &Node, &mut Draft),
) {
    if ending(path) != "jsonl" {
        let Some((node, _)) = tree(cx, path) else { return };
        let list = node.get(key).filter(|_| node.as_map().is_some_and(|map| map.len() == 1)).unwrap_or(&node);
        list_of(cx, list, key, draft, read);
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
type Read = fn(&mut Context, &Node, &mut Draft);

fn list_of(cx: &mut Context, node: &Node, key: &str, draft: &mut Draft, read: Read) {
    match &node.data {
        Data::Seq(items) => items.iter().for_each(|item| read(cx, item, draft)),
        _ => cx.problems.add(wrong_type(node, &format!("`{key}`"), "a list")),
    }
}

/// Lists of a single-file scorecard whose items are decoded one by one if the file is JSON: together they
/// would take many times the memory of the file.
const LISTS: [&str; 4] = ["rubrics", "benchmarks", "cases", "labels"];

/// Decodes a single-file scorecard.
fn whole_file(cx: &mut Context, path: &Path, draft: &mut Draft) {
    if ending(path) != "json" {
        if let Some((node, _)) = tree(cx, path) {
            whole(cx, &node, &[], draft);
        }
        return;
    }
    let Some(source) = read_source(cx, path, None) else { return };
    if cx.sources.file(source).text().trim().is_empty() {
        empty(cx, source);
    } else if let Some((node, later)) =
        read_json_outline(&cx.sources, source, &LISTS, "code", &mut cx.problems)
    {
        if node.is_null() {
            empty(cx, source);
        } else {
            whole(cx, &node, &later, draft);
        }
    }
}

/// Decodes the root of a single-file scorecard: a rubric, an index, or a map of lists.
fn whole(cx: &mut Context, node: &Node, later: &[Deferred], draft: &mut Draft) {
    if node.get("code").is_some() {
        if looks_like_index(node) {
            index(cx, node, draft);
        } else {
            rubric(cx, node, draft);
        }
        return;
    }
    let known = ["index", "rubrics"].iter().any(|key| node.get(key).is_some());
    if !known {
        cx.problems.add(
            Diagnostic::error(
                codes::NOT_A_SCORECARD,
                "the file is not a scorecard",
                node.place().start_point(),
                "neither `code` nor `rubrics`",
            )
            .with_help("write a rubric with a `code`, or a map with `rubrics:`, and if wanted `index:`, `benchmarks:`, `cases:` and `labels:`"),
        );
        return;
    }
    let Some(mut object) = Object::new(node, "a scorecard", &mut cx.problems) else { return };
    object.entry("$schema");
    if let Some(node) = object.value("index") {
        index(cx, node, draft);
    }
    let rubric = |cx: &mut Context, node: &Node, draft: &mut Draft| drop(rubric(cx, node, draft));
    let benchmark = |cx: &mut Context, node: &Node, draft: &mut Draft| drop(benchmark(cx, node, draft));
    let reads: [(&'static str, Read); 4] =
        [("rubrics", rubric), ("benchmarks", benchmark), ("cases", case), ("labels", label)];
    for (key, read) in reads {
        let Some(node) = object.value(key) else { continue };
        list_of(cx, node, key, draft, read);
        for place in later.iter().filter(|later| later.key == key).flat_map(|later| &later.items) {
            let source = node.span.source;
            if let Some(item) = read_json_in(&cx.sources, source, place.clone(), &mut cx.problems) {
                read(cx, &item, draft);
            }
        }
    }
    object.finish(&mut cx.problems);
}
