//! Whether generated files are written or checked.

/// Whether generated files are written or checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write the files.
    Write,
    /// Fail if a file differs from its generated text.
    Check,
}
