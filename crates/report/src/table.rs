//! Tables with columns. A table that is wider than the page first narrows and wraps its shrinking columns, then puts
//! them on separate lines, and finally becomes a list.
//!
//! The widest cells determine the widths, so choosing a layout needs all rows before the first one is
//! written. Rows can be built on demand, once for measuring and once for writing, so that a table of a
//! million cases is never in memory.

use crate::cells::{ReportCell, SPACE, display_width, spaces, wrap_cells};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportColumn {
    title: &'static str,
    right: bool,
    shrinks: bool,
    cut: bool,
    whole: bool,
    sign: bool,
    names_row: bool,
    picture: bool,
}

impl ReportColumn {
    /// Creates a left-aligned column of text.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self {
            title,
            right: false,
            shrinks: false,
            cut: false,
            whole: false,
            sign: false,
            names_row: false,
            picture: false,
        }
    }

    /// Creates a right-aligned column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self { right: true, ..Self::left(title) }
    }

    /// Creates a column of text that is wrapped, or put on a separate line, if the page is too narrow.
    pub(crate) const fn shrinking(title: &'static str) -> Self {
        Self { shrinks: true, ..Self::left(title) }
    }

    /// Creates a column of text that is cut to one line if the page is too narrow.
    pub(crate) const fn cut(title: &'static str) -> Self {
        Self { cut: true, ..Self::shrinking(title) }
    }

    /// Lets the cells of a column take as many lines as they need.
    pub(crate) const fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Minimum width of the column when it shrinks.
    const fn min_width(self) -> usize {
        if self.cut { MIN_CUT_WIDTH } else { MIN_WIDTH }
    }

    /// Creates an operator between two columns, with one space on either side instead of two.
    pub(crate) const fn sign() -> Self {
        Self { sign: true, ..Self::left("") }
    }

    /// Creates a left-aligned column of drawings, which is omitted if the table becomes a list.
    pub(crate) const fn picture(title: &'static str) -> Self {
        Self { picture: true, ..Self::left(title) }
    }

    /// Marks the column that names a row; by default it is the first one.
    pub(crate) const fn naming_row(self) -> Self {
        Self { names_row: true, ..self }
    }
}

/// Minimum width of a shrinking column.
const MIN_WIDTH: usize = 16;

/// Minimum width of a column that is cut.
const MIN_CUT_WIDTH: usize = 8;

/// Maximum number of lines of a wrapped cell.
const MAX_CELL_LINES: usize = 3;

/// Renders rows under their titles; empty columns are omitted.
pub(crate) fn render_table(
    page: &mut ReportPage,
    indent: usize,
    columns: &[ReportColumn],
    rows: &[Vec<ReportPiece>],
) {
    render_table_on_demand(page, indent, columns, rows.len(), |at| rows[at].as_slice());
}

/// Renders a table from rows that are built on demand, twice each, so that only one row of a long table is in
/// memory at a time.
pub(crate) fn render_table_on_demand<R: AsRef<[ReportPiece]>>(
    page: &mut ReportPage,
    indent: usize,
    columns: &[ReportColumn],
    count: usize,
    row: impl Fn(usize) -> R,
) {
    let titles = titles(columns);
    let layout = choose_layout(page, indent, columns, (0..count).map(&row));
    layout.push_titles(page, &titles);
    for at in 0..count {
        layout.push_row(page, row(at).as_ref());
    }
}

/// Returns true if all cells of these rows fit side by side on the page.
pub(crate) fn fits_beside(page: &ReportPage, columns: &[ReportColumn], rows: &[Vec<ReportPiece>]) -> bool {
    choose_layout(page, 0, columns, rows.iter()).form == TableForm::Columns
}

fn titles(columns: &[ReportColumn]) -> Vec<ReportPiece> {
    columns.iter().map(|column| ReportPiece::new(ReportTone::Dim, column.title)).collect()
}

fn choose_layout<'c, R: AsRef<[ReportPiece]>>(
    page: &ReportPage,
    indent: usize,
    columns: &'c [ReportColumn],
    rows: impl Iterator<Item = R>,
) -> TableLayout<'c> {
    let mut widths = vec![0; columns.len()];
    for row in rows {
        for (wide, piece) in widths.iter_mut().zip(row.as_ref()) {
            *wide = page.width(piece).max(*wide);
        }
    }

    for (wide, title) in widths.iter_mut().zip(&titles(columns)).filter(|(wide, _)| **wide > 0) {
        *wide = page.width(title).max(*wide);
    }

    TableLayout::new(columns, widths, indent, page.line_columns())
}

/// Arrangement of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableForm {
    /// All cells of a row are side by side.
    Columns,
    /// Shrinking columns are on separate lines.
    Stacked,
    /// The name of the row, and below it the other cells with their titles.
    List,
}

/// The form of a table and the widths of its columns; columns of width 0 are omitted.
struct TableLayout<'c> {
    columns: &'c [ReportColumn],
    widths: Vec<usize>,
    indent: usize,
    form: TableForm,
    /// Index of the column that names a row.
    name: usize,
}

impl<'c> TableLayout<'c> {
    /// Chooses the first form that fits into `room` columns.
    fn new(columns: &'c [ReportColumn], widths: Vec<usize>, indent: usize, room: usize) -> Self {
        let name = columns.iter().position(|column| column.names_row).unwrap_or(0);
        let mut layout = Self { columns, widths, indent, form: TableForm::Columns, name };
        let natural = layout.widths.clone();

        // Space is taken from the widest shrinking column first, so that none is narrowed needlessly.
        let mut excess = layout.total().saturating_sub(room);
        while excess > 0 {
            let widest = (0..columns.len())
                .filter(|&index| columns[index].shrinks && layout.widths[index] > columns[index].min_width())
                .max_by_key(|&index| layout.widths[index]);
            let Some(widest) = widest else { break };
            layout.widths[widest] -= 1;
            excess -= 1;
        }

        if excess > 0 {
            layout.widths = natural;
            layout.form = TableForm::Stacked;
            if layout.total() > room {
                layout.form = TableForm::List;
            }
        }

        layout
    }

    /// Returns the indexes of the columns that are side by side.
    fn shown(&self) -> impl Iterator<Item = usize> {
        let beside = |index: &usize| {
            self.widths[*index] > 0 && (self.form == TableForm::Columns || !self.columns[*index].shrinks)
        };
        (0..self.columns.len()).filter(beside)
    }

    /// Returns the space between two columns.
    fn gap(&self, before: usize, after: usize) -> usize {
        if self.columns[before].sign || self.columns[after].sign { 1 } else { 2 }
    }

    /// Returns the width of a row, with its indent.
    fn total(&self) -> usize {
        let mut total = self.indent;
        let mut before = None;
        for index in self.shown() {
            total += before.map_or(0, |before| self.gap(before, index)) + self.widths[index];
            before = Some(index);
        }

        total
    }

    fn push_titles(&self, page: &mut ReportPage, titles: &[ReportPiece]) {
        let titled =
            titles.iter().zip(&self.widths).any(|(title, width)| *width > 0 && page.width(title) > 0);
        if !titled || self.form == TableForm::List {
            return;
        }

        let name = self.columns[self.name];
        if self.form == TableForm::Stacked && name.shrinks && !name.title.is_empty() {
            page.add_text(&[blank(self.indent)], &titles[self.name..=self.name]);
        }
        self.push_cells(page, titles);
    }

    fn push_row(&self, page: &mut ReportPage, row: &[ReportPiece]) {
        match self.form {
            TableForm::Columns => self.push_cells(page, row),
            TableForm::Stacked => self.push_stacked(page, row),
            TableForm::List => self.push_list(page, row),
        }
    }

    /// Adds the cells that are side by side. Long cells are wrapped.
    fn push_cells(&self, page: &mut ReportPage, row: &[ReportPiece]) {
        let shown: Vec<usize> = self.shown().filter(|&index| index < row.len()).collect();
        let wrapped: Vec<Vec<Vec<ReportCell>>> = shown
            .iter()
            .map(|&index| {
                let (cells, width) = (page.cells(std::slice::from_ref(&row[index])), self.widths[index]);
                if self.columns[index].cut {
                    vec![page.truncate_cells(cells, width)]
                } else {
                    let most = if self.columns[index].whole { usize::MAX } else { MAX_CELL_LINES };
                    wrap_cell(page, &cells, width, most)
                }
            })
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        if height == 0 {
            page.push_row(&[]);
        }

        for at in 0..height {
            let mut line = spaces(self.indent);
            let mut before = None;
            for (&index, cell) in shown.iter().zip(&wrapped) {
                line.extend(spaces(before.map_or(0, |before| self.gap(before, index))));
                before = Some(index);

                let cells = cell.get(at).map_or(&[][..], Vec::as_slice);
                let room = spaces(self.widths[index].saturating_sub(display_width(cells)));
                if self.columns[index].right {
                    line.extend(room);
                    line.extend_from_slice(cells);
                } else {
                    line.extend_from_slice(cells);
                    line.extend(room);
                }
            }
            page.push_row(&line);
        }
    }

    /// Adds the name of the row if its column shrinks, the other columns, then the shrinking ones with their
    /// titles.
    fn push_stacked(&self, page: &mut ReportPage, row: &[ReportPiece]) {
        let own_line = |index: usize| {
            self.columns[index].shrinks && row.get(index).is_some_and(|piece| page.width(piece) > 0)
        };
        let below: Vec<usize> =
            (0..self.columns.len()).filter(|&index| index != self.name && own_line(index)).collect();
        if own_line(self.name) {
            page.add_text(&[blank(self.indent)], row.get(self.name..=self.name).unwrap_or_default());
        }

        self.push_cells(page, row);
        let indent = self.indent_below(page, row);
        for index in below {
            let title = ReportPiece::new(ReportTone::Dim, self.columns[index].title);
            let lead = if self.columns[index].title.is_empty() {
                vec![blank(indent)]
            } else {
                vec![blank(indent), title, blank(1)]
            };
            page.add_text(&lead, &row[index..=index]);
        }
    }

    /// Adds the name of the row, and below it the other cells with their titles.
    fn push_list(&self, page: &mut ReportPage, row: &[ReportPiece]) {
        let name = self.columns[self.name];
        let mut heading = vec![blank(self.indent)];
        if name.right {
            heading.push(ReportPiece::new(ReportTone::Dim, format!("{} ", name.title)));
        }
        page.add_text(&heading, row.get(self.name..=self.name).unwrap_or_default());

        let mut cells: Vec<ReportPiece> = Vec::new();
        let mut after_sign = false;
        for (index, piece) in row.iter().enumerate() {
            let column = self.columns[index];
            if index == self.name || column.picture || page.width(piece) == 0 {
                continue;
            }

            if column.sign || after_sign {
                cells.push(blank(1));
            } else if !cells.is_empty() {
                cells.push(ReportPiece::plain(", "));
            }
            after_sign = column.sign;

            if !column.title.is_empty() {
                cells.push(ReportPiece::new(ReportTone::Dim, format!("{} ", column.title)));
            }
            cells.push(piece.clone());
        }

        if !cells.is_empty() {
            page.add_text(&[blank(self.indent_below(page, row))], &cells);
        }
    }

    /// Returns the indent of the text below a row's name. In a tree, the names of nodes are indented
    /// themselves.
    fn indent_below(&self, page: &ReportPage, row: &[ReportPiece]) -> usize {
        let name = page.cells(row.get(self.name..=self.name).unwrap_or_default());
        let depth = name.iter().take_while(|cell| cell.character == ' ').count();
        self.indent + depth + 4
    }
}

fn blank(columns: usize) -> ReportPiece {
    ReportPiece::plain(" ".repeat(columns))
}

/// Wraps a cell to at most `most` lines. If there would be more, the last line ends with a mark.
fn wrap_cell(page: &ReportPage, cells: &[ReportCell], width: usize, most: usize) -> Vec<Vec<ReportCell>> {
    let lines = wrap_cells(cells, width.max(1));
    let mut kept: Vec<Vec<ReportCell>> = lines.iter().take(most).map(|line| line.to_vec()).collect();
    if let (Some(last), Some(next)) = (kept.last_mut(), lines.get(most)) {
        last.push(SPACE);
        last.extend_from_slice(next);
        *last = page.truncate_cells(std::mem::take(last), width);
    }

    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportStyle;

    fn page(width: usize) -> ReportPage {
        ReportPage::new(ReportStyle { color: false, width, unicode: true })
    }

    fn pieces(texts: &[&str]) -> Vec<ReportPiece> {
        texts.iter().map(ReportPiece::plain).collect()
    }

    #[test]
    fn nothing_is_cut_where_there_is_no_window() {
        let mut page = page(ReportStyle::UNLIMITED);
        let columns = [ReportColumn::left("case"), ReportColumn::shrinking("why"), ReportColumn::right("n")];
        let long = format!("{}end", "word ".repeat(60));
        render_table(&mut page, 2, &columns, &[pieces(&["c", &long, "12"])]);
        assert!(page.finish().contains(&format!("  c     {long}  12\n")));
    }

    #[test]
    fn columns_line_up_and_only_the_shrinking_one_is_wrapped() {
        let mut page = page(40);
        let columns =
            [ReportColumn::shrinking("name"), ReportColumn::left("nothing"), ReportColumn::right("n")];
        render_table(
            &mut page,
            2,
            &columns,
            &[pieces(&[&"漢".repeat(60), "", "1"]), pieces(&["b", "", "20"])],
        );
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  name{} n", " ".repeat(32)));
        assert_eq!(lines[1], format!("  {}   1", "漢".repeat(17)));
        assert_eq!(lines[2], format!("  {}", "漢".repeat(17)));
        assert_eq!(lines[3], format!("  {}…", "漢".repeat(16)));
        assert_eq!(lines[4], format!("  b{}20", " ".repeat(35)));
    }

    const WIDE: [ReportColumn; 5] = [
        ReportColumn::shrinking(""),
        ReportColumn::right("pairs"),
        ReportColumn::right("change"),
        ReportColumn::right("interval"),
        ReportColumn::shrinking("why"),
    ];

    fn wide_rows() -> [Vec<ReportPiece>; 2] {
        [
            pieces(&["Names a deadline in working days", "12", "+0.417", "+0.037 to +0.677", "few pairs"]),
            pieces(&["Apologizes", "9", "-0.100", "-0.2 to 0", ""]),
        ]
    }

    #[test]
    fn a_table_that_does_not_fit_puts_long_texts_on_lines_of_their_own() {
        let mut page = page(50);
        render_table(&mut page, 2, &WIDE, &wide_rows());
        assert_eq!(
            page.finish(),
            "  pairs  change          interval\n  Names a deadline in working days\n     12  +0.417  +0.037 to +0.677\n      \
             why few pairs\n  Apologizes\n      9  -0.100         -0.2 to 0\n"
        );
    }

    #[test]
    fn a_table_that_fits_in_no_way_becomes_a_list() {
        let columns = [
            ReportColumn::right("score"),
            ReportColumn::left("interval of the pass rate"),
            ReportColumn::picture("0    1"),
            ReportColumn::left("case").naming_row(),
            ReportColumn::right("weight"),
            ReportColumn::sign(),
            ReportColumn::right("value"),
        ];
        let mut page = page(40);
        render_table(
            &mut page,
            0,
            &columns,
            &[pieces(&["0.75", "60.1% to 90.2%", "──●──", "refund", "2", "×", "1"])],
        );
        assert_eq!(
            page.finish(),
            "refund\n    score 0.75, interval of the pass\n    rate 60.1% to 90.2%, weight 2 ×\n    value 1\n"
        );
    }
}
