//! Reading JSON into the same tree as YAML.
//!
//! serde_json does the parsing. Positions come from borrowed raw values: each is a slice of the
//! text, so its place is its distance from the beginning.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::json_syntax::explain;
use super::{Data, Entry, Node};
use crate::codes;
use crate::decode::Problems;

/// Reads the single JSON value of a text. `None` after a syntax error; the reason is in `problems`.
pub(crate) fn read_json(sources: &SourceMap, source: SourceId, problems: &mut Problems) -> Option<Node> {
    let text = sources.file(source).text();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    read_json_in(sources, source, start..text.len(), problems)
}

/// Reads the single JSON value of a stretch of a text, such as one line.
pub(crate) fn read_json_in(
    sources: &SourceMap,
    source: SourceId,
    range: Range<usize>,
    problems: &mut Problems,
) -> Option<Node> {
    let file = sources.file(source);
    let text = file.text();
    let (start, body) = (range.start, text.get(range)?);
    match serde_json::from_str::<&RawValue>(body) {
        Ok(raw) => {
            let mut reader = Reader { text, source, keys: &[], unless: "", deferred: Vec::new(), problems };
            reader.node(raw.get())
        }
        Err(error) => {
            // serde_json counts lines and columns (in bytes) from 1.
            let line_start: usize =
                body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let mut at = (line_start + error.column().saturating_sub(1)).min(body.len());
            while !body.is_char_boundary(at) {
                at -= 1;
            }
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or("syntax error");
            let is_line = file.path().extension().is_some_and(|ending| ending == "jsonl");
            let (at, label, help) = explain(message, body, at, is_line);
            let width = body[at..].chars().next().filter(|c| !c.is_control()).map_or(0, char::len_utf8);
            let at = at + start;
            let span = Span::new(source, at, at + width);
            problems.add(
                Diagnostic::error(codes::JSON_SYNTAX, "this is not valid JSON", span, label).with_help(help),
            );
            None
        }
    }
}

/// The single JSON value of a text with the lists under `keys` left for later: they are empty in the tree, and where
/// their items stand is said beside it. Of a long list, one item at a time need be there then. A map with the key `unless`
/// is something else, and is read whole.
pub(crate) fn read_json_outline(
    sources: &SourceMap,
    source: SourceId,
    keys: &[&str],
    unless: &str,
    problems: &mut Problems,
) -> Option<(Node, Vec<Deferred>)> {
    let text = sources.file(source).text();
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(raw) = serde_json::from_str::<&RawValue>(body) else {
        return read_json(sources, source, problems).map(|node| (node, Vec::new()));
    };
    let mut reader = Reader { text, source, keys, unless, deferred: Vec::new(), problems };
    let node = reader.node(raw.get())?;
    Some((node, reader.deferred))
}

/// A list that was left for later.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// The key it stands under.
    pub(crate) key: String,
    /// Where its items stand.
    pub(crate) items: Vec<Range<usize>>,
}

struct Reader<'t, 'p> {
    text: &'t str,
    source: SourceId,
    /// Keys of the outermost map whose lists are left for later.
    keys: &'p [&'p str],
    /// A key that makes the outermost map something else, of which nothing is left for later.
    unless: &'p str,
    deferred: Vec<Deferred>,
    problems: &'p mut Problems,
}

impl<'t> Reader<'t, '_> {
    /// The place of a slice of the text.
    fn span(&self, slice: &str) -> Span {
        let start = slice.as_ptr().addr() - self.text.as_ptr().addr();
        Span::new(self.source, start, start + slice.len())
    }

    fn node(&mut self, raw: &'t str) -> Option<Node> {
        let raw = raw.trim();
        let span = self.span(raw);
        let data = match raw.as_bytes().first()? {
            b'{' => {
                let RawMap(pairs) = serde_json::from_str(raw).ok()?;
                let keys = std::mem::take(&mut self.keys);
                let keys = if pairs.iter().any(|(key, _)| key == self.unless) { &[] } else { keys };
                let mut entries: Vec<Entry> = Vec::with_capacity(pairs.len());
                let mut index: HashMap<String, usize> = HashMap::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let value = if keys.contains(&&*key) && !index.contains_key(&*key) {
                        self.outline(&key, value.get())?
                    } else {
                        self.node(value.get())?
                    };
                    let key_span = match &key {
                        Cow::Borrowed(slice) => self.span(slice),
                        // A key with escapes is not a slice of the text; its value stands close by.
                        Cow::Owned(_) => value.span.start_point(),
                    };
                    let key = key.into_owned();
                    if let Some(&first) = index.get(&key) {
                        self.problems.add(
                            Diagnostic::error(
                                codes::DUPLICATE_KEY,
                                format!("the key `{key}` stands twice in one object"),
                                key_span,
                                "second time",
                            )
                            .with_secondary(entries[first].key_span, "first time")
                            .with_help("keep one of them: only one can count"),
                        );
                    } else {
                        index.insert(key.clone(), entries.len());
                        entries.push(Entry { key, key_span, value });
                    }
                }
                Data::Map(entries)
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
                Data::Seq(items.into_iter().map(|item| self.node(item.get())).collect::<Option<_>>()?)
            }
            b'"' => Data::Str(serde_json::from_str(raw).ok()?),
            b't' => Data::Bool(true),
            b'f' => Data::Bool(false),
            b'n' => Data::Null,
            _ => match serde_json::from_str::<i64>(raw) {
                Ok(value) => Data::Int(value),
                Err(_) => Data::Float(raw.parse().ok()?),
            },
        };
        Some(Node::new(span, data))
    }
}

impl<'t> Reader<'t, '_> {
    /// A list without its items, which are noted; anything else as it is.
    fn outline(&mut self, key: &str, raw: &'t str) -> Option<Node> {
        let raw = raw.trim();
        if !raw.starts_with('[') {
            return self.node(raw);
        }
        let items: Vec<&'t RawValue> = serde_json::from_str(raw).ok()?;
        let places = items.into_iter().map(|item| {
            let span = self.span(item.get());
            span.start..span.end
        });
        let items = places.collect();
        self.deferred.push(Deferred { key: key.to_owned(), items });
        Some(Node::new(self.span(raw), Data::Seq(Vec::new())))
    }
}

/// An object as a list of pairs, duplicates included, values still unread.
struct RawMap<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for RawMap<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = RawMap<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    pairs.push((key, value));
                }
                Ok(RawMap(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// A key that stays a slice of the text when it can.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let id = sources.add_fragment("test.jsonl", text, 7);
        let mut problems = Problems::default();
        let node = read_json(&sources, id, &mut problems);
        (node, problems.into_vec(), sources)
    }

    #[test]
    fn every_value_knows_its_text() {
        let text = " {\"id\": \"a\\u00e9\\ud83d\\ude00\", \"list\": [1, -2.5e3 , {\"x\": null}], \"t\\u0061\": true}";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        assert_eq!(node.get("id").and_then(Node::as_str), Some("aé😀"));
        let list = node.get("list").expect("there");
        assert_eq!(sources.slice(list.span), "[1, -2.5e3 , {\"x\": null}]");
        let items = list.as_seq().expect("list");
        assert_eq!(items[1].data, Data::Float(-2500.0));
        assert_eq!(sources.slice(items[1].span), "-2.5e3");
        assert_eq!(sources.slice(items[2].get("x").expect("there").span), "null");
        assert_eq!(node.get("ta").map(|n| n.data.clone()), Some(Data::Bool(true)));
    }

    #[test]
    fn syntax_errors_name_the_line_of_the_file() {
        let (node, problems, sources) = read("{\"id\": \"a\", }");
        assert_eq!(node, None);
        assert_eq!(problems[0].code, codes::JSON_SYNTAX);
        assert_eq!(sources.position(problems[0].primary.span).line, 7);
    }

    #[test]
    fn duplicate_keys_are_reported() {
        let (_, problems, _) = read("{\"a\": 1, \"a\": 2}");
        assert_eq!(problems[0].code, codes::DUPLICATE_KEY);
    }

    #[test]
    fn deep_nests_are_refused_by_the_parser() {
        let (node, problems, _) = read(&"[".repeat(100_000));
        assert_eq!(node, None);
        assert_eq!(problems[0].code, codes::JSON_SYNTAX);
    }
}
