//! Cursor context in JSON, also in text that is not valid JSON yet.

use crate::cursor_context::{CursorContext, CursorItem};
use crate::schema_place::SiblingScalars;

/// Maximum nesting depth.
const MAX_NESTING_DEPTH: usize = 200;

/// An object or an array.
struct JsonFrame {
    parent: Option<usize>,
    /// Key of the parent under which it is found.
    key: String,
    is_map: bool,
    beside: SiblingScalars,
}

/// Returns the cursor context at a byte offset.
pub(crate) fn json_context(text: &str, offset: usize) -> CursorContext {
    let mut reader =
        JsonCursorReader { frames: Vec::new(), open: None, key: None, awaits_value: false, found: None };
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { break };
        let length = match c {
            '"' => string_length(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            c if c.is_whitespace() => c.len_utf8(),
            _ => rest.find([',', ':', '{', '}', '[', ']', '"', '\n']).unwrap_or(rest.len()).max(c.len_utf8()),
        };

        let token = &rest[..length];
        // A cursor at the end of a word still touches it; one after punctuation does not.
        let touches = match c {
            '"' => offset > at && offset <= at + length,
            '{' | '}' | '[' | ']' | ',' | ':' => false,
            c if c.is_whitespace() => false,
            _ => offset >= at && offset <= at + length,
        };
        if offset <= at && !touches {
            reader.record_cursor(CursorItem::Nothing);
        }

        reader.process_token(token, touches);
        at += length;
    }

    reader.record_cursor(CursorItem::Nothing);
    reader.into_context()
}

/// Returns the length of a string with its quotation marks; an unterminated string ends with its line.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }

    text.len()
}

struct JsonCursorReader {
    frames: Vec<JsonFrame>,
    open: Option<usize>,
    /// Last key of the open object.
    key: Option<String>,
    awaits_value: bool,
    /// Frame and item that the cursor touches.
    found: Option<(Option<usize>, CursorItem)>,
}

impl JsonCursorReader {
    fn is_map(&self) -> bool {
        self.open.is_some_and(|frame| self.frames[frame].is_map)
    }

    /// Records the cursor position, unless it was recorded already.
    fn record_cursor(&mut self, at: CursorItem) {
        if self.found.is_some() {
            return;
        }

        let at = match at {
            CursorItem::Nothing if self.is_map() && !self.awaits_value => CursorItem::Key(String::new()),
            CursorItem::Nothing => {
                CursorItem::Value { key: self.key.clone().unwrap_or_default(), text: String::new() }
            }
            other => other,
        };
        self.found = Some((self.open, at));
    }

    fn process_token(&mut self, token: &str, touches: bool) {
        match token {
            "{" | "[" => {
                if self.frames.len() >= MAX_NESTING_DEPTH {
                    return;
                }

                let frame = JsonFrame {
                    parent: self.open,
                    key: self.key.take().unwrap_or_default(),
                    is_map: token == "{",
                    beside: SiblingScalars::new(),
                };

                self.frames.push(frame);
                self.open = Some(self.frames.len() - 1);

                self.awaits_value = false;
            }
            "}" | "]" => {
                self.open = self.open.and_then(|frame| self.frames[frame].parent);
                self.key = None;
                self.awaits_value = false;
            }
            "," => {
                self.key = None;
                self.awaits_value = false;
            }
            ":" => self.awaits_value = true,
            blank if blank.trim().is_empty() => {}
            word => {
                let plain = word.trim().trim_matches('"').to_owned();
                let is_key = self.is_map() && !self.awaits_value;
                if touches {
                    let key = self.key.clone().unwrap_or_default();
                    self.record_cursor(if is_key {
                        CursorItem::Key(plain.clone())
                    } else {
                        CursorItem::Value { key, text: plain.clone() }
                    });
                }

                if is_key {
                    self.key = Some(plain.clone());
                }

                if let Some(frame) = self.open.filter(|_| self.is_map()) {
                    let key = self.key.clone().unwrap_or_default();
                    let value = if is_key { String::new() } else { plain };
                    self.frames[frame].beside.insert(key, value);
                }
            }
        }
    }

    fn into_context(self) -> CursorContext {
        let Some((frame, at)) = self.found else { return CursorContext::default() };
        let mut path = Vec::new();
        let mut outer = frame;
        while let Some(index) = outer {
            let frame = &self.frames[index];
            if !frame.key.is_empty() {
                path.push(frame.key.clone());
            }
            outer = frame.parent;
        }

        path.reverse();
        let mut beside = frame.map(|frame| self.frames[frame].beside.clone()).unwrap_or_default();

        // The key under the cursor is not a sibling of itself.
        if let CursorItem::Key(own) = &at {
            beside.remove(own);
        }

        CursorContext { path, beside, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> CursorContext {
        let offset = text.find('^').expect("a cursor");
        json_context(&text.replace('^', ""), offset)
    }

    fn value(key: &str, text: &str) -> CursorItem {
        CursorItem::Value { key: key.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn keys_and_values_are_told_apart() {
        for (text, path, expected) in [
            ("{^}", &[][..], CursorItem::Key(String::new())),
            ("{\"na^me\": 1}", &[], CursorItem::Key("name".to_owned())),
            ("{\"name\": ^}", &[], value("name", "")),
            ("{\"a\": \"x^y\"}", &[], value("a", "xy")),
            ("{\"tests\": [{\"id\": \"a\", ^", &["tests"], CursorItem::Key(String::new())),
            (
                "{\"tests\": [{\"rubrics\": [{\"required\": tr^ue}]}]}",
                &["tests", "rubrics"],
                value("required", "true"),
            ),
            ("{\"a\": [\"x\", \"y^\"]}", &["a"], value("", "y")),
            ("^", &[], value("", "")),
        ] {
            let found = at(text);
            assert_eq!(
                (found.path, found.at),
                (path.iter().map(|k| (*k).to_owned()).collect(), expected),
                "{text}"
            );
        }
    }

    #[test]
    fn scalars_on_both_sides_stand_beside() {
        let found = at("{\"type\": \"rubrics\", ^, \"weight\": 2, \"deep\": {\"x\": 1}}");
        let beside: Vec<(&str, &str)> = found.beside.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(beside, [("deep", ""), ("type", "rubrics"), ("weight", "2")]);
    }

    #[test]
    fn no_text_is_too_broken() {
        for text in ["{{{", "]]]", "\"", "{\"a", "{\"a\\", "ü: \"é", ",,:", "[[[[{\"\": [", "{\"a\": \"\n\"}"]
        {
            for offset in 0..=text.len() + 1 {
                json_context(text, offset);
            }
        }
        json_context(&"[".repeat(100_000), 50_000);
    }
}
