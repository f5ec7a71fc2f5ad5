//! Terminal output: source lines with carets under the marked text, in the style of rustc.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use textwrap::WordSplitter;

use super::excerpt::{SourceExcerpt, extract_excerpt};
use super::location::visible_range;
use super::repeated::collapse_repeated;
use super::sanitize;
use crate::{
    Diagnostic, LineColumn, Severity, SourceFile, SourceId, SourceMap, Span, SpanLabel, SuggestedEdit,
};

/// Options of the text renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether to write ANSI colour sequences.
    pub color: bool,
    /// Width of the terminal in columns. Longer source lines are cut around their marked parts. Values below 40
    /// are treated as 40.
    pub width: usize,
    /// Whether titles, notes and help are wrapped to the width. Output for programs should not be wrapped.
    pub wrap: bool,
}

impl Default for TextOptions {
    /// Returns options for no colour, 100 columns, and no wrapping.
    fn default() -> Self {
        Self { color: false, width: 100, wrap: false }
    }
}

/// Maximum number of characters of a title, a label or a replacement: enough for any sentence, but not for a
/// quoted file.
const LINE_LIMIT: usize = 400;
/// Maximum number of characters of a note or help.
const BLOCK_LIMIT: usize = 4_000;
/// Maximum number of secondary locations that are rendered. Any others are only counted.
const MAX_SECONDARY_LABELS: usize = 16;
/// Columns beside a source line that the bar and the lines between the ends of long spans need.
const MARGIN_COLUMNS: usize = 6;
/// Maximum number of lines of a suggestion that is rendered as a change of source lines.
const MAX_PATCH_LINES: usize = 8;

/// Renders diagnostics, separated by an empty line, with a trailing newline. Empty if there are none. A mistake
/// that a file repeats is shown once, with the number of further lines.
///
/// Source text and messages are made safe to print: control characters are replaced by visible ones.
pub fn to_text(diagnostics: &[Diagnostic], sources: &SourceMap, options: TextOptions) -> String {
    let mut out = String::new();
    for (index, (diagnostic, repeats)) in collapse_repeated(diagnostics, sources).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        render_diagnostic(diagnostic, repeats, sources, options, &mut out);
    }

    out
}

fn render_diagnostic(
    diagnostic: &Diagnostic,
    repeats: Option<String>,
    sources: &SourceMap,
    options: TextOptions,
    out: &mut String,
) {
    let mut drawing = DiagnosticRenderer {
        sources,
        columns: code_columns(diagnostic, sources, options),
        wrap: options.wrap,
        headers: Vec::new(),
        long_labels: Vec::new(),
    };

    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    // Length of the text before a title or a note on its line.
    let title_lead = diagnostic.code.as_str().len() + "warning[]: ".len();
    let note_lead = options.width.max(40) - drawing.columns + "help: ".len();
    let title = sanitize::sanitize_line(&diagnostic.title, LINE_LIMIT);
    let title = level
        .primary_title(wrap_words(&title, title_lead, options))
        .id(sanitize::sanitize_line(diagnostic.code.as_str(), LINE_LIMIT));
    let mut group = Group::with_title(title);

    let drawn = diagnostic.secondary.len().min(MAX_SECONDARY_LABELS);
    for (source, labels) in group_by_file(&diagnostic.primary, &diagnostic.secondary[..drawn]) {
        // If the file could not be read, there is no line to show.
        group = if sources.file(source).text().is_empty() {
            let path = drawing.register_header(labels[0].1.span);
            let found = labels.iter().filter(|(_, label)| !label.text.is_empty());
            let notes = found.map(|(_, label)| sanitize::sanitize_line(&label.text, LINE_LIMIT));
            notes.fold(group.element(Origin::path(path)), |group, note| {
                group.element(Level::NOTE.message(note))
            })
        } else {
            group.element(drawing.build_snippet(source, &labels))
        };
    }

    if drawn < diagnostic.secondary.len() {
        let rest = diagnostic.secondary.len() - drawn;
        group = group.element(Level::NOTE.message(format!("{rest} more such places")));
    }

    for note in std::mem::take(&mut drawing.long_labels).iter().chain(&diagnostic.notes).chain(&repeats) {
        let note = sanitize::sanitize_block(note, BLOCK_LIMIT);
        group = group.element(Level::NOTE.message(wrap_words(&note, note_lead, options)));
    }

    for help in &diagnostic.help {
        let help = sanitize::sanitize_block(help, BLOCK_LIMIT);
        group = group.element(Level::HELP.message(wrap_words(&help, note_lead, options)));
    }

    let mut groups = Vec::with_capacity(2);
    match &diagnostic.suggestion {
        None => groups.push(group),
        Some(suggestion) => {
            let title = sanitize::sanitize_line(&suggestion.title, LINE_LIMIT);
            if let Some(patch) = drawing.build_patch(suggestion, diagnostic.primary.span.source) {
                groups.push(group);
                groups.push(Level::HELP.secondary_title(title).element(patch));
            } else {
                groups.push(
                    group.element(Level::HELP.message(describe_suggestion(&title, &suggestion.replacement))),
                );
            }
        }
    }

    // Lines have been cut to the width where the marked parts are known. The library must not cut them again.
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() }.term_width(1 << 16);
    drawing.fill_headers(&renderer.render(&groups), out);
}

/// Wraps a message that begins after `lead` columns. Words are not broken, so that paths can be copied.
fn wrap_words(text: &str, lead: usize, options: TextOptions) -> String {
    if !options.wrap {
        return text.to_owned();
    }

    let columns = options.width.max(40).saturating_sub(lead).max(20);
    let wrapping =
        textwrap::Options::new(columns).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, wrapping)
}

/// Returns the number of columns that are left for source text beside the line numbers.
fn code_columns(diagnostic: &Diagnostic, sources: &SourceMap, options: TextOptions) -> usize {
    let last_line = std::iter::once(&diagnostic.primary)
        .chain(&diagnostic.secondary)
        .map(|label| sources.file(label.span.source).position(label.span.end).line)
        .max()
        .unwrap_or(1);
    let digits = last_line.ilog10() as usize + 1;
    options.width.max(40).saturating_sub(digits + MARGIN_COLUMNS)
}

/// Groups labels by file, each with whether it is the primary one. The file of the primary label comes first.
fn group_by_file<'a>(
    primary: &'a SpanLabel,
    secondary: &'a [SpanLabel],
) -> Vec<(SourceId, Vec<(AnnotationKind, &'a SpanLabel)>)> {
    let mut files = vec![(primary.span.source, vec![(AnnotationKind::Primary, primary)])];
    for label in secondary {
        let marked = (AnnotationKind::Context, label);
        match files.iter_mut().find(|(source, _)| *source == label.span.source) {
            Some((_, labels)) => labels.push(marked),
            None => files.push((label.span.source, vec![marked])),
        }
    }

    files
}

/// Describes a suggestion in a sentence, for changes that can't be shown in place.
fn describe_suggestion(title: &str, replacement: &str) -> String {
    let replacement = sanitize::sanitize_block(replacement, LINE_LIMIT);
    let replacement = replacement.trim_matches('\n');
    if replacement.is_empty() {
        title.to_owned()
    } else if replacement.contains('\n') {
        format!("{title}:\n{replacement}")
    } else {
        format!("{title}: `{replacement}`")
    }
}

/// Returns the range and the safe replacement with which to render a change. `None` if the result would be
/// misleading: removed lines are only rendered correctly if one line becomes one line.
fn visible_change(file: &SourceFile, start: usize, end: usize, with: &str) -> Option<(Range<usize>, String)> {
    let start = file.floor_boundary(start);
    let mut range = start..file.floor_boundary(end.max(start));
    let mut replacement = sanitize::sanitize_block(with, BLOCK_LIMIT);
    let removed = &file.text()[range.clone()];
    if removed.trim().is_empty() {
        if with.ends_with('\n') {
            replacement.push('\n');
        }
        return (!removed.contains('\n')).then_some((range, replacement));
    }

    // A line end need not be rendered if it stays, or if it is removed together with its whole line.
    if removed.ends_with('\n') && (with.is_empty() || with.ends_with('\n')) {
        range.end = start + removed.trim_end_matches(['\r', '\n']).len();
    } else if with.ends_with('\n') {
        return None;
    }

    let one_line = !replacement.contains('\n') && !file.text()[range.clone()].contains('\n');
    one_line.then_some((range, replacement))
}

/// State of rendering one diagnostic.
struct DiagnosticRenderer<'a> {
    sources: &'a SourceMap,
    columns: usize,
    /// Whether labels must not be wider than the terminal.
    wrap: bool,
    /// Labels that would be too wide. They become notes.
    long_labels: Vec<String>,
    /// Headers of the snippets. The library computes line and column from the text it is given, which is wrong
    /// for cut lines. So each snippet gets as its path a mark with an index into this list, and the real header
    /// replaces the mark afterwards.
    headers: Vec<String>,
}

impl DiagnosticRenderer<'_> {
    fn build_snippet(
        &mut self,
        source: SourceId,
        labels: &[(AnnotationKind, &SpanLabel)],
    ) -> Snippet<'static, Annotation<'static>> {
        let spans: Vec<Span> = labels.iter().map(|(_, label)| label.span).collect();
        let cut = self.extract_lines(source, &spans);
        let path = self.register_header(spans[0]);
        let mut annotations = Vec::new();
        for ((kind, label), range) in labels.iter().zip(cut.spans) {
            let text = sanitize::sanitize_line(&label.text, LINE_LIMIT);
            let is_shown = !text.is_empty() && (!self.wrap || self.fits_after(&cut.text, range.end, &text));
            if !is_shown && !text.is_empty() {
                let place = if *kind == AnnotationKind::Primary {
                    String::new()
                } else {
                    format!(" (line {})", self.sources.file(source).position(label.span.start).line)
                };
                self.long_labels.push(format!("{}{place}", label.text));
            }
            annotations.push(kind.span(range).label(is_shown.then_some(text)));
        }

        Snippet::source(cut.text).line_start(cut.first_line).path(path).annotations(annotations)
    }

    /// Returns true if a label fits into the columns after the text up to `end`.
    fn fits_after(&self, text: &str, end: usize, label: &str) -> bool {
        let width = |text: &str| text.chars().map(sanitize::display_width).sum::<usize>();
        let line = text[..end].rsplit('\n').next().unwrap_or_default();
        width(line) + 1 + width(label) <= self.columns
    }

    /// Returns the suggestion as a change of source lines, if these are few and short.
    fn build_patch(
        &mut self,
        suggestion: &SuggestedEdit,
        primary: SourceId,
    ) -> Option<Snippet<'static, Patch<'static>>> {
        let Span { source, start, end } = suggestion.span;
        let file = self.sources.file(source);
        let (range, replacement) = visible_change(file, start, end, &suggestion.replacement)?;
        let cut = extract_excerpt(file, std::slice::from_ref(&range), self.columns);
        let fits = |text: &str| {
            text.lines().count() <= MAX_PATCH_LINES
                && text
                    .lines()
                    .all(|line| line.chars().map(sanitize::display_width).sum::<usize>() <= self.columns)
        };
        if cut.clipped || !fits(&cut.text) || !fits(&replacement) {
            return None;
        }

        // The library omits the header of a change in the same file as the diagnostic.
        let path = if source == primary { header_mark(0) } else { self.register_header(suggestion.span) };
        let span = cut.spans.into_iter().next()?;
        Some(
            Snippet::source(cut.text)
                .line_start(cut.first_line)
                .path(path)
                .patch(Patch::new(span, replacement)),
        )
    }

    fn extract_lines(&self, source: SourceId, spans: &[Span]) -> SourceExcerpt {
        let file = self.sources.file(source);
        let ranges: Vec<_> = spans.iter().map(|span| visible_range(file, *span)).collect();
        extract_excerpt(file, &ranges, self.columns)
    }

    /// Records a header and returns its placeholder.
    fn register_header(&mut self, span: Span) -> String {
        let file = self.sources.file(span.source);
        let LineColumn { line, column } = file.position(span.start);
        let path = sanitize::sanitize_line(&file.path().to_string_lossy(), BLOCK_LIMIT);
        let is_whole_file = file.text().is_empty() && line == 1;
        let cell = file.cell_at(span.start).map(|cell| sanitize::sanitize_line(&cell, LINE_LIMIT));
        self.headers.push(match cell {
            Some(cell) => format!("{path}: {cell}"),
            None if is_whole_file => path,
            None => format!("{path}:{line}:{column}"),
        });
        header_mark(self.headers.len() - 1)
    }

    /// Appends `drawn`, with marks replaced by headers, and without trailing blanks.
    fn fill_headers(&self, drawn: &str, out: &mut String) {
        for line in drawn.lines() {
            if let Some((before, after)) = line.split_once(sanitize::HEADER_MARK) {
                let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                let rest = after[digits..].trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
                let header = after[..digits].parse().ok().and_then(|index: usize| self.headers.get(index));

                out.push_str(before);
                out.push_str(header.map_or("", String::as_str));
                out.push_str(rest);
            } else {
                out.push_str(line.trim_end());
            }
            out.push('\n');
        }
    }
}

fn header_mark(index: usize) -> String {
    format!("{}{index}", sanitize::HEADER_MARK)
}
