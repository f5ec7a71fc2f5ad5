//! Limits on the inspection of a workspace.

/// Limits of snapshots and diffs. Omissions are marked in the diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Maximum size in bytes of a file whose text is stored for comparison. Only size and hash of larger files
    /// are stored.
    pub max_text: u64,
    /// Maximum number of files in a workspace. More are an error, rather than a partial result.
    pub max_files: usize,
    /// Maximum length of the diff of one file, in bytes.
    pub max_file_diff: usize,
    /// Maximum length of the whole diff, in bytes.
    pub max_diff: usize,
    /// Maximum length of the diff of files that `.gitignore` excludes, in bytes.
    pub max_excluded_diff: usize,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self {
            max_text: 16 << 20,
            max_files: assize_limits::WORKSPACE_FILES,
            max_file_diff: 4 << 20,
            max_diff: 32 << 20,
            max_excluded_diff: 256 << 10,
        }
    }
}
