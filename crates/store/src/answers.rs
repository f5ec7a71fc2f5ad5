//! The answers stored in a run. They are read by case, so that they are never all in memory.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use assize_files::open_file;
use assize_rubric::composed_name;
use parking_lot::Mutex;
use serde::Deserialize;

use crate::folder::RESULTS_FILE;
use crate::reader::check_sum;
use crate::{ResultRow, RunFolder, StoreError};

/// Key of a result row: suite, case id and trial. If a prompt is selected, the id of the test instead of the case.
pub type AnswerKey = (String, String, u32);

/// A selection of a run's answers, by target, prompt, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerPart {
    /// The only target; `None` for all.
    pub target: Option<String>,
    /// The only prompt; `None` for all.
    pub prompt: Option<String>,
}

impl AnswerPart {
    /// Returns true for all answers of a run.
    pub const fn is_whole(&self) -> bool {
        self.target.is_none() && self.prompt.is_none()
    }

    /// Returns true if a row is selected.
    pub fn takes(&self, row: &ResultRow) -> bool {
        self.takes_names(row.target.as_deref(), row.prompt.as_deref())
    }

    /// Returns true if the answer of a target to a prompt is selected.
    pub fn takes_names(&self, target: Option<&str>, prompt: Option<&str>) -> bool {
        let fits = |wanted: &Option<String>, name| wanted.is_none() || wanted.as_deref() == name;
        fits(&self.target, target) && fits(&self.prompt, prompt)
    }
}

impl fmt::Display for AnswerPart {
    /// Writes it as it stands behind the name of a run: `@TARGET@PROMPT`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [&self.target, &self.prompt].into_iter().flatten().try_for_each(|name| write!(f, "@{name}"))
    }
}

/// Targets and prompts whose answers a run has.
#[derive(Debug, Clone, Default)]
pub struct AnswerNames {
    /// Targets; `None` for answers given in the eval file.
    pub targets: BTreeSet<Option<String>>,
    /// Prompts, if the eval file has several.
    pub prompts: BTreeSet<String>,
}

impl AnswerNames {
    /// Returns the part of the answers that `wanted` names: a target, a prompt, or both with `@` between them.
    ///
    /// # Errors
    /// What the run has instead, in words.
    pub fn find(&self, wanted: &str) -> Result<AnswerPart, String> {
        let wanted = &*composed_name(wanted.to_owned());
        let target = |name: &str| self.targets.iter().flatten().find(|known| *known == name).cloned();
        let prompt = |name: &str| self.prompts.get(name).cloned();
        let both = |(at, _): (usize, &str)| {
            let (first, second) = (&wanted[..at], &wanted[at + 1..]);
            let (target, prompt) =
                target(first).zip(prompt(second)).or_else(|| target(second).zip(prompt(first)))?;
            Some(AnswerPart { target: Some(target), prompt: Some(prompt) })
        };
        match (target(wanted), prompt(wanted)) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "`{wanted}` is the name of a target and of a prompt: name both, as in `@{wanted}@{wanted}`"
                ));
            }
            (None, None) => {}
            (target, prompt) => return Ok(AnswerPart { target, prompt }),
        }
        if let Some(part) = wanted.match_indices('@').find_map(both) {
            return Ok(part);
        }

        let list = |kind: &str, names: Vec<&String>| {
            let mut shown: Vec<String> =
                names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
            if shown.len() < names.len() {
                shown.push("...".to_owned());
            }
            match names.len() {
                0 => None,
                1 => Some(format!("its only {kind} is {}", shown[0])),
                _ => Some(format!("its {kind}s are {}", shown.join(", "))),
            }
        };
        let targets = list("target", self.targets.iter().flatten().collect());
        let prompts = list("prompt", self.prompts.iter().collect());
        let kind = if prompts.is_some() { "target or prompt" } else { "target" };
        let known: Vec<String> = targets.into_iter().chain(prompts).collect();
        let has = match (known.as_slice(), self.targets.is_empty()) {
            ([], true) => "it has no answers".to_owned(),
            ([], false) => "it has only given answers".to_owned(),
            _ => known.join(", "),
        };
        Err(format!("has no answers from {kind} `{wanted}`; {has}"))
    }
}

/// Maximum number of names that a message lists.
const MAX_NAMES: usize = 8;

/// Byte positions of selected answers in the results file.
#[derive(Debug)]
pub struct AnswerIndex {
    path: PathBuf,
    file: Mutex<File>,
    places: HashMap<AnswerKey, (u64, usize)>,
}

/// The fields that identify a row.
#[derive(Deserialize)]
struct ResultRowHead {
    suite: String,
    case_id: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    prompt: Option<String>,
    target: Option<String>,
    #[serde(rename = "repeat")]
    trial: u32,
}

impl RunFolder {
    /// The targets and prompts whose answers the run has.
    pub fn answer_names(&self) -> Result<AnswerNames, StoreError> {
        let mut found = AnswerNames::default();
        scan_rows(self.file(RESULTS_FILE), |head, _, _| {
            found.targets.insert(head.target);
            found.prompts.extend(head.prompt);
        })?;
        Ok(found)
    }

    /// Creates an index of the answers of one target, or of those given in the eval file (`None`), to one prompt or to all.
    pub fn answers(&self, target: Option<&str>, prompt: Option<&str>) -> Result<AnswerIndex, StoreError> {
        let path = self.file(RESULTS_FILE);
        let mut places = HashMap::new();
        let file = scan_rows(path.clone(), |head, at, length| {
            let is_prompt = prompt.is_none() || head.prompt.as_deref() == prompt;
            if head.target.as_deref() == target && is_prompt {
                let test = head.test.filter(|_| prompt.is_some());
                places.insert((head.suite, test.unwrap_or(head.case_id), head.trial), (at, length));
            }
        })?;
        Ok(AnswerIndex { path, file: Mutex::new(file), places })
    }
}

impl AnswerIndex {
    /// Keys of all indexed rows, in order.
    pub fn keys(&self) -> Vec<AnswerKey> {
        let mut keys: Vec<AnswerKey> = self.places.keys().cloned().collect();
        keys.sort();
        keys
    }

    /// Reads the row of a case; `None` if the index has no such row.
    pub fn row(&self, key: &AnswerKey) -> Result<Option<ResultRow>, StoreError> {
        let Some(&(at, length)) = self.places.get(key) else { return Ok(None) };
        let mut text = vec![0; length];
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut text))
            .map_err(StoreError::io("read", &self.path))?;

        let damaged =
            |error: serde_json::Error| StoreError::damaged(&self.path, error.line(), error.to_string());
        serde_json::from_slice(&text).map(Some).map_err(damaged)
    }
}

/// Calls `see` with each complete row, its offset and its length in bytes. An incomplete last line is
/// ignored.
fn scan_rows(path: PathBuf, mut see: impl FnMut(ResultRowHead, u64, usize)) -> Result<File, StoreError> {
    let file = open_file(&path).map_err(StoreError::io("read", &path))?;
    let mut lines = BufReader::new(file);
    let (mut text, mut at, mut line) = (Vec::new(), 0u64, 0);
    loop {
        text.clear();
        lines.read_until(b'\n', &mut text).map_err(StoreError::io("read", &path))?;
        line += 1;

        if text.last() != Some(&b'\n') {
            return Ok(lines.into_inner());
        }

        if !text.iter().all(u8::is_ascii_whitespace) {
            let damaged = |message| StoreError::damaged(&path, line, message);
            check_sum(&text, false).map_err(damaged)?;
            let head = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
            see(head, at, text.len());
        }

        at += text.len() as u64;
    }
}
