//! The place of an assertion list among templates.

use std::path::PathBuf;

/// Position of an assertion list: the templates it came through.
#[derive(Debug, Clone, Default)]
pub struct AssertionContext {
    /// The templates (canonical paths) around the list, outermost first.
    pub(super) stack: Vec<PathBuf>,
    /// The names of the list have been checked by whoever reads it.
    pub(super) names_are_checked: bool,
}

impl AssertionContext {
    /// Returns true if the list stands in a template.
    pub(super) fn in_template(&self) -> bool {
        !self.stack.is_empty()
    }
}
