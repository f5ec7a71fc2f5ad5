//! Builds a tree from the events of the YAML parser, and resolves anchors, aliases and merge keys.
//!
//! Two properties of YAML make this more than a recursive copy:
//!
//! - A small file can describe a huge value ("billion laughs"), by anchors that contain aliases of earlier
//!   anchors. The tree has no sharing, so every alias is a copy. All copies are counted, long texts by their
//!   length, and reading stops at `MAX_COPIED_NODES`. The copies that are kept of anchors count as well,
//!   because anchors can be nested in anchors.
//! - The most common mistakes are not syntax errors. An unquoted `{{ name }}` is a valid map in a map, and a badly
//!   indented `- item` continues the text above it. The reader recognises both and reports the likely intention. It
//!   continues with the intended value, and suppresses the errors that would follow on the same line.
//!
//! Duplicate keys are reported here, because the tree has only one of them; the first value is kept.

use std::collections::HashMap;

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_limits::ALIAS_COPIES as MAX_COPIED_NODES;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::depth::{
    MAX_DEPTH, MAX_KEYS, MAX_VALUES, duplicate_key, too_deep, too_many_keys, too_many_values,
};
use super::scalar::resolve_scalar;
use super::yaml_escapes::without_stand_ins;
use super::yaml_merge::merge_maps;
use super::yaml_positions::BytePositions;
use super::yaml_syntax::{ScannerError, cut_text, full_width_character, item_in_text, quote_text};
use super::{MapEntry, NodeValue, TreeNode, WEIGHED_TEXT_BYTES};
use crate::codes;
use crate::diagnostic_collector::DiagnosticCollector;

/// Signals that parsing was aborted; the diagnostic has been added.
pub struct SyntaxFailure;

/// A document that is being read, event by event.
pub(super) struct YamlTreeReader<'t> {
    pub(super) events: Parser<'t, StrInput<'t>>,
    places: BytePositions<'t>,
    anchors: HashMap<usize, TreeNode>,
    copied_nodes: usize,
    /// Number of further values that the tree may have, without copies.
    pub(super) values_left: usize,
    /// Number of anchored collections that are being read.
    anchors_open: usize,
    /// Spans of the `[` and `{` that are not closed yet.
    open: Vec<Span>,
    /// Span of a template that was reported. Errors on the rest of its line are consequences and are not
    /// reported.
    explained: Option<Span>,
    /// Character position of a closing bracket that the scanner rejected and that is the first character on its
    /// line.
    pub(super) early_bracket: Option<usize>,
    /// Keys of the outermost map whose lists are skipped.
    skipped_keys: &'t [&'t str],
    /// True if a list was skipped.
    pub(super) has_skipped: bool,
    /// True if the parser was given stand-ins for pairs of escapes.
    pub(super) has_stand_ins: bool,
    pub(super) problems: DiagnosticCollector,
}

impl<'t> YamlTreeReader<'t> {
    pub(super) fn new(
        text: &'t str,
        source: SourceId,
        skipped_keys: &'t [&'t str],
        problems: DiagnosticCollector,
    ) -> Self {
        // The parser does not get a byte order mark; offsets still count from the start of the file.
        let places = BytePositions::new(text, source);

        Self {
            events: Parser::new_from_str(places.text),
            places,
            anchors: HashMap::new(),
            copied_nodes: 0,
            values_left: MAX_VALUES,
            anchors_open: 0,
            open: Vec::new(),
            explained: None,
            early_bracket: None,
            skipped_keys,
            has_skipped: false,
            has_stand_ins: false,
            problems,
        }
    }

    pub(super) fn read_document(&mut self) -> Option<TreeNode> {
        let mut root = None;
        loop {
            let Ok((event, span)) = self.next_event() else { return None };
            match event {
                Event::StreamEnd => return root,
                Event::DocumentStart(_) if root.is_some() => {
                    return Diagnostic::error(
                        codes::SEVERAL_DOCUMENTS,
                        "more than one YAML document in the file",
                    )
                    .at(span, "the second document starts here")
                    .with_help("keep one document in each file")
                    .reject_in(&mut self.problems);
                }
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                event => match self.read_node(event, span, 0) {
                    Ok(node) => root = Some(node),
                    Err(SyntaxFailure) => return None,
                },
            }
        }
    }

    pub(super) fn next_event(&mut self) -> Result<(Event<'t>, Span), SyntaxFailure> {
        match self.events.next_event() {
            None => Ok((Event::StreamEnd, self.places.point_span(Marker::new(usize::MAX, 1, 0)))),
            Some(Ok((event, span))) => {
                let span = self.places.span(span.start, span.end);
                Ok(match event {
                    Event::Scalar(text, style, anchor, tag) if self.has_stand_ins => {
                        (Event::Scalar(without_stand_ins(text, style), style, anchor, tag), span)
                    }
                    event => (event, span),
                })
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

    /// Returns true if an error at `at` is a consequence of a template that was reported on the same line.
    fn is_explained(&self, at: Span) -> bool {
        self.explained.is_some_and(|place| {
            let end = at.start - self.places.skipped;
            let start = (place.end - self.places.skipped).min(end);
            !self.places.text[start..end].trim_end().contains('\n')
        })
    }

    pub(super) fn read_node(
        &mut self,
        event: Event<'t>,
        span: Span,
        depth: usize,
    ) -> Result<TreeNode, SyntaxFailure> {
        if depth > MAX_DEPTH {
            self.problems.add(too_deep(span));
            return Err(SyntaxFailure);
        }
        let Some(left) = self.values_left.checked_sub(1) else {
            self.problems.add(too_many_values(span));
            return Err(SyntaxFailure);
        };
        self.values_left = left;

        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                if style == ScalarStyle::Plain {
                    let (written, rest) = (self.places.text_at(span), self.places.text_after(span));
                    let traps = [
                        item_in_text(written, span),
                        full_width_character(written, span),
                        cut_text(written, rest, span),
                    ];
                    for warning in traps.into_iter().flatten() {
                        self.problems.add(warning);
                    }
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
            // The parser emits no other event in place of a value.
            _ => (TreeNode::new(span, NodeValue::Null), 0),
        };
        if anchor > 0 {
            // An anchor inside of an anchored collection is copied once more for each level.
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

    /// Skips a list, and returns it without its items.
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
                    Diagnostic::error(codes::KEY_IS_NOT_TEXT, "a key must be plain text")
                        .at(key_node.span, format!("found {}", key_node.type_name()))
                        .with_help("write the key as a word")
                        .add_to(&mut self.problems);
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
                self.problems.add(duplicate_key("map", &key, key_span, entries[first].key_span));
            } else {
                index.insert(key.clone(), entries.len());
                entries.push(MapEntry { key, key_span, value });
            }
        }
    }

    /// Reports an unquoted `{{ name }}`, which YAML parses as a map whose key is a map. Returns the intended
    /// text, so that it causes no type errors later.
    fn read_unquoted_template(&mut self, span: Span) -> TreeNode {
        let text = self.places.text_at(span).to_owned();
        let after = &self.places.text[span.end - self.places.skipped..];
        let line = after.lines().next().unwrap_or_default().trim_end();

        // The template itself is one of the open brackets. If there is no other, the text may continue after
        // the template.
        let goes_on = self.open.len() < 2 && !matches!(line.trim_start().chars().next(), None | Some('#'));
        let whole = if goes_on { Span::new(span.source, span.start, span.end + line.len()) } else { span };
        let written = self.places.text_at(whole).to_owned();
        Diagnostic::error(codes::KEY_IS_NOT_TEXT, "a template without quotes")
            .at(span, "read as a map in a map")
            .with_help("in YAML a value that begins with `{{` needs quotes")
            .with_suggestion("quote the template", whole, quote_text(&written))
            .add_to(&mut self.problems);

        self.explained = Some(whole);
        TreeNode::new(span, NodeValue::Str(text))
    }

    /// Returns the end of a collection. In flow style (`[...]`, `{...}`) this is the end of the end event. In
    /// block style it is the end of the last item, because the end event only comes at the next token.
    fn end_of(&self, last: Span, end_event: Span) -> Span {
        let closes = self.places.text_at(end_event).ends_with([']', '}']);
        if closes || end_event.end <= last.end { end_event } else { last }
    }

    fn read_alias(&mut self, anchor: usize, span: Span) -> Result<TreeNode, SyntaxFailure> {
        let Some(node) = self.anchors.get(&anchor) else {
            Diagnostic::error(codes::UNKNOWN_ALIAS, "this alias names no finished anchor")
                .at(span, "not defined before this point")
                .with_help("define it first with `&name`; an anchor can't contain itself")
                .add_to(&mut self.problems);
            return Err(SyntaxFailure);
        };

        let mut node = node.clone();
        self.count_copies(&node, span)?;
        node.used_at = Some(span);

        Ok(node)
    }

    /// Counts the copy of a node that an alias or a nested anchor at `span` causes.
    fn count_copies(&mut self, node: &TreeNode, span: Span) -> Result<(), SyntaxFailure> {
        self.copied_nodes = self.copied_nodes.saturating_add(node.weight());
        if self.copied_nodes <= MAX_COPIED_NODES {
            return Ok(());
        }

        Diagnostic::error(codes::ALIAS_EXPANSION, "aliases repeat too much of the file")
            .at(span, "this goes over the limit")
            .with_note(format!(
                "all aliases of a file together may add {MAX_COPIED_NODES} values, and {WEIGHED_TEXT_BYTES} bytes of \
                 text for each"
            ))
            .with_help("write the repeated part once and include it where it is needed")
            .add_to(&mut self.problems);

        Err(SyntaxFailure)
    }
}
