//! The complaints of one load.

use assize_diagnostic::{Diagnostic, Severity};

/// Collects complaints so that reading can go on after each.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Diagnostic>,
    errors: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
    }

    /// Number of errors so far. A part is sound if reading it leaves this unchanged.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}
