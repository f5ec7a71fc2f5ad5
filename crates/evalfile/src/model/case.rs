//! One case of a suite.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use assize_rubric::Unit;
use serde_json::Value;

use super::{
    Block, CaseMarks, Conversation, Grader, Hooks, Message, OnDependencyFailure, Place, Trials, Turn,
    WorkspaceSpec,
};

/// The id of a case, unique in its suite. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(Arc<str>);

impl CaseId {
    /// Names a case.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<CaseId> for Arc<str> {
    fn from(id: CaseId) -> Self {
        id.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A case: what is asked, what a good answer is, and who grades it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Unique in its suite.
    pub id: CaseId,
    /// Where it is written.
    pub place: Place,
    /// Where its parts are written.
    pub marks: CaseMarks,
    /// What the target is given: the suite's input first, then the case's.
    pub input: Vec<Message>,
    /// What a good answer does, in a sentence (`expected_outcome`, `criteria`).
    pub expected_outcome: Option<String>,
    /// An example of a good answer (`expected_output`, `expected_messages`).
    pub expected_output: Vec<Message>,
    /// The answer, if it is already there: no target is run then.
    pub output: Option<GivenOutput>,
    /// The graders; those of the case first, then those of the suite. At least one, except for a
    /// conversation whose turns have their own.
    pub graders: Vec<Arc<Grader>>,
    /// Lines of this case.
    pub lines: LineOverrides,
    /// Targets of this case, in order; empty when it names none.
    pub targets: Vec<TargetRef>,
    /// What changed in files while an answer that is already there was made, as a unified diff.
    pub file_changes: Option<String>,
    /// How often the case is run, if it says so itself.
    pub trials: Option<Trials>,
    /// Labels for selecting cases; those of the case only.
    pub tags: Vec<String>,
    /// Free data of the author.
    pub metadata: serde_json::Map<String, Value>,
    /// The conversation this case is a part of.
    pub conversation_id: Option<String>,
    /// Values put into the case's texts.
    pub vars: BTreeMap<String, Value>,
    /// For a case that is led turn by turn: the turns. `input` then holds what comes before them.
    pub conversation: Option<Conversation>,
    /// Ids of the cases that must have been run before this one.
    pub depends_on: Vec<CaseId>,
    /// What happens when one of them failed.
    pub on_dependency_failure: OnDependencyFailure,
    /// What the case itself says about the folder it is worked on in (`workspace`).
    pub workspace: Option<Arc<WorkspaceSpec>>,
    /// Parts that are read and checked but that a run cannot honour yet.
    pub unbuilt: Vec<Unbuilt>,
}

impl Case {
    /// The question as a judge sees it: a single user message as plain text; several messages with
    /// the role of each on a line of its own above it.
    pub fn question(&self) -> String {
        match self.input.as_slice() {
            [only] => only.to_text(),
            several => several
                .iter()
                .map(|message| format!("[{}]\n{}", message.role.name(), message.to_text()))
                .collect::<Vec<_>>()
                .join("\n\n"),
        }
    }

    /// The turns of a conversation; none for any other case.
    pub fn turns(&self) -> &[Turn] {
        self.conversation.as_ref().map(|conversation| conversation.turns.as_slice()).unwrap_or_default()
    }

    /// Every grader of the case: those of its turns first, then those of the case as a whole.
    pub fn every_grader(&self) -> impl Iterator<Item = &Arc<Grader>> {
        self.turns().iter().flat_map(|turn| &turn.graders).chain(&self.graders)
    }

    /// The case that a turn of the conversation is: what was said `before` and its own input, its own example of a good
    /// answer, its own graders. Everything else is the conversation's.
    pub fn of_turn(&self, turn: &Turn, before: &[Message]) -> Self {
        Self {
            place: turn.place.clone(),
            input: before.iter().chain(&turn.input).cloned().collect(),
            expected_output: turn.expected_output.clone(),
            output: None,
            graders: turn.graders.clone(),
            conversation: None,
            ..self.clone()
        }
    }

    /// The files that the case's messages refer to, in order, those of its turns last.
    pub fn attachments(&self) -> impl Iterator<Item = &Path> {
        let of_turns = self.turns().iter().flat_map(|turn| turn.input.iter().chain(&turn.expected_output));
        let messages = self.input.iter().chain(&self.expected_output).chain(of_turns);
        let blocks = messages.flat_map(|message| &message.blocks);
        blocks.filter_map(|block| match block {
            Block::File { path, .. } | Block::Image { path, .. } => Some(path.as_path()),
            Block::Text(_) | Block::Json(_) => None,
        })
    }

    /// The reference answer as a judge sees it: the last expected message; its tool calls as JSON
    /// where it has no text.
    pub fn reference(&self) -> Option<String> {
        let last = self.expected_output.last()?;
        let text = last.to_text();
        if text.trim().is_empty() && !last.tool_calls.is_empty() {
            return serde_json::to_string_pretty(&last.tool_calls).ok();
        }
        (!text.trim().is_empty()).then_some(text)
    }
}

/// An answer that stands in the eval file.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenOutput {
    /// The answer's text.
    Text(String),
    /// An object, graded as its JSON text.
    Json(Value),
    /// Messages; the last assistant message is the answer. Kept as written, tool calls included.
    Messages(Vec<Message>),
}

/// Threshold lines that a suite or a case sets for itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LineOverrides {
    /// `threshold`: the pass line.
    pub pass: Option<Unit>,
    /// `borderline`: the line below it.
    pub borderline: Option<Unit>,
}

/// The name of a target, as a suite or a case refers to it.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetRef {
    /// The name the results carry.
    pub name: String,
    /// The target that is really used (`use_target`), if another.
    pub use_target: Option<String>,
    /// Commands around its use in a workspace (`hooks`).
    pub hooks: Option<Arc<Hooks>>,
    /// Where it is named.
    pub place: Place,
}

/// Something an eval file asks for that is read and checked but not built yet. A run that needs it
/// says so before anything is spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbuilt {
    /// What is asked for, as a noun: "conversation turns".
    pub feature: &'static str,
    /// Where.
    pub place: Place,
}
