//! The input of a target: the messages of one case with their attachments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_process::absolute_path;
use assize_rubric::MessageRole;
use serde_json::Value;

/// Input of one case, for any kind of target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetInput {
    /// Id of the case; may contain any characters.
    pub case_id: String,
    /// Number of the trial, from 1.
    pub attempt: u32,
    /// The conversation, oldest message first.
    pub messages: Vec<InputMessage>,
    /// Turn of a conversation, if it is one. `messages` then ends with the text of the turn.
    pub turn: Option<TurnInput>,
    /// Variables of the test, for targets whose requests name them.
    pub vars: BTreeMap<String, Value>,
    /// Guideline text separate from the question, as in older eval files; else empty.
    pub guidelines: String,
    /// Working folder of the case. Takes precedence over a command's own folder.
    pub workdir: Option<PathBuf>,
    /// The eval file's folder, in which commands run unless they name another; empty for the folder of this
    /// process.
    pub suite_folder: PathBuf,
}

impl TargetInput {
    /// Creates the input of a first trial, without guidelines or folder.
    pub fn new(case_id: impl Into<String>, messages: Vec<InputMessage>) -> Self {
        Self {
            case_id: case_id.into(),
            attempt: 1,
            messages,
            turn: None,
            vars: BTreeMap::new(),
            guidelines: String::new(),
            workdir: None,
            suite_folder: PathBuf::new(),
        }
    }

    /// The folder of a command that runs beside the eval file. `cwd` is the command's own folder, absolute or
    /// relative to that.
    pub(crate) fn folder_beside_suite(&self, cwd: Option<&Path>) -> PathBuf {
        let folder = self.suite_folder.join(cwd.unwrap_or(Path::new("")));
        if folder.as_os_str().is_empty() { absolute_path(Path::new(".")) } else { absolute_path(&folder) }
    }

    /// The attached files and images in order of appearance, with paths as in the input and without duplicates.
    pub fn attachments(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        for part in self.messages.iter().flat_map(|message| &message.parts) {
            match part {
                TargetInputPart::File { path, .. } | TargetInputPart::Image { path, .. } => {
                    if !paths.contains(&path.as_path()) {
                        paths.push(path);
                    }
                }
                TargetInputPart::Text(_) => {}
            }
        }

        paths
    }
}

/// Turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnInput {
    /// Number of the turn, from 1.
    pub number: u32,
    /// The number of turns.
    pub of: u32,
    /// Messages of the first turn, to find a recorded conversation.
    pub opening: Vec<InputMessage>,
}

/// A message of the input. Unlike a message of an eval file, it holds the bytes of its images, so that it contains
/// everything the target gets and can be part of the case's identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputMessage {
    /// Author of the message.
    pub role: MessageRole,
    /// Parts of the message, in order.
    pub parts: Vec<TargetInputPart>,
}

impl InputMessage {
    /// Creates a message of one text.
    pub fn text(role: MessageRole, text: impl Into<String>) -> Self {
        Self { role, parts: vec![TargetInputPart::Text(text.into())] }
    }
}

/// Part of an input message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetInputPart {
    /// Plain text.
    Text(String),
    /// An attached text file.
    File {
        /// Path, perhaps relative to the folder of this process. Commands get its absolute form.
        path: PathBuf,
        /// Path as written in the eval file.
        display: String,
        /// Content, with LF line ends.
        text: Arc<str>,
    },
    /// An attached image.
    Image {
        /// Path, perhaps relative to the folder of this process. Commands get its absolute form.
        path: PathBuf,
        /// Media type, such as `image/png`.
        media_type: String,
        /// Content.
        bytes: Arc<[u8]>,
    },
}
