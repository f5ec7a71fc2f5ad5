//! Counts the assertions that a file's templates and sets expand to.

use std::cell::Cell;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{TreeNode, ValueSize, codes};
use assize_evalfile::reading::DecodeContext;
pub(super) use assize_limits::FILE_ASSERTIONS as MAX_FILE_ASSERTIONS;
pub(super) use assize_limits::TEST_ASSERTIONS as MAX_TEST_ASSERTIONS;

use super::made_size::{exceeds_allowance, too_large};

/// The assertions of a file so far. A template is expanded at each reference, also in other templates, so a short file
/// can expand to any number of assertions.
#[derive(Debug, Default)]
pub(super) struct AssertionCounter {
    of_test: Cell<usize>,
    of_file: Cell<usize>,
    /// The size of the test's assertions with the templates that they refer to.
    size_of_test: Cell<ValueSize>,
    is_too_large: Cell<bool>,
    is_reported: Cell<bool>,
}

impl AssertionCounter {
    /// Begins with another test.
    pub(super) fn begin_test(&self) {
        self.of_test.set(0);
        self.size_of_test.take();
    }

    /// Counts an assertion. Returns false, after adding one diagnostic for the file, if there are too many.
    pub(super) fn take(&self, cx: &mut DecodeContext, span: Span) -> bool {
        self.of_test.set(self.of_test.get() + 1);
        self.of_file.set(self.of_file.get() + 1);
        let label = if self.of_test.get() > MAX_TEST_ASSERTIONS {
            format!("more than {MAX_TEST_ASSERTIONS} assertions in a test")
        } else if self.of_file.get() > MAX_FILE_ASSERTIONS {
            format!("more than {MAX_FILE_ASSERTIONS} assertions in this file")
        } else {
            return true;
        };

        if !self.is_reported.replace(true) {
            let title = "the assertions expand to too many";
            Diagnostic::error(codes::LIMIT_REACHED, title)
                .at(span, label)
                .with_help("name fewer templates, sets and default assertions")
                .add_to(&mut cx.problems);
        }
        false
    }

    /// Counts the size of an assertion with its template: ten thousand references to a long text are ten thousand copies.
    /// Returns false, after adding one diagnostic for the file, if the assertions of a test take too much.
    pub(super) fn take_size(&self, cx: &mut DecodeContext, assertion: &TreeNode, span: Span) -> bool {
        let mut size = self.size_of_test.get();
        size += assertion.size();
        self.size_of_test.set(size);
        if !self.is_too_large.get() && exceeds_allowance(cx, size) {
            self.is_too_large.set(true);
            cx.problems.add(too_large(span));
        }
        !self.is_too_large.get()
    }
}
