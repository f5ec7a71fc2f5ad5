//! Blocks: text between fences.

/// The text between two lines that carry the fence. The text itself is inserted as it is.
pub(crate) fn block(name: &str, fence: &str, text: &str) -> String {
    // The closing line must begin a line whatever the text ends with; an extra line break is harmless.
    format!("[[BEGIN {name} {fence}]]\n{text}\n[[END {name} {fence}]]\n")
}
