//! Tables with columns.

use crate::cells::{display_width, spaces};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportColumn {
    title: &'static str,
    right: bool,
    shrinks: bool,
    sign: bool,
}

impl ReportColumn {
    /// Creates a left-aligned column of text.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self { title, right: false, shrinks: false, sign: false }
    }

    /// Creates a right-aligned column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self { title, right: true, shrinks: false, sign: false }
    }

    /// Creates a column of text that is cut if the page is too narrow.
    pub(crate) const fn shrinking(title: &'static str) -> Self {
        Self { title, right: false, shrinks: true, sign: false }
    }

    /// Creates an operator between two columns, with one space on either side instead of two.
    pub(crate) const fn sign() -> Self {
        Self { title: "", right: false, shrinks: false, sign: true }
    }
}

/// Minimum width of a shrinking column.
const MIN_WIDTH: usize = 8;

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
    let titles: Vec<ReportPiece> =
        columns.iter().map(|column| ReportPiece::new(ReportTone::Dim, column.title)).collect();
    let mut widths = vec![0; columns.len()];
    for at in 0..count {
        for (wide, piece) in widths.iter_mut().zip(row(at).as_ref()) {
            *wide = page.width(piece).max(*wide);
        }
    }

    for (wide, title) in widths.iter_mut().zip(&titles).filter(|(wide, _)| **wide > 0) {
        *wide = page.width(title).max(*wide);
    }

    let shown: Vec<usize> = (0..columns.len()).filter(|&index| widths[index] > 0).collect();
    let gap = |before: usize, after: usize| if columns[before].sign || columns[after].sign { 1 } else { 2 };
    let gaps: usize = shown.windows(2).map(|pair| gap(pair[0], pair[1])).sum();
    let mut excess = (indent + gaps + widths.iter().sum::<usize>()).saturating_sub(page.line_columns());

    // Space is taken from the widest shrinking column first, so that none is narrowed needlessly.
    while excess > 0 {
        let widest = (0..columns.len())
            .filter(|&index| columns[index].shrinks && widths[index] > MIN_WIDTH)
            .max_by_key(|&index| widths[index]);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;

        excess -= 1;
    }

    let mut put = |row: &[ReportPiece]| {
        let mut line = spaces(indent);
        let mut before = None;
        for (index, piece) in row.iter().enumerate() {
            let Some(&wide) = widths.get(index).filter(|wide| **wide > 0) else { continue };
            line.extend(spaces(before.map_or(0, |before| gap(before, index))));
            before = Some(index);

            let cells = page.truncate_cells(page.cells(std::slice::from_ref(piece)), wide);
            let room = spaces(wide.saturating_sub(display_width(&cells)));
            if columns[index].right {
                line.extend(room);
                line.extend(cells);
            } else {
                line.extend(cells);
                line.extend(room);
            }
        }

        // Only if even the narrowest columns are too wide for the page.
        let line = page.truncate_cells(line, page.line_columns());
        page.push_row(&line);
    };

    put(&titles);

    for at in 0..count {
        put(row(at).as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportStyle;

    #[test]
    fn nothing_is_cut_where_there_is_no_window() {
        let mut page =
            ReportPage::new(ReportStyle { color: false, width: ReportStyle::UNLIMITED, unicode: true });
        let columns = [ReportColumn::left("case"), ReportColumn::shrinking("why"), ReportColumn::right("n")];
        let long = format!("{}end", "word ".repeat(60));
        let row = ["c", &long, "12"].map(ReportPiece::plain).to_vec();
        render_table(&mut page, 2, &columns, &[row]);
        assert!(page.finish().contains(&format!("  c     {long}  12\n")));
    }

    #[test]
    fn columns_line_up_and_only_the_shrinking_one_is_cut() {
        let mut page = ReportPage::new(ReportStyle { color: false, width: 40, unicode: true });
        let columns =
            [ReportColumn::shrinking("name"), ReportColumn::left("nothing"), ReportColumn::right("n")];
        let row = |name: &str, n: &str| {
            vec![ReportPiece::plain(name), ReportPiece::plain(""), ReportPiece::plain(n)]
        };
        render_table(&mut page, 2, &columns, &[row(&"漢".repeat(30), "1"), row("b", "20")]);
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  name{} n", " ".repeat(32)));
        assert_eq!(lines[1], format!("  {}…    1", "漢".repeat(16)));
        assert_eq!(lines[2], format!("  b{}20", " ".repeat(35)));
    }
}
