//! Parser of JSON to the same tree as YAML.
//!
//! serde_json validates the text and reports syntax errors. A valid text is then parsed once more to record the
//! spans of its values; the only errors left then are lone surrogates and excessive nesting, because serde_json
//! does not check skipped values for them.

use std::collections::HashMap;
use std::ops::Range;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use serde_json::value::RawValue;

use super::depth::{
    MAX_DEPTH, MAX_KEYS, MAX_VALUES, duplicate_key, too_deep, too_many_keys, too_many_values,
};
use super::json_syntax::{explain_error, find_lone_surrogate};
use super::{MapEntry, NodeValue, TreeNode};
use crate::codes;
use crate::diagnostic_collector::DiagnosticCollector;

/// Maps with at most this many keys are searched for duplicates by comparison; larger ones use a hash index.
const MAX_SCANNED_KEYS: usize = 16;

/// Parses the single JSON value of a text. Returns `None` after a syntax error; the reason is in `problems`.
pub fn read_json(
    sources: &SourceMap,
    source: SourceId,
    problems: &mut DiagnosticCollector,
) -> Option<TreeNode> {
    let text = sources.file(source).text();
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    read_json_in(sources, source, start..text.len(), problems)
}

/// Parses the single JSON value of a range of a text, such as one line.
pub fn read_json_in(
    sources: &SourceMap,
    source: SourceId,
    range: Range<usize>,
    problems: &mut DiagnosticCollector,
) -> Option<TreeNode> {
    let file = sources.file(source);
    let text = file.text();
    let (start, body) = (range.start, text.get(range)?);
    match serde_json::from_str::<&RawValue>(body) {
        Ok(_) => JsonTreeReader::new(text, start, source, problems).value(0),
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
            let (at, label, help) = explain_error(message, body, at, is_line);
            let width = body[at..].chars().next().filter(|c| !c.is_control()).map_or(0, char::len_utf8);
            let at = at + start;
            let span = Span::new(source, at, at + width);
            Diagnostic::error(codes::JSON_SYNTAX, "this is not valid JSON")
                .at(span, label)
                .with_help(help)
                .reject_in(problems)
        }
    }
}

/// Parses the single JSON value of a text except for the lists under `keys`: they are empty in the tree, and
/// the ranges of their items are returned separately, so that the items of a long list can be parsed one at a
/// time. A map with the key `unless` is another kind of document, and is parsed completely.
pub fn read_json_outline(
    sources: &SourceMap,
    source: SourceId,
    keys: &[&str],
    unless: &str,
    problems: &mut DiagnosticCollector,
) -> Option<(TreeNode, Vec<DeferredList>)> {
    let text = sources.file(source).text();
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if serde_json::from_str::<&RawValue>(body).is_err() {
        return read_json(sources, source, problems).map(|node| (node, Vec::new()));
    }

    let mut reader = JsonTreeReader::new(text, text.len() - body.len(), source, problems);
    if !reader.has_key(unless) {
        reader.later = keys;
    }

    let node = reader.value(0)?;
    Some((node, reader.deferred))
}

/// A list whose items are parsed later.
#[derive(Debug)]
pub struct DeferredList {
    /// Key of the list.
    pub key: String,
    /// Ranges of its items.
    pub items: Vec<Range<usize>>,
}

/// Parser of a text that is valid JSON.
struct JsonTreeReader<'t, 'p> {
    text: &'t str,
    /// Current byte offset.
    at: usize,
    /// Number of values so far.
    values: usize,
    source: SourceId,
    /// Keys of the outermost map whose lists are parsed later.
    later: &'p [&'p str],
    deferred: Vec<DeferredList>,
    problems: &'p mut DiagnosticCollector,
}

impl<'t, 'p> JsonTreeReader<'t, 'p> {
    fn new(text: &'t str, at: usize, source: SourceId, problems: &'p mut DiagnosticCollector) -> Self {
        Self { text, at, values: 0, source, later: &[], deferred: Vec::new(), problems }
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))?;
        self.at += space;
        Some(rest[space])
    }

    /// Skips this byte if it comes next, and returns true if it did.
    fn takes(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    /// Parses the next value.
    fn value(&mut self, depth: usize) -> Option<TreeNode> {
        let first = self.peek()?;
        let start = self.at;
        if depth > MAX_DEPTH {
            return self.problems.reject(too_deep(Span::new(self.source, start, start + 1)));
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return self.problems.reject(too_many_values(Span::new(self.source, start, start + 1)));
        }

        let data = match first {
            b'{' => self.map(depth)?,
            b'[' => self.list(depth)?,
            b'"' => NodeValue::Str(self.string()?),
            _ => parse_scalar(self.word()),
        };
        Some(TreeNode::new(self.span(start), data))
    }

    fn list(&mut self, depth: usize) -> Option<NodeValue> {
        let mut items = Vec::new();
        self.at += 1;

        while !self.takes(b']') {
            items.push(self.value(depth + 1)?);
            self.takes(b',');
        }

        Some(NodeValue::Seq(items))
    }

    fn map(&mut self, depth: usize) -> Option<NodeValue> {
        let mut entries: Vec<MapEntry> = Vec::new();
        let mut index = HashMap::new();

        self.at += 1;

        while !self.takes(b'}') {
            let start = self.at;
            let key = self.string()?;

            // Span of the key, without its quotation marks.
            let key_span = Span::new(self.source, start + 1, self.at - 1);
            self.takes(b':');

            if entries.len() >= MAX_KEYS {
                return self.problems.reject(too_many_keys(key_span));
            }

            let first = find_entry(&entries, &mut index, &key);
            let is_for_later = depth == 0 && first.is_none() && self.later.contains(&&*key);
            let value = if is_for_later && self.peek() == Some(b'[') {
                self.outline(&key)
            } else {
                self.value(depth + 1)?
            };
            match first {
                None => entries.push(MapEntry { key, key_span, value }),
                Some(first) => {
                    self.problems.add(duplicate_key("object", &key, key_span, entries[first].key_span));
                }
            }

            self.takes(b',');
        }

        Some(NodeValue::Map(entries))
    }

    /// Parses the next string. Returns `None` if it contains the escape of a lone surrogate.
    fn string(&mut self) -> Option<String> {
        self.peek();
        let start = self.at;
        let has_escapes = self.skip_string();
        let raw = &self.text[start..self.at];
        if !has_escapes {
            return Some(raw[1..raw.len() - 1].to_owned());
        }
        if let Ok(text) = serde_json::from_str(raw) {
            return Some(text);
        }

        let half = find_lone_surrogate(raw);
        let span = Span::new(self.source, start + half.start, start + half.end);
        Diagnostic::error(codes::JSON_SYNTAX, "this is not valid JSON")
            .at(span, "half of a surrogate pair")
            .with_help(
                "write the character itself, or both halves; the text may have been cut in the \
                 middle of a character",
            )
            .reject_in(self.problems)
    }

    /// Returns the next number, `true`, `false` or `null`.
    fn word(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let end = rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Skips a string; returns true if it has escapes.
    fn skip_string(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut has_escapes = false;

        self.at += 1;

        while let Some(ahead) = memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
            self.at += ahead + 1;

            if bytes[self.at - 1] == b'"' {
                break;
            }

            // Skip the escaped character, which may be a quotation mark.
            has_escapes = true;
            self.at += 1;
        }

        has_escapes
    }

    /// Skips the next value, at any depth.
    fn skip_value(&mut self) {
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    open -= 1;
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                b'"' => {
                    self.skip_string();
                }
                _ => {
                    self.word();
                }
            }
            if open == 0 {
                break;
            }
        }
    }

    /// Returns true if the next map has this key. Does not advance.
    fn has_key(&mut self, wanted: &str) -> bool {
        let start = self.at;
        let mut found = false;
        if self.takes(b'{') {
            while !found && !self.takes(b'}') {
                let key = self.at;
                self.skip_value();
                found =
                    serde_json::from_str::<String>(&self.text[key..self.at]).is_ok_and(|key| key == wanted);
                self.takes(b':');
                self.skip_value();

                self.takes(b',');
            }
        }

        self.at = start;
        found
    }

    /// Returns the next list without its items, and records the ranges of the items.
    fn outline(&mut self, key: &str) -> TreeNode {
        let start = self.at;
        let mut items = Vec::new();

        self.at += 1;

        while !self.takes(b']') {
            let item = self.at;
            self.skip_value();
            items.push(item..self.at);
            self.takes(b',');
        }

        self.deferred.push(DeferredList { key: key.to_owned(), items });
        TreeNode::new(self.span(start), NodeValue::Seq(Vec::new()))
    }
}

/// Parses a number, `true`, `false` or `null`. A number that cannot be represented exactly becomes the
/// nearest one.
fn parse_scalar(word: &str) -> NodeValue {
    match word {
        "true" => NodeValue::Bool(true),
        "false" => NodeValue::Bool(false),
        "null" => NodeValue::Null,
        _ => match word.parse() {
            Ok(whole) => NodeValue::Int(whole),
            Err(_) => word.parse().map_or(NodeValue::Null, NodeValue::Float),
        },
    }
}

/// Returns the index of a key among the entries of a map. The hash index is only built for maps with many keys.
fn find_entry(entries: &[MapEntry], index: &mut HashMap<String, usize>, key: &str) -> Option<usize> {
    if entries.len() <= MAX_SCANNED_KEYS {
        return entries.iter().position(|entry| entry.key == key);
    }

    for (place, entry) in entries.iter().enumerate().skip(index.len()) {
        index.insert(entry.key.clone(), place);
    }

    index.get(key).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<TreeNode>, Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let id = sources.add_fragment("test.jsonl", text, 7);
        let mut problems = DiagnosticCollector::default();
        let node = read_json(&sources, id, &mut problems);
        (node, problems.into_vec(), sources)
    }

    #[test]
    fn every_value_knows_its_text() {
        let text = " {\"id\": \"a\\u00e9\\ud83d\\ude00\", \"list\": [1, -2.5e3 , {\"x\": null}], \"t\\u0061\": true}";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        assert_eq!(node.get("id").and_then(TreeNode::as_str), Some("aé😀"));
        let list = node.get("list").expect("there");
        assert_eq!(sources.slice(list.span), "[1, -2.5e3 , {\"x\": null}]");
        let items = list.as_seq().expect("list");
        assert_eq!(items[1].data, NodeValue::Float(-2500.0));
        assert_eq!(sources.slice(items[1].span), "-2.5e3");
        assert_eq!(sources.slice(items[2].get("x").expect("there").span), "null");
        assert_eq!(node.get("ta").map(|n| n.data.clone()), Some(NodeValue::Bool(true)));
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
    fn deep_nests_are_refused() {
        let (node, problems, _) = read(&"[".repeat(100_000));
        assert_eq!(node, None);
        assert_eq!(problems[0].code, codes::JSON_SYNTAX);

        let nest = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let (node, problems, _) = read(&nest(100_000));
        assert_eq!(node, None);
        assert_eq!(problems[0].code, codes::TOO_DEEP);
        assert!(read(&nest(MAX_DEPTH)).0.is_some());
    }

    #[test]
    fn half_a_character_is_an_error_in_a_text_and_in_a_key() {
        for (text, at) in [
            (r#"{"id": "a \ud83d\ude00 \ud83d"}"#, 24),
            (r#"{"id": "\ude00"}"#, 9),
            (r#"{"id": "\ud83d\n"}"#, 9),
            (r#"{"\\\ud800x": 1}"#, 5),
        ] {
            let (node, problems, sources) = read(text);
            assert_eq!(node, None, "{text}");
            assert_eq!(problems[0].code, codes::JSON_SYNTAX, "{text}");
            assert_eq!(sources.position(problems[0].primary.span).column, at, "{text}");
        }
    }

    #[test]
    fn maps_of_many_keys_keep_their_order_and_know_what_stands_twice() {
        let keys: Vec<String> = (0..60).map(|number| format!("\"k{number}\": {number}")).collect();
        let (node, problems, _) = read(&format!("{{{}, \"k7\": 0, \"k59\": 0}}", keys.join(", ")));
        let node = node.expect("valid");
        assert_eq!(problems.len(), 2);
        let entries = node.as_map().expect("a map");
        assert_eq!(entries.len(), 60);
        assert!((0..).zip(entries).all(|(at, entry)| entry.value.data == NodeValue::Int(at)));
    }

    #[test]
    fn lists_are_left_for_later_unless_the_map_is_something_else() {
        let outline = |text: &str| {
            let mut sources = SourceMap::new();
            let id = sources.add("test.json", text);
            let mut problems = DiagnosticCollector::default();
            let (node, later) =
                read_json_outline(&sources, id, &["items"], "code", &mut problems).expect("valid");
            let later: Vec<String> =
                later.iter().flat_map(|list| &list.items).map(|item| text[item.clone()].to_owned()).collect();
            (node, later)
        };
        let list = r#"[{"a": "]\"", "b": [[1], {}]} , 2,"x,y" ]"#;
        let (node, later) = outline(&format!("{{\"n\": {{\"items\": [0]}}, \"items\": {list}}}"));
        assert_eq!(later, [r#"{"a": "]\"", "b": [[1], {}]}"#, "2", "\"x,y\""]);
        assert_eq!(node.get("items").and_then(TreeNode::as_seq), Some(&[][..]));
        assert_eq!(
            node.get("n").and_then(|n| n.get("items")).and_then(TreeNode::as_seq).map(<[_]>::len),
            Some(1)
        );

        let (node, later) = outline(&format!("{{\"items\": {list}, \"code\": 1}}"));
        assert_eq!(later, Vec::<String>::new());
        assert_eq!(node.get("items").and_then(TreeNode::as_seq).map(<[_]>::len), Some(3));
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_what_the_library_reads(value in json(), pretty in proptest::bool::ANY) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let (node, problems, _) = read(&text.expect("json"));
            proptest::prop_assert_eq!(problems, vec![]);
            proptest::prop_assert_eq!(node.expect("valid").to_json(), value);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\":,\\\\u0-9a-fd8 \n+.e-]{0,40}") {
            let (node, problems, _) = read(&text);
            proptest::prop_assert_eq!(node.is_none(), !problems.is_empty());
        }
    }

    fn json() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
        use proptest::prelude::*;
        use serde_json::json;
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|value| json!(value)),
            any::<i64>().prop_map(|value| json!(value)),
            (-1e9..1e9).prop_map(|value: f64| json!(value)),
            any::<String>().prop_map(|value| json!(value)),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(|list| json!(list)),
                proptest::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|map| json!(map)),
            ]
        })
    }
}
