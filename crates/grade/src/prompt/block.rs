//! Blocks: text between fences.

use super::control::without_control_tokens;

/// The text between two lines that carry the fence. The text itself is inserted as it is, but for control tokens of
/// chat formats.
pub(crate) fn block(name: &str, fence: &str, text: &str) -> String {
    // The closing line must begin a line whatever the text ends with; an extra line break is harmless.
    let text = without_control_tokens(text);
    ["[[BEGIN ", name, " ", fence, "]]\n", &text, "\n[[END ", name, " ", fence, "]]\n"].concat()
}
