//! Files of recordings, and their errors.

use std::collections::HashMap;
use std::ffi::OsStr;
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

/// The length of a session's id in the name of its file, as Gemini CLI writes it.
const SHORT_ID: usize = 8;

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

/// The logs of the sub-agents of a session: `ID/subagents/agent-*.jsonl` beside `ID.jsonl` of Claude Code, and
/// `ID/*.jsonl` beside `session-TIME-ID.jsonl` of Gemini CLI, whose names have only the beginning of the id.
pub fn subagent_logs(session: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
    };
    let name = session.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.strip_prefix("session-"));
    let short =
        name.and_then(|name| name.rsplit_once('-')).map(|(_, id)| id).filter(|id| id.len() == SHORT_ID);
    let is_own = |folder: &PathBuf| {
        let name = folder.file_name().and_then(OsStr::to_str);
        folder.is_dir() && name.zip(short).is_some_and(|(name, short)| name.starts_with(short))
    };
    let beside = session.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let of_gemini = short.map(|_| entries(beside)).into_iter().flatten().filter(is_own);
    let folders = of_gemini.chain([session.with_extension("").join("subagents")]);
    let mut found: Vec<PathBuf> = folders.flat_map(|folder| entries(&folder)).collect();
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

/// Adds the work of sub-agents to the sessions that they belong to. A sub-agent without its session is dropped, because
/// its text is not an answer to the user.
pub fn join_subagents(subagents: Vec<AgentTrace>, mut sessions: Vec<&mut AgentTrace>) {
    let mut places = HashMap::new();
    let mut parents = HashMap::new();
    for (place, session) in sessions.iter().enumerate().rev() {
        places.extend(session.session.clone().map(|id| (id, place)));
    }
    for trace in subagents.iter().chain(sessions.iter().map(|session| &**session)) {
        let Some(own) = &trace.session else { continue };
        parents.extend(trace.parent.iter().map(|parent| (own.clone(), parent.clone())));
        parents.extend(trace.started_agents.iter().map(|agent| (agent.clone(), own.clone())));
    }

    for subagent in subagents {
        // One sub-agent may have started another. In broken logs they may have started each other.
        let own = subagent.session.as_ref();
        let mut ids = std::iter::successors(own, |id| parents.get(*id)).take(parents.len() + 1);
        let place = ids.find_map(|id| places.get(id).copied());
        if let Some(session) = place.and_then(|place| sessions.get_mut(place)) {
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
    fn the_work_of_a_subagent_of_a_subagent_belongs_to_the_session() {
        let opencode = |id: &str, parent: Option<&str>, tool: &str| {
            let call = json!({"type": "tool", "callID": id, "tool": tool, "state": {"status": "completed"}});
            let spent = json!({"type": "step-finish", "reason": "stop", "cost": 0.5, "tokens": {"input": 10, "output": 1}});
            let said = json!({"type": "text", "text": format!("{id} is done.")});
            let message = json!({"info": {"id": "a", "role": "assistant"}, "parts": [call, said, spent]});
            json!({"info": {"id": id, "parentID": parent}, "messages": [message]}).to_string()
        };
        let gemini = |id: &str, kind: &str, tool: &str, agent: &str| {
            let call = json!({"id": id, "name": tool, "args": {}, "status": "success", "agentId": agent});
            let spent = json!({"input": 10, "output": 1, "cached": 0});
            let message =
                json!({"id": "m", "type": "gemini", "content": "", "toolCalls": [call], "tokens": spent});
            let said = json!({"id": "n", "type": "gemini", "content": format!("{id} is done.")});
            let head = json!({"sessionId": id, "projectHash": "p", "kind": kind});
            format!("{head}\n{message}\n{said}\n")
        };
        for logs in [
            [
                opencode("main", None, "task"),
                opencode("sub", Some("main"), "task"),
                opencode("deep", Some("sub"), "edit"),
            ],
            [
                gemini("main", "main", "agent", "sub"),
                gemini("sub", "subagent", "agent", "deep"),
                gemini("deep", "subagent", "edit", ""),
            ],
        ] {
            let mut traces: Vec<AgentTrace> = (logs.iter().rev())
                .flat_map(|log| assize_trace::read_log(log.as_bytes(), None).expect("a log").traces)
                .collect();
            let subagents = take_subagents(&mut traces);
            assert_eq!((subagents.len(), traces.len()), (2, 1), "{logs:?}");
            join_subagents(subagents, traces.iter_mut().collect());
            let session = &traces[0];
            assert_eq!((session.calls().count(), session.answer()), (3, Some("main is done.")), "{logs:?}");
            assert_eq!((session.tokens.input, session.tokens.output), (Some(30), Some(3)), "{logs:?}");
        }
    }

    #[test]
    fn subagents_that_started_each_other_are_dropped() {
        let log = |id: &str, parent: &str| {
            let said = json!({"info": {"role": "assistant"}, "parts": [{"type": "text", "text": "Hi"}]});
            let log = json!({"info": {"id": id, "parentID": parent}, "messages": [said]}).to_string();
            assize_trace::read_log(log.as_bytes(), None).expect("a log").traces
        };
        let mut traces = [log("a", "b"), log("b", "a")].concat();
        let subagents = take_subagents(&mut traces);
        join_subagents(subagents, traces.iter_mut().collect());
        assert_eq!(traces.len(), 0);
    }

    #[test]
    fn logs_of_subagents_are_found_in_both_layouts() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            fs::write(path, "{}").expect("written");
        };
        write("5411f113-7a06-4a5e/one.jsonl");
        write("5411f113-7a06-4a5e/notes.txt");
        write("6411f113-7a06-4a5e/other.jsonl");
        write("s/subagents/agent-1.jsonl");
        let found = |session: &str| {
            let found = subagent_logs(&folder.path().join(session));
            found.iter().map(|path| path.file_name().expect("a name").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("session-2026-08-21T16-16-5411f113.jsonl"), ["one.jsonl"]);
        assert_eq!(found("s.jsonl"), ["agent-1.jsonl"]);
        assert_eq!(found("session-2026-08-21T16-16-7411f113.jsonl").len(), 0);
    }

    #[test]
    fn a_line_names_one_case_under_however_many_keys() {
        assert_eq!(recorded_id(&json!({"id": 7, "test_id": "7"})), Ok(Some("7".to_owned())));
        assert_eq!(recorded_id(&json!({"answer": "x"})), Ok(None));
        assert!(recorded_id(&json!({"case_id": "a", "id": "b"})).is_err());
    }
}
