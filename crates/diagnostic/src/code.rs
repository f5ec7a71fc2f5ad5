//! Diagnostic codes.

use std::fmt;

use serde::Serialize;

/// Stable identifier of one kind of diagnostic, such as `E0203`.
///
/// Codes are constants owned by the crate that raises them; each has a page in the error index. `E` codes are
/// errors, `W` codes warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct DiagnosticCode(&'static str);

impl DiagnosticCode {
    /// Creates a code. The text is an upper-case letter and four digits.
    pub const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// Returns the code as written in output and in the error index.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
