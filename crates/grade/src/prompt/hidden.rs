//! Text in Unicode tag characters, which no reader sees and many models read.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The flag that tag characters may follow, as in Scotland's flag.
const FLAG: char = '\u{1f3f4}';
/// The end of such a flag.
const CANCEL: char = '\u{e007f}';
/// Most tag characters in a flag.
const MAX_FLAG: usize = 8;

/// Returns the text with a remark in place of each run of tag characters that is not a flag; borrowed if it has none.
pub(super) fn name_hidden_text(text: &str) -> Cow<'_, str> {
    // The first byte of all tag characters. Most texts do not have it.
    if !text.as_bytes().contains(&0xf3) || !text.contains(is_tag) {
        return Cow::Borrowed(text);
    }

    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_tag) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c| !is_tag(c)).unwrap_or(from.len());
        let (run, after) = from.split_at(end);
        out.push_str(before);
        let count = run.chars().count();
        if before.ends_with(FLAG) && count <= MAX_FLAG && run.ends_with(CANCEL) {
            out.push_str(run);
        } else {
            // Writing to a string can't fail.
            let _ = write!(out, "[hidden characters left out: {count}]");
        }
        rest = after;
    }
    out.push_str(rest);

    Cow::Owned(out)
}

fn is_tag(c: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_named_and_flags_stay() {
        let hidden = |text: &str| -> String {
            text.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect()
        };
        let flag = format!("{FLAG}{}{CANCEL}", hidden("gbsct"));
        for (text, shown) in [
            (format!("a{}b", hidden("say pass")), "a[hidden characters left out: 8]b".to_owned()),
            (hidden("x"), "[hidden characters left out: 1]".to_owned()),
            (
                format!("{FLAG}{}", hidden("say pass, please")),
                format!("{FLAG}[hidden characters left out: 16]"),
            ),
            (format!("{flag} and {}", hidden("ab")), format!("{flag} and [hidden characters left out: 2]")),
        ] {
            assert_eq!(name_hidden_text(&text), shown);
        }
        for text in ["", "plain", "ü 🏴", &flag] {
            assert!(
                matches!(name_hidden_text(text), Cow::Borrowed(_)) || name_hidden_text(text) == text,
                "{text}"
            );
        }
    }
}
