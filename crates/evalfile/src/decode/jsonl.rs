//! Datasets with one case on each line, of any size: the first pass checks every line and keeps none, later
//! passes decode line by line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Code, Diagnostic, Label, Severity, SourceId, SourceMap, Span, Spanned};

use super::Context;
use super::answers::answer;
use super::case::{CaseRead, case};
use super::collect::{Collector, Dependencies, Part};
use super::dataset::{Dataset, Fingerprint};
use super::decoded::Decoded;
use super::file::not_utf8;
use super::ids::{Ids, Met};
use super::lines::{Line, Lines, MAX_LINE, Unfit};
use super::suite::SuiteDefaults;
use crate::codes;
use crate::model::Case;
use crate::tree::{Node, read_json};

/// Maximum number of invalid lines whose diagnostics are kept. The rest is counted: a file that is wrong
/// throughout must not fill the memory.
const MAX_SHOWN: usize = 200;

impl Dataset {
    /// Returns the reader of its lines.
    fn reader(&self) -> LineReader {
        let cx = Context::within(Arc::clone(&self.reach));
        LineReader { path: Arc::clone(&self.path), cx, defaults: Arc::clone(&self.defaults) }
    }
}

/// Checks every line of a dataset. `from` is the reference that names it; without one, complaints
/// about the file itself stand at its beginning. `None` if it can't be read at all.
pub(crate) fn check(
    cx: &mut Context,
    path: &Path,
    from: Option<Span>,
    into: &mut Collector,
) -> Option<Dataset> {
    let result = check_lines(cx, path, into);
    let complaint = match result {
        Ok(dataset) if dataset.count == 0 && dataset.broken.is_empty() => {
            let at = from.unwrap_or_else(|| beginning(cx, path));
            Diagnostic::error(
                codes::NO_CASES,
                "the dataset has no cases",
                at,
                format!("`{}`", path.display()),
            )
            .with_help("write one case on each line, as a JSON object")
        }
        Ok(dataset) => return Some(dataset),
        Err(error) => {
            let at = from.unwrap_or_else(|| beginning(cx, path));
            let code = match error.kind() {
                io::ErrorKind::NotFound => codes::FILE_NOT_FOUND,
                _ => codes::FILE_UNREADABLE,
            };
            let reason = if path.is_dir() { "it is a folder".to_owned() } else { error.to_string() };
            Diagnostic::error(code, "file can't be read", at, format!("`{}`: {reason}", path.display()))
                .with_help("check the path and the file's permissions")
        }
    };
    cx.problems.add(complaint);
    None
}

fn beginning(cx: &mut Context, path: &Path) -> Span {
    let source = cx.sources.add(path, "");
    Span::new(source, 0, 0)
}

fn check_lines(cx: &mut Context, path: &Path, into: &mut Collector) -> io::Result<Dataset> {
    let Collector { defaults, ids, dependencies, .. } = into;
    let file = File::open(path)?;
    let mut dataset = Dataset {
        path: Arc::from(path),
        count: 0,
        broken: Vec::new(),
        fingerprint: Fingerprint::of(&file)?,
        defaults: Arc::clone(defaults),
        reach: Arc::clone(&cx.reach),
    };
    let shared = Arc::clone(&dataset.path);
    let reader = LineReader { path: Arc::clone(&shared), cx: cx.fork(), defaults: Arc::clone(defaults) };
    let mut shown = Shown::default();
    for line in Decoded::ahead(file, move |line| reader.check(line)) {
        let Checked { number, cx: mut fork, read, is_case } = line?;
        claim(cx, &mut fork, &read, (&shared, number), ids, dependencies);
        if fork.problems.errors() == 0 && is_case {
            dataset.count += 1;
        } else {
            dataset.broken.push(number);
        }
        shown.add(cx, fork, path, number);
    }
    shown.finish(cx, path);
    Ok(dataset)
}

/// Records the id of a case and its dependencies, the latter with spans that outlive the line.
fn claim(
    cx: &mut Context,
    fork: &mut Context,
    read: &CaseRead,
    (path, number): (&Arc<Path>, usize),
    ids: &mut Ids,
    dependencies: &mut Dependencies,
) {
    let Some(id) = &read.id else { return };
    ids.claim(fork, id, Met::Line(path, number));
    if read.depends_on.is_empty() {
        return;
    }
    let mut moved = Moved { from: &fork.sources, known: HashMap::new() };
    let mut place = |id: &Spanned<String>| {
        let mut id = id.clone();
        moved.span(&mut cx.sources, &mut id.span, path);
        id
    };
    dependencies.push((place(id), read.depends_on.iter().map(place).collect()));
}

/// Decodes the lines of a dataset from a text and keeps every case: for texts that are not saved.
pub(crate) fn keep(cx: &mut Context, path: &Path, text: &str, collector: &mut Collector) {
    let mut lines = Lines::new(text.as_bytes());
    let shared: Arc<Path> = Arc::from(path);
    let mut shown = Shown::default();
    let mut kept = Vec::new();
    // Reading from memory cannot fail.
    while let Ok(Some(line)) = lines.next_line() {
        let number = line.number;
        let mut fork = cx.fork();
        let read = read_line(&mut fork, &shared, line, &collector.defaults);
        let Collector { ids, dependencies, .. } = collector;
        claim(cx, &mut fork, &read, (&shared, number), ids, dependencies);
        let sound = fork.problems.errors() == 0;
        kept.extend(read.case.filter(|_| sound));
        collector.met = true;
        shown.add(cx, fork, path, number);
    }
    shown.finish(cx, path);
    collector.parts.push(Part::Kept(kept));
}

/// Returns the tree of the first non-blank line, for detecting the format. Its problems are reported when the
/// lines are checked.
pub(crate) fn first_line(cx: &Context, path: &Path) -> Option<Node> {
    first_of(cx, path, File::open(path).ok()?)
}

/// Returns the tree of the first non-blank line of `lines`.
pub(crate) fn first_of(cx: &Context, path: &Path, lines: impl Read) -> Option<Node> {
    let mut lines = Lines::new(lines);
    let line = lines.next_line().ok()??;
    let mut fork = cx.fork();
    let source = fork.sources.add(path, line.content.ok()?);
    read_json(&fork.sources, source, &mut fork.problems)
}

/// Reader of the lines of a dataset.
struct LineReader {
    path: Arc<Path>,
    /// Context that each line forks.
    cx: Context,
    defaults: Arc<SuiteDefaults>,
}

/// Result of checking a line, with its diagnostics.
struct Checked {
    number: usize,
    cx: Context,
    /// Decoded line, without the case.
    read: CaseRead,
    /// True if the line holds a valid case.
    is_case: bool,
}

impl LineReader {
    /// Decodes a line for its diagnostics. The case is dropped on the thread that decoded it.
    fn check(&self, line: Line) -> Checked {
        let (number, mut cx) = (line.number, self.cx.fork());
        let mut read = read_line(&mut cx, &self.path, line, &self.defaults);
        let is_case = read.case.take().is_some();
        Checked { number, cx, read, is_case }
    }

    /// Decodes a line for its case: returns its number, and the case if it is valid.
    fn case(&self, line: Line) -> (usize, Option<Arc<Case>>) {
        let number = line.number;
        (number, read_line(&mut self.cx.fork(), &self.path, line, &self.defaults).case)
    }
}

fn read_line(cx: &mut Context, path: &Arc<Path>, line: Line, defaults: &SuiteDefaults) -> CaseRead {
    let nothing = CaseRead { id: None, case: None, depends_on: Vec::new() };
    let text = match line.content {
        Ok(text) => text,
        Err(Unfit::NotUtf8 { valid, byte, lossy }) => {
            let source = cx.sources.add_shared(Arc::clone(path), lossy, line.number);
            cx.problems.add(not_utf8(Span::new(source, valid, valid + '\u{fffd}'.len_utf8()), byte, valid));
            return nothing;
        }
        Err(Unfit::TooLong) => {
            let source = cx.sources.add_shared(Arc::clone(path), "", line.number);
            cx.problems.add(
                Diagnostic::error(
                    codes::FILE_TOO_LARGE,
                    "this line is too long",
                    Span::new(source, 0, 0),
                    format!("more than {} MiB", MAX_LINE / 1024 / 1024),
                )
                .with_help("write one case on each line, without line breaks missing between them"),
            );
            return nothing;
        }
    };
    let source = cx.sources.add_shared(Arc::clone(path), text, line.number);
    match read_json(&cx.sources, source, &mut cx.problems) {
        Some(node) if defaults.answers => answer(cx, &node, line.number, defaults),
        Some(mut node) => case(cx, &mut node, defaults, None),
        None => nothing,
    }
}

/// Diagnostics of a dataset: all of the first invalid lines, each warning once.
#[derive(Default)]
struct Shown {
    list: Vec<Diagnostic>,
    /// Warnings by code and text: index in `list`, and number of further lines.
    warnings: HashMap<(Code, String), (usize, usize)>,
    broken: usize,
    first_hidden: Option<usize>,
}

impl Shown {
    fn add(&mut self, cx: &mut Context, fork: Context, path: &Path, number: usize) {
        let Context { sources, problems, .. } = fork;
        let has_errors = problems.errors() > 0;
        let diagnostics = problems.into_vec();
        if diagnostics.is_empty() {
            return;
        }
        if has_errors {
            self.broken += 1;
            if self.broken > MAX_SHOWN {
                self.first_hidden.get_or_insert(number);
                return;
            }
        }
        let mut moved = Moved { from: &sources, known: HashMap::new() };
        for mut diagnostic in diagnostics {
            if diagnostic.severity == Severity::Warning {
                let key = (diagnostic.code, diagnostic.title.clone());
                if let Some((_, more)) = self.warnings.get_mut(&key) {
                    *more += 1;
                    continue;
                }
                // Warnings that differ on every line would grow with the dataset as well.
                if self.warnings.len() >= MAX_SHOWN {
                    continue;
                }
                self.warnings.insert(key, (self.list.len(), 0));
            }
            moved.move_to(&mut cx.sources, &mut diagnostic, path);
            self.list.push(diagnostic);
        }
    }

    fn finish(mut self, cx: &mut Context, path: &Path) {
        let mut repeated: Vec<(usize, usize)> =
            self.warnings.values().copied().filter(|(_, more)| *more > 0).collect();
        repeated.sort_unstable();
        for (index, more) in repeated {
            let lines = if more == 1 { "1 more line".to_owned() } else { format!("{more} more lines") };
            self.list[index].notes.push(format!("the same applies to {lines} of this dataset"));
        }
        for diagnostic in self.list {
            cx.problems.add(diagnostic);
        }
        if let Some(number) = self.first_hidden {
            let source = cx.sources.add_fragment(path, "", number);
            cx.problems.add(
                Diagnostic::error(
                    codes::MORE_PROBLEMS,
                    format!("{} more lines of this dataset have problems", self.broken - MAX_SHOWN),
                    Span::new(source, 0, 0),
                    "the first of them",
                )
                .with_help("put the lines above right and check again"),
            );
        }
    }
}

/// Moves diagnostics from the sources of one line to those of the load.
struct Moved<'s> {
    from: &'s SourceMap,
    known: HashMap<SourceId, SourceId>,
}

impl Moved<'_> {
    fn move_to(&mut self, sources: &mut SourceMap, diagnostic: &mut Diagnostic, path: &Path) {
        self.span(sources, &mut diagnostic.primary.span, path);
        for Label { span, .. } in &mut diagnostic.secondary {
            self.span(sources, span, path);
        }
        if let Some(suggestion) = &mut diagnostic.suggestion {
            self.span(sources, &mut suggestion.span, path);
        }
    }

    fn span(&mut self, sources: &mut SourceMap, span: &mut Span, path: &Path) {
        span.source = *self.known.entry(span.source).or_insert_with(|| {
            let file = self.from.file(span.source);
            let path = if file.path().as_os_str().is_empty() { path } else { file.path() };
            sources.add_fragment(path, file.text(), file.first_line())
        });
    }
}

/// Failure of a later pass over a dataset.
#[derive(Debug, thiserror::Error)]
pub enum CaseLoadError {
    /// The file can no longer be read.
    #[error("can't read {}: {source}", path.display())]
    Unreadable {
        /// Path of the dataset.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file has changed since it was checked.
    #[error("{} was changed while it was in use; start again", path.display())]
    Changed {
        /// Path of the dataset.
        path: PathBuf,
    },
    /// A valid line has become invalid: the dataset, or a file it refers to, has changed.
    #[error("line {line} of {} was sound and no longer is; was it, or a file it names, changed?", path.display())]
    Unsound {
        /// Path of the dataset.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
}

/// A later pass over a dataset.
pub(crate) struct DatasetCases {
    dataset: Dataset,
    /// True if cases are decoded ahead.
    ahead: bool,
    state: State,
    given: usize,
    /// Number of invalid lines passed.
    passed: usize,
}

enum State {
    Start,
    Reading(Decoded<(usize, Option<Arc<Case>>)>),
    Done,
}

impl DatasetCases {
    /// Decodes each case when it is requested, or with `ahead` on other threads.
    pub(crate) fn new(dataset: Dataset, ahead: bool) -> Self {
        Self { dataset, ahead, state: State::Start, given: 0, passed: 0 }
    }

    /// Returns the next case; `None` at the end and after an error.
    pub(crate) fn next_case(&mut self) -> Option<Result<Arc<Case>, CaseLoadError>> {
        let result = self.try_next();
        if !matches!(result, Ok(Some(_))) {
            self.state = State::Done;
        }
        result.transpose()
    }

    fn try_next(&mut self) -> Result<Option<Arc<Case>>, CaseLoadError> {
        let path = || self.dataset.path.to_path_buf();
        let unreadable = |source| CaseLoadError::Unreadable { path: path(), source };
        if let State::Start = self.state {
            let file = File::open(&self.dataset.path).map_err(unreadable)?;
            if Fingerprint::of(&file).map_err(unreadable)? != self.dataset.fingerprint {
                return Err(CaseLoadError::Changed { path: path() });
            }
            let reader = self.dataset.reader();
            let decode = move |line| reader.case(line);
            let decoded =
                if self.ahead { Decoded::ahead(file, decode) } else { Decoded::one_by_one(file, decode) };
            self.state = State::Reading(decoded);
        }
        let State::Reading(decoded) = &mut self.state else { return Ok(None) };
        for line in decoded {
            let (number, case) = line.map_err(unreadable)?;
            if self.dataset.broken.get(self.passed) == Some(&number) {
                self.passed += 1;
                continue;
            }
            let Some(case) = case else {
                return Err(CaseLoadError::Unsound { path: path(), line: number });
            };
            self.given += 1;
            return Ok(Some(case));
        }
        if self.given == self.dataset.count { Ok(None) } else { Err(CaseLoadError::Changed { path: path() }) }
    }
}
