//! Datasets with one case per line, of any size.
//!
//! A dataset is read at least twice. The first pass checks every line and keeps no case. Later passes decode
//! one line at a time, and rely on what the first pass remembered: the number of cases, the invalid lines, and
//! a fingerprint of the file. If the file changes between two passes, the later pass ends with an error, since
//! counts and checks would no longer hold.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{
    Diagnostic, DiagnosticCode, Severity, SourceId, SourceMap, Span, SpanLabel, SpannedValue,
};
use assize_document::{TreeNode, codes, near_path, read_json};
use assize_files::open_file;
use assize_model::{Case, CaseLoadError, CasePlace};

use super::DecodeContext;
use super::answers::decode_answer;
use super::case::{DecodedCase, decode_case};
use super::case_collector::{CaseCollector, CaseSource, DependencyList};
use super::context::unreadable_help;
use super::dataset::{Dataset, Fingerprint};
use super::dataset_lines::{DatasetLine, DatasetLines};
use super::file::add_fault;
use super::ids::{IdLocation, IdRegistry};
use super::line_decoder::LineDecoder;
use super::suite::SuiteDefaults;

/// Maximum number of invalid lines whose diagnostics are kept. Any more are only counted, so that a file full
/// of mistakes does not fill the memory.
const MAX_SHOWN_LINES: usize = 200;

impl SuiteDefaults {
    /// Returns the character between cells if the file is a table.
    fn divider(&self) -> Option<u8> {
        self.answers.as_ref()?.table.as_ref()?.divider
    }

    /// Returns the reader of the lines or rows of a file that has these defaults.
    fn lines(&self, file: File) -> DatasetLines<File> {
        match self.divider() {
            Some(divider) => DatasetLines::rows(file, divider),
            None => DatasetLines::new(file),
        }
    }
}

impl Dataset {
    /// Returns the decoder of its lines.
    fn reader(&self) -> DatasetReader {
        let cx = DecodeContext::with_scope(Arc::clone(&self.reach));
        DatasetReader { path: Arc::clone(&self.path), cx, defaults: Arc::clone(&self.defaults) }
    }

    /// Opens the file, unless it has changed since it was checked.
    fn open(&self) -> Result<File, CaseLoadError> {
        let file = open_file(&self.path).map_err(|source| self.unreadable(source))?;
        match Fingerprint::from_file(&file) {
            Err(source) => Err(self.unreadable(source)),
            Ok(found) if found == self.fingerprint => Ok(file),
            Ok(_) => Err(self.changed()),
        }
    }

    fn unreadable(&self, source: io::Error) -> CaseLoadError {
        CaseLoadError::Unreadable { path: self.path.to_path_buf(), source }
    }

    fn changed(&self) -> CaseLoadError {
        CaseLoadError::Changed { path: self.path.to_path_buf() }
    }

    fn invalid(&self, place: CasePlace) -> CaseLoadError {
        CaseLoadError::Invalid { path: self.path.to_path_buf(), line: place.line as usize }
    }
}

/// Reader of single cases of a dataset.
pub(crate) struct PickedCases {
    dataset: Dataset,
    reader: DatasetReader,
    file: File,
}

impl PickedCases {
    /// Opens the dataset.
    pub(crate) fn new(dataset: &Dataset) -> Result<Self, CaseLoadError> {
        Ok(Self { dataset: dataset.clone(), reader: dataset.reader(), file: dataset.open()? })
    }

    /// Decodes the case at a place.
    pub(crate) fn read(&self, place: CasePlace) -> Result<Arc<Case>, CaseLoadError> {
        let unreadable = |source| self.dataset.unreadable(source);
        (&self.file).seek(SeekFrom::Start(place.start)).map_err(unreadable)?;

        let divider = self.dataset.defaults.divider();
        let mut lines = DatasetLines::from_line(&self.file, divider, &place);
        let line = lines.next_line().map_err(unreadable)?.ok_or_else(|| self.dataset.changed())?;

        let (place, case) = self.reader.case(line);
        case.ok_or_else(|| self.dataset.invalid(place))
    }
}

/// Checks every line of a dataset. `from` is the reference to it. Without one, problems with the file as a
/// whole are reported at its beginning. Returns `None` if it can't be read, or has no cases at all.
pub(crate) fn check_dataset(
    cx: &mut DecodeContext,
    path: &Path,
    from: Option<Span>,
    into: &mut CaseCollector,
) -> Option<Dataset> {
    let result = check_lines(cx, path, into);
    let complaint = match result {
        Ok(dataset) if dataset.count == 0 && dataset.broken.is_empty() => {
            let at = from.unwrap_or_else(|| beginning_of(cx, path));
            no_cases(path, at)
        }
        Ok(dataset) => return Some(dataset),
        Err(error) => {
            let at = from.unwrap_or_else(|| beginning_of(cx, path));
            if error.kind() == io::ErrorKind::NotFound {
                not_found(path, at)
            } else {
                let reason = if path.is_dir() { "it is a folder".to_owned() } else { error.to_string() };
                let label = format!("`{}`: {reason}", path.display());
                Diagnostic::error(codes::FILE_UNREADABLE, "file can't be read")
                    .at(at, label)
                    .with_help(unreadable_help(&reason))
            }
        }
    };

    cx.problems.reject(complaint)
}

/// Returns the diagnostic for a dataset without a line or row.
fn no_cases(path: &Path, at: Span) -> Diagnostic {
    Diagnostic::error(codes::NO_CASES, "the dataset has no cases")
        .at(at, format!("`{}`", path.display()))
        .with_help(if assize_table::is_table(path) {
            match fs::metadata(path) {
                Ok(file) if file.len() > 0 => {
                    "there are no rows below the names of the columns; write a line for each case"
                }
                _ => "write a line with the names of the columns, and a line for each case below it",
            }
        } else {
            "write one case on each line, as a JSON object"
        })
}

/// Returns the diagnostic for a file of answers that does not exist.
pub(super) fn not_found(path: &Path, at: Span) -> Diagnostic {
    let complaint = Diagnostic::error(codes::FILE_NOT_FOUND, "file not found")
        .at(at, "no such file")
        .with_help("check the path; it is relative to the working folder");
    match near_path(path) {
        Some(near) => complaint.with_help(format!("did you mean `{}`?", near.display())),
        None => complaint,
    }
}

fn beginning_of(cx: &mut DecodeContext, path: &Path) -> Span {
    let source = cx.sources.add(path, "");
    Span::new(source, 0, 0)
}

fn check_lines(cx: &mut DecodeContext, path: &Path, into: &mut CaseCollector) -> io::Result<Dataset> {
    let CaseCollector { defaults, ids, dependencies, .. } = into;
    let file = open_file(path)?;
    let mut dataset = Dataset {
        path: Arc::from(path),
        count: 0,
        broken: Vec::new(),
        selects: false,
        fingerprint: Fingerprint::from_file(&file)?,
        defaults: Arc::clone(defaults),
        reach: Arc::clone(&cx.reach),
    };

    let shared = Arc::clone(&dataset.path);
    let reader = DatasetReader { path: Arc::clone(&shared), cx: cx.fork(), defaults: Arc::clone(defaults) };
    let mut shown = DatasetDiagnostics::default();
    for line in LineDecoder::ahead(defaults.lines(file), move |line| reader.check(line)) {
        let LineCheck { number, cx: mut fork, read, is_case, selects } = line?;
        dataset.selects |= selects;
        register_case(cx, &mut fork, &read, (&shared, number), ids, dependencies);

        if fork.problems.error_count() == 0 && is_case {
            dataset.count += 1;
        } else {
            dataset.broken.push(number);
        }

        shown.add(cx, fork, path, number);
    }

    shown.finish(cx, path);
    Ok(dataset)
}

/// Records the id of a case and its dependencies. The spans of the dependencies are converted, because the line
/// is dropped.
fn register_case(
    cx: &mut DecodeContext,
    fork: &mut DecodeContext,
    read: &DecodedCase,
    (path, number): (&Arc<Path>, usize),
    ids: &mut IdRegistry,
    dependencies: &mut DependencyList,
) {
    let Some(id) = &read.id else { return };
    ids.register(fork, id, IdLocation::Line(path, number));

    if read.depends_on.is_empty() {
        return;
    }

    let mut moved = SourceRemapper { from: &fork.sources, known: HashMap::new() };
    let mut place = |id: &SpannedValue<String>| {
        let mut id = id.clone();
        moved.move_span(&mut cx.sources, &mut id.span, path);
        id
    };
    dependencies.push((place(id), read.depends_on.iter().map(place).collect()));
}

/// Decodes the lines of a dataset from a text and keeps every case. Used for unsaved texts.
pub(crate) fn keep_cases(cx: &mut DecodeContext, path: &Path, text: &str, collector: &mut CaseCollector) {
    let mut lines = DatasetLines::new(text.as_bytes());
    // Reading from memory can't fail.
    keep_lines(cx, path, std::iter::from_fn(|| lines.next_line().ok().flatten()), collector);
}

/// Decodes the rows of a text table and keeps every case. The collector knows its layout.
pub(crate) fn keep_rows(cx: &mut DecodeContext, path: &Path, text: &str, collector: &mut CaseCollector) {
    let divider = collector.defaults.divider().unwrap_or(b',');
    let mut rows = DatasetLines::rows(text.as_bytes(), divider);
    // Reading from memory can't fail.
    let mut rows = std::iter::from_fn(|| rows.next_line().ok().flatten()).peekable();
    if rows.peek().is_none() {
        let at = beginning_of(cx, path);
        cx.problems.add(no_cases(path, at));
    } else {
        keep_lines(cx, path, rows, collector);
    }
}

/// Decodes lines and keeps every case.
pub(super) fn keep_lines(
    cx: &mut DecodeContext,
    path: &Path,
    lines: impl Iterator<Item = DatasetLine>,
    collector: &mut CaseCollector,
) {
    let shared: Arc<Path> = Arc::from(path);
    let mut shown = DatasetDiagnostics::default();
    let mut kept = Vec::new();

    for line in lines {
        let number = line.number;
        let mut fork = cx.fork();
        let read = read_line(&mut fork, &shared, line, &collector.defaults);
        let CaseCollector { ids, dependencies, .. } = collector;
        register_case(cx, &mut fork, &read, (&shared, number), ids, dependencies);

        let sound = fork.problems.error_count() == 0;
        kept.extend(read.case.filter(|_| sound));
        collector.met = true;

        shown.add(cx, fork, path, number);
    }

    shown.finish(cx, path);
    collector.parts.push(CaseSource::Kept(kept));
}

/// Returns the tree of the first non-blank line, for detecting the format. Its problems are not reported: they
/// will be when the lines are checked.
pub(crate) fn first_line(cx: &DecodeContext, path: &Path) -> Option<TreeNode> {
    first_line_in(cx, path, open_file(path).ok()?)
}

/// Returns the tree of the first non-blank line of `lines`.
pub(crate) fn first_line_in(cx: &DecodeContext, path: &Path, lines: impl Read) -> Option<TreeNode> {
    let mut lines = DatasetLines::new(lines);
    let line = lines.next_line().ok()??;
    let mut fork = cx.fork();
    let source = fork.sources.add(path, line.content.ok()?);
    read_json(&fork.sources, source, &mut fork.problems)
}

/// Reader of the lines of a dataset.
struct DatasetReader {
    path: Arc<Path>,
    /// Context that is forked for each line.
    cx: DecodeContext,
    defaults: Arc<SuiteDefaults>,
}

/// Result of checking a line, with its diagnostics.
struct LineCheck {
    number: usize,
    cx: DecodeContext,
    /// The decoded line, without its case.
    read: DecodedCase,
    /// True if the line holds a valid case.
    is_case: bool,
    /// True if one of its graders compares all answers.
    selects: bool,
}

impl DatasetReader {
    /// Decodes a line only for its diagnostics. The case is dropped on the thread that decoded it.
    fn check(&self, line: DatasetLine) -> LineCheck {
        let (number, mut cx) = (line.number, self.cx.fork());
        let mut read = read_line(&mut cx, &self.path, line, &self.defaults);
        let case = read.case.take();
        let selects = case.as_ref().is_some_and(|case| case.compares_answers());
        if let (Some(case), Some(check)) = (&case, &cx.reach.case_check) {
            cx.problems.extend(check(case, &cx.sources));
        }
        LineCheck { number, cx, read, is_case: case.is_some(), selects }
    }

    /// Decodes a line. Returns its place, and the case if it is valid.
    fn case(&self, line: DatasetLine) -> (CasePlace, Option<Arc<Case>>) {
        let place = CasePlace { start: line.start, line: line.number as u64, row: line.row as u64 };
        (place, read_line(&mut self.cx.fork(), &self.path, line, &self.defaults).case)
    }
}

fn read_line(
    cx: &mut DecodeContext,
    path: &Arc<Path>,
    line: DatasetLine,
    defaults: &SuiteDefaults,
) -> DecodedCase {
    let nothing = DecodedCase { id: None, case: None, depends_on: Vec::new() };
    let text = match line.content {
        Ok(text) => text,
        Err(fault) => {
            add_fault(cx, path, line.number, &fault, defaults.divider().is_some());
            return nothing;
        }
    };

    let source = match line.cells {
        Some(cells) => cx.sources.add_row(Arc::clone(path), Arc::clone(&text), line.number, cells),
        None => cx.sources.add_fragment_shared(Arc::clone(path), Arc::clone(&text), line.number),
    };
    let table = defaults.answers.as_ref().and_then(|format| format.table.as_ref());
    let node = match table {
        Some(table) => table.read_row(cx, source, &text),
        None => read_json(&cx.sources, source, &mut cx.problems),
    };

    match node {
        Some(mut node) => match &defaults.answers {
            Some(format) => decode_answer(cx, node, line.row, defaults, format),
            None => decode_case(cx, &mut node, defaults, None),
        },
        None => nothing,
    }
}

/// Diagnostics of a dataset: all errors of the first invalid lines, and each warning once.
#[derive(Default)]
struct DatasetDiagnostics {
    list: Vec<Diagnostic>,
    /// Warnings by code and title: their index in `list`, and the number of further lines with the same
    /// warning.
    warnings: HashMap<(DiagnosticCode, String), (usize, usize)>,
    broken: usize,
    first_hidden: Option<usize>,
}

impl DatasetDiagnostics {
    fn add(&mut self, cx: &mut DecodeContext, fork: DecodeContext, path: &Path, number: usize) {
        let DecodeContext { sources, problems, .. } = fork;
        let has_errors = problems.error_count() > 0;
        let diagnostics = problems.into_vec();
        if diagnostics.is_empty() {
            return;
        }

        if has_errors {
            self.broken += 1;
            if self.broken > MAX_SHOWN_LINES {
                self.first_hidden.get_or_insert(number);
                return;
            }
        }

        let mut moved = SourceRemapper { from: &sources, known: HashMap::new() };
        for mut diagnostic in diagnostics {
            if diagnostic.severity == Severity::Warning {
                let key = (diagnostic.code, diagnostic.title.clone());
                if let Some((_, more)) = self.warnings.get_mut(&key) {
                    *more += 1;
                    continue;
                }
                // Limit different warnings as well: if every line has another one, they would grow with the
                // dataset.
                if self.warnings.len() >= MAX_SHOWN_LINES {
                    continue;
                }

                self.warnings.insert(key, (self.list.len(), 0));
            }

            moved.move_to(&mut cx.sources, &mut diagnostic, path);
            self.list.push(diagnostic);
        }
    }

    fn finish(mut self, cx: &mut DecodeContext, path: &Path) {
        let mut repeated: Vec<(usize, usize)> =
            self.warnings.values().copied().filter(|(_, more)| *more > 0).collect();
        repeated.sort_unstable();

        for (index, more) in repeated {
            let lines = if more == 1 { "1 more line".to_owned() } else { format!("{more} more lines") };
            self.list[index].notes.push(format!("the same applies to {lines} of this dataset"));
        }

        cx.problems.extend(self.list);

        if let Some(number) = self.first_hidden {
            let source = cx.sources.add_fragment(path, "", number);
            Diagnostic::error(
                codes::MORE_PROBLEMS,
                format!("{} more lines of this dataset have errors", self.broken - MAX_SHOWN_LINES),
            )
            .at(Span::new(source, 0, 0), "the first of them")
            .with_help("fix the lines above and validate again")
            .add_to(&mut cx.problems);
        }
    }
}

/// Moves diagnostics from the sources of one line to the sources of the load.
struct SourceRemapper<'s> {
    from: &'s SourceMap,
    known: HashMap<SourceId, SourceId>,
}

impl SourceRemapper<'_> {
    fn move_to(&mut self, sources: &mut SourceMap, diagnostic: &mut Diagnostic, path: &Path) {
        self.move_span(sources, &mut diagnostic.primary.span, path);

        for SpanLabel { span, .. } in &mut diagnostic.secondary {
            self.move_span(sources, span, path);
        }

        if let Some(suggestion) = &mut diagnostic.suggestion {
            self.move_span(sources, &mut suggestion.span, path);
        }
    }

    fn move_span(&mut self, sources: &mut SourceMap, span: &mut Span, path: &Path) {
        span.source = *self.known.entry(span.source).or_insert_with(|| {
            let file = self.from.file(span.source);
            let is_named = !file.path().as_os_str().is_empty();
            let path = if is_named { file.shared_path() } else { Arc::from(path) };
            sources.add_copy(path, file.shared_text(), file)
        });
    }
}

/// A later pass over a dataset.
pub(crate) struct DatasetCases {
    dataset: Dataset,
    /// True if cases are decoded ahead on other threads.
    ahead: bool,
    state: ReadState,
    given: usize,
    /// Number of invalid lines skipped so far.
    passed: usize,
}

enum ReadState {
    Start,
    Reading(Box<LineDecoder<(CasePlace, Option<Arc<Case>>)>>),
    Done,
}

impl DatasetCases {
    /// Creates a pass that decodes each case when it is requested, or with `ahead` in advance on other threads.
    pub(crate) fn new(dataset: Dataset, ahead: bool) -> Self {
        Self { dataset, ahead, state: ReadState::Start, given: 0, passed: 0 }
    }

    /// Returns the next case with its place; `None` at the end and after an error.
    pub(crate) fn next_case(&mut self) -> Option<Result<(CasePlace, Arc<Case>), CaseLoadError>> {
        let result = self.try_next();
        if !matches!(result, Ok(Some(_))) {
            self.state = ReadState::Done;
        }
        result.transpose()
    }

    fn try_next(&mut self) -> Result<Option<(CasePlace, Arc<Case>)>, CaseLoadError> {
        if let ReadState::Start = self.state {
            let file = self.dataset.open()?;
            let reader = self.dataset.reader();
            let decode = move |line| reader.case(line);
            let lines = self.dataset.defaults.lines(file);
            let decoded = if self.ahead {
                LineDecoder::ahead(lines, decode)
            } else {
                LineDecoder::one_by_one(lines, decode)
            };
            self.state = ReadState::Reading(Box::new(decoded));
        }

        let ReadState::Reading(decoded) = &mut self.state else { return Ok(None) };
        for line in decoded {
            let (place, case) = line.map_err(|source| self.dataset.unreadable(source))?;
            if self.dataset.broken.get(self.passed).is_some_and(|broken| *broken as u64 == place.line) {
                self.passed += 1;
                continue;
            }

            let case = case.ok_or_else(|| self.dataset.invalid(place))?;
            self.given += 1;

            return Ok(Some((place, case)));
        }

        if self.given == self.dataset.count { Ok(None) } else { Err(self.dataset.changed()) }
    }
}
