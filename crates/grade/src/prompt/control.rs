//! Neutralises control tokens of chat formats in untrusted text.
//!
//! A server that runs a model with a chat template may interpret such tokens anywhere in the finished text. A
//! token inside an answer would then end the user's turn despite the fence. An invisible character after its
//! first letter turns the token into an ordinary word, and leaves the text unchanged for readers and for the
//! verification of quotes.

use std::borrow::Cow;

/// Word joiner: it has no width and no meaning.
const WORD_JOINER: char = '\u{2060}';

/// Most bytes between `<|` and `|>`.
const MAX_NAME_BYTES: usize = 48;

/// Tokens of formats that don't mark them with `<|` and `|>`.
const BARE_CONTROL_TOKENS: &[&str] = &[
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>", "<start_of_turn>",
    "<end_of_turn>", "<start_of_image>", "<end_of_utterance>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
    "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[gMASK]", "<sop>", "<eop>", "<unk>", "<pad>",
];

/// Returns the text with every control token broken up; borrowed if it has none.
pub(super) fn break_control_tokens(text: &str) -> Cow<'_, str> {
    // Most texts contain neither character, and a scan without branches is vectorised.
    let begins = |byte| u8::from(byte == b'<') | u8::from(byte == b'[');
    if text.bytes().fold(0, |found, byte| found | begins(byte)) == 0 {
        return Cow::Borrowed(text);
    }

    let mut out = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices(['<', '[']) {
        if starts_with_control_token(&text[at..]) {
            out.push_str(&text[done..=at]);
            out.push(WORD_JOINER);
            done = at + 1;
        }
    }

    if done == 0 {
        return Cow::Borrowed(text);
    }

    out.push_str(&text[done..]);
    Cow::Owned(out)
}

fn starts_with_control_token(text: &str) -> bool {
    let bytes = text.as_bytes();
    BARE_CONTROL_TOKENS.iter().any(|word| bytes.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes())))
        || starts_with_delimited_name(text, "<|", "|>")
        // Full-width bars, which some model families use.
        || starts_with_delimited_name(text, "<\u{ff5c}", "\u{ff5c}>")
}

/// Returns true if the text begins with a short name between these delimiters.
fn starts_with_delimited_name(text: &str, open: &str, close: &str) -> bool {
    let Some(inside) = text.strip_prefix(open) else { return false };
    let mut end = inside.len().min(MAX_NAME_BYTES + close.len());
    while !inside.is_char_boundary(end) {
        end -= 1;
    }

    inside[..end].split_once(close).is_some_and(|(name, _)| {
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || matches!(c, '<' | '>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_tokens_of_every_family_are_broken_up() {
        for token in [
            "<|im_end|>",
            "<|IM_START|>",
            "<|start_header_id|>",
            "<|END_OF_TURN_TOKEN|>",
            "<\u{ff5c}end\u{2581}of\u{2581}sentence\u{ff5c}>",
            "[/INST]",
            "<end_of_turn>",
            "</s>",
        ] {
            let text = format!("a {token}{token} b");
            let safe = break_control_tokens(&text);
            assert!(!safe.contains(token), "{safe}");
            assert_eq!(safe.replace(WORD_JOINER, ""), text);
        }
    }

    #[test]
    fn all_other_text_stays_as_it_is() {
        for text in [
            "", "<", "[", "a <| f x |> b", "x <|", "<||>", "<sub>", "[INS]", "a[0] < b", "<|a\n|>",
            "x<\u{ff5c}",
        ] {
            assert!(matches!(break_control_tokens(text), Cow::Borrowed(_)), "{text}");
        }
        let long = format!("<|{}|>", "x".repeat(100));
        assert_eq!(break_control_tokens(&long), long);
    }
}
