//! Parser of YAML to a tree, which continues after recoverable errors.

use std::collections::HashMap;

use assize_diagnostic::{Diagnostic, SourceId, SourceMap, Span};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::depth::{MAX_DEPTH, too_deep};
use super::scalar::resolve_scalar;
use super::yaml_syntax::{ScannerError, quote_text};
use super::{MapEntry, NodeValue, TreeNode};
use crate::codes;
use crate::decode::DiagnosticCollector;

/// Maximum number of nodes that aliases may add: the "billion laughs" file stays small in memory.
const MAX_ALIAS_NODES: usize = 200_000;

/// Parses the single document of a YAML file. Returns `None` after a syntax error or for a file without
/// content; the reason is in `problems`.
pub(crate) fn read_yaml(
    sources: &SourceMap,
    source: SourceId,
    problems: &mut DiagnosticCollector,
) -> Option<TreeNode> {
    let text = sources.file(source).text();
    // A byte order mark is not content; offsets still count from the start of the file.
    let (body, skipped) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, text.len() - rest.len()),
        None => (text, 0),
    };
    if let Some(offset) = body.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        let at = skipped + offset;
        let found = body[offset..].chars().next().unwrap_or('\0');
        problems.add(
            Diagnostic::error(
                codes::CONTROL_CHARACTER,
                "control character in the file",
                Span::new(source, at, at + found.len_utf8()),
                format!("found U+{:04X}", u32::from(found)),
            )
            .with_help("remove it, or write it as an escape inside a double-quoted string"),
        );

        return None;
    }

    let mut reader = YamlTreeReader {
        events: Parser::new_from_str(body),
        places: BytePositions { text: body, skipped, source, character: 0, byte: 0 },
        anchors: HashMap::new(),
        alias_nodes: 0,
        open: Vec::new(),
        explained: None,
        problems,
    };
    reader.read_document()
}

/// Signals that parsing was aborted; the diagnostic has been added.
struct SyntaxFailure;

struct YamlTreeReader<'t, 'p> {
    events: Parser<'t, StrInput<'t>>,
    places: BytePositions<'t>,
    anchors: HashMap<usize, TreeNode>,
    alias_nodes: usize,
    /// Spans of the `[` and `{` that are not closed yet.
    open: Vec<Span>,
    /// Span after which the rest of the line needs no further diagnostic.
    explained: Option<Span>,
    problems: &'p mut DiagnosticCollector,
}

impl<'t> YamlTreeReader<'t, '_> {
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

                let node = match event {
                    Event::SequenceStart(..) => self.read_sequence(span, depth)?,
                    _ => self.read_mapping(span, depth)?,
                };

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

                merge_maps(&mut entries, merged, self.problems);
                let end = entries.last().map_or(key_span, |entry| entry.value.span);
                return Ok(TreeNode::new(start.to(self.end_of(end, key_span)), NodeValue::Map(entries)));
            }

            let key = match &event {
                Event::Scalar(text, ..) => Some(text.to_string()),
                _ => None,
            };
            let key_node = self.read_node(event, key_span, depth + 1)?;
            let (event, span) = self.next_event()?;
            let value = self.read_node(event, span, depth + 1)?;
            let Some(key) = key else {
                if entries.is_empty() && self.places.text_at(start.to(key_span)).starts_with("{{") {
                    is_template = true;
                } else {
                    self.problems.add(key_is_not_text(&key_node));
                }
                continue;
            };
            if key == "<<" {
                merged.push(value);
            } else if let Some(&first) = index.get(&key) {
                self.problems.add(
                    Diagnostic::error(
                        codes::DUPLICATE_KEY,
                        format!("the key `{key}` stands twice in one map"),
                        key_span,
                        "second time",
                    )
                    .with_secondary(entries[first].key_span, "first time")
                    .with_help("keep one of them: only one can count"),
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

        self.alias_nodes = self.alias_nodes.saturating_add(count_nodes(node));

        if self.alias_nodes > MAX_ALIAS_NODES {
            self.problems.add(
                Diagnostic::error(
                    codes::ALIAS_EXPANSION,
                    "aliases repeat too much of the file",
                    span,
                    "this alias goes over the limit",
                )
                .with_note(format!("all aliases of a file together may add {MAX_ALIAS_NODES} values"))
                .with_help("write the repeated part once and include it where it is needed"),
            );
            return Err(SyntaxFailure);
        }

        let mut node = node.clone();
        node.used_at = Some(span);

        Ok(node)
    }
}

/// Merges the entries of merge keys (`<<: *base`) whose keys are not in the map itself. The first merged map
/// that has a key wins.
fn merge_maps(entries: &mut Vec<MapEntry>, merged: Vec<TreeNode>, problems: &mut DiagnosticCollector) {
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
                    .with_help("write `<<: *anchor`, where the anchor stands on a map"),
                );
                continue;
            }
        };
        for map in maps {
            let NodeValue::Map(given) = map.data else { continue };
            for entry in given {
                if !entries.iter().any(|known| known.key == entry.key) {
                    entries.push(entry);
                }
            }
        }
    }
}

fn count_nodes(node: &TreeNode) -> usize {
    match &node.data {
        NodeValue::Seq(items) => 1 + items.iter().map(count_nodes).sum::<usize>(),
        NodeValue::Map(entries) => {
            1 + entries.iter().map(|entry| 1 + count_nodes(&entry.value)).sum::<usize>()
        }
        _ => 1,
    }
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
    fn tabs_get_their_own_advice() {
        let (_, problems, _) = read("a:\n\tb: 1\n");
        assert_eq!(problems[0].code, codes::YAML_SYNTAX);
        assert!(problems[0].help[0].contains("tab"), "{:?}", problems[0]);
    }
}
