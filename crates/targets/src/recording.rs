//! Files of recordings, and their errors.

use std::fs;
use std::path::{Path, PathBuf};

use assize_files::FileRoots;
use assize_rubric::composed_name;
use assize_trace::AgentTrace;
use serde_json::Value;

/// Keys that name the case of a line.
pub(crate) const ID_KEYS: [&str; 4] = ["case_id", "test_id", "eval_id", "id"];

/// Reads the id of a line's case; `None` if it names none. It is an error if it names two different ones.
pub(crate) fn recorded_id(line: &Value) -> Result<Option<String>, String> {
    let named = ID_KEYS.iter().filter_map(|key| match line.get(key)? {
        Value::String(id) => Some((key, composed_name(id.clone()))),
        Value::Number(id) => Some((key, id.to_string())),
        _ => None,
    });
    let mut first: Option<(&&str, String)> = None;
    for (key, id) in named {
        match &first {
            Some((known, other)) if *other != id => {
                return Err(format!(
                    "`{known}` is `{other}` and `{key}` is `{id}`, so either case could be meant"
                ));
            }
            Some(_) => {}
            None => first = Some((key, id)),
        }
    }

    Ok(first.map(|(_, id)| id))
}

/// Why a recording can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file or folder can't be read.
    #[error("{}: can't be read: {cause}", path.display())]
    Unreadable {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the system.
        cause: std::io::Error,
    },
    /// A line of a file is invalid.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// A file as a whole is invalid.
    #[error("{}: {message}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        message: String,
    },
}

/// The logs of the sub-agents of a session of Claude Code: `<session>/subagents/agent-*.jsonl` beside
/// `<session>.jsonl`.
pub fn subagent_logs(session: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(session.with_extension("").join("subagents")) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl") && file.is_file());
    found.sort();
    found
}

/// Takes the logs of sub-agents out of a list of sessions.
pub fn take_subagents(traces: &mut Vec<AgentTrace>) -> Vec<AgentTrace> {
    let (subagents, sessions) = std::mem::take(traces).into_iter().partition(AgentTrace::is_subagent);
    *traces = sessions;
    subagents
}

/// Adds the work of sub-agents to the sessions that their logs name. A sub-agent without its session is dropped,
/// because its text is not an answer to the user.
pub fn join_subagents(subagents: Vec<AgentTrace>, mut sessions: Vec<&mut AgentTrace>) {
    for subagent in subagents.into_iter().filter(|subagent| subagent.session.is_some()) {
        if let Some(session) = sessions.iter_mut().find(|session| session.session == subagent.session) {
            session.add_subagent(subagent);
        }
    }
}

/// Lists the files of recorded sessions and of their sub-agents.
pub(crate) fn list_session_files(
    path: &Path,
    roots: Option<&FileRoots>,
) -> Result<Vec<PathBuf>, RecordingError> {
    let mut found = list_recording_files(path, roots)?;
    let subagents: Vec<PathBuf> = found.iter().flat_map(|file| subagent_logs(file)).collect();
    for file in subagents {
        found.extend(list_recording_files(&file, roots)?);
    }
    Ok(found)
}

/// Lists the files of a recording: the file itself, or the `.jsonl` and `.json` files of a folder ordered by
/// name. None of them may lead outside of `roots`, if there are any.
pub(crate) fn list_recording_files(
    path: &Path,
    roots: Option<&FileRoots>,
) -> Result<Vec<PathBuf>, RecordingError> {
    let check = |path: &Path| match roots.map(|roots| roots.resolve(path)) {
        Some(Err(cause)) => Err(RecordingError::Unreadable { path: path.to_owned(), cause }),
        Some(Ok(_)) | None => Ok(()),
    };
    let unreadable = |cause| RecordingError::Unreadable { path: path.to_owned(), cause };
    check(path)?;
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }

    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let is_log = file.extension().is_some_and(|extension| extension == "jsonl" || extension == "json");
        if is_log && file.is_file() {
            check(&file)?;
            found.push(file);
        }
    }

    found.sort();

    if found.is_empty() {
        let message = "the folder holds no `.jsonl` or `.json` file".to_owned();
        return Err(RecordingError::File { path: path.to_owned(), message });
    }

    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_names_one_case_under_however_many_keys() {
        assert_eq!(recorded_id(&json!({"id": 7, "test_id": "7"})), Ok(Some("7".to_owned())));
        assert_eq!(recorded_id(&json!({"answer": "x"})), Ok(None));
        assert!(recorded_id(&json!({"case_id": "a", "id": "b"})).is_err());
    }
}
