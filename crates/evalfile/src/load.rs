//! Loading of an eval file from a path to a checked suite with its cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use assize_table::TABLE_ENDINGS;

use crate::cases::SuiteCases;
use crate::codes;
use crate::decode::matrix::LoweredSuite;
use crate::decode::{CaseCollector, DecodeContext, EnvironmentLookup, LoadScope, SuiteDefaults};
use crate::decode::{
    collect_cases, external, file, finish_diagnostics, format, interpolate, interpolate_described, jsonl,
    mask_secrets, matrix, suite,
};
use crate::model::{Case, Suite};
use crate::programs::ProgramRunner;
use crate::tree::{NodeValue, TreeNode};

/// Files and variables that a load may access.
#[derive(Clone)]
pub struct LoadOptions {
    /// How environment variables are looked up.
    pub environment: EnvironmentLookup,
    /// Absolute path of the working folder.
    pub working_folder: PathBuf,
    /// Folders that references may lead into, in addition to the repository and the working folder.
    pub extra_roots: Vec<PathBuf>,
    /// Runner of the programs that write prompts, tests and variables; `None` if they must not be run.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// Names of the targets that replace those of the file; empty if none do. Programs receive them.
    pub targets: Vec<String>,
    /// Additional check for the cases of datasets, which are not kept in memory.
    pub case_check: Option<CaseCheck>,
}

/// Checks a case when its line of a dataset is read, on any thread. The diagnostics point into the given
/// sources. Without it, a dataset would have to be read a second time to check its cases.
pub type CaseCheck = Arc<dyn Fn(&Case, &SourceMap) -> Vec<Diagnostic> + Send + Sync>;

impl LoadOptions {
    /// Options for files of a folder, with no environment variables set.
    pub fn new(working_folder: impl Into<PathBuf>) -> Self {
        Self {
            environment: Arc::new(|_| None),
            working_folder: working_folder.into(),
            extra_roots: Vec::new(),
            programs: None,
            targets: Vec::new(),
            case_check: None,
        }
    }
}

/// A loaded eval file.
#[derive(Debug)]
pub struct LoadedSuite {
    /// The suite; `None` if its top level could not be decoded at all.
    pub suite: Option<Suite>,
    /// Valid cases. Invalid ones are excluded; a run that continues despite errors runs these.
    pub cases: SuiteCases,
    /// Texts that the diagnostics point into.
    pub sources: SourceMap,
    /// All diagnostics, sorted by file and position. The file must not be run if any is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedSuite {
    /// Combines the loaded parts with every diagnostic of the load.
    pub(crate) fn new(cx: DecodeContext, loaded: Option<(Suite, SuiteCases)>) -> Self {
        let (suite, cases) = match loaded {
            Some((suite, cases)) => (Some(suite), cases),
            None => (None, SuiteCases::default()),
        };
        let DecodeContext { sources, problems, secrets, .. } = cx;
        let sources = match secrets {
            Some(secrets) => mask_secrets(&sources, &secrets),
            None => sources,
        };
        let diagnostics = finish_diagnostics(problems, &sources);
        Self { suite, cases, sources, diagnostics }
    }

    /// Returns true if the file has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == assize_diagnostic::Severity::Error)
    }
}

/// Loads an eval file of either format: `.yaml`, `.yml`, `.json`, or a `.jsonl` dataset with its settings file.
/// All problems are reported at once. Only files that it refers to are read. Programs are run only if the
/// options have a runner for them.
pub fn load_suite(path: &Path, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let loaded = match file::file_extension(path).as_str() {
        "jsonl" => load_dataset(&mut cx, path, None),
        "yaml" | "yml" | "json" | "" => {
            file::read_source(&mut cx, path, None).and_then(|source| load_whole_file(&mut cx, path, source))
        }
        other => {
            let source = cx.sources.add(path, "");
            cx.problems.add(unknown_kind(other, Span::new(source, 0, 0)));
            None
        }
    };
    LoadedSuite::new(cx, loaded)
}

/// Loads an eval file whose `extensions` changed the tests, prompts or default test before the first test.
/// `changed` is [`SuiteExtensions::suite`](crate::SuiteExtensions::suite) with these changes.
pub fn load_changed_suite(path: &Path, changed: &serde_json::Value, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    cx.changed_suite = Some(changed.clone());
    let loaded =
        file::read_source(&mut cx, path, None).and_then(|source| load_whole_file(&mut cx, path, source));
    LoadedSuite::new(cx, loaded)
}

/// Loads an eval file of prompts, providers and tests, and also returns it rewritten in the `tests` format.
/// Parts that can't be read are left out and listed; they don't prevent the rest from being read.
pub fn lower_matrix(path: &Path, options: &LoadOptions) -> (LoadedSuite, LoweredSuite) {
    let mut cx = load_context(path, options);
    let source = file::read_source(&mut cx, path, None);
    lower_source(cx, path, source)
}

/// Like [`lower_matrix`], for the text of a file. The extension of the path decides whether it is YAML or JSON.
pub fn lower_matrix_text(path: &Path, text: &str, options: &LoadOptions) -> (LoadedSuite, LoweredSuite) {
    let mut cx = load_context(path, options);
    let source = Some(cx.sources.add(path, text));
    lower_source(cx, path, source)
}

fn lower_source(mut cx: DecodeContext, path: &Path, source: Option<SourceId>) -> (LoadedSuite, LoweredSuite) {
    cx.lowered = Some(Box::new(LoweredSuite::new(path)));
    let loaded = source
        .and_then(|source| file::read_tree(&mut cx, source))
        .and_then(|root| matrix::load_matrix(&mut cx, path, &root));
    let lowered = cx.lowered.take().map(|lowered| *lowered).unwrap_or_default();
    let lowered = matrix::finish_losses(&cx, lowered);

    (LoadedSuite::new(cx, loaded), lowered)
}

/// Loads the text of an eval file (YAML, JSON or JSONL) as if it were the file at `path`. Relative paths in it
/// are resolved from there.
pub fn read_suite(path: &Path, text: &str, options: &LoadOptions) -> LoadedSuite {
    let mut cx = load_context(path, options);
    let source = cx.sources.add(path, text);
    let loaded = if file::file_extension(path) == "jsonl" {
        load_dataset(&mut cx, path, Some(text))
    } else {
        load_whole_file(&mut cx, path, source)
    };
    LoadedSuite::new(cx, loaded)
}

type SuiteWithCases = Option<(Suite, SuiteCases)>;

fn unknown_kind(ending: &str, at: Span) -> Diagnostic {
    match ending {
        ending if file::PROGRAM_ENDINGS.contains(&ending) => Diagnostic::error(
            codes::NOT_AN_EVAL_FILE,
            "this is a program, not an eval file",
            at,
            format!("found `.{ending}`"),
        )
        .with_help("let it write a `.jsonl` file with one case on each line, and load that"),
        ending if TABLE_ENDINGS.contains(&ending) => external::unknown_kind(ending, at)
            .with_help("if it has the answers too, grade them: `assize grade RUBRIC.yaml --answers FILE`"),
        _ => Diagnostic::error(
            codes::NOT_AN_EVAL_FILE,
            "this is not an eval file",
            at,
            format!("found `.{ending}`"),
        )
        .with_help("eval files end in .yaml, .yml, .json or .jsonl"),
    }
}

/// Returns the context for loading a file: the folders it may refer to, and the folders against which its
/// relative paths are resolved.
pub(crate) fn load_context(path: &Path, options: &LoadOptions) -> DecodeContext {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let real = fs::canonicalize(options.working_folder.join(&folder)).unwrap_or_else(|_| folder.clone());
    let repository = real.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf);
    let mut search = vec![folder];
    let mut roots: Vec<PathBuf> = Vec::new();
    let mut allow = |root: PathBuf| {
        if !roots.iter().any(|known| root.starts_with(known)) {
            roots.push(root);
        }
    };
    if let Some(root) = repository {
        allow(root);
    } else {
        fs::canonicalize(&options.working_folder).into_iter().for_each(&mut allow);
    }

    allow(real.clone());
    options.extra_roots.iter().filter_map(|root| fs::canonicalize(root).ok()).for_each(allow);

    // The parent folders are searched too, as far up as reading is allowed.
    let above = real.ancestors().skip(1).take_while(|up| roots.iter().any(|root| up.starts_with(root)));
    search.extend(above.map(Path::to_path_buf));
    search.push(options.working_folder.clone());

    DecodeContext::with_scope(Arc::new(LoadScope {
        environment: options.environment.clone(),
        search,
        roots,
        open: BTreeMap::new(),
        programs: options.programs.clone(),
        targets: options.targets.clone(),
        case_check: options.case_check.clone(),
    }))
}

/// Decodes an eval file that is a single document, as opposed to a dataset.
fn load_whole_file(cx: &mut DecodeContext, path: &Path, source: SourceId) -> SuiteWithCases {
    let before = cx.problems.error_count();
    let outline = file::read_outline(cx, source, &format::case_list_keys());
    if outline.is_none() && cx.problems.error_count() > before {
        return None;
    }

    let Some(file::FileOutline { mut root, deferred }) = outline.filter(|outline| !outline.root.is_null())
    else {
        let label = if cx.sources.file(source).text().trim().is_empty() {
            "the file is empty"
        } else {
            "only comments"
        };
        cx.problems.add(
            Diagnostic::error(codes::EMPTY_FILE, "the eval file is empty", Span::new(source, 0, 0), label)
                .with_help("write the cases under `tests:`, each with an `id`, an `input` and `assertions`"),
        );

        return None;
    };

    // A matrix is expanded, not decoded case by case, so it needs the whole tree.
    if matrix::is_matrix(&root)
        && let Some(whole) = file::read_tree(cx, source)
        && matrix::is_matrix(&whole)
    {
        return matrix::load_matrix(cx, path, &whole);
    }

    let (format, key) = format::detect_format(cx, &root)?;
    // The cases are decoded one at a time. Each has its own variables to substitute.
    let NodeValue::Map(entries) = &mut root.data else { return None };
    let mut list = None;
    for entry in entries.iter_mut().filter(|entry| entry.key == key) {
        let stub = TreeNode::new(entry.value.span, NodeValue::Null);
        list = Some((entry.key_span, std::mem::replace(&mut entry.value, stub)));
    }
    interpolate_described(cx, entries, key);

    let (suite, defaults) = suite::decode_suite(cx, &root, format, path, Some(key))?;
    let (key_span, list) = list?;

    drop(root);
    let read = DecodedList { key, key_span, list, source, deferred };
    Some((suite, decode_cases(cx, read, defaults)?))
}

/// The list of cases of a file: its node in the tree, and the items that were left out of the tree.
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
        _ => cx.problems.add(
            Diagnostic::error(
                codes::WRONG_TYPE,
                format!("`{key}` must be a list of cases"),
                place,
                format!("found {}", list.type_name()),
            )
            .with_help(match list.as_map().and_then(<[_]>::first) {
                Some(_) if ["id", "input"].iter().any(|key| list.get(key).is_some()) => {
                    "this is one case: write `- ` before its first key, and indent its other keys as far"
                        .to_owned()
                }
                Some(first) => format!("turn each key into the id of a case: `- id: {}`", first.key),
                None => {
                    "begin each case with `- id:`, or write the path of a file or folder of cases".to_owned()
                }
            }),
        ),
    }

    if !collector.met && cx.problems.error_count() == before {
        cx.problems.add(
            Diagnostic::error(codes::NO_CASES, "the suite has no cases", key_span, "empty list")
                .with_help("add at least one case: `- id: NAME`"),
        );
    }

    collector.check_dependencies(cx);
    Some(collector.into_cases())
}

/// Decodes a dataset that is loaded directly, with its settings file. If `text` is given, it is used instead of
/// the file, and its cases are kept in memory.
fn load_dataset(cx: &mut DecodeContext, path: &Path, text: Option<&str>) -> SuiteWithCases {
    let settings = load_settings(cx, path);
    let line = match text {
        Some(text) => jsonl::first_line_in(cx, path, text.as_bytes()),
        None => jsonl::first_line(cx, path),
    };
    if let Some(line) = &line
        && format::looks_like_result(line)
    {
        let source = cx.sources.add(path, "");
        cx.problems.add(
            Diagnostic::error(
                codes::NOT_AN_EVAL_FILE,
                "this is a file of results, not of cases",
                Span::new(source, 0, 0),
                "its first line has a score and no case",
            )
            .with_help("load the eval file the results came from"),
        );

        return None;
    }

    let format = format::detect_line_format(settings.as_ref().map(|(_, root)| root), line.as_ref());
    let (suite, defaults) = if let Some((settings_path, root)) = settings {
        let (mut suite, defaults) = suite::decode_suite(cx, &root, format, &settings_path, None)?;
        if !["name", "dataset"].iter().any(|key| root.get(key).is_some()) {
            suite.name = suite::default_name(path);
        }

        suite.path = path.to_path_buf();
        (suite, defaults)
    } else {
        let source = cx.sources.add(path, "");
        let empty = TreeNode::new(Span::new(source, 0, 0), NodeValue::Map(Vec::new()));
        suite::decode_suite(cx, &empty, format, path, None)?
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

/// Returns the settings file beside a dataset: `a.yaml` for `a.jsonl`; for `a.eval.jsonl` also `a.eval.yaml`.
fn load_settings(cx: &mut DecodeContext, path: &Path) -> Option<(PathBuf, TreeNode)> {
    let plain = path.with_extension("");
    let mut stems = vec![plain.clone()];
    if file::file_extension(&plain) == "eval" {
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
        cx.problems.add(
            Diagnostic::warning(
                codes::NO_EFFECT,
                "the settings of this file are not used",
                at,
                "it has cases of its own, so it is an eval file",
            )
            .with_note(format!("it is next to `{}`, which is being loaded", path.display()))
            .with_help("load this file instead, or rename it"),
        );

        return None;
    }

    if let NodeValue::Map(entries) = &mut root.data {
        interpolate_described(cx, entries, "");
    }
    Some((found, root))
}
