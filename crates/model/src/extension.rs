//! Extensions: an author's code that runs around the tests of a matrix file.

use std::time::Duration;

use serde_json::Value;

use super::{CodeProgram, FilePosition};

/// When an extension is run.
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
    /// Returns the time limit of one call: a minute around a test, 10 minutes around all tests.
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
    /// The entry as written; its name in messages.
    pub written: String,
    /// The function. Its path is absolute.
    pub program: CodeProgram,
    /// The only hook that it runs at, taken from the name of its function; `None` for all hooks.
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

/// The extensions of a suite, and the data that they receive before the first test.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteExtensions {
    /// The extensions, in the order in which they are run.
    pub list: Vec<Extension>,
    /// The suite: `description`, `prompts`, `providers`, `tests`, `scenarios` and `defaultTest`.
    pub suite: Value,
    /// The content of the eval file as written.
    pub config: Value,
    /// True if they run as hooks of the workspace, because AgentV's functions work in its folder.
    pub in_workspace: bool,
    /// True for AgentV's contract: hooks receive the folder and the id of a case, and can't change tests.
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
