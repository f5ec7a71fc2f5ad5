//! Files of requests and replies in OpenAI's batch format, for models that are called by other means.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_llm::{
    AskError, BatchOutcome, BatchReplyLine, BatchReplyLines, BatchRequestLine, CallKey, ModelId,
    ReplyExchange,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::process::ProcessContext;

/// The most examples that a report names; the rest is only counted.
const MAX_EXAMPLES: usize = 5;

/// OpenAI's limits for one file: requests and bytes.
const BATCH_REQUESTS: u64 = 50_000;
const BATCH_BYTES: u64 = 200_000_000;

/// This many bytes at the beginning distinguish an earlier export from other files.
const EXPORT_START: u64 = 128;
/// Length of a `custom_id` in characters.
const CALL_KEY_CHARS: usize = 64;

/// Files through which requests and replies are exchanged.
#[derive(Debug, Clone, Default)]
pub struct ExchangeOptions {
    /// File for requests without a reply. If it is set, no case is judged and no run is stored.
    pub export: Option<PathBuf>,
    /// Files of replies, and of errors.
    pub import: Vec<PathBuf>,
}

/// The number of items in a category of a report, with a few examples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CountedExamples {
    /// Total number.
    pub count: u64,
    /// Descriptions of the first few.
    pub examples: Vec<String>,
}

impl CountedExamples {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(example());
        }
    }

    fn sentence(&self, what: &str) -> Option<String> {
        let more = match self.count.saturating_sub(self.examples.len() as u64) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (self.count > 0).then(|| format!("{what}: {} ({}{more})", self.count, self.examples.join("; ")))
    }
}

/// Summary of an import of reply files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Replies that a judge or a target used.
    pub used: u64,
    /// Replies to calls that were already in the cache.
    pub known: u64,
    /// Requests without a reply, if none are exported.
    pub missing: u64,
    /// Requests with only an error, or an unreadable answer.
    pub failed: CountedExamples,
    /// Lines that are not lines of a batch file.
    pub unreadable: CountedExamples,
    /// Lines whose `custom_id` does not belong to an exported request.
    pub unknown: CountedExamples,
    /// Further replies to the same request. The first one counts.
    pub doubled: CountedExamples,
    /// Replies to requests that this run does not make.
    pub foreign: CountedExamples,
}

/// Requests that were exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// The files, one per model.
    pub files: Vec<ExportedFile>,
    /// Requests that can't be written, each with the reason.
    pub refused: CountedExamples,
    /// The number of complete results of the plan.
    pub complete: usize,
    /// The number of results that wait for replies.
    pub waiting: usize,
    /// Report on the import; `None` if nothing was imported.
    pub import: Option<ImportReport>,
    /// True if the export was stopped before all requests were written. In that case there are no files.
    pub interrupted: bool,
}

/// File of requests to one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedFile {
    /// The file.
    pub path: PathBuf,
    /// The model; `None` if there are no requests.
    pub model: Option<String>,
    /// Number of requests.
    pub requests: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl ImportReport {
    /// Sentences about the requests and replies that can't be used.
    pub fn problems(&self) -> Vec<String> {
        [
            self.failed.sentence("requests that failed").map(|failed| format!("{failed}; they stay open")),
            self.unreadable
                .sentence("lines that can't be read")
                .map(|unreadable| format!("{unreadable}; requests without a reply in other lines stay open")),
            self.unknown.sentence("lines with an unknown `custom_id`"),
            self.doubled.sentence("replies to a request that had one before"),
            self.foreign
                .sentence("replies to no request of this run, by its files, settings, judge and fence key (copy `.assize/cache/fence.key` from where \
                 they were exported)"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// A sentence about the imported and missing replies.
    pub fn summary(&self) -> String {
        let mut text = format!("replies imported: {}", self.used);
        if self.known > 0 {
            let _ = write!(text, "; in the cache before: {}", self.known);
        }
        if self.missing > 0 {
            let _ = write!(
                text,
                "; requests without a reply: {} (this command with `--export-requests FILE` writes them)",
                self.missing
            );
        }

        text
    }
}

impl ExportReport {
    /// Number of requests in all files.
    pub fn requests(&self) -> u64 {
        self.files.iter().map(|file| file.requests).sum()
    }

    /// Sentence about requests that could not be written.
    pub fn refused_sentence(&self) -> Option<String> {
        self.refused.sentence("requests that can't be written")
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let files = self.files.iter().map(|file| {
            json!({
                "path": file.path.display().to_string(),
                "model": file.model,
                "requests": file.requests,
                "bytes": file.bytes,
            })
        });

        json!({
            "requests": self.requests(),
            "files": files.collect::<Vec<_>>(),
            "refused": self.refused,
            "complete": self.complete,
            "waiting": self.waiting,
            "import": self.import,
            "interrupted": self.interrupted,
        })
    }

    /// The report as text, one fact per line. Paths and names are not escaped.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.import.iter().map(ImportReport::summary).collect();
        for file in &self.files {
            let path = file.path.display();
            lines.push(match &file.model {
                None => format!("{path}: no requests"),
                Some(model) => {
                    let are = if file.requests == 1 { "request" } else { "requests" };
                    format!("{path}: {} {are} to {model}", file.requests)
                }
            });
            if file.requests > BATCH_REQUESTS || file.bytes > BATCH_BYTES {
                lines.push(format!(
                    "{path}: OpenAI takes 50,000 requests and 200 MB in one file; split it by lines"
                ));
            }
        }

        lines.push(format!("results: {} complete, {} waiting for replies", self.complete, self.waiting));
        lines
    }
}

/// Files of replies and of requests of a run.
pub(crate) struct BatchExchange {
    replies: ReplyFiles,
    export: Option<Mutex<ExportState>>,
    state: Mutex<ImportState>,
}

/// Imported replies, grouped by their use so far.
#[derive(Default)]
struct ImportState {
    report: ImportReport,
    used: HashSet<CallKey>,
    known: HashSet<CallKey>,
    failed: HashSet<CallKey>,
    missing: HashSet<CallKey>,
}

impl BatchExchange {
    /// Opens the files; `None` if there are none.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub(crate) fn open(
        options: &ExchangeOptions,
        process: &ProcessContext,
    ) -> Result<Option<Arc<Self>>, EngineError> {
        if options.export.is_none() && options.import.is_empty() {
            return Ok(None);
        }

        let mut report = ImportReport::default();
        let mut replies = ReplyFiles::default();
        for path in &options.import {
            replies.add(process.resolve(path), &mut report)?;
        }

        let export = options.export.as_ref().map(|path| ExportState::new(process.resolve(path)));
        let export = export.transpose()?.map(Mutex::new);
        let state = Mutex::new(ImportState { report, ..ImportState::default() });

        Ok(Some(Arc::new(Self { replies, export, state })))
    }

    /// Report on the imported replies; `None` if none were imported.
    pub(crate) fn import_report(&self) -> Option<ImportReport> {
        if self.replies.files.is_empty() {
            return None;
        }

        let state = self.state.lock();
        let mut report = state.report.clone();
        report.used = state.used.len() as u64;
        report.missing = state.missing.len() as u64;

        // In the order of the files, so that the same run names the same examples.
        let mut unused: Vec<(&CallKey, &ReplyPlace)> = self
            .replies
            .places
            .iter()
            .filter(|(key, _)| !state.used.contains(key) && !state.failed.contains(key))
            .collect();
        unused.sort_by_key(|(_, place)| (place.file, place.range.start));
        for (key, _) in unused {
            if state.known.contains(key) {
                report.known += 1;
            } else {
                report.foreign.add(|| key.to_string());
            }
        }

        Some(report)
    }

    /// Moves the files of requests into place.
    ///
    /// # Errors
    /// When they can't be written.
    pub(crate) fn finish_export(&self) -> Result<(Vec<ExportedFile>, CountedExamples), EngineError> {
        self.export.as_ref().map_or_else(|| Ok(Default::default()), |export| export.lock().finish())
    }
}

impl ReplyExchange for BatchExchange {
    fn find(&self, key: CallKey, number: usize) -> Option<BatchOutcome> {
        let place = self.replies.place(key, number)?;
        let line = self.replies.read(place);
        let mut state = self.state.lock();

        match line.map(|line| line.outcome) {
            Ok(outcome) => {
                state.used.insert(key);
                Some(outcome)
            }
            Err(why) => {
                state.report.unreadable.add(|| why);
                None
            }
        }
    }

    fn recall(&self, key: CallKey) {
        self.state.lock().known.insert(key);
    }

    fn reject(&self, key: CallKey, error: &AskError) {
        let mut state = self.state.lock();
        state.used.remove(&key);
        if state.failed.insert(key) {
            state.report.failed.add(|| format!("{key}: {error}"));
        }
    }

    fn exports(&self) -> bool {
        self.export.is_some()
    }

    fn export(&self, model: &ModelId, key: CallKey, line: Result<BatchRequestLine, AskError>) {
        if let Some(export) = &self.export {
            export.lock().add(model, key, line);
        }
    }

    fn miss(&self, key: CallKey) {
        self.state.lock().missing.insert(key);
    }
}

/// Files of replies, and the position of each reply in them: 64 bytes of memory for each.
#[derive(Default)]
struct ReplyFiles {
    files: Vec<(PathBuf, Mutex<File>)>,
    places: HashMap<CallKey, ReplyPlace>,
    /// Positions of further good lines for a call, in case the first turns out not to be a valid reply.
    further: HashMap<CallKey, Vec<ReplyPlace>>,
}

struct ReplyPlace {
    file: usize,
    range: Range<u64>,
    /// True if the line has an answer that is not an error.
    is_good: bool,
}

impl ReplyFiles {
    fn add(&mut self, path: PathBuf, report: &mut ImportReport) -> Result<(), EngineError> {
        let failed =
            |error: io::Error| EngineError::unreadable(format!("can't read `{}`: {error}", path.display()));
        let source = assize_files::open_file(&path).map_err(failed)?;
        let mut lines = BatchReplyLines::new(BufReader::with_capacity(64 * 1024, source));
        let file = self.files.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();

        while let Some(line) = lines.next() {
            let (number, line) = line.map_err(failed)?;
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    report.unreadable.add(|| format!("{name}:{number}: {error}"));
                    continue;
                }
            };
            let Ok(key) = line.custom_id.parse::<CallKey>() else {
                report.unknown.add(|| format!("{name}:{number}: `{}`", shown(&line.custom_id)));
                continue;
            };

            let is_good = matches!(line.outcome, BatchOutcome::Answered { status: 200..=299, .. });
            let place = ReplyPlace { file, range: lines.last_range(), is_good };
            match self.places.get(&key) {
                Some(before) if is_good && before.is_good => {
                    report.doubled.add(|| format!("{name}:{number}: {key}"));
                    self.further.entry(key).or_default().push(place);
                }
                Some(_) if !is_good => {}
                // A request that failed may have been sent again.
                _ => {
                    self.places.insert(key, place);
                }
            }
        }

        let reader = assize_files::open_file(&path).map_err(failed)?;
        self.files.push((path, Mutex::new(reader)));
        Ok(())
    }

    /// Position of a reply to a call, by its number from 0.
    fn place(&self, key: CallKey, number: usize) -> Option<&ReplyPlace> {
        match number.checked_sub(1) {
            None => self.places.get(&key),
            Some(further) => self.further.get(&key)?.get(further),
        }
    }

    /// Reads a reply again. The error says why it can't be read.
    fn read(&self, place: &ReplyPlace) -> Result<BatchReplyLine, String> {
        let (path, file) = &self.files[place.file];
        let mut bytes = vec![0; usize::try_from(place.range.end - place.range.start).unwrap_or_default()];
        let mut file = file.lock();
        file.seek(SeekFrom::Start(place.range.start))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;

        BatchReplyLine::parse(&bytes)
            .map_err(|error| format!("{}: a line was changed meanwhile: {error}", path.display()))
    }
}

/// Files of requests that are being written, beside their final paths.
struct ExportState {
    path: PathBuf,
    files: BTreeMap<ModelId, DraftFile>,
    seen: HashSet<CallKey>,
    refused: CountedExamples,
    failure: Option<EngineError>,
}

struct DraftFile {
    path: PathBuf,
    file: BufWriter<File>,
    requests: u64,
    bytes: u64,
}

impl ExportState {
    fn new(path: PathBuf) -> Result<Self, EngineError> {
        let state = Self {
            path,
            files: BTreeMap::new(),
            seen: HashSet::new(),
            refused: CountedExamples::default(),
            failure: None,
        };

        // Detects a path that can't be written before any work is done.
        refuse_other_files(&state.path)?;
        let draft = state.draft(0)?;
        drop(draft.file);
        let _ = std::fs::remove_file(&draft.path);

        Ok(state)
    }

    fn draft(&self, number: usize) -> Result<DraftFile, EngineError> {
        let mut name = self.path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{number}.assize-new"));
        let path = self.path.with_file_name(name);

        let mut options = File::options();
        options.create(true).write(true).truncate(true);
        // Questions and answers are readable by the owner only.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| unwritable(&self.path, &error))?;

        Ok(DraftFile { path, file: BufWriter::new(file), requests: 0, bytes: 0 })
    }

    fn add(&mut self, model: &ModelId, key: CallKey, line: Result<BatchRequestLine, AskError>) {
        if self.failure.is_some() || !self.seen.insert(key) {
            return;
        }

        let line = match line {
            Ok(line) => line,
            Err(error) => return self.refused.add(|| format!("{model}: {error}")),
        };
        if let Err(error) = self.write(model, &line) {
            self.failure = Some(error);
        }
    }

    fn write(&mut self, model: &ModelId, line: &BatchRequestLine) -> Result<(), EngineError> {
        if !self.files.contains_key(model) {
            let draft = self.draft(self.files.len())?;
            self.files.insert(model.clone(), draft);
        }
        let Some(draft) = self.files.get_mut(model) else { return Ok(()) };

        let mut text = Vec::new();
        line.write_to(&mut text)
            .and_then(|()| draft.file.write_all(&text))
            .map_err(|error| unwritable(&self.path, &error))?;
        draft.requests += 1;
        draft.bytes += text.len() as u64;

        Ok(())
    }

    fn finish(&mut self) -> Result<(Vec<ExportedFile>, CountedExamples), EngineError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let is_single = self.files.len() <= 1;
        for model in self.files.keys().filter(|_| !is_single) {
            refuse_other_files(&named_for(&self.path, model))?;
        }

        let mut drafts: Vec<(Option<ModelId>, DraftFile)> =
            std::mem::take(&mut self.files).into_iter().map(|(model, draft)| (Some(model), draft)).collect();
        if drafts.is_empty() {
            // Replaces a file of an earlier round, which must not be sent again.
            drafts.push((None, self.draft(0)?));
        }

        let mut files = Vec::new();
        for (model, mut draft) in drafts {
            let path = match &model {
                Some(model) if !is_single => named_for(&self.path, model),
                _ => self.path.clone(),
            };
            draft
                .file
                .flush()
                .and_then(|()| draft.file.get_ref().sync_all())
                .and_then(|()| std::fs::rename(&draft.path, &path))
                .map_err(|error| unwritable(&path, &error))?;

            let model = model.map(|model| model.to_string());
            files.push(ExportedFile { path, model, requests: draft.requests, bytes: draft.bytes });
        }

        Ok((files, std::mem::take(&mut self.refused)))
    }
}

impl Drop for ExportState {
    fn drop(&mut self) {
        for draft in self.files.values() {
            let _ = std::fs::remove_file(&draft.path);
        }
    }
}

/// `requests.jsonl` for one of several models: `requests.openai-gpt-6-sol.jsonl`.
fn named_for(path: &Path, model: &ModelId) -> PathBuf {
    let plain: String = model
        .to_string()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' })
        .take(80)
        .collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or_else(String::new, |ending| format!(".{}", ending.to_string_lossy()));

    path.with_file_name(format!("{stem}.{plain}{ending}"))
}

/// Refuses to replace a file that is not an earlier export, because it may be the only copy of replies or
/// answers.
fn refuse_other_files(path: &Path) -> Result<(), EngineError> {
    let mut start = Vec::new();
    match assize_files::open_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.and_then(|file| file.take(EXPORT_START).read_to_end(&mut start)),
    }
    .map_err(|error| unwritable(path, &error))?;

    let after_id = start.strip_prefix(br#"{"custom_id":""#).and_then(|rest| rest.get(CALL_KEY_CHARS..));
    if start.is_empty() || after_id.is_some_and(|rest| rest.starts_with(br#"","method":"POST""#)) {
        return Ok(());
    }
    let path = path.display();
    Err(EngineError::usage(format!("{path}: exists and is no earlier export; nothing was written")))
}

fn unwritable(path: &Path, error: &io::Error) -> EngineError {
    EngineError::storage(format!("{}: can't be written: {error}", path.display()))
}

/// The beginning of a text from a file, for a message.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
