//! Layout of coloured pieces of text into lines of limited width.

use unicode_width::UnicodeWidthChar;

use crate::cells::{KEPT_SPACE, ReportCell, SPACE, ascii_replacement, display_width, trim_end, wrap_cells};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};

/// Minimum width of text beside a lead, or of deeply indented text.
const MIN_TEXT_WIDTH: usize = 20;

/// A piece of text in one tone. Sanitised on construction.
#[derive(Debug, Clone)]
pub(crate) struct ReportPiece {
    tone: ReportTone,
    text: String,
}

impl ReportPiece {
    /// Creates a piece from the program's own text; spaces are kept.
    pub(crate) fn new(tone: ReportTone, text: impl AsRef<str>) -> Self {
        Self { tone, text: sanitize::escape_unsafe(text.as_ref()) }
    }

    /// Creates a piece of plain text.
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(ReportTone::Plain, text)
    }

    /// Creates a piece of untrusted running text, cut to `limit` characters.
    pub(crate) fn untrusted(tone: ReportTone, text: &str, limit: usize) -> Self {
        Self { tone, text: sanitize::sanitize_text(text, limit) }
    }

    /// Keeps the piece on one line if it fits, so that a number stays beside its unit.
    pub(crate) fn unbroken(mut self) -> Self {
        self.text = self.text.replace(' ', KEPT_SPACE.encode_utf8(&mut [0; 4]));
        self
    }

    /// Creates a piece of an untrusted name.
    pub(crate) fn untrusted_name(tone: ReportTone, text: &str) -> Self {
        Self { tone, text: sanitize::sanitize_name(text) }
    }
}

/// Text laid out line by line. No line ends in a space, and none is longer than the style's width.
#[derive(Debug)]
pub(crate) struct ReportPage {
    style: ReportStyle,
    out: String,
}

impl ReportPage {
    pub(crate) fn new(style: ReportStyle) -> Self {
        Self { style, out: String::new() }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn columns(&self) -> usize {
        self.style.columns()
    }

    /// Returns the number of columns at which text is wrapped, and tables and single lines are cut.
    pub(crate) fn line_columns(&self) -> usize {
        self.style.line_columns()
    }

    pub(crate) fn style(&self) -> ReportStyle {
        self.style
    }

    /// Adds an empty line, unless the page is empty.
    pub(crate) fn add_blank(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Adds `body` wrapped beside `lead`, which is on the first line only. If the page is too narrow for
    /// both, the body goes below the lead.
    pub(crate) fn add_text(&mut self, lead: &[ReportPiece], body: &[ReportPiece]) {
        let lead = self.cells(lead);
        let body = self.cells(body);
        let indent = display_width(&lead);
        let room = self.line_columns().saturating_sub(indent);
        if room < MIN_TEXT_WIDTH && display_width(&body) > room {
            self.push_below(&lead, &body);
            return;
        }

        let mut first = true;
        for line in wrap_cells(&body, room) {
            let mut row = if first { lead.clone() } else { vec![SPACE; indent] };
            row.extend_from_slice(line);
            self.push_row(&row);
            first = false;
        }

        if first {
            self.push_row(&lead);
        }
    }

    /// Adds a piece of text without a lead, wrapped.
    pub(crate) fn add_paragraph(&mut self, text: ReportPiece) {
        self.add_text(&[], &[text]);
    }

    /// Adds a piece of text wrapped beside a label in a tone.
    pub(crate) fn add_labelled(&mut self, tone: ReportTone, label: impl AsRef<str>, text: ReportPiece) {
        self.add_text(&[ReportPiece::new(tone, label)], &[text]);
    }

    /// Adds a piece of text, wrapped and indented.
    pub(crate) fn add_indented(&mut self, indent: usize, text: ReportPiece) {
        self.add_text(&[ReportPiece::plain(" ".repeat(indent))], &[text]);
    }

    /// Adds a command or a path beside `lead`. It stays on one line at any width, so that it can be copied. `effect`
    /// follows it, or goes below it if both are too long for one line.
    pub(crate) fn add_command(
        &mut self,
        lead: &[ReportPiece],
        command: &[ReportPiece],
        effect: &[ReportPiece],
    ) {
        let mut row = self.cells(lead);
        let indent = display_width(&row);
        row.extend(self.cells(command));
        let end = self.cells(effect);
        if display_width(&row) + 2 + display_width(&end) <= self.line_columns() {
            row.extend([SPACE; 2]);
            row.extend(end);
            self.push_row(&row);
        } else {
            self.push_row(&row);
            if !effect.is_empty() {
                self.add_text(&[ReportPiece::plain(" ".repeat(indent))], effect);
            }
        }
    }

    /// Adds a lead, and its body indented below it.
    fn push_below(&mut self, lead: &[ReportCell], body: &[ReportCell]) {
        let start = lead.iter().take_while(|cell| cell.character == ' ').count();
        let deepest = self.columns() - MIN_TEXT_WIDTH;
        for line in wrap_cells(&lead[start..], self.columns() - start.min(deepest)) {
            let mut row = vec![SPACE; start.min(deepest)];
            row.extend_from_slice(line);
            self.push_row(&row);
        }

        // Padding that aligns numbers beside their leads is useless here.
        let is_space = |cell: &&ReportCell| [' ', KEPT_SPACE].contains(&cell.character);
        let body = &body[body.iter().take_while(is_space).count()..];
        let indent = if start == lead.len() { start } else { start + 4 }.min(deepest);
        for line in wrap_cells(body, self.columns() - indent) {
            let mut row = vec![SPACE; indent];
            row.extend_from_slice(line);
            self.push_row(&row);
        }
    }

    /// Adds one line, cut at the width of the page.
    pub(crate) fn add_line(&mut self, pieces: &[ReportPiece]) {
        let cells = self.cells(pieces);
        let cells = self.truncate_cells(cells, self.line_columns());
        self.push_row(&cells);
    }

    /// Adds one line with a right-aligned end; if both do not fit, the end goes below it.
    pub(crate) fn add_split_line(&mut self, left: &[ReportPiece], right: &[ReportPiece]) {
        let mut row = self.cells(left);
        let end = self.cells(right);
        let (used, needed) = (display_width(&row), display_width(&end));
        if used + 2 + needed <= self.columns() {
            row.extend(std::iter::repeat_n(SPACE, self.columns() - used - needed));
            row.extend_from_slice(&end);
            self.push_row(&row);
        } else {
            for (index, line) in wrap_cells(&row, self.columns() - 2).into_iter().enumerate() {
                let mut indented = vec![SPACE; if index == 0 { 0 } else { 2 }];
                indented.extend_from_slice(line);
                self.push_row(&indented);
            }

            let mut below = vec![SPACE; 2];
            below.extend_from_slice(&end);

            self.push_row(&below);
        }
    }

    /// Adds a horizontal rule with a title.
    pub(crate) fn add_rule(&mut self, title: &str) {
        let lead = self.cells(&[
            ReportPiece::new(ReportTone::Dim, "── "),
            ReportPiece::new(ReportTone::Strong, title),
            ReportPiece::plain(" "),
        ]);
        let rest = self.columns().saturating_sub(display_width(&lead));
        let mut row = self.truncate_cells(lead, self.columns());
        row.extend(self.cells(&[ReportPiece::new(ReportTone::Dim, "─".repeat(rest))]));

        self.push_row(&row);
    }

    /// Returns the characters of pieces, with ASCII replacements if the style asks for ASCII.
    pub(crate) fn cells(&self, pieces: &[ReportPiece]) -> Vec<ReportCell> {
        let mut cells = Vec::new();
        for piece in pieces {
            for character in piece.text.chars() {
                let stand_in = if self.style.unicode { None } else { ascii_replacement(character) };
                let mut put = |character: char| {
                    let width = character.width().unwrap_or(0);
                    cells.push(ReportCell { character, tone: piece.tone, width });
                };
                match stand_in {
                    Some(text) => text.chars().for_each(&mut put),
                    None => put(character),
                }
            }
        }

        cells
    }

    /// Returns the display width of a piece.
    pub(crate) fn width(&self, piece: &ReportPiece) -> usize {
        let wide = |character: char| character.width().unwrap_or(0);
        let of = |character| match if self.style.unicode { None } else { ascii_replacement(character) } {
            Some(text) => text.chars().map(wide).sum(),
            None => wide(character),
        };
        piece.text.chars().map(of).sum()
    }

    /// Cuts cells to `columns` and marks the cut.
    pub(crate) fn truncate_cells(&self, cells: Vec<ReportCell>, columns: usize) -> Vec<ReportCell> {
        if display_width(&cells) <= columns {
            return cells;
        }

        let tone = cells.first().map_or(ReportTone::Plain, |cell| cell.tone);
        let mark = self.cells(&[ReportPiece::new(tone, "…")]);
        let room = columns.saturating_sub(display_width(&mark));
        let mut used = 0;
        let mut kept: Vec<ReportCell> = cells
            .into_iter()
            .take_while(|cell| {
                used += cell.width;
                used <= room
            })
            .collect();

        let tone = kept.last().map_or(tone, |last| last.tone);
        kept.extend(mark.into_iter().map(|dot| ReportCell { tone, ..dot }));

        kept
    }

    /// Adds a finished row of cells.
    pub(crate) fn push_row(&mut self, cells: &[ReportCell]) {
        for run in trim_end(cells).chunk_by(|a, b| a.tone == b.tone) {
            let text = run.iter().map(|cell| match cell.character {
                KEPT_SPACE => ' ',
                character => character,
            });
            match run.first().and_then(|cell| cell.tone.sgr()).filter(|_| self.style.color) {
                Some(sgr) => {
                    self.out.push_str("\u{1b}[");
                    self.out.push_str(sgr);
                    self.out.push('m');
                    self.out.extend(text);
                    self.out.push_str("\u{1b}[0m");
                }
                None => self.out.extend(text),
            }
        }
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(width: usize, unicode: bool, lead: &str, body: &str) -> String {
        let mut page = ReportPage::new(ReportStyle { color: false, width, unicode });
        page.add_text(&[ReportPiece::plain(lead)], &[ReportPiece::untrusted(ReportTone::Plain, body, 1000)]);
        page.finish()
    }

    #[test]
    fn text_hangs_beside_its_lead() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(
            set(40, true, "  - ", text),
            "  - one two three four five six seven\n    eight nine ten\n"
        );
    }

    #[test]
    fn numbers_stay_beside_their_units() {
        let add = |width: usize, unit: &str| {
            let mut page = ReportPage::new(ReportStyle { color: false, width, unicode: true });
            let number = ReportPiece::plain(format!("12 {unit}")).unbroken();
            page.add_text(&[], &[ReportPiece::plain("value in all of the many cases "), number]);
            page.finish()
        };
        assert_eq!(add(40, "decisions"), "value in all of the many cases\n12 decisions\n");
        let unit = "decisions-that-could-still-be-won-today";
        assert_eq!(add(40, unit), format!("value in all of the many cases\n12\n{unit}\n"));
    }

    #[test]
    fn text_goes_below_a_lead_that_leaves_no_room_beside_it() {
        let lead = "  Krippendorff's alpha, nominal  ";
        assert_eq!(set(40, true, lead, "0.622"), format!("{lead}0.622\n"));
        assert_eq!(
            set(40, true, lead, "0.622 0.463 to 0.765 91 items"),
            "  Krippendorff's alpha, nominal\n      0.622 0.463 to 0.765 91 items\n"
        );
        let mut page = ReportPage::new(ReportStyle { color: false, width: 40, unicode: true });
        page.add_text(&[ReportPiece::plain(lead)], &[ReportPiece::plain("   0.622  91 items")]);
        assert_eq!(page.finish(), "  Krippendorff's alpha, nominal\n      0.622  91 items\n");
        let lines = set(40, true, &" ".repeat(60), "deeply indented text that is long");
        assert!(lines.lines().all(|line| line.len() <= 40), "{lines}");
    }

    #[test]
    fn commands_stay_whole() {
        let add = |width: usize| {
            let mut page = ReportPage::new(ReportStyle { color: false, width, unicode: true });
            let piece = |text: &str| [ReportPiece::plain(text)];
            page.add_command(
                &piece("Next    "),
                &piece("assize explain last some-case --suite tone"),
                &piece("# explain it"),
            );
            page.finish()
        };
        assert_eq!(add(80), "Next    assize explain last some-case --suite tone  # explain it\n");
        assert_eq!(add(40), "Next    assize explain last some-case --suite tone\n        # explain it\n");
    }

    #[test]
    fn text_is_not_wrapped_where_there_is_no_window() {
        let text = "word ".repeat(60);
        assert_eq!(set(ReportStyle::UNLIMITED, true, "Run  ", &text), format!("Run  {}\n", text.trim_end()));
    }

    #[test]
    fn wide_characters_take_two_columns_and_words_too_long_are_broken() {
        let lines = set(40, true, "", &"漢".repeat(30));
        assert_eq!(lines.lines().map(|line| line.chars().count()).collect::<Vec<_>>(), vec![20, 10]);
        let lines = set(40, true, "", &"x".repeat(90));
        assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), vec![40, 40, 10]);
    }

    #[test]
    fn plain_terminals_get_plain_signs() {
        assert_eq!(set(40, false, "✓ ", "“fine” → a…"), "+ \"fine\" -> a...\n");
    }

    #[test]
    fn tones_become_sequences_only_with_colour() {
        let mut page = ReportPage::new(ReportStyle { color: true, width: 80, unicode: true });
        page.add_line(&[ReportPiece::new(ReportTone::Bad, "fail"), ReportPiece::plain(" x  ")]);
        assert_eq!(page.finish(), "\u{1b}[31mfail\u{1b}[0m x\n");
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_visibly() {
        let mut page = ReportPage::new(ReportStyle { color: false, width: 40, unicode: true });
        page.add_line(&[ReportPiece::plain("y".repeat(50))]);
        assert_eq!(page.finish(), format!("{}…\n", "y".repeat(39)));
    }
}
