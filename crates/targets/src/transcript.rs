//! A target that answers from recorded sessions of an agent.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use assize_files::{FileRoots, open_file};
use assize_llm::BoxFuture;
use assize_rubric::{IdentityWriter, composed_name};
use assize_trace::{AgentTrace, LogFormat};

use crate::recording::{RecordingError, join_subagents, list_session_files, take_subagents};
use crate::turns::recorded_turn;
use crate::{
    Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, TargetKind,
    prompt_text, traced_answer,
};

/// A target that looks up each case's answer among recorded sessions.
///
/// A session belongs to a case if its id or the name of its file (without extension) is the case's id, or else
/// if it began with the case's input, or else, if there is only one session, to every case. A turn of a
/// conversation is answered by the part of the session from its question to the next one.
#[derive(Debug, Clone)]
pub struct TranscriptTarget {
    name: String,
    path: PathBuf,
    sessions: Vec<Result<TargetAnswer, TargetError>>,
    /// Sessions by id and by file name. `None` if a name is ambiguous.
    by_name: HashMap<String, Option<usize>>,
    /// Sessions by their first question. `None` if it is ambiguous.
    by_question: HashMap<String, Option<usize>>,
    /// Number of records of unknown kinds, by kind.
    unknown: BTreeMap<String, usize>,
    digest: blake3::Hash,
}

impl TranscriptTarget {
    /// Reads the sessions of a log, or of all logs in a folder. Without a format, the format of each log is
    /// detected. No log may lead outside of `roots`, if there are any.
    pub fn load(
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        format: Option<LogFormat>,
        roots: Option<&FileRoots>,
    ) -> Result<Self, RecordingError> {
        let path = path.into();
        let mut hasher = blake3::Hasher::new();
        let mut target = Self {
            name: name.into(),
            path: path.clone(),
            sessions: Vec::new(),
            by_name: HashMap::new(),
            by_question: HashMap::new(),
            unknown: BTreeMap::new(),
            digest: hasher.finalize(),
        };
        let mut logged = Vec::new();
        let mut subagents = Vec::new();
        for file in list_session_files(&path, roots)? {
            let mut traces = target.read(&file, format, &mut hasher)?;
            subagents.extend(take_subagents(&mut traces));

            let is_alone = traces.len() == 1;
            let stem =
                file.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_alone).map(str::to_owned);
            logged.extend(traces.into_iter().map(|trace| LoggedSession { stem: stem.clone(), trace }));
        }

        join_subagents(subagents, logged.iter_mut().map(|session| &mut session.trace).collect());
        for session in &logged {
            target.add(session);
        }

        if target.sessions.is_empty() {
            let message = "no session found in it".to_owned();
            return Err(RecordingError::File { path, message });
        }

        target.digest = hasher.finalize();
        Ok(target)
    }

    /// Reads a log.
    fn read(
        &mut self,
        file: &Path,
        format: Option<LogFormat>,
        hasher: &mut blake3::Hasher,
    ) -> Result<Vec<AgentTrace>, RecordingError> {
        let unreadable = |cause| RecordingError::Unreadable { path: file.to_owned(), cause };
        let log = HashingReader { inner: open_file(file).map_err(unreadable)?, hasher };
        let read = assize_trace::read_log(BufReader::new(log), format)
            .map_err(|error| RecordingError::File { path: file.to_owned(), message: error.to_string() })?;
        if let Some(problem) = read.problems.first() {
            return Err(RecordingError::Line {
                path: file.to_owned(),
                line: problem.line,
                message: problem.message.clone(),
            });
        }

        for (kind, count) in &read.unknown {
            *self.unknown.entry(kind.clone()).or_default() += count;
        }

        Ok(read.traces)
    }

    fn add(&mut self, LoggedSession { stem, trace }: &LoggedSession) {
        let index = self.sessions.len();
        let names = [trace.session.as_deref(), stem.as_deref()].into_iter().flatten();
        let mut names: Vec<String> = names.map(|name| composed_name(name.to_owned())).collect();
        names.dedup();

        for name in names {
            insert_unique_key(&mut self.by_name, name, index);
        }

        if let Some(question) = trace.question() {
            insert_unique_key(&mut self.by_question, normalize_whitespace(question), index);
        }

        self.sessions.push(traced_answer(trace));
    }

    /// Returns the number of skipped records of unknown kinds, by kind.
    pub fn unknown_records(&self) -> &BTreeMap<String, usize> {
        &self.unknown
    }

    fn find(&self, input: &TargetInput) -> Result<&Result<TargetAnswer, TargetError>, String> {
        let several = |what: &str| format!("several sessions in `{}` {what}", self.path.display());
        match self.by_name.get(&input.case_id) {
            Some(Some(index)) => return Ok(&self.sessions[*index]),
            Some(None) => return Err(several("carry the id of this case")),
            None => {}
        }

        let opening = input.turn.as_ref().map_or(&input.messages, |turn| &turn.opening);
        match self.by_question.get(&normalize_whitespace(&prompt_text(opening))) {
            Some(Some(index)) => return Ok(&self.sessions[*index]),
            Some(None) => {
                return Err(several("began with this case's input; name their files after the cases"));
            }
            None => {}
        }

        match self.sessions.as_slice() {
            [only] => Ok(only),
            sessions => Err(format!(
                "none of the {} sessions in `{}` belongs to this case: none carries its id, is in a file of that \
                 name, or began with its input",
                sessions.len(),
                self.path.display()
            )),
        }
    }
}

/// A session, and the name of its file if it is alone in it.
struct LoggedSession {
    stem: Option<String>,
    trace: AgentTrace,
}

fn insert_unique_key(map: &mut HashMap<String, Option<usize>>, key: String, index: usize) {
    map.entry(key).and_modify(|known| *known = None).or_insert(Some(index));
}

/// Normalizes white space, which differs between logs and eval files.
fn normalize_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Target for TranscriptTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        let found = match self.find(input) {
            Ok(found) => match (found, &input.turn) {
                (Ok(session), Some(turn)) => recorded_turn(session, turn.number, turn.of),
                (found, _) => found.clone(),
            },
            Err(message) => Err(TargetError::without_attempt(TargetErrorKind::NotRecorded, message)),
        };
        Box::pin(async move { found })
    }

    fn describe(&self) -> TargetDescription {
        TargetDescription::new(&self.name, TargetKind::Recorded)
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("transcript target", 1);
        identity.field(&self.name);
        identity.bytes(self.digest.as_bytes());
    }
}

/// Reader that hashes everything read through it.
struct HashingReader<'a> {
    inner: File,
    hasher: &'a mut blake3::Hasher,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}
