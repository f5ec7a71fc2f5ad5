//! What a target is asked: one case's messages with everything attached to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_rubric::Role;

/// The input of one case, ready for any kind of target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetInput {
    /// The case's id, as written; may hold any characters.
    pub case_id: String,
    /// Which repeat of the case this is, counted from 1.
    pub attempt: u32,
    /// The conversation, oldest message first.
    pub messages: Vec<InputMessage>,
    /// For a turn of a conversation: which. `messages` then ends with what is said in it.
    pub turn: Option<TurnInput>,
    /// Guideline text kept apart from the question, as older eval files have it; else empty.
    pub guidelines: String,
    /// The folder the case is worked on in. Wins over a command's own folder.
    pub workdir: Option<PathBuf>,
}

impl TargetInput {
    /// The first attempt at a case with these messages, without guidelines or folder.
    pub fn new(case_id: impl Into<String>, messages: Vec<InputMessage>) -> Self {
        Self {
            case_id: case_id.into(),
            attempt: 1,
            messages,
            turn: None,
            guidelines: String::new(),
            workdir: None,
        }
    }

    /// The attached files and images in order of appearance, each once.
    pub fn attachments(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = Vec::new();
        for part in self.messages.iter().flat_map(|message| &message.parts) {
            match part {
                InputPart::File { path, .. } | InputPart::Image { path, .. } => {
                    if !paths.contains(&path.as_path()) {
                        paths.push(path);
                    }
                }
                InputPart::Text(_) => {}
            }
        }
        paths
    }
}

/// Which turn of a conversation is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnInput {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are to be.
    pub of: u32,
    /// What was said to the target in the first one: recorded conversations are found by it.
    pub opening: Vec<InputMessage>,
}

/// One message of the input. Unlike a message of an eval file it holds the bytes of its pictures, so that what the target is
/// asked is known in full, and part of what identifies the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<InputPart>,
}

impl InputMessage {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![InputPart::Text(text.into())] }
    }
}

/// A piece of an input message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputPart {
    /// Plain text.
    Text(String),
    /// An attached text file.
    File {
        /// Where it is; absolute.
        path: PathBuf,
        /// Its path as the eval file writes it.
        display: String,
        /// Its content, with line ends as LF.
        text: Arc<str>,
    },
    /// An attached picture.
    Image {
        /// Where it is; absolute.
        path: PathBuf,
        /// For example `image/png`.
        media_type: String,
        /// Its content.
        bytes: Arc<[u8]>,
    },
}
