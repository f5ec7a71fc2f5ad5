//! Fills prompt files in one pass, so that inserted text is never scanned for placeholders.

/// Replaces each `{{name}}` in the file by its text. Unknown names stay unchanged.
pub(super) fn fill_template(file: &'static str, texts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(file.len() + texts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = file;
    while let Some(at) = find_placeholder(rest) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);

        let Some(end) = after.find("}}") else {
            rest = after;
            break;
        };
        let name = &after[2..end];
        match texts.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => out.push_str(text),
            None => out.push_str(&after[..end + 2]),
        }

        rest = &after[end + 2..];
    }

    out.push_str(rest);
    out
}

/// Byte offset of the next `{{`. Searching for one brace is several times as fast as searching for two.
fn find_placeholder(text: &str) -> Option<usize> {
    text.match_indices('{').map(|(at, _)| at).find(|at| text[at + 1..].starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::fill_template;

    #[test]
    fn inserted_text_is_not_read_again() {
        assert_eq!(
            fill_template("a {{x}} b {{y}} {{z", &[("x", "{{y}} {% z %}"), ("y", "2")]),
            "a {{y}} {% z %} b 2 {{z"
        );
    }
}
