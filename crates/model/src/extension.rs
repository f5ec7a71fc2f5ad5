//! Extensions: code of an author that is run around the tests of a matrix file.

use std::time::Duration;

use serde_json::Value;

use super::{CodeProgram, FilePosition};

/// Time at which extensions are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExtensionHook {
    /// Once, before the first test. It may change the tests and the prompts.
    BeforeAll,
    /// Before each test. It may change the test.
    BeforeEach,
    /// After each test.
    AfterEach,
    /// Once, after the last test.
    AfterAll,
}

assize_rubric::named_variants!(ExtensionHook {
    BeforeAll = "beforeAll", BeforeEach = "beforeEach", AfterEach = "afterEach", AfterAll = "afterAll",
});

impl ExtensionHook {
    /// Returns the time limit of a call: a minute around a test, 10 minutes around all.
    pub const fn time_limit(self) -> Duration {
        match self {
            Self::BeforeAll | Self::AfterAll => Duration::from_mins(10),
            Self::BeforeEach | Self::AfterEach => Duration::from_mins(1),
        }
    }
}

/// An entry of `extensions`: a function in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// The entry as written, by which messages name it.
    pub written: String,
    /// The function. Its path is absolute.
    pub program: CodeProgram,
    /// The only hook it is run for, which its function is named after; all if `None`.
    pub hook: Option<ExtensionHook>,
    /// Position of the entry.
    pub place: FilePosition,
}

impl Extension {
    /// Returns true if the function is run for a hook.
    pub fn runs_at(&self, hook: ExtensionHook) -> bool {
        self.hook.is_none_or(|own| own == hook)
    }
}

/// The extensions of a suite, with what they are given before the first test.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteExtensions {
    /// The extensions, in the order in which they are run.
    pub list: Vec<Extension>,
    /// The suite: `description`, `prompts`, `providers`, `tests`, `scenarios` and `defaultTest`.
    pub suite: Value,
    /// The eval file as it is written.
    pub config: Value,
    /// True if they are run as hooks of the workspace, in which the functions of AgentV work.
    pub in_workspace: bool,
    /// True for the contract of AgentV, whose hooks are given the folder and the id of a case and change no tests.
    pub is_agentv: bool,
}

impl SuiteExtensions {
    /// Returns true if tests may be added before the first one is run.
    pub fn may_add_tests(&self) -> bool {
        !self.in_workspace && self.run_at(ExtensionHook::BeforeAll)
    }

    /// Returns true if any extension is run for a hook.
    pub fn run_at(&self, hook: ExtensionHook) -> bool {
        self.list.iter().any(|extension| extension.runs_at(hook))
    }
}
