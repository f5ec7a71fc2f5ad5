//! Slips of JSON that leave only one reading.
//!
//! Models write a line break or a tab into a string, an escape that JSON does not have (`\d`), a comma before a
//! closing bracket, or a comment. What such a text means is clear, so it is read. Where two readings exist, it
//! is not: escapes that name a character (`\x41`), and comments that contain a member of a reply.

use assize_llm::UnambiguousJson;

/// Reads a text as one JSON value. The second result is true if it has slips.
pub(super) fn read_whole(text: &str) -> Result<(UnambiguousJson, bool), serde_json::Error> {
    match serde_json::from_str(text) {
        Ok(value) => Ok((value, false)),
        Err(error) => mend(unfenced(text))
            .and_then(|mended| serde_json::from_str(&mended).ok())
            .map(|value| (value, true))
            .ok_or(error),
    }
}

/// Returns the inside of a code fence that encloses the whole text, or else the text.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.trim_end().strip_suffix("```"));
    inside.and_then(|inside| inside.split_once('\n')).map_or(text, |(_, body)| body)
}

/// Returns the text as the JSON that it must mean. `None` if there are two readings.
fn mend(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    let mut in_string = false;
    // Position in `out` of a comma after which only white space has come so far.
    let mut comma = None;
    while let Some((at, c)) = chars.next() {
        if in_string {
            match c {
                '"' => in_string = false,
                '\\' => {
                    let (at, escaped) = chars.next()?;
                    match escaped {
                        '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => out.push('\\'),
                        'u' => {
                            let digits = text.get(at + 1..at + 5)?;
                            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                                return None;
                            }
                            out.push('\\');
                        }
                        '\'' => {}
                        // These name a character in other languages.
                        'x' | 'U' | 'N' | 'a' | 'v' | 'e' | '0'..='9' | '\n' | '\r' => return None,
                        _ => out.push_str("\\\\"),
                    }
                    out.push(escaped);
                    continue;
                }
                '\n' => {
                    out.push_str("\\n");
                    continue;
                }
                '\r' => {
                    out.push_str("\\r");
                    continue;
                }
                '\t' => {
                    out.push_str("\\t");
                    continue;
                }
                _ => {}
            }
            out.push(c);
            continue;
        }

        match c {
            '/' if text[at..].starts_with("//") => {
                let comment = text[at..].lines().next().unwrap_or_default();
                if holds_member(comment) {
                    return None;
                }
                while chars.peek().is_some_and(|(_, next)| *next != '\n') {
                    chars.next();
                }
                continue;
            }
            ',' if out.trim_end().ends_with(['{', '[', ',']) => return None,
            ',' => comma = Some(out.len()),
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    out.remove(at);
                }
            }
            c if c.is_whitespace() => {}
            c => {
                comma = None;
                in_string = c == '"';
            }
        }
        out.push(c);
    }

    Some(out)
}

/// Returns true if a text contains a member of a reply. Outside of objects, that is the rest of the judge's own
/// object, which an answer closed early when it was copied into it without escaping.
pub(super) fn holds_member(text: &str) -> bool {
    const NAMES: [&str; 11] = [
        "outcome", "score", "reason", "evidence", "results", "id", "better", "pass", "applies", "uncertain",
        "confidence",
    ];
    text.match_indices(':').any(|(at, _)| {
        let name = text[..at].trim_end().strip_suffix('"');
        name.is_some_and(|name| {
            NAMES.iter().any(|known| name.strip_suffix(known).is_some_and(|rest| rest.ends_with('"')))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_with_one_reading_are_read() {
        let plain = r#"{"evidence":["a\nb"],"reason":"r","outcome":"met"}"#;
        for (slip, reason) in [
            ("{\"evidence\":[\"a\nb\"],\"reason\":\"r\",\"outcome\":\"met\"}", "r"),
            ("{\"evidence\":[\"a\\nb\"],\"reason\":\"a\tb\",\"outcome\":\"met\"}", "a\tb"),
            (r#"{"evidence":["a\nb"],"reason":"\d+ and C:\Program","outcome":"met"}"#, r"\d+ and C:\Program"),
            (r#"{"evidence":["a\nb"],"reason":"it\'s","outcome":"met"}"#, "it's"),
            (r#"{"evidence":["a\nb",],"reason":"r","outcome":"met",}"#, "r"),
            (
                "{\"evidence\":[\"a\\nb\"], // the quote\n\"reason\":\"r\",\"outcome\":\"met\" , // so it is\n}",
                "r",
            ),
            (
                "{\"evidence\":[\"a\\nb\"],\"reason\":\"see // there, ]\n\",\"outcome\":\"met\"}",
                "see // there, ]\n",
            ),
            ("```json\n{\"evidence\":[\"a\\nb\"],\"reason\":\"r\",\"outcome\":\"met\",}\n```", "r"),
        ] {
            let (UnambiguousJson(value), slipped) = read_whole(slip).expect(slip);
            assert!(slipped, "{slip}");
            assert_eq!((&value["outcome"], &value["evidence"][0]), (&"met".into(), &"a\nb".into()), "{slip}");
            assert_eq!(value["reason"], reason, "{slip}");
        }
        assert!(read_whole(plain).is_ok_and(|(_, slipped)| !slipped));
    }

    #[test]
    fn slips_with_two_readings_are_not() {
        for text in [
            r#"{"outcome":"met",, "reason":"r"}"#,
            r#"{"outcome":"met","outcome":"unmet",}"#,
            r#"{"outcome":"met","outcome":"met",}"#,
            r#"{"reason":"\x41","outcome":"met"}"#,
            r#"{"reason":"\u12","outcome":"met"}"#,
            r#"{"reason":"\101","outcome":"met"}"#,
            "{\"outcome\":\"met\" // \"outcome\": \"unmet\"\n}",
            "{\"outcome\":\"met\", /* or */ }",
            r#"{outcome:"met",}"#,
            "{'outcome':'met',}",
            r#"{"reason":"he said "no"","outcome":"met",}"#,
            r#"{"outcome":"met""#,
            r"{,}",
        ] {
            assert!(read_whole(text).is_err(), "{text}");
        }
    }
}
