//! How much of a workspace is looked at and shown.

/// Limits of snapshots and diffs. Whatever they leave out is named in the diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest file whose text is kept for comparing, in bytes; of larger ones only size and hash are.
    pub max_text: u64,
    /// Files of a workspace at most; a larger one is an error rather than half a picture.
    pub max_files: usize,
    /// Longest diff of one file, in bytes.
    pub max_file_diff: usize,
    /// Longest diff of all files together, in bytes.
    pub max_diff: usize,
    /// Longest diff of files that `.gitignore` files exclude, in bytes.
    pub max_excluded_diff: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_text: 16 << 20,
            max_files: 500_000,
            max_file_diff: 4 << 20,
            max_diff: 32 << 20,
            max_excluded_diff: 256 << 10,
        }
    }
}
