//! Mode of making files.

/// Writing files, or comparing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write them.
    Write,
    /// Fail if one differs from what would be written.
    Check,
}
