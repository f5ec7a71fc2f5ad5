//! Splits a text into statements: the sentences of each line.

/// Returns the sentences of a text in order, without list marks. Pieces without a letter or digit are dropped.
pub(crate) fn split_statements(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    for line in text.lines() {
        let mut rest = without_mark(line.trim());
        while !rest.is_empty() {
            let (sentence, others) = rest.split_at(sentence_end(rest));
            let sentence = without_mark(sentence.trim());
            if sentence.chars().any(char::is_alphanumeric) && !is_number_of_list(sentence) {
                statements.push(sentence);
            }
            rest = others.trim_start();
        }
    }

    statements
}

/// Length of the first sentence: up to a mark that is followed by white space and then no lower-case letter.
fn sentence_end(text: &str) -> usize {
    for (at, mark) in
        text.char_indices().filter(|(_, mark)| matches!(mark, '.' | '!' | '?' | '。' | '！' | '？'))
    {
        let end = at + mark.len_utf8();
        let behind = &text[end..];
        let closed = behind.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '*']);
        let next = closed.trim_start();
        let is_wide = matches!(mark, '。' | '！' | '？');
        let ends = next.is_empty()
            || is_wide
            || next.len() < closed.len()
                && !next.starts_with(char::is_lowercase)
                && !is_initial(&text[..at], mark);
        if ends {
            return text.len() - closed.len();
        }
    }

    text.len()
}

/// Returns true if the full stop belongs to an initial, as in "J. Smith" and "U.S. law".
fn is_initial(before: &str, mark: char) -> bool {
    let mut letters = before.chars().rev();
    let is_letter = letters.next().is_some_and(char::is_alphabetic);
    mark == '.' && is_letter && letters.next().is_none_or(|before| !before.is_alphanumeric())
}

/// A line without the list or heading mark at its beginning.
fn without_mark(line: &str) -> &str {
    let bare = line.trim_start_matches(['#', '>']).trim_start();
    let bare = bare.strip_prefix(['-', '*', '•', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(bare);
    bare.trim_start()
}

/// Returns true for "1." and "2)", which splitting "1. Paris" leaves behind.
fn is_number_of_list(sentence: &str) -> bool {
    let digits = sentence.trim_end_matches(['.', ')']);
    digits.len() < sentence.len() && digits.chars().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::split_statements;

    #[test]
    fn sentences_and_lines_are_statements() {
        for (text, statements) in [
            (
                "Paris is the capital. It has 2.1 million people!",
                vec!["Paris is the capital.", "It has 2.1 million people!"],
            ),
            ("One\n\n- two (\"three.\") Four\n* five", vec!["One", "two (\"three.\")", "Four", "five"]),
            ("1. Paris is big. 2. So is Rome.", vec!["Paris is big.", "So is Rome."]),
            (
                "Use e.g. tea, i.e. the U.S. kind. J. Smith did.",
                vec!["Use e.g. tea, i.e. the U.S. kind.", "J. Smith did."],
            ),
            (
                "# Head\n```\n---\nHe said \"No.\" Then he left",
                vec!["Head", "He said \"No.\"", "Then he left"],
            ),
            ("東京は首都です。人口は多い。", vec!["東京は首都です。", "人口は多い。"]),
            (" \n\n ...", vec![]),
        ] {
            assert_eq!(split_statements(text), statements, "{text}");
        }
    }
}
