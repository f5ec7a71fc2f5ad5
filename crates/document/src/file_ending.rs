//! Endings of file names.

use std::path::Path;

/// Endings of programs, in lower case.
pub const PROGRAM_ENDINGS: [&str; 7] = ["py", "js", "mjs", "cjs", "ts", "mts", "cts"];

/// Returns the extension of a file name in lower case, without its dot.
pub fn file_extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
