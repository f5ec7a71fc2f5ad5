//! Parser of YAML to a tree, which continues after recoverable errors.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::depth::{MAX_DEPTH, MAX_KEYS, too_deep, too_many_keys};
use super::json::read_json;
use super::scalar::resolve_scalar;
use super::yaml_syntax::{ScannerError, item_in_text, quote_text};
use super::{MapEntry, NodeValue, TreeNode};
use crate::codes;
use crate::decode::DiagnosticCollector;

/// Maximum number of values that aliases may add: the "billion laughs" file stays small in memory. The copies kept of
/// anchors count too, since anchors inside anchors multiply as well.
const MAX_COPIED_NODES: usize = 200_000;
/// Number of bytes of text that count as one value.
const COPIED_TEXT_BYTES: usize = 256;

/// True for JSON that writes characters as pairs of escapes, as some programs do. YAML has no such pairs, and takes every
/// other JSON as it is.
fn is_json_with_pairs(text: &str) -> bool {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    body.starts_with(['{', '['])
        && (body.contains("\\ud") || body.contains("\\uD"))
        && serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok()
}

/// Parses the single document of a YAML file. Returns `None` after a syntax error or for a file without
/// content; the reason is in `problems`.
pub(crate) fn read_yaml(
    sources: &SourceMap,
    source: SourceId,
    problems: &mut DiagnosticCollector,
) -> Option<TreeNode> {
    let text = sources.file(source).text();
    if is_json_with_pairs(text) {
        return read_json(sources, source, problems);
    }

    if let Some(diagnostic) = find_control_character(text, source) {
        problems.add(diagnostic);
        return None;
    }

    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut repaired: Cow<'_, str> = Cow::Borrowed(body);
    let mut attempts = MAX_BRACKET_WORK / body.len().max(1);
    // Place behind the bracket that was moved last, in characters.
    let mut unread = 0;
    loop {
        let mut reader = YamlTreeReader::new(text, source, &[], problems.fork());
        reader.events = Parser::new_from_str(&repaired);

        let root = reader.read_document();
        // A bracket that is still too early after it was moved does not belong to a list of this kind.
        let bracket = reader.early_bracket.filter(|bracket| attempts > 0 && *bracket >= unread);
        if let Some((bracket, next)) = bracket.and_then(|at| Some((at, indent_bracket(&repaired, at)?))) {
            repaired = Cow::Owned(next);
            unread = bracket + 1;
            attempts -= 1;
            continue;
        }

        problems.append(reader.problems);
        return root;
    }
}

/// Limit of the bytes that are read again for brackets that close at the column of their key.
const MAX_BRACKET_WORK: usize = 16 * 1024 * 1024;

/// Returns the text with the bracket at this character behind the end of the line before it, where the scanner accepts
/// it. YAML wants it indented more than its key; people and other readers do not. Every character keeps its place, so
/// that spans stay true. `None` if a comment leaves no room.
fn indent_bracket(text: &str, bracket: usize) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    let blank = |c: &char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let begin = characters[..bracket].iter().rposition(|c| !blank(c))? + 1;
    let line = characters[..begin].iter().rposition(|c| *c == '\n').map_or(0, |at| at + 1);
    let mut before = ' ';
    let is_comment = characters[line..begin].iter().any(|c| {
        let starts = *c == '#' && blank(&before);
        before = *c;
        starts
    });

    if is_comment {
        // The line must end before the bracket: it ends one character early, and the bracket moves in by one.
        characters[begin - 1] = '\n';
    }
    characters[begin..bracket].fill(' ');

    Some(characters.into_iter().collect())
}

/// Parses the document like [`read_yaml`], except for the lists under `keys` of its outermost map: they are empty in the
/// tree, so that the items of a long list can be parsed one at a time by [`YamlListReader`]. The second value tells if
/// any list was left out.
pub(crate) fn read_yaml_outline(
    sources: &SourceMap,
    source: SourceId,
    keys: &[&str],
    problems: &mut DiagnosticCollector,
) -> Option<(TreeNode, bool)> {
    let text = sources.file(source).text();
    if find_control_character(text, source).is_none() {
        let mut reader = YamlTreeReader::new(text, source, keys, problems.fork());
        let root = reader.read_document();

        // Broken files are explained by what stands around the error, and an alias may name an anchor inside of a list.
        if let Some(root) = root {
            let is_outline = reader.has_skipped;
            problems.append(reader.problems);
            return Some((root, is_outline));
        }
    }

    read_yaml(sources, source, problems).map(|root| (root, false))
}

/// Returns the diagnostic for the first control character of a text.
fn find_control_character(text: &str, source: SourceId) -> Option<Diagnostic> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - body.len();
    let offset = body.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'))?;
    let at = skipped + offset;
    let found = body[offset..].chars().next().unwrap_or('\0');

    Some(
        Diagnostic::error(
            codes::CONTROL_CHARACTER,
            "control character in the file",
            Span::new(source, at, at + found.len_utf8()),
            format!("found U+{:04X}", u32::from(found)),
        )
        .with_help("remove it, or write it as an escape inside a double-quoted string"),
    )
}

/// Parser of the items of one list of a document that [`read_yaml_outline`] has read.
pub(crate) struct YamlListReader<'t> {
    reader: YamlTreeReader<'t>,
}

impl<'t> YamlListReader<'t> {
    /// Goes to the list under `key` of the outermost map. Returns `None` if there is none.
    pub(crate) fn new(text: &'t str, source: SourceId, key: &str) -> Option<Self> {
        // What stands before the list has been reported; only its anchors matter here.
        let mut reader = YamlTreeReader::new(text, source, &[], DiagnosticCollector::default());
        loop {
            let (event, _) = reader.next_event().ok()?;
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::MappingStart(..) => break,
                _ => return None,
            }
        }

        loop {
            let (event, span) = reader.next_event().ok()?;
            let is_wanted = matches!(&event, Event::Scalar(text, ..) if text == key);
            if event == Event::MappingEnd {
                return None;
            }

            reader.read_node(event, span, 1).ok()?;

            let (event, span) = reader.next_event().ok()?;
            match event {
                Event::SequenceStart(..) if is_wanted => return Some(Self { reader }),
                event => reader.read_node(event, span, 1).ok()?,
            };
        }
    }

    /// Parses the next item; `None` at the end. After an error, no further item can be read.
    pub(crate) fn next_item(
        &mut self,
        problems: &mut DiagnosticCollector,
    ) -> Result<Option<TreeNode>, SyntaxFailure> {
        std::mem::swap(&mut self.reader.problems, problems);
        let item = match self.reader.next_event() {
            Ok((Event::SequenceEnd, _)) => Ok(None),
            Ok((event, span)) => self.reader.read_node(event, span, 2).map(Some),
            Err(failure) => Err(failure),
        };
        std::mem::swap(&mut self.reader.problems, problems);

        item
    }
}

/// Signals that parsing was aborted; the diagnostic has been added.
pub(crate) struct SyntaxFailure;

struct YamlTreeReader<'t> {
    events: Parser<'t, StrInput<'t>>,
    places: BytePositions<'t>,
    anchors: HashMap<usize, TreeNode>,
    copied_nodes: usize,
    /// Number of anchors whose values are being read.
    anchors_open: usize,
    /// Spans of the `[` and `{` that are not closed yet.
    open: Vec<Span>,
    /// Span after which the rest of the line needs no further diagnostic.
    explained: Option<Span>,
    /// Character of a closing bracket that stands no further in than the key of its value.
    early_bracket: Option<usize>,
    /// Keys of the outermost map whose lists are passed over.
    skipped_keys: &'t [&'t str],
    /// True if a list was passed over.
    has_skipped: bool,
    problems: DiagnosticCollector,
}

impl<'t> YamlTreeReader<'t> {
    fn new(
        text: &'t str,
        source: SourceId,
        skipped_keys: &'t [&'t str],
        problems: DiagnosticCollector,
    ) -> Self {
        // A byte order mark is not content; offsets still count from the start of the file.
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let skipped = text.len() - body.len();

        Self {
            events: Parser::new_from_str(body),
            places: BytePositions { text: body, skipped, source, character: 0, byte: 0 },
            anchors: HashMap::new(),
            copied_nodes: 0,
            anchors_open: 0,
            open: Vec::new(),
            explained: None,
            early_bracket: None,
            skipped_keys,
            has_skipped: false,
            problems,
        }
    }

    fn read_document(&mut self) -> Option<TreeNode> {
        let mut root = None;
        loop {
            let Ok((event, span)) = self.next_event() else { return None };
            match event {
                Event::StreamEnd => return root,
                Event::DocumentStart(_) if root.is_some() => {
                    self.problems.add(
                        Diagnostic::error(
                            codes::SEVERAL_DOCUMENTS,
                            "more than one YAML document in the file",
                            span,
                            "the second document starts here",
                        )
                        .with_help("keep one document in each file"),
                    );
                    return None;
                }
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                event => match self.read_node(event, span, 0) {
                    Ok(node) => root = Some(node),
                    Err(SyntaxFailure) => return None,
                },
            }
        }
    }

    fn next_event(&mut self) -> Result<(Event<'t>, Span), SyntaxFailure> {
        match self.events.next_event() {
            None => Ok((Event::StreamEnd, self.places.point_span(Marker::new(usize::MAX, 1, 0)))),
            Some(Ok((event, span))) => {
                let span = self.places.span(span.start, span.end);
                Ok((event, span))
            }
            Some(Err(error)) => {
                let at = self.places.point_span(*error.marker());
                let (text, start) = (self.places.text, at.start - self.places.skipped);
                let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
                let is_alone = text[line..start].trim().is_empty();
                if is_alone && !self.open.is_empty() && text[start..].starts_with([']', '}']) {
                    self.early_bracket = Some(error.marker().index());
                }

                if !self.is_explained(at) {
                    let (text, skipped) = (self.places.text, self.places.skipped);
                    let open = self.open.last().copied();
                    self.problems
                        .add(ScannerError { info: error.info(), at, text, skipped, open }.to_diagnostic());
                }

                Err(SyntaxFailure)
            }
        }
    }

    /// Returns true if the line of `at` has a diagnostic before this position.
    fn is_explained(&self, at: Span) -> bool {
        self.explained.is_some_and(|place| {
            let end = at.start - self.places.skipped;
            let start = (place.end - self.places.skipped).min(end);
            !self.places.text[start..end].trim_end().contains('\n')
        })
    }

    fn read_node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<TreeNode, SyntaxFailure> {
        if depth > MAX_DEPTH {
            self.problems.add(too_deep(span));
            return Err(SyntaxFailure);
        }

        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                if style == ScalarStyle::Plain
                    && let Some(warning) = item_in_text(self.places.text_at(span), span)
                {
                    self.problems.add(warning);
                }
                let data = if style != ScalarStyle::Plain
                    || tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str")
                {
                    NodeValue::Str(text.into_owned())
                } else {
                    resolve_scalar(&text)
                };
                (TreeNode::new(span, data), anchor)
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                let is_flow = self.places.text_at(span).starts_with(['[', '{']);
                if is_flow {
                    self.open.push(span);
                }

                self.anchors_open += usize::from(anchor > 0);
                let node = match event {
                    Event::SequenceStart(..) => self.read_sequence(span, depth)?,
                    _ => self.read_mapping(span, depth)?,
                };

                self.anchors_open -= usize::from(anchor > 0);

                if is_flow {
                    self.open.pop();
                }

                (node, anchor)
            }
            Event::Alias(anchor) => (self.read_alias(anchor, span)?, 0),
            // The parser emits nothing else in place of a value.
            _ => (TreeNode::new(span, NodeValue::Null), 0),
        };
        if anchor > 0 {
            // Each level of anchors inside anchors is one more copy of what they hold.
            if self.anchors_open > 0 {
                self.count_copies(&node, node.span)?;
            }

            self.anchors.insert(anchor, node.clone());
        }

        Ok(node)
    }

    fn read_sequence(&mut self, start: Span, depth: usize) -> Result<TreeNode, SyntaxFailure> {
        let mut items: Vec<TreeNode> = Vec::new();
        loop {
            let (event, span) = self.next_event()?;
            if event == Event::SequenceEnd {
                let end = items.last().map_or(span, |item| item.span);
                return Ok(TreeNode::new(start.to(self.end_of(end, span)), NodeValue::Seq(items)));
            }

            items.push(self.read_node(event, span, depth + 1)?);
        }
    }

    /// Passes over a list, and returns it without its items.
    fn skip_sequence(&mut self, start: Span) -> Result<TreeNode, SyntaxFailure> {
        let mut end = start;
        let mut depth = 1_usize;
        while depth > 0 {
            let (event, span) = self.next_event()?;
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                Event::StreamEnd => return Err(SyntaxFailure),
                _ => {}
            }

            end = span;
        }

        self.has_skipped = true;
        Ok(TreeNode::new(start.to(end), NodeValue::Seq(Vec::new())))
    }

    fn read_mapping(&mut self, start: Span, depth: usize) -> Result<TreeNode, SyntaxFailure> {
        let mut entries: Vec<MapEntry> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut merged: Vec<TreeNode> = Vec::new();
        let mut is_template = false;
        loop {
            let (event, key_span) = self.next_event()?;
            if event == Event::MappingEnd {
                if is_template {
                    let span = start.to(self.end_of(key_span, key_span));
                    return Ok(self.read_unquoted_template(span));
                }

                merge_maps(&mut entries, merged, &mut self.problems);
                let end = entries.last().map_or(key_span, |entry| entry.value.span);
                return Ok(TreeNode::new(start.to(self.end_of(end, key_span)), NodeValue::Map(entries)));
            }

            let key = match &event {
                Event::Scalar(text, ..) => Some(text.to_string()),
                _ => None,
            };
            let key_node = self.read_node(event, key_span, depth + 1)?;
            let (event, span) = self.next_event()?;
            let is_skipped = depth == 0
                && matches!(event, Event::SequenceStart(0, _))
                && key
                    .as_ref()
                    .is_some_and(|key| self.skipped_keys.contains(&key.as_str()) && !index.contains_key(key));
            let value =
                if is_skipped { self.skip_sequence(span)? } else { self.read_node(event, span, depth + 1)? };
            let Some(key) = key else {
                if entries.is_empty() && self.places.text_at(start.to(key_span)).starts_with("{{") {
                    is_template = true;
                } else {
                    self.problems.add(key_is_not_text(&key_node));
                }
                continue;
            };
            if entries.len() >= MAX_KEYS {
                self.problems.add(too_many_keys(key_span));
                return Err(SyntaxFailure);
            }

            if key == "<<" {
                merged.push(value);
            } else if let Some(&first) = index.get(&key) {
                self.problems.add(
                    Diagnostic::error(
                        codes::DUPLICATE_KEY,
                        format!("duplicate key `{key}` in one map"),
                        key_span,
                        "second time",
                    )
                    .with_secondary(entries[first].key_span, "first time")
                    .with_help("keep one of them: only one of them can count"),
                );
            } else {
                index.insert(key.clone(), entries.len());
                entries.push(MapEntry { key, key_span, value });
            }
        }
    }

    /// Returns the node of an unquoted `{{ name }}`, which YAML parses as a map whose key is a map. It
    /// becomes the intended text, so that no further type error is reported.
    fn read_unquoted_template(&mut self, span: Span) -> TreeNode {
        let text = self.places.text_at(span).to_owned();
        let after = &self.places.text[span.end - self.places.skipped..];
        let line = after.lines().next().unwrap_or_default().trim_end();

        // The innermost open bracket is that of the template itself.
        let goes_on = self.open.len() < 2 && !matches!(line.trim_start().chars().next(), None | Some('#'));
        let whole = if goes_on { Span::new(span.source, span.start, span.end + line.len()) } else { span };
        let written = self.places.text_at(whole).to_owned();
        self.problems.add(
            Diagnostic::error(
                codes::KEY_IS_NOT_TEXT,
                "a template without quotes",
                span,
                "read as a map in a map",
            )
            .with_help("in YAML a value that begins with `{{` needs quotes")
            .with_suggestion("quote the template", whole, quote_text(&written)),
        );

        self.explained = Some(whole);
        TreeNode::new(span, NodeValue::Str(text))
    }

    /// Returns the end of a collection: that of its end event for `[...]` and `{...}`, the end of its last
    /// item in block style (whose end event only comes at the next token).
    fn end_of(&self, last: Span, end_event: Span) -> Span {
        let closes = self.places.text_at(end_event).ends_with([']', '}']);
        if closes || end_event.end <= last.end { end_event } else { last }
    }

    fn read_alias(&mut self, anchor: usize, span: Span) -> Result<TreeNode, SyntaxFailure> {
        let Some(node) = self.anchors.get(&anchor) else {
            self.problems.add(
                Diagnostic::error(
                    codes::UNKNOWN_ALIAS,
                    "this alias names no finished anchor",
                    span,
                    "not defined before this point",
                )
                .with_help("define it first with `&name`; an anchor can't contain itself"),
            );
            return Err(SyntaxFailure);
        };

        let mut node = node.clone();
        self.count_copies(&node, span)?;
        node.used_at = Some(span);

        Ok(node)
    }

    /// Counts a copy of a node for an alias or an anchor at `span`.
    fn count_copies(&mut self, node: &TreeNode, span: Span) -> Result<(), SyntaxFailure> {
        self.copied_nodes = self.copied_nodes.saturating_add(weigh_nodes(node));
        if self.copied_nodes <= MAX_COPIED_NODES {
            return Ok(());
        }

        self.problems.add(
            Diagnostic::error(
                codes::ALIAS_EXPANSION,
                "aliases repeat too much of the file",
                span,
                "this goes over the limit",
            )
            .with_note(format!(
                "all aliases of a file together may add {MAX_COPIED_NODES} values, and {COPIED_TEXT_BYTES} bytes of \
                 text for each"
            ))
            .with_help("write the repeated part once and include it where it is needed"),
        );

        Err(SyntaxFailure)
    }
}

/// Merges the entries of merge keys (`<<: *base`) whose keys are not in the map itself. The first merged map
/// that has a key wins.
fn merge_maps(entries: &mut Vec<MapEntry>, merged: Vec<TreeNode>, problems: &mut DiagnosticCollector) {
    if merged.is_empty() {
        return;
    }

    let mut known: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merged {
        let place = node.use_span();
        let maps = match node.data {
            NodeValue::Map(_) => vec![node],
            NodeValue::Seq(items) if items.iter().all(|item| item.as_map().is_some()) => items,
            other => {
                let (place, found) = match &other {
                    NodeValue::Seq(items) => items
                        .iter()
                        .find(|item| item.as_map().is_none())
                        .map_or((place, "a list"), |item| (item.use_span(), item.type_name())),
                    _ => (place, TreeNode::new(place, other).type_name()),
                };

                problems.add(
                    Diagnostic::error(
                        codes::MERGE_VALUE,
                        "`<<` merges maps only",
                        place,
                        format!("found {found}"),
                    )
                    .with_help("write `<<: *anchor`, where the anchor is on a map"),
                );
                continue;
            }
        };
        for map in maps {
            let NodeValue::Map(given) = map.data else { continue };
            for entry in given {
                if known.insert(entry.key.clone()) {
                    entries.push(entry);
                }
            }
        }
    }
}

/// Returns the number of values in a node, long texts counted by their length.
fn weigh_nodes(node: &TreeNode) -> usize {
    let inner = match &node.data {
        NodeValue::Str(text) => text.len() / COPIED_TEXT_BYTES,
        NodeValue::Seq(items) => items.iter().map(weigh_nodes).sum(),
        NodeValue::Map(entries) => entries
            .iter()
            .map(|entry| 1 + entry.key.len() / COPIED_TEXT_BYTES + weigh_nodes(&entry.value))
            .sum(),
        _ => 0,
    };

    1 + inner
}

fn key_is_not_text(key: &TreeNode) -> Diagnostic {
    Diagnostic::error(
        codes::KEY_IS_NOT_TEXT,
        "a key must be plain text",
        key.span,
        format!("found {}", key.type_name()),
    )
    .with_help("write the key as a word")
}

/// Converts the parser's character positions to byte offsets. Positions come almost in order, so walking from
/// the last one is cheap.
struct BytePositions<'t> {
    text: &'t str,
    skipped: usize,
    source: SourceId,
    character: usize,
    byte: usize,
}

impl BytePositions<'_> {
    fn point_span(&mut self, marker: Marker) -> Span {
        let byte = self.byte_of(marker.index());
        Span::new(self.source, byte + self.skipped, byte + self.skipped)
    }

    fn span(&mut self, start: Marker, end: Marker) -> Span {
        let start = self.byte_of(start.index());
        let mut end = self.byte_of(end.index()).max(start);

        // Block scalars and some collections end at the start of the next token: the blank lines between are
        // excluded.
        while end > start && self.text.as_bytes()[end - 1].is_ascii_whitespace() {
            end -= 1;
        }

        Span::new(self.source, start + self.skipped, end + self.skipped)
    }

    fn text_at(&self, span: Span) -> &str {
        self.text.get(span.start - self.skipped..span.end - self.skipped).unwrap_or("")
    }

    fn byte_of(&mut self, character: usize) -> usize {
        if character >= self.character {
            for c in self.text[self.byte..].chars().take(character - self.character) {
                self.byte += c.len_utf8();
                self.character += 1;
            }
        } else {
            for c in self.text[..self.byte].chars().rev().take(self.character - character) {
                self.byte -= c.len_utf8();
                self.character -= 1;
            }
        }
        self.byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<TreeNode>, Vec<Diagnostic>, SourceMap) {
        let mut sources = SourceMap::new();
        let id = sources.add("test.yaml", text);
        let mut problems = DiagnosticCollector::default();
        let node = read_yaml(&sources, id, &mut problems);
        (node, problems.into_vec(), sources)
    }

    #[test]
    fn every_value_knows_its_text() {
        let text = "\u{feff}é: [1, {b: \"x y\"}]\nlong: |-\n  one\n  two\n\nlast: plain text # note\n";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let slice = |node: &TreeNode| sources.slice(node.span).to_owned();
        assert_eq!(slice(node.get("é").expect("there")), "[1, {b: \"x y\"}]");
        let inner = node.get("é").and_then(TreeNode::as_seq).expect("list")[1].get("b").expect("there");
        assert_eq!(slice(inner), "\"x y\"");
        assert_eq!(node.get("long").and_then(TreeNode::as_str), Some("one\ntwo"));
        assert!(slice(node.get("long").expect("there")).ends_with("two"));
        assert_eq!(slice(node.get("last").expect("there")), "plain text");
        assert_eq!(sources.slice(node.as_map().expect("map")[2].key_span), "last");
    }

    #[test]
    fn a_bracket_that_belongs_nowhere_is_moved_once() {
        for text in ["{x: [\n}\nx: [", "a: [\n}\n]\n}", "{a: {\n]\n}"] {
            let (_, problems, _) = read(text);
            assert!(!problems.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn brackets_may_close_at_the_column_of_their_key() {
        let text = "a:\n  b: [\n    \"ünter\",  # a comment\n    y\n  ]\n  c: {\n    d: [1,\n    2 # two\n  ]\n  }\n  \
                    text: |\n    [\n    ]\n  e: [\n]\nf: 1\n";
        let (node, problems, sources) = read(text);
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let inner = node.get("a").expect("there");
        let list = |key: &str| inner.get(key).and_then(TreeNode::as_seq).map_or(0, <[TreeNode]>::len);
        assert_eq!((list("b"), list("e")), (2, 0));
        let d = inner.get("c").and_then(|c| c.get("d")).and_then(TreeNode::as_seq).expect("a list");
        assert_eq!(d.iter().map(|item| sources.slice(item.span)).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(inner.get("text").and_then(TreeNode::as_str), Some("[\n]\n"));
        assert_eq!(sources.position(node.get("f").expect("there").span).line, 16);
        // A bracket that is nobody's is still an error, and one that is missing too.
        assert!(!read("a:\n  b: 1\n  ]\n").1.is_empty());
        assert!(!read("a:\n  b: [1,\n  c: 2\n").1.is_empty());
    }

    #[test]
    fn duplicate_keys_are_all_reported() {
        let (_, problems, sources) = read("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n");
        let lines: Vec<usize> = problems.iter().map(|d| sources.position(d.primary.span).line).collect();
        assert_eq!(lines, vec![4, 5]);
        assert!(problems.iter().all(|d| d.code == codes::DUPLICATE_KEY));
    }

    #[test]
    fn aliases_know_where_they_are_used_and_merges_fill_in() {
        let (node, problems, sources) = read("base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\n");
        let node = node.expect("valid");
        assert_eq!(problems, vec![]);
        let used = node.get("use").expect("there");
        assert_eq!(sources.position(used.use_span()).line, 2);
        let more = node.get("more").expect("there");
        assert_eq!(more.get("y").map(|n| n.data.clone()), Some(NodeValue::Int(3)));
        assert_eq!(more.get("x").map(|n| n.data.clone()), Some(NodeValue::Int(1)));
    }

    #[test]
    fn alias_bombs_deep_nests_and_control_characters_are_refused() {
        let mut bomb = String::from("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
        for level in 1..9 {
            let names = vec![format!("*a{}", level - 1); 10].join(",");
            bomb = [bomb, format!("a{level}: &a{level} [{names}]\n")].concat();
        }
        let (_, problems, _) = read(&bomb);
        assert_eq!(problems[0].code, codes::ALIAS_EXPANSION);
        let (_, problems, _) = read(&format!("{}1{}", "[".repeat(200), "]".repeat(200)));
        assert_eq!(problems[0].code, codes::TOO_DEEP);
        // Beyond its own limit the parser refuses first; either way nothing overflows.
        let (node, problems, _) = read(&"[".repeat(100_000));
        assert!(node.is_none() && problems.len() == 1);
        let (_, problems, _) = read("a: \u{1b}[31m");
        assert_eq!(problems[0].code, codes::CONTROL_CHARACTER);
    }

    #[test]
    fn unquoted_templates_are_explained() {
        let (_, problems, _) = read("input: {{ question }}\n");
        assert_eq!(problems[0].code, codes::KEY_IS_NOT_TEXT);
        let suggestion = problems[0].suggestion.as_ref().expect("a change");
        assert_eq!(suggestion.replacement, "\"{{ question }}\"");
        let (_, problems, _) = read("input: {{ question }} and more\nb: 1\n");
        assert_eq!(problems.len(), 1);
        assert_eq!(
            problems[0].suggestion.as_ref().expect("a change").replacement,
            "\"{{ question }} and more\""
        );
    }

    #[test]
    fn an_empty_file_has_no_root_and_a_second_document_is_refused() {
        assert_eq!(read("").0, None);
        assert_eq!(read("# only a comment\n").0, None);
        let (_, problems, _) = read("a: 1\n---\nb: 2\n");
        assert_eq!(problems[0].code, codes::SEVERAL_DOCUMENTS);
    }

    #[test]
    fn json_with_pairs_of_escapes_is_read() {
        let mut sources = SourceMap::new();
        let id = sources.add("t.yaml", r#" {"a": "smile \ud83d\ude00"}"#);
        let mut problems = DiagnosticCollector::default();
        let node = read_yaml(&sources, id, &mut problems).expect("valid");
        assert_eq!(node.get("a").and_then(TreeNode::as_str), Some("smile \u{1f600}"));
    }

    #[test]
    fn tabs_get_their_own_advice() {
        let (_, problems, _) = read("a:\n\tb: 1\n");
        assert_eq!(problems[0].code, codes::YAML_SYNTAX);
        assert!(problems[0].help[0].contains("tab"), "{:?}", problems[0]);
    }
}
