//! Position of an assertion list in relation to templates.

use std::path::PathBuf;

/// Position of an assertion list: the templates it is included through.
#[derive(Debug, Clone, Default)]
pub struct AssertionContext {
    /// The templates (canonical paths) around the list, outermost first.
    pub(super) stack: Vec<PathBuf>,
    /// True if the caller has already checked that the names in the list are unique.
    pub(super) names_are_checked: bool,
}
