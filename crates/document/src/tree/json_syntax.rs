//! Explanations of JSON syntax errors.

use std::ops::Range;

/// Explains an error of the parser: returns the offset to point at, the label, and the advice. `message` is the
/// parser's message and `at` the offset it reports. `is_line` is true if `text` is one line of a dataset.
pub(super) fn explain_error(message: &str, text: &str, at: usize, is_line: bool) -> (usize, String, String) {
    let rest = &text[at..];
    let first = rest.chars().next();
    let problem = |label: &str, help: &str| (at, label.to_owned(), help.to_owned());
    if matches!(first, Some('“' | '”' | '„' | '‘' | '’' | '«' | '»')) {
        return problem("a curly quotation mark", "write straight quotation marks: `\"text\"`");
    }
    if rest.starts_with("//") || rest.starts_with("/*") || first == Some('#') {
        return problem("a comment", "JSON has no comments; remove it, or save the file as YAML");
    }
    let double_quotes = "JSON strings and keys need double quotes: `\"text\"`";
    if first == Some('\'') {
        return problem("a single quotation mark", double_quotes);
    }

    if message.starts_with("control character") {
        let offset = rest.find(char::is_control).unwrap_or(0);
        return match rest[offset..].chars().next() {
            Some('\n' | '\r') | None => (
                at + offset,
                "the text is not closed at the end of the line".to_owned(),
                "close it with `\"`; a line break inside a text is written `\\n`".to_owned(),
            ),
            Some(c) => (
                at + offset,
                format!("found U+{:04X} in a text", u32::from(c)),
                match c {
                    '\t' => "write a tab as `\\t`".to_owned(),
                    _ => format!("remove it, or write it as `\\u{:04x}`", u32::from(c)),
                },
            ),
        };
    }

    let is_after_comma = text[..at].trim_end().ends_with(',');
    match message {
        "expected value" if is_after_comma && matches!(first, Some(']' | '}')) => {
            problem("trailing comma before this bracket", "remove that comma")
        }
        "EOF while parsing an object" => problem("the object is not closed", "add the missing `}`"),
        "EOF while parsing a list" => problem("the list is not closed", "add the missing `]`"),
        "EOF while parsing a string" => problem("the text is not closed", "add the missing quotation mark"),
        "EOF while parsing a value" => problem("a value is missing at the end", "write the value"),
        "trailing comma" => problem("trailing comma before this bracket", "remove that comma"),
        "key must be a string" if matches!(first, Some('}')) => {
            problem("trailing comma before this bracket", "remove that comma")
        }
        "key must be a string" => problem("not a key", double_quotes),
        "trailing characters" if is_line => {
            problem("text after the end of the object", "write one object on each line")
        }
        "trailing characters" => problem("text after the end of the value", "a JSON file holds one value"),
        "expected `,` or `}`" => {
            problem("`,` or `}` is expected here", "separate entries by commas, and close the value before")
        }
        "expected `,` or `]`" => {
            problem("`,` or `]` is expected here", "separate entries by commas, and close the value before")
        }
        "expected `:`" => problem("`:` is expected here", "write `\"key\": value`"),
        "invalid escape" => problem("not an escape", "write a backslash as `\\\\`"),
        "recursion limit exceeded" => problem("nested too deeply", "eval files need fewer than ten levels"),
        "expected value" | "expected ident" => {
            let start = text[..at]
                .rfind(|c: char| !c.is_alphanumeric())
                .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
            let word: String = text[start..].chars().take_while(|c| c.is_alphanumeric()).collect();
            let help = match word.as_str() {
                "NaN" | "Infinity" => "JSON has no such number; write a finite one, or `null`",
                "None" | "undefined" | "nil" | "Null" => "write `null`",
                "True" | "False" | "TRUE" | "FALSE" => "write `true` or `false` in lower case",
                _ if is_line => "each line is one object: {\"id\": ..., \"input\": ...}",
                _ => "values are texts in double quotes, numbers, true, false, null, lists and objects",
            };

            let label = if word.is_empty() { "a value is expected here" } else { "not a JSON value" };
            (start, label.to_owned(), help.to_owned())
        }
        other => problem(other, "check for missing commas, quotes and brackets just before"),
    }
}

/// Returns the range of the first lone surrogate escape in a string, or the whole text if there is none.
/// Characters beyond U+FFFF are written as two escapes, and neither is valid alone (RFC 8259, section 7).
pub(super) fn find_lone_surrogate(raw: &str) -> Range<usize> {
    const ESCAPE: usize = r"\uXXXX".len();

    let unit = |at: usize| match raw.get(at..at + ESCAPE)?.strip_prefix(r"\u") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => None,
    };
    let mut at = 0;
    while let Some(ahead) = raw[at..].find('\\') {
        at += ahead;
        match (unit(at), unit(at + ESCAPE)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 2 * ESCAPE,
            (Some(0xD800..=0xDFFF), _) => return at..at + ESCAPE,
            // Skip the escaped character, which may be another backslash.
            _ => at += 1 + raw[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }

    0..raw.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_put_right() {
        assert_eq!(explain_error("expected ident", "not json", 1, true).0, 0);
        assert_eq!(explain_error("expected value", "[1, ]", 4, true).2, "remove that comma");
        let (at, label, _) = explain_error(
            "control character (\\u0000-\\u001F) found while parsing a string",
            "\"a\tb\"",
            1,
            true,
        );
        assert_eq!((at, label.as_str()), (2, "found U+0009 in a text"));
        assert_eq!(explain_error("expected value", "{\"é\": NaN}", 7, false).0, 7);
    }
}
