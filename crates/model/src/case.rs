//! One case of a suite.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use assize_rubric::{CaseMessage, MessageBlock, UnitInterval, composed_name};
use serde_json::Value;

use super::{
    AnswerTransform, CaseMarks, ContainerSpec, Conversation, ConversationTurn, FilePosition,
    FilePreprocessor, Grader, GraderKind, NamedProgram, OnDependencyFailure, Trials, WorkspaceHooks,
    WorkspaceSpec,
};

/// A grader whose score counts for a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMetric {
    /// Name of the metric. Several graders may share it.
    pub name: Arc<str>,
    /// Name of the grader; for a member of a composite, the names that lead to it.
    pub grader: Vec<String>,
}

/// Id of a case, unique in its suite. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(Arc<str>);

impl CaseId {
    /// Creates an id, in the form of [`composed_name`].
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(composed_name(id.into()))
    }

    /// Returns the id as a string.
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

/// A case: an input, its expectations, and its graders.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Id, unique in its suite.
    pub id: CaseId,
    /// Position in the file.
    pub place: FilePosition,
    /// Positions of its parts.
    pub marks: CaseMarks,
    /// Input of the target: the suite's input first, then the case's.
    pub input: Vec<CaseMessage>,
    /// Expected outcome in a sentence (`expected_outcome`, `criteria`).
    pub expected_outcome: Option<String>,
    /// Reference answer (`expected_output`, `expected_messages`).
    pub expected_output: Vec<CaseMessage>,
    /// Given answer; with one, no target is run.
    pub output: Option<GivenOutput>,
    /// Graders of the case, followed by the graders of the suite. At least one, except for a conversation whose
    /// turns have their own.
    pub graders: Vec<Arc<Grader>>,
    /// Thresholds of this case.
    pub thresholds: ThresholdOverrides,
    /// Targets of this case, in order; empty when it names none.
    pub targets: Vec<TargetRef>,
    /// Scripts that change an answer before it is graded, in order.
    pub transforms: Vec<AnswerTransform>,
    /// True if program graders get the answer as text in `output`, as in AgentV's newest contract, not as messages.
    pub output_as_text: bool,
    /// The suite's converters for files that an answer contains.
    pub preprocessors: Arc<[FilePreprocessor]>,
    /// Container in which its program graders run (`docker` of the workspace).
    pub container: Option<Arc<ContainerSpec>>,
    /// File changes that belong to a given answer, as a unified diff.
    pub file_changes: Option<String>,
    /// Number of trials and their strategy, if the case sets them.
    pub trials: Option<Trials>,
    /// Tags for selecting cases. Does not include the suite's tags.
    pub tags: Vec<String>,
    /// Metadata of the author.
    pub metadata: serde_json::Map<String, Value>,
    /// Id of the conversation that this case is a part of.
    pub conversation_id: Option<String>,
    /// Variables substituted in the case's texts.
    pub vars: BTreeMap<String, Value>,
    /// Turns of a multi-turn case. `input` then holds the messages before them.
    pub conversation: Option<Conversation>,
    /// Ids of the cases that must have been run before this one.
    pub depends_on: Vec<CaseId>,
    /// What happens if one of these cases failed.
    pub on_dependency_failure: OnDependencyFailure,
    /// Workspace settings of the case itself (`workspace`).
    pub workspace: Option<Arc<WorkspaceSpec>>,
    /// Id of the test that this case belongs to, unique in its suite, if it differs from the case's id. A test expands
    /// to one case for each prompt, and graders that compare answers compare the answers of all cases of a test.
    pub test: Option<Arc<str>>,
    /// Graders whose scores count for named metrics (`metric`).
    pub metrics: Vec<NamedMetric>,
    /// Name of the prompt of a matrix file, if the file has several.
    pub prompt: Option<Arc<str>>,
    /// The test of a matrix file that the case comes from; kept for files with `extensions`, and for those whose tests take
    /// over answers.
    pub authored: Option<Arc<dyn AuthoredTest>>,
    /// What the case takes over from the answers to others, and hands on to others.
    pub history: Option<Arc<CaseHistory>>,
    /// Parts that are decoded and checked but not supported by runs yet.
    pub unbuilt: Vec<UnsupportedFeature>,
    /// Programs that write a part of the case. They were not run, because the user had not consented when the file was
    /// read.
    pub unrun_code: Vec<NamedProgram>,
}

impl Case {
    /// Creates a case with these graders; all other fields are empty.
    pub fn new(id: CaseId, place: FilePosition, graders: Vec<Arc<Grader>>) -> Self {
        Self {
            id,
            place,
            marks: CaseMarks::default(),
            input: Vec::new(),
            expected_outcome: None,
            expected_output: Vec::new(),
            output: None,
            graders,
            thresholds: ThresholdOverrides::default(),
            targets: Vec::new(),
            transforms: Vec::new(),
            output_as_text: false,
            preprocessors: Arc::default(),
            container: None,
            file_changes: None,
            trials: None,
            tags: Vec::new(),
            metadata: serde_json::Map::new(),
            conversation_id: None,
            vars: BTreeMap::new(),
            conversation: None,
            depends_on: Vec::new(),
            on_dependency_failure: OnDependencyFailure::default(),
            workspace: None,
            test: None,
            metrics: Vec::new(),
            prompt: None,
            authored: None,
            history: None,
            unbuilt: Vec::new(),
            unrun_code: Vec::new(),
        }
    }

    /// Returns the id of the test: the id of the case, unless the test makes several cases.
    pub fn test_id(&self) -> &str {
        self.test.as_deref().unwrap_or(self.id.as_str())
    }

    /// Returns the question as a judge sees it: a single user message as plain text; several messages with
    /// the role of each on a line above it.
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

    /// Returns the turns of a conversation; none for any other case.
    pub fn turns(&self) -> &[ConversationTurn] {
        self.conversation.as_ref().map(|conversation| conversation.turns.as_slice()).unwrap_or_default()
    }

    /// Returns every grader of the case: the graders of its turns first, then the graders of the whole case.
    pub fn all_graders(&self) -> impl Iterator<Item = &Arc<Grader>> {
        self.turns().iter().flat_map(|turn| &turn.graders).chain(&self.graders)
    }

    /// Returns true if one of the graders compares all answers to the case.
    pub fn compares_answers(&self) -> bool {
        self.graders.iter().any(|grader| matches!(grader.kind, GraderKind::Selection(_)))
    }

    /// Returns the case of a single turn, with the messages `before` and the turn's input, reference answer and
    /// graders. All other fields are copied from this case.
    pub fn turn_case(&self, turn: &ConversationTurn, before: &[CaseMessage]) -> Self {
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

    /// Returns the files that the case's messages refer to, in order. The files of its turns come last.
    pub fn attachments(&self) -> impl Iterator<Item = &Path> {
        let of_turns = self.turns().iter().flat_map(|turn| turn.input.iter().chain(&turn.expected_output));
        let messages = self.input.iter().chain(&self.expected_output).chain(of_turns);
        let blocks = messages.flat_map(|message| &message.blocks);
        blocks.filter_map(|block| match block {
            MessageBlock::File { path, .. } | MessageBlock::Image { path, .. } => Some(path.as_path()),
            MessageBlock::Text(_) | MessageBlock::Json(_) => None,
        })
    }

    /// Returns the reference answer as a judge sees it: the last expected message, or its tool calls as JSON
    /// if it has no text.
    pub fn reference(&self) -> Option<String> {
        let last = self.expected_output.last()?;
        let text = last.to_text();
        if text.trim().is_empty() && !last.tool_calls.is_empty() {
            return serde_json::to_string_pretty(&last.tool_calls).ok();
        }

        (!text.trim().is_empty()).then_some(text)
    }
}

/// The test of a matrix file that a case comes from, with one of its combinations of variables. If an extension changes
/// the test, the result is read by the same reader as a test of the file.
pub trait AuthoredTest: fmt::Debug + Send + Sync {
    /// Returns the id of the case.
    fn id(&self) -> &str;

    /// Returns the test as JSON, with the keys of promptfoo: `vars`, `assert`, `options`, `metadata` and the others that it
    /// has. Variables are not rendered yet.
    fn value(&self) -> &Value;

    /// Returns the text of its prompt, before variables are filled in.
    fn prompt(&self) -> Option<Value>;

    /// Returns the case of a test that was changed, `None` if it is the same. It keeps its id.
    ///
    /// # Errors
    /// The problems of the changed test, in words.
    fn change(&self, changed: &Value) -> Result<Option<Arc<Case>>, String>;

    /// Returns the case with answers to others as variables. They are never read as templates.
    ///
    /// # Errors
    /// The problems of the case with these answers, in words.
    fn with_answers(&self, answers: &serde_json::Map<String, Value>) -> Result<Arc<Case>, String>;
}

/// The variable that holds the turns before a turn of a conversation of cases.
pub const TURNS_VARIABLE: &str = "_conversation";

/// What a case takes over from the answers to cases before it in its suite, and hands on to those after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseHistory {
    /// Name of the conversation that the case is a turn of: the same for all its turns, and unique in the suite.
    pub conversation: Option<Arc<str>>,
    /// True if the case shows the turns before it, in the variable [`TURNS_VARIABLE`].
    pub shows_turns: bool,
    /// True if it also shows the whole prompts of these turns, and not only what was said.
    pub shows_prompts: bool,
    /// Names of the stored outputs that it uses as variables.
    pub uses: BTreeSet<Arc<str>>,
    /// Name under which its own output is stored for later cases.
    pub stores: Option<Arc<str>>,
    /// The prompt as it is sent: a text, or a list of messages.
    pub prompt: Value,
}

impl PartialEq for dyn AuthoredTest {
    fn eq(&self, other: &Self) -> bool {
        (self.id(), self.value()) == (other.id(), other.value())
    }
}

/// An answer given in the eval file.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenOutput {
    /// Text of the answer.
    Text(String),
    /// An object, graded as its JSON text.
    Json(Value),
    /// Messages; the last assistant message is the answer. Kept as written, tool calls included.
    Messages(Vec<CaseMessage>),
}

/// Thresholds that a suite or a case sets for itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ThresholdOverrides {
    /// Value of `threshold`: the pass threshold.
    pub pass: Option<UnitInterval>,
    /// Value of `borderline`: the borderline threshold below it.
    pub borderline: Option<UnitInterval>,
}

/// A reference to a target by a suite or a case.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetRef {
    /// Target name in results.
    pub name: String,
    /// Target that is used instead (`use_target`), if any.
    pub use_target: Option<String>,
    /// Commands around its use in a workspace (`hooks`).
    pub hooks: Option<Arc<WorkspaceHooks>>,
    /// Position of the reference.
    pub place: FilePosition,
}

impl TargetRef {
    /// The name of the target that is used.
    pub fn real_name(&self) -> &str {
        self.use_target.as_deref().unwrap_or(&self.name)
    }
}

/// A part of an eval file that is decoded and checked but not supported yet. A run that needs it fails before
/// anything is spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedFeature {
    /// Feature, as a noun: "conversation turns".
    pub feature: Cow<'static, str>,
    /// Position in the file.
    pub place: FilePosition,
}
