//! A matrix file before its cases are expanded.

use std::sync::Arc;

use assize_diagnostic::Span;
use assize_document::TreeNode;

use super::assertion_counter::AssertionCounter;
use super::matrix_test::MatrixTest;
use super::matrix_tests::MatrixTests;
use super::merge::merge;
use super::prompts::PromptReader;
use super::providers::MatrixProvider;
use super::spelling::MatrixSpelling;
use super::template::TemplateRenderer;

/// Parts of a matrix file that are common to all its cases.
pub(super) struct MatrixFile<'n> {
    pub(super) spelling: MatrixSpelling,
    pub(super) root: &'n TreeNode,
    pub(super) default: MatrixTest,
    pub(super) prompts: PromptReader,
    pub(super) providers: Vec<MatrixProvider>,
    pub(super) tests: MatrixTests,
    pub(super) templates: Arc<TemplateRenderer>,
    pub(super) assertions: AssertionCounter,
}

/// Span of a test; `fallback` if it has none.
pub(super) fn place_of(test: &MatrixTest, fallback: Span) -> Span {
    test.head.unwrap_or(fallback)
}

/// Returns a test merged with the default test. The assertions of the default test are not added if the test disables
/// them.
pub(super) fn merge_default(file: &MatrixFile<'_>, test: &MatrixTest) -> MatrixTest {
    let mut merged = if test.skip_defaults {
        merge(&MatrixTest { assertions: Vec::new(), assert_span: None, ..file.default.clone() }, test)
    } else {
        merge(&file.default, test)
    };
    merged.id.clone_from(&test.id);
    merged.description.clone_from(&test.description);
    merged
}
