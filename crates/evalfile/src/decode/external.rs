//! Cases in other files, named by a path, a folder, or a pattern.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{NodeValue, PROGRAM_ENDINGS, TreeNode, codes, file_extension, wrong_type};
use assize_files::OTHER_WAYS;
use assize_limits::PATTERN_DEPTH as MAX_DEPTH;
use assize_limits::PATTERN_ENTRIES as MAX_VISITED_ENTRIES;
use assize_limits::PATTERN_MATCHES as MAX_MATCHES;
use assize_table::TABLE_ENDINGS;
use globset::{GlobBuilder, GlobSet};

use super::DecodeContext;
use super::case::{DecodedCase, decode_case};
use super::case_collector::CaseCollector;
use super::common::empty;
use super::file::{read_source, read_tree};
use super::jsonl;
use super::workspace::workspace_from_template;

/// Maximum number of choices (`{a,b}`) in a pattern.
const MAX_CHOICES: usize = 64;

/// Returns the path if an entry of a list of cases is a reference.
pub(crate) fn file_reference(node: &TreeNode) -> Option<&str> {
    node.as_str().filter(|text| text.starts_with("file://"))
}

/// Adds the cases that the reference `written` at `span` leads to: a file, a folder or a pattern.
pub(crate) fn collect(cx: &mut DecodeContext, written: &str, span: Span, into: &mut CaseCollector) {
    let path = written.strip_prefix("file://").unwrap_or(written).trim();
    if path.is_empty() {
        cx.problems.add(empty("tests", span));
        return;
    }

    if path.contains(['*', '?', '[', '{']) {
        for file in find_matches(cx, path, span) {
            collect_file(cx, &file, span, into);
        }
        return;
    }

    let Some(found) = cx.find_file(path, span) else { return };
    if found.is_dir() {
        collect_folder(cx, &found, span, into);
    } else {
        collect_file(cx, &found, span, into);
    }
}

fn collect_file(cx: &mut DecodeContext, path: &Path, span: Span, into: &mut CaseCollector) {
    match file_extension(path).as_str() {
        "jsonl" => {
            if let Some(dataset) = jsonl::check_dataset(cx, path, Some(span), into) {
                into.add_dataset(dataset);
            }
        }
        "yaml" | "yml" | "json" => {
            let Some(source) = read_source(cx, path, Some(span)) else { return };
            let before = cx.problems.error_count();
            let root = read_tree(cx, source);

            if cx.problems.error_count() > before {
                return;
            }

            collect_listed_cases(cx, path, span, root, into);
        }
        other => cx.problems.add(unknown_kind(other, span)),
    }
}

/// Returns the diagnostic for a file of cases of an unsupported type.
pub(crate) fn unknown_kind(ending: &str, at: Span) -> Diagnostic {
    let help = match ending {
        ending if TABLE_ENDINGS.contains(&ending) => {
            "turn each row into a line of a `.jsonl` file: {\"id\": ..., \"input\": ..., \"criteria\": ...}"
        }
        ending if PROGRAM_ENDINGS.contains(&ending) => {
            "programs are not run to get cases; write their output to a `.jsonl` file and refer to that"
        }
        _ => "cases come from .yaml, .yml, .json and .jsonl files",
    };

    let found = if ending.is_empty() { "no ending".to_owned() } else { format!("found `.{ending}`") };
    Diagnostic::error(codes::UNKNOWN_FILE_KIND, "cases are not read from this kind of file")
        .at(at, found)
        .with_help(help)
}

fn collect_listed_cases(
    cx: &mut DecodeContext,
    path: &Path,
    span: Span,
    root: Option<TreeNode>,
    into: &mut CaseCollector,
) {
    let shown = path.display();
    let Some(root) = root.filter(|root| !root.is_null()) else {
        Diagnostic::error(codes::EMPTY_FILE, "the file of cases is empty")
            .at(span, format!("`{shown}`"))
            .with_help("write a list of cases, each beginning with `- id:`")
            .add_to(&mut cx.problems);
        return;
    };

    let TreeNode { data: NodeValue::Seq(items), .. } = root else {
        let mut diagnostic = wrong_type(&root, "a file of cases", "a list");
        if super::format::has_cases(&root) {
            diagnostic = diagnostic
                .with_note("an eval file has its own settings, which would be ignored here")
                .with_help("keep only the list of its cases, or run the file by itself");
        } else if root.get("id").is_some() {
            diagnostic = diagnostic.with_help("put a `- ` before `id`: a single case is a list of one");
        } else {
            diagnostic = diagnostic.with_help("begin each case with `- id:`");
        }

        cx.problems.add(diagnostic.with_secondary(span, "the file is named here"));
        return;
    };
    if items.is_empty() {
        Diagnostic::error(codes::NO_CASES, "the file of cases has none")
            .at(span, format!("`{shown}`"))
            .with_help("write at least one case, or remove the reference")
            .add_to(&mut cx.problems);
    }

    for mut item in items {
        if file_reference(&item).is_some() {
            Diagnostic::error(codes::NOT_SUPPORTED, "a file of cases can't refer to another")
                .at(item.use_span(), "a reference inside a referenced file")
                .with_help("put this reference into the eval file")
                .add_to(&mut cx.problems);
            continue;
        }

        let read = decode_case(cx, &mut item, &into.defaults, None);
        into.add_case(cx, read);
    }
}

/// Adds the cases of a folder that has one sub-folder per case.
fn collect_folder(cx: &mut DecodeContext, folder: &Path, span: Span, into: &mut CaseCollector) {
    let mut found = false;
    for sub in sorted_entries(folder).into_iter().filter(|path| path.is_dir()) {
        let files: Vec<PathBuf> = ["case.yaml", "case.yml"]
            .iter()
            .map(|name| sub.join(name))
            .filter(|path| path.is_file())
            .collect();

        let name = sub.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match files.as_slice() {
            [] => Diagnostic::warning(
                codes::CASE_FOLDER_WITHOUT_CASE,
                format!("the folder `{name}` has no case"),
            )
            .at(span, "left out")
            .with_help("add a `case.yaml` to it, or move it elsewhere")
            .add_to(&mut cx.problems),
            [file] => {
                found = true;
                collect_folder_case(cx, file, &name, &sub, span, into);
            }
            [_, ..] => {
                found = true;
                Diagnostic::error(
                    codes::TWO_SPELLINGS,
                    format!("the folder `{name}` has both `case.yaml` and `case.yml`"),
                )
                .at(span, "only one of them can count")
                .with_help("keep one of them")
                .add_to(&mut cx.problems);
            }
        }
    }

    if !found {
        Diagnostic::error(codes::NO_MATCH, "the folder has no cases")
            .at(span, format!("no `NAME/case.yaml` in `{}`", folder.display()))
            .with_help(
                "each case has a sub-folder with a `case.yaml`; for loose files write `- \
                 file://FOLDER/*.yaml`",
            )
            .add_to(&mut cx.problems);
    }
}

fn collect_folder_case(
    cx: &mut DecodeContext,
    file: &Path,
    name: &str,
    folder: &Path,
    span: Span,
    into: &mut CaseCollector,
) {
    if !check_inside_roots(cx, file, span) {
        return;
    }

    let Some(source) = read_source(cx, file, Some(span)) else { return };
    let before = cx.problems.error_count();
    let Some(mut node) = read_tree(cx, source) else {
        if cx.problems.error_count() == before {
            Diagnostic::error(codes::EMPTY_FILE, "the case is empty")
                .at(span, format!("`{}`", file.display()))
                .with_help("write the keys of the case: `input`, `criteria`, ...")
                .add_to(&mut cx.problems);
        }
        return;
    };

    let mut read: DecodedCase = decode_case(cx, &mut node, &into.defaults, Some(name));
    let template = folder.join("workspace");
    if let Some(case) = &mut read.case
        && case.workspace.is_none()
        && template.is_dir()
    {
        Arc::make_mut(case).workspace = Some(workspace_from_template(template));
    }

    into.add_case(cx, read);
}

/// Returns the files that a pattern matches, sorted. A pattern without a match is an error.
pub fn find_matches(cx: &mut DecodeContext, pattern: &str, span: Span) -> Vec<PathBuf> {
    // The folders before the first special character are not part of the search.
    let mut base = cx.folder_of(span.source);
    let mut rest: Vec<&str> = Vec::new();
    for component in Path::new(pattern).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if rest.is_empty() => base.push(".."),
            Component::RootDir | Component::Prefix(_) => base = PathBuf::from(component.as_os_str()),
            other => {
                let text = other.as_os_str().to_str().unwrap_or_default();
                if rest.is_empty() && !text.contains(['*', '?', '[', '{']) {
                    base.push(text);
                } else {
                    rest.push(text);
                }
            }
        }
    }

    let rest = rest.join("/");
    let glob = match compile_glob(&rest) {
        Ok(glob) => glob,
        Err(reason) => {
            Diagnostic::error(codes::NO_MATCH, "the pattern can't be read")
                .at(span, reason)
                .with_help("`*` stands for any name, `**` for any folders, `{a,b}` for a choice")
                .add_to(&mut cx.problems);
            return Vec::new();
        }
    };

    if !is_searchable(cx, &base, span) {
        return Vec::new();
    }

    let depth = if rest.contains("**") { MAX_DEPTH } else { rest.split('/').count() };
    let mut search = PatternSearch { glob: &glob, base: &base, files: Vec::new(), visited: 0 };
    let is_whole = search.walk(&base, depth);
    let mut files = search.files;

    if !is_whole {
        Diagnostic::error(codes::LIMIT_REACHED, "the pattern leads to too many files")
            .at(span, format!("more than {MAX_MATCHES} matches, or {MAX_VISITED_ENTRIES} files to look at"))
            .with_note(format!("looked in `{}`", base.display()))
            .with_help("name the folder of the cases in the pattern, or put the cases into a JSONL file")
            .add_to(&mut cx.problems);
        return Vec::new();
    }

    files.sort();

    if files.is_empty() {
        Diagnostic::error(codes::NO_MATCH, "no file matches the pattern")
            .at(span, format!("looked in `{}`", base.display()))
            .with_help("check the folder and the ending; the pattern is relative to the folder of this file")
            .add_to(&mut cx.problems);
    }

    files.retain(|file| check_inside_roots(cx, file, span));
    files
}

/// Compiles a pattern. The error explains why it is invalid.
fn compile_glob(pattern: &str) -> Result<GlobSet, String> {
    // The library recurses once for each nested choice.
    if pattern.matches('{').count() > MAX_CHOICES {
        return Err(format!("more than {MAX_CHOICES} choices"));
    }

    // Use a set with one pattern: a single matcher panics if the compiled pattern is too large, a set returns
    // an error.
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let set = glob.and_then(|glob| GlobSet::builder().add(glob).build());
    set.map_err(|error| match error.kind() {
        globset::ErrorKind::Regex(_) => "it is too large".to_owned(),
        kind => kind.to_string(),
    })
}

/// Returns true if a folder may be searched. Folders outside of the roots are not even listed. Returns true
/// for a missing folder, so that the diagnostic says that the pattern matches no file.
fn is_searchable(cx: &mut DecodeContext, folder: &Path, span: Span) -> bool {
    let inside = !folder.exists() || cx.reach.roots.contain(folder);
    if !inside {
        Diagnostic::error(codes::OUTSIDE_ROOT, "this pattern searches outside the allowed folders")
            .at(span, format!("begins in `{}`", folder.display()))
            .with_help(format!("move the files there, or {OTHER_WAYS}"))
            .add_to(&mut cx.problems);
    }

    inside
}

/// Returns true if a file that was found by searching may be read; reports it otherwise.
fn check_inside_roots(cx: &mut DecodeContext, file: &Path, span: Span) -> bool {
    let inside = cx.reach.roots.contain(file);
    if !inside {
        Diagnostic::error(codes::OUTSIDE_ROOT, "this file is outside the allowed folders")
            .at(span, format!("`{}`", file.display()))
            .with_help(format!("move the file there, or {OTHER_WAYS}"))
            .add_to(&mut cx.problems);
    }

    inside
}

/// Search for the files that a pattern matches.
struct PatternSearch<'a> {
    glob: &'a GlobSet,
    base: &'a Path,
    files: Vec<PathBuf>,
    /// Number of files and folders visited.
    visited: usize,
}

impl PatternSearch<'_> {
    /// Adds the matches in a folder. Returns false if there are too many matches, or too many files to visit.
    fn walk(&mut self, folder: &Path, depth: usize) -> bool {
        for path in sorted_entries(folder) {
            self.visited += 1;
            if self.visited > MAX_VISITED_ENTRIES {
                return false;
            }

            let Ok(kind) = fs::symlink_metadata(&path).map(|meta| meta.file_type()) else { continue };
            if kind.is_dir() {
                if depth > 1 && !self.walk(&path, depth - 1) {
                    return false;
                }
            } else if path.is_file() && self.glob.is_match(path.strip_prefix(self.base).unwrap_or(&path)) {
                self.files.push(path);
            }

            if self.files.len() > MAX_MATCHES {
                return false;
            }
        }

        true
    }
}

/// Returns the entries of a folder sorted by name, without hidden ones.
fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .take(MAX_VISITED_ENTRIES + 1)
        .collect();

    paths.sort();
    paths
}

/// Adds the cases of one list: maps and references.
pub(crate) fn collect_list(cx: &mut DecodeContext, items: Vec<TreeNode>, into: &mut CaseCollector) {
    for item in items {
        collect_item(cx, item, into);
    }
}

/// Adds the cases of an entry of a list: a map or a reference.
pub(crate) fn collect_item(cx: &mut DecodeContext, mut item: TreeNode, into: &mut CaseCollector) {
    if let NodeValue::Str(_) = item.data {
        super::interpolate::interpolate(cx, &mut item);
    }

    let place = item.use_span();
    if let Some(written) = file_reference(&item).map(str::to_owned) {
        into.add_referenced(cx, |cx, into| collect(cx, &written, place, into));
    } else {
        let defaults = Arc::clone(&into.defaults);
        let read = decode_case(cx, &mut item, &defaults, None);
        into.add_case(cx, read);
    }
}

#[cfg(test)]
mod tests {
    use super::compile_glob;

    #[test]
    fn patterns_too_large_for_their_library_are_refused() {
        let nested = |levels: usize| format!("{}a{}", "{".repeat(levels), "}".repeat(levels));
        assert!(compile_glob(&nested(super::MAX_CHOICES)).is_ok_and(|glob| glob.is_match("a")));
        for pattern in [nested(300), nested(100_000), "*a".repeat(200_000)] {
            let reason = compile_glob(&pattern).err();
            assert!(reason.is_some_and(|reason| reason.len() < 80), "{}", pattern.len());
        }
    }
}
