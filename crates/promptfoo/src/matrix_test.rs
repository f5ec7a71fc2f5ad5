//! A test of a matrix file.

use assize_diagnostic::{Span, SpannedValue};
use assize_document::{MapEntry, TreeNode, ValueSize};

/// Name of the default test in messages.
pub(super) const DEFAULT_TEST: &str = "the default test";

/// A test as written, or the default test.
#[derive(Debug, Clone, Default)]
pub(super) struct MatrixTest {
    /// Span of the test; `None` for a missing default test.
    pub(super) head: Option<Span>,
    pub(super) id: Option<SpannedValue<String>>,
    pub(super) description: Option<String>,
    pub(super) vars: Vec<MapEntry>,
    /// Assertions, and the place of their key.
    pub(super) assertions: Vec<TreeNode>,
    pub(super) assert_span: Option<Span>,
    pub(super) options: TestOptions,
    /// Function that makes score and verdict of the named scores.
    pub(super) scoring: Option<SpannedValue<String>>,
    pub(super) threshold: Option<SpannedValue<f64>>,
    /// True if the test itself has the threshold, not only its file.
    pub(super) has_own_threshold: bool,
    pub(super) metadata: Vec<MapEntry>,
    /// Providers it is run with; all if empty.
    pub(super) providers: Vec<SpannedValue<String>>,
    /// Prompts it is run with; all if empty.
    pub(super) prompts: Vec<SpannedValue<String>>,
    pub(super) output: Option<TreeNode>,
    /// Input that replaces the prompts.
    pub(super) input: Option<TreeNode>,
    pub(super) skip_defaults: bool,
    /// Keys of a case that are copied unchanged.
    pub(super) case_keys: Vec<MapEntry>,
    /// True if it replaces the missing tests of a file, so that each prompt is sent once.
    pub(super) is_stand_in: bool,
    /// True if its variables or assertions can't be read at all.
    pub(super) is_broken: bool,
}

impl MatrixTest {
    /// The memory that it takes.
    pub(super) fn size(&self) -> ValueSize {
        let TestOptions { judge, transform, transform_vars, rubric_prompt, prefix, suffix, .. } =
            &self.options;
        let texts = [&self.description, prefix, suffix].into_iter().flatten();
        let code = [transform, transform_vars].into_iter().flatten().map(|code| &code.value);
        let in_maps = [&self.vars, &self.metadata, &self.case_keys].into_iter().flatten();
        let nodes = in_maps.map(|entry| &entry.value).chain(&self.assertions);
        let nodes = nodes.chain([&self.output, &self.input, judge, rubric_prompt].into_iter().flatten());

        let texts = texts.chain(code).map(String::len).sum();
        let mut size = ValueSize { texts, values: size_of::<Self>() };
        nodes.for_each(|node| size += node.size());
        size
    }
}

/// Options of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct TestOptions {
    /// Judge of its assertions.
    pub(super) judge: Option<TreeNode>,
    pub(super) transform: Option<SpannedValue<String>>,
    /// Script that changes the variables before they are used.
    pub(super) transform_vars: Option<SpannedValue<String>>,
    pub(super) rubric_prompt: Option<TreeNode>,
    pub(super) prefix: Option<String>,
    pub(super) suffix: Option<String>,
    pub(super) disable_expansion: bool,
    /// True if its prompts don't show the conversation so far.
    pub(super) disable_conversation: bool,
    /// Name under which later tests can use its output.
    pub(super) store: Option<SpannedValue<String>>,
    /// True if promptfoo runs it before the tests that may run several at once.
    pub(super) runs_serially: bool,
}
