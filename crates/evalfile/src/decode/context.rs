//! Context of decoding: sources, diagnostics, the environment and the files that may be read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use assize_document::{DiagnosticCollector, TreeNode, codes, read_yaml};
use assize_files::{FileRoots, OTHER_WAYS};
use assize_limits::{
    ATTACHMENT_BYTES as MAX_ATTACHMENT_BYTES, EXPANSION_FACTOR, MATRIX_VALUE_BYTES, PATTERN_TIME,
    REPEATED_FILE_BYTES, TEST_FILES_DEPTH as MAX_FILES_INSIDE,
};
use assize_model::{EvalFileFormat, FilePosition, PatternError, ProgramRunner, SourceMark, compile_pattern};
use assize_script::ScriptTime;
use parking_lot::Mutex;
use unicode_normalization::UnicodeNormalization as _;

use super::grader::TemplateCache;
use super::lowered::LoweredSuite;
use crate::load_options::{CaseCheck, EnvironmentLookup, FileEnvironment, LoadOptions, ReadTotals};

/// State of one load.
pub struct DecodeContext {
    /// Texts that were read.
    pub sources: SourceMap,
    /// Diagnostics so far.
    pub problems: DiagnosticCollector,
    /// Files and variables that the load may access.
    pub reach: Arc<LoadScope>,
    /// Assertion templates that were loaded.
    pub(crate) templates: TemplateCache,
    /// The suite of a matrix file as its extensions changed it.
    pub changed_suite: Option<serde_json::Value>,
    /// Literal secrets in the targets that the file defines. No output may contain them. `None` if it defines none.
    pub(crate) secrets: Option<Vec<Span>>,
    /// The matrix file in the `tests` format, if the caller needs it.
    pub lowered: Option<Box<LoweredSuite>>,
    /// Time for the scripts that run while the file is read.
    pub script_time: ScriptTime,
    /// Patterns so far. Lines of a dataset share them.
    patterns: Arc<Mutex<KnownPatterns>>,
    /// Files that were read, and their sizes together.
    files_read: BTreeSet<PathBuf>,
    bytes_read: usize,
    /// Bytes that were read of them again, because the file names them several times.
    bytes_repeated: usize,
    /// Memory of all trees, and the bytes of their texts.
    pub(crate) totals: ReadTotals,
    /// Number of files of tests that are being read inside of each other.
    files_inside: usize,
    /// Format of the file that is being decoded. It determines the keys and their defaults.
    pub format: EvalFileFormat,
}

/// Number of valid patterns that are remembered.
const KNOWN_PATTERNS: usize = 1_000;
/// Time that each pattern may take without being counted.
const FREE_PATTERN_TIME: Duration = Duration::from_millis(1);

/// Patterns that were compiled: many cases have the same, and compiling one takes long.
#[derive(Default)]
struct KnownPatterns {
    /// Valid patterns with their flags.
    valid: HashSet<(String, String)>,
    time: Duration,
}

/// Files and variables that a load may access.
#[derive(Clone)]
pub struct LoadScope {
    /// Variables of the environment.
    pub environment: FileEnvironment,
    /// Folders against which a relative reference is resolved, in order.
    pub(crate) search: Vec<PathBuf>,
    /// Folders (canonical) that no reference may leave.
    pub roots: FileRoots,
    /// Unsaved texts that replace the files of these paths, such as those open in an editor.
    pub open: BTreeMap<PathBuf, String>,
    /// Runner of the programs that write parts of the file.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// Names of the targets that replace the file's targets.
    pub targets: Vec<String>,
    /// Further check of the cases of datasets.
    pub(crate) case_check: Option<CaseCheck>,
}

impl LoadScope {
    /// True if there is a folder that files may be read from.
    pub fn reads_files(&self) -> bool {
        !self.roots.is_empty()
    }
}

/// A text file that an eval file refers to.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// Path that it was found under.
    pub path: PathBuf,
    /// Text with single newlines as line ends.
    pub text: Arc<str>,
}

impl DecodeContext {
    /// Creates a context with no sources and no diagnostics.
    pub fn new(environment: EnvironmentLookup, search: Vec<PathBuf>, roots: Vec<PathBuf>) -> Self {
        let (open, programs, targets, case_check) = (BTreeMap::new(), None, Vec::new(), None);
        let roots = FileRoots::new(roots);
        let environment = FileEnvironment::new(environment);
        let scope = LoadScope { environment, search, roots, open, programs, targets, case_check };
        Self::with_scope(Arc::new(scope))
    }

    /// Creates a context with existing limits of access.
    pub fn with_scope(reach: Arc<LoadScope>) -> Self {
        Self {
            sources: SourceMap::new(),
            problems: DiagnosticCollector::default(),
            reach,
            templates: TemplateCache::default(),
            changed_suite: None,
            secrets: None,
            lowered: None,
            script_time: ScriptTime::default(),
            patterns: Arc::default(),
            files_read: BTreeSet::new(),
            bytes_read: 0,
            bytes_repeated: 0,
            totals: ReadTotals::default(),
            files_inside: 0,
            format: EvalFileFormat::Two,
        }
    }

    /// Creates a context with the same access and the same hidden secrets, but without sources and diagnostics.
    /// It is for a single line of a dataset, whose text is dropped if it is valid.
    pub(crate) fn fork(&self) -> Self {
        Self {
            problems: self.problems.fork(),
            templates: self.templates.clone(),
            script_time: self.script_time.clone(),
            patterns: Arc::clone(&self.patterns),
            format: self.format,
            ..Self::with_scope(Arc::clone(&self.reach))
        }
    }

    /// Reads a file of tests that another one names at `span`. A file that leads back to itself is refused.
    pub fn read_inside(&mut self, span: Span, read: impl FnOnce(&mut Self)) {
        if self.files_inside >= MAX_FILES_INSIDE {
            Diagnostic::error(
                codes::TEMPLATE_DEPTH,
                format!("files of tests name each other more than {MAX_FILES_INSIDE} deep"),
            )
            .at(span, "one level too many")
            .with_help("a file must not lead back to itself; name the inner file in the eval file")
            .add_to(&mut self.problems);
            return;
        }
        self.files_inside += 1;
        read(self);
        self.files_inside -= 1;
    }

    /// Checks that a pattern can be compiled.
    ///
    /// # Errors
    /// The reason why it can't be used.
    pub(crate) fn check_pattern(&self, pattern: &str, flags: &str) -> Result<(), String> {
        self.compile_pattern(pattern, flags)?.map_err(|error| error.to_string())
    }

    /// Checks that a pattern can be compiled in the time for all patterns, if it is valid at all.
    ///
    /// # Errors
    /// When the time is spent.
    pub(crate) fn time_pattern(&self, pattern: &str) -> Result<(), String> {
        self.compile_pattern(pattern, "").map(drop)
    }

    /// Compiles a pattern. The outer error is that the time for all patterns is spent.
    fn compile_pattern(&self, pattern: &str, flags: &str) -> Result<Result<(), PatternError>, String> {
        let key = (pattern.to_owned(), flags.to_owned());
        if self.patterns.lock().valid.contains(&key) {
            return Ok(Ok(()));
        }
        if self.patterns.lock().time > PATTERN_TIME {
            let limit = PATTERN_TIME.as_secs();
            return Err(format!("the patterns of this file have taken {limit} s together; shorten them"));
        }

        let started = Instant::now();
        let compiled = compile_pattern(pattern, flags).map(drop);
        let mut known = self.patterns.lock();
        known.time += started.elapsed().saturating_sub(FREE_PATTERN_TIME);
        if compiled.is_ok() && known.valid.len() < KNOWN_PATTERNS {
            known.valid.insert(key);
        }
        Ok(compiled)
    }

    /// How much may be made of the files: `least`, or for large files `factor` times their size, but not more than `most`.
    pub fn allowed(&self, factor: usize, least: usize, most: usize) -> usize {
        self.bytes_read.saturating_mul(factor).clamp(least, most)
    }

    /// Counts the text of a file that was not read before.
    pub fn count_text(&mut self, bytes: usize) {
        self.bytes_read += bytes;
        self.totals.texts += bytes;
    }

    /// Counts a file that was read, or bytes that were made of one. Returns false, after adding a diagnostic, if the same
    /// files were read too often: each place that names one has a copy of it.
    pub(crate) fn count_file(&mut self, path: &Path, bytes: usize, span: Option<Span>) -> bool {
        // A file may have many links.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if self.files_read.insert(real) {
            self.count_text(bytes);
            return true;
        }
        let before = self.bytes_repeated;
        self.bytes_repeated += bytes;
        let (Some(span), true) = (span, self.bytes_repeated > REPEATED_FILE_BYTES) else { return true };
        if before <= REPEATED_FILE_BYTES {
            let limit = REPEATED_FILE_BYTES >> 20;
            let label = format!("more than {limit} MiB, each time counted");
            Diagnostic::error(codes::LIMIT_REACHED, "the same files are named too often")
                .at(span, label)
                .with_help("name them once for all tests, or put the cases into a JSONL file")
                .add_to(&mut self.problems);
        } else {
            self.problems.count_error();
        }
        false
    }

    /// Parses a source as YAML.
    pub fn read_yaml(&mut self, source: SourceId) -> Option<TreeNode> {
        self.read_counted(|cx| read_yaml(&cx.sources, source, &mut cx.problems))
    }

    /// Parses a source that may be YAML: no diagnostic is added if it is not.
    pub fn try_yaml(&mut self, source: SourceId) -> Option<TreeNode> {
        self.read_counted(|cx| read_yaml(&cx.sources, source, &mut cx.problems.fork()))
    }

    /// Reads the tree of a source. Returns `None`, after adding a diagnostic, if aliases make too much of all files together:
    /// each file has a limit for its own aliases, and there may be a thousand files. No further file is parsed then.
    pub(crate) fn read_counted(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<TreeNode>,
    ) -> Option<TreeNode> {
        if self.totals.is_too_much() {
            self.problems.count_error();
            return None;
        }

        let root = read(self)?;
        self.count_tree(&root).then_some(root)
    }

    /// Counts a tree. Returns false, after adding a diagnostic, if the values of all files take too much memory.
    pub(crate) fn count_tree(&mut self, root: &TreeNode) -> bool {
        self.totals.values = self.totals.values.saturating_add(root.size().total());
        if !self.totals.is_too_much() {
            return true;
        }

        Diagnostic::error(codes::ALIAS_EXPANSION, "the values of all files together take too much memory")
            .at(root.use_span().start_point(), "the limit is reached here")
            .with_note(format!(
                "they may take {} MiB, or {EXPANSION_FACTOR} times the size of the files",
                MATRIX_VALUE_BYTES >> 20
            ))
            .with_help("repeat less with aliases, or put the cases into a JSONL file")
            .add_to(&mut self.problems);
        false
    }

    /// Returns the start of a span in a form that outlives the sources.
    pub fn position(&self, span: Span) -> FilePosition {
        let position = self.sources.position(span);
        FilePosition::with_shared_path(
            self.sources.file(span.source).shared_path(),
            position.line,
            position.column,
        )
    }

    /// Returns the range of a span in a form that outlives the sources.
    pub fn mark(&self, span: Span) -> SourceMark {
        SourceMark {
            place: self.position(span),
            first_line: self.sources.file(span.source).first_line(),
            start: span.start,
            end: span.end,
        }
    }

    /// Finds the file or folder that `written` refers to. Relative paths are resolved against the folder of
    /// the file that holds the reference, then against the search folders. Returns `None` after adding a
    /// diagnostic.
    pub fn find_file(&mut self, written: &str, span: Span) -> Option<PathBuf> {
        if !self.reach.reads_files() {
            return Diagnostic::error(codes::FILE_NOT_FOUND, "no file can be read here")
                .at(span, format!("`{written}`"))
                .with_help("write the content itself")
                .reject_in(&mut self.problems);
        }

        let given = Path::new(written.strip_prefix("file://").unwrap_or(written));
        let home = self.folder_of(span.source);
        let mut candidates = Vec::new();
        if given.is_absolute() {
            candidates.push(given.to_path_buf());
        }

        // A leading slash may also mean the root of a search folder.
        let relative = given.strip_prefix("/").unwrap_or(given);
        let relative = relative.strip_prefix(".").unwrap_or(relative);
        // The same letters may be written in two ways: macOS writes `é` in names as `e` with an accent after it.
        let written_names = relative.to_string_lossy();
        let mut relatives = vec![written_names.to_string()];
        if !written_names.is_ascii() {
            relatives.extend([written_names.nfc().collect(), written_names.nfd().collect()]);
        }
        for relative in &relatives {
            candidates.push(home.join(relative));
            candidates.extend(self.reach.search.iter().map(|folder| folder.join(relative)));
        }

        let mut is_outside = false;
        for candidate in candidates {
            if self.reach.roots.contain(&candidate) {
                return Some(candidate);
            }
            is_outside |= candidate.canonicalize().is_ok();
        }

        if is_outside {
            Diagnostic::error(codes::OUTSIDE_ROOT, "this file is outside the allowed folders")
                .at(span, "outside the suite's root")
                .with_note(format!("files may be read from {}", self.reach.roots))
                .with_help(format!("move the file there, or {OTHER_WAYS}"))
                .add_to(&mut self.problems);
        } else {
            let help = if written.contains('\\') {
                "write `/` between folders, on Windows too"
            } else {
                "check the path; it is relative to the folder of the eval file"
            };
            Diagnostic::error(codes::FILE_NOT_FOUND, "file not found")
                .at(span, format!("`{written}`"))
                .with_note(format!("looked in `{}` and its parents", home.display()))
                .with_help(help)
                .add_to(&mut self.problems);
        }

        None
    }

    /// Reads the text file that `written` refers to. Returns `None` after adding a diagnostic.
    pub fn read_text(&mut self, written: &str, span: Span) -> Option<TextFile> {
        let path = self.find_file(written, span)?;
        let complaint = match fs::metadata(&path) {
            Err(error) => Some(error.to_string()),
            Ok(meta) if meta.is_dir() => Some("it is a folder".to_owned()),
            Ok(meta) if meta.len() > MAX_ATTACHMENT_BYTES => {
                Some(format!("it is larger than {} MiB", MAX_ATTACHMENT_BYTES / 1024 / 1024))
            }
            Ok(_) => None,
        };

        let text = match complaint {
            None => match assize_files::read_bytes(&path, MAX_ATTACHMENT_BYTES) {
                Ok(bytes) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()),
                Err(error) => Err(error.to_string()),
            },
            Some(complaint) => Err(complaint),
        };
        match text {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
                self.count_file(&path, text.len(), Some(span)).then(|| TextFile { path, text: text.into() })
            }
            Err(reason) => Diagnostic::error(codes::FILE_UNREADABLE, "file can't be read")
                .at(span, format!("`{written}`: {reason}"))
                .with_help(unreadable_help(&reason))
                .reject_in(&mut self.problems),
        }
    }

    /// Returns the folders that are searched for files kept beside a file, nearest first: the folder of the
    /// file that contains `span`, then the search folders.
    pub(crate) fn folders_upward(&self, span: Span) -> Vec<PathBuf> {
        let mut folders = vec![self.folder_of(span.source)];
        for folder in &self.reach.search {
            if !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }

        folders
    }

    /// Returns true if `written` names a file that may be read. Adds no diagnostic.
    pub fn is_reachable(&self, written: &str, span: Span) -> bool {
        let given = Path::new(written);
        self.folders_upward(span)
            .iter()
            .filter_map(|folder| self.reach.roots.resolve(&folder.join(given)).ok())
            .any(|real| real.is_file())
    }

    /// Returns the folder of a source file.
    pub fn folder_of(&self, source: SourceId) -> PathBuf {
        parent_folder(self.sources.file(source).path())
    }
}

/// Returns the folder that a file is in.
pub fn parent_folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Returns the folders that a file may refer to.
pub fn readable_roots(path: &Path, options: &LoadOptions) -> FileRoots {
    load_context(path, options).reach.roots.clone()
}

/// Returns the context of a file: the folders that it may refer to, and the folders that its references are
/// resolved in.
pub fn load_context(path: &Path, options: &LoadOptions) -> DecodeContext {
    let folder = parent_folder(path);
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

    // Parent folders are searched as far as they may be read.
    let above = real.ancestors().skip(1).take_while(|up| roots.iter().any(|root| up.starts_with(root)));
    search.extend(above.map(Path::to_path_buf));
    search.push(options.working_folder.clone());

    let mut cx = DecodeContext::with_scope(Arc::new(LoadScope {
        environment: FileEnvironment::new(options.environment.clone()),
        search,
        roots: FileRoots::new(roots).or_everywhere(options.reads_everywhere),
        open: BTreeMap::new(),
        programs: options.programs.clone(),
        targets: options.targets.clone(),
        case_check: options.case_check.clone(),
    }));
    cx.totals = options.read_before.clone();
    cx.script_time = cx.totals.spent_time.clone().unwrap_or_default();
    cx
}

/// Returns advice on a file that can't be read, by the reason.
pub(super) fn unreadable_help(reason: &str) -> &'static str {
    match reason {
        "it is a folder" => "name a file in it",
        "it is not UTF-8 text" => "save it as UTF-8",
        _ => "check the path and the file's permissions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_many_cases_have_is_compiled_once() {
        let cx = DecodeContext::new(Arc::new(|_: &str| None), Vec::new(), Vec::new());
        for _ in 0..2 {
            assert!(cx.check_pattern("a|b", "i").is_ok() && cx.check_pattern("a|b", "").is_ok());
            assert!(cx.check_pattern("(", "").is_err());
        }
        assert_eq!(cx.patterns.lock().valid.len(), 2);
        for number in 0..2 * KNOWN_PATTERNS {
            assert!(cx.check_pattern(&format!("a{number}"), "").is_ok());
        }
        assert_eq!(cx.patterns.lock().valid.len(), KNOWN_PATTERNS);
    }
}
