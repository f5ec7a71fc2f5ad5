//! Explanations of YAML syntax errors.
//!
//! The scanner's message names the token that it expected, which is rarely the author's mistake. So the
//! explanation is derived mostly from the text around the error: each `explain_*` method recognises one kind
//! of mistake, and they are tried in order, the most specific first.

use assize_diagnostic::{Diagnostic, Span};

use super::json_syntax::find_lone_surrogate;
use crate::codes;

/// State of the scanner at a syntax error.
pub(super) struct ScannerError<'t> {
    /// Message of the scanner.
    pub(super) info: &'t str,
    /// Position of the error, an empty range.
    pub(super) at: Span,
    /// Text without its byte order mark.
    pub(super) text: &'t str,
    /// Length of the byte order mark in bytes.
    pub(super) skipped: usize,
    /// Span of the innermost `[` or `{` that is still open.
    pub(super) open: Option<Span>,
}

impl ScannerError<'_> {
    fn start(&self) -> usize {
        self.at.start.saturating_sub(self.skipped).min(self.text.len())
    }

    fn rest(&self) -> &str {
        &self.text[self.start()..]
    }

    fn line_start(&self) -> usize {
        self.text[..self.start()].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Returns the line up to the error.
    fn before(&self) -> &str {
        &self.text[self.line_start()..self.start()]
    }

    fn line(&self) -> &str {
        self.text[self.line_start()..].lines().next().unwrap_or_default()
    }

    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.info.contains(word))
    }

    /// Returns the span of a range of the text.
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.at.source, start + self.skipped, end + self.skipped)
    }

    /// Returns the span of the character at the error, if the line continues there.
    fn character_span(&self) -> Span {
        let start = self.start();
        match self.rest().chars().next() {
            Some(c) if c != '\n' && c != '\r' => self.span(start, start + c.len_utf8()),
            _ => self.at,
        }
    }

    fn syntax_error(&self, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(codes::YAML_SYNTAX, "this is not valid YAML").at(self.character_span(), label)
    }

    /// Returns the diagnostic.
    pub(super) fn to_diagnostic(&self) -> Diagnostic {
        self.explain_tab()
            .or_else(|| self.explain_full_width())
            .or_else(|| self.explain_escape())
            .or_else(|| self.explain_alias())
            .or_else(|| self.explain_first_character())
            .or_else(|| self.explain_quotes())
            .or_else(|| self.explain_bracket())
            .or_else(|| self.explain_colon())
            .unwrap_or_else(|| self.explain_indentation())
    }

    fn explain_tab(&self) -> Option<Diagnostic> {
        let leading = self.line().trim_start_matches(' ').starts_with('\t');
        let here = self.rest().starts_with('\t') || self.before().contains('\t');
        if !(self.info.contains("tab") || here || leading) {
            return None;
        }

        // The scanner may stop before or after the tab.
        let from = self.line_start();
        let line_and_next: usize = self.text[from..].split_inclusive('\n').take(2).map(str::len).sum();
        let found = self.text[from..from + line_and_next].find('\t');
        let at = found.map_or(self.character_span(), |offset| self.span(from + offset, from + offset + 1));

        Some(
            Diagnostic::error(codes::YAML_SYNTAX, "this is not valid YAML")
                .at(at, "a tab")
                .with_help("YAML is indented with spaces only; replace the tab by spaces"),
        )
    }

    /// Explains a full-width character on the line of the error, or on the one before it.
    fn explain_full_width(&self) -> Option<Diagnostic> {
        let line_start = self.line_start();
        let before =
            self.text[..line_start].trim_end_matches('\n').rfind('\n').map_or(0, |newline| newline + 1);
        [before, line_start].into_iter().find_map(|start| {
            let line = self.text[start..].lines().next()?;
            let (offset, end) = find_full_width(line.trim_start_matches([' ', '-']))?;
            let start = start + line.len() - line.trim_start_matches([' ', '-']).len();
            let at = self.span(start + offset, start + end);
            let label = full_width_label(&self.text[start + offset..start + end]);
            Some(
                Diagnostic::error(codes::YAML_SYNTAX, "this is not valid YAML")
                    .at(at, label)
                    .with_help(FULL_WIDTH_HELP),
            )
        })
    }

    fn explain_escape(&self) -> Option<Diagnostic> {
        if !self.mentions(&["unknown escape", "hexadecimal", "Unicode character escape"]) {
            return None;
        }

        // The scanner stops at the beginning of the string; find the escape.
        let start = self.start();
        let mut characters = self.rest().char_indices();
        let mut found = None;
        while let Some((offset, c)) = characters.next() {
            if c != '\\' {
                continue;
            }

            let Some((_, escaped)) = characters.next() else { break };
            if !"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(escaped) {
                found = Some((offset, escaped));
                break;
            }
        }

        let (at, label) = match found {
            Some((offset, c)) => (
                self.span(start + offset, start + offset + 1 + c.len_utf8()),
                format!("`\\{c}` means nothing"),
            ),
            None => match find_lone_surrogate(self.rest()) {
                half if half.len() == self.rest().len() => {
                    (self.character_span(), "an escape in this text can't be read".to_owned())
                }
                half => {
                    (self.span(start + half.start, start + half.end), "half of a surrogate pair".to_owned())
                }
            },
        };
        Some(
            Diagnostic::error(codes::YAML_SYNTAX, "this is not valid YAML").at(at, label).with_help(
                "in double quotes a backslash begins an escape: write `\\\\`, or use single quotes",
            ),
        )
    }

    fn explain_alias(&self) -> Option<Diagnostic> {
        if !self.info.contains("unknown anchor") {
            return None;
        }

        let start = self.start();
        let length = self.rest().find([' ', '\t', '\n', '\r', ',', ']', '}']).unwrap_or(self.rest().len());
        let name = self.rest().get(1..length).unwrap_or_default();
        let diagnostic = Diagnostic::error(codes::UNKNOWN_ALIAS, "this alias names no anchor")
            .at(self.span(start, start + length), format!("there is no `&{name}` above"));

        let line = self.rest().lines().next().unwrap_or_default().trim_end();
        let is_prose = line.len() > length || name.contains('*');
        Some(if is_prose && self.open.is_none() && !line.contains(" #") {
            diagnostic.with_help("a text that begins with `*` needs quotes").with_suggestion(
                "quote the text",
                self.span(start, start + line.len()),
                quote_text(line),
            )
        } else {
            diagnostic.with_help(format!(
                "define it above with `&{name}`, or put a text that begins with `*` in quotes"
            ))
        })
    }

    fn explain_first_character(&self) -> Option<Diagnostic> {
        let first = self.rest().chars().next().filter(|c| matches!(c, '@' | '`' | '%'))?;
        let name = if first == '`' { "a back-tick".to_owned() } else { format!("`{first}`") };
        Some(
            self.syntax_error(format!("a value can't begin with {name}"))
                .with_help("put the whole value in quotes"),
        )
    }

    fn explain_quotes(&self) -> Option<Diagnostic> {
        if self.info.contains("trailing content after double-quoted") {
            return Some(self.syntax_error("text after the closing quotation mark").with_help(
                "put the whole value in quotes, and write `\\\"` for a quotation mark inside it",
            ));
        }
        if self.info.contains("invalid indentation in quoted scalar") && self.is_closed_text() {
            return Some(
                self.syntax_error("a line of this quoted text begins too far to the left")
                    .with_help("indent it further than the key, or write a text of several lines below `|`"),
            );
        }
        self.info.contains("quoted scalar").then(|| {
            self.syntax_error("the quotation mark that opens here is not closed")
                .with_help("close it; a text of several lines is best written below `|`")
        })
    }

    /// Returns true if the quoted text that begins here has a closing mark, and no line before it looks like a key or an
    /// entry: then the mark is its own, and not that of a later text.
    fn is_closed_text(&self) -> bool {
        let mut quoted = self.rest().splitn(3, ['"', '\'']);
        let (_, inner, closed) = (quoted.next(), quoted.next().unwrap_or_default(), quoted.next().is_some());
        let is_yaml = |line: &str| {
            let line = line.trim();
            line.starts_with("- ") || line.contains(": ") || line.ends_with(':')
        };
        closed && !inner.lines().skip(1).any(is_yaml)
    }

    fn explain_bracket(&self) -> Option<Diagnostic> {
        let open = self.open?;
        let (opening, closing) =
            if self.text[open.start - self.skipped..].starts_with('[') { ('[', ']') } else { ('{', '}') };
        Some(
            self.syntax_error(format!("the `{opening}` is still open here"))
                .with_secondary(open, "opened here")
                .with_help(format!(
                    "close it with `{closing}`; divide entries by commas, and put texts with `: `, `,` or brackets in quotes"
                )),
        )
    }

    fn explain_colon(&self) -> Option<Diagnostic> {
        if !self.mentions(&["mapping values are not allowed", "illegal placement of ':'"]) {
            return None;
        }

        let diagnostic = self.syntax_error("a `:` is not allowed here");
        let begins_line = self.before().trim_start().trim_start_matches("- ");
        let Some((key, value)) = begins_line.split_once(": ").filter(|(key, _)| !key.contains(['"', '\'']))
        else {
            return Some(
                diagnostic.with_help("check the indentation; a text with `: ` in it needs quotes around it"),
            );
        };

        let diagnostic =
            diagnostic.with_help(format!("put the value of `{}` in quotes: it has a `: ` in it", key.trim()));
        let value = value.trim_start();
        let start = self.start() - value.len();
        let end = self.line_start() + self.line().trim_end().len();
        let whole = &self.text[start..end];
        if value.is_empty()
            || value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!'])
            || whole.contains(" #")
        {
            return Some(diagnostic);
        }

        Some(diagnostic.with_suggestion("quote the text", self.span(start, end), quote_text(whole)))
    }

    fn explain_indentation(&self) -> Diagnostic {
        if self.info.contains("block sequence entries are not allowed") {
            return self
                .syntax_error("a `- ` is not allowed here")
                .with_help("put the list on lines of its own below the key");
        }

        if self.mentions(&["recursion limit"]) {
            return Diagnostic::error(codes::TOO_DEEP, "values nested too deeply")
                .at(self.character_span(), "too deep here")
                .with_help("eval files need fewer than ten levels; check the brackets and the indentation");
        }

        if self.mentions(&["block scalar"]) {
            return self.syntax_error(self.info).with_help(
                "after `|` or `>` the text begins on the next line, each line indented more than the key",
            );
        }

        if self.before().trim_start_matches([' ', '-']).is_empty() {
            return self
                .syntax_error("the indentation does not match the lines above")
                .with_help("keys of one map, and the `-` of one list, begin in the same column");
        }

        self.syntax_error("unexpected text after the value")
            .with_help("put the whole value in quotes, or check the line above")
    }
}

/// Returns a text in double quotes.
pub(super) fn quote_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

const FULL_WIDTH_HELP: &str = "write an ordinary `: ` or space; a text that begins like this needs quotes";

/// Finds a full-width colon after a key, or a wide space before it: the range of its bytes.
fn find_full_width(text: &str) -> Option<(usize, usize)> {
    if text.starts_with('\u{3000}') {
        return Some((0, text.len() - text.trim_start_matches('\u{3000}').len()));
    }
    let key = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))?;
    (key > 0 && text[key..].starts_with('：')).then_some((key, key + '：'.len_utf8()))
}

fn full_width_label(found: &str) -> &'static str {
    if found.starts_with('：') {
        "a full-width `：`, which ends no key"
    } else {
        "a wide space (U+3000), which is a letter"
    }
}

/// Returns a warning if a plain scalar has a full-width character where YAML needs an ASCII one.
pub(super) fn full_width_character(text: &str, span: Span) -> Option<Diagnostic> {
    let (start, end) = find_full_width(text)?;
    let at = Span { start: span.start + start, end: span.start + end, ..span };
    let title = "a full-width character is read as part of a text";
    Some(
        Diagnostic::warning(codes::FULL_WIDTH, title)
            .at(at, full_width_label(&text[start..end]))
            .with_help(FULL_WIDTH_HELP),
    )
}

/// Returns a warning if a comment cut a text short: `rest` follows the plain scalar, and its `#` is directly before a
/// word. A single word before a word is more likely a value with a comment.
pub fn cut_text(text: &str, rest: &str, span: Span) -> Option<Diagnostic> {
    // The end of the line is only looked for after a `#`: a line may have a hundred thousand scalars.
    let comment = rest.trim_start_matches([' ', '\t']);
    let first = comment.strip_prefix('#')?.chars().next().filter(|c| c.is_alphanumeric())?;
    if comment.len() == rest.len() || !first.is_numeric() && !text.contains(' ') {
        return None;
    }
    let line = rest.lines().next().unwrap_or_default();
    let comment = line.trim_start_matches([' ', '\t']);

    let start = span.end + line.len() - comment.len();
    let at = Span { start, end: start + comment.trim_end().len(), ..span };
    let whole = Span { end: at.end, ..span };
    let title = "the text ends before ` #`, which begins a comment";
    let diagnostic = Diagnostic::warning(codes::CUT_TEXT, title)
        .at(at, "not part of the text")
        .with_help("put the text in quotes; if this is a comment, write a space after the `#`");
    let written = format!("{text}{}", line.trim_end());
    Some(if text.contains('\n') {
        diagnostic
    } else {
        diagnostic.with_suggestion("quote the text", whole, quote_text(&written))
    })
}

/// Returns a warning if a line inside of a plain scalar looks like a list item. With this indentation, YAML
/// reads it as more text.
pub(super) fn item_in_text(text: &str, span: Span) -> Option<Diagnostic> {
    let mut start = span.start;
    let mut lines = text.split_inclusive('\n').map(|line| {
        let place = (start + line.len() - line.trim_start().len(), line.trim_start());
        start += line.len();
        place
    });
    lines.next();
    let (at, _) = lines.find(|(_, line)| line.starts_with("- "))?;

    let dash = Span { start: at, end: at + 1, ..span };
    let title = "this line is part of the text above it";
    Some(Diagnostic::warning(codes::ITEM_IN_TEXT, title).at(dash, "no item of a list").with_help(
        "indent it like the items before it; for a text of several lines, write `|` before the text",
    ))
}
