//! Blocks of fenced text.

use super::control::break_control_tokens;
use super::hidden::name_hidden_text;

/// Puts a text between two lines that carry the fence. The text is inserted verbatim, except for control tokens
/// of chat formats and hidden text.
pub(crate) fn format_block(name: &str, fence: &str, text: &str) -> String {
    // The closing marker must begin on a new line for every ending of the text. An extra line break is harmless.
    let text = name_hidden_text(text);
    let text = break_control_tokens(&text);
    ["[[BEGIN ", name, " ", fence, "]]\n", &text, "\n[[END ", name, " ", fence, "]]\n"].concat()
}
