//! Columns of cells.

use crate::cells::{spaces, width};
use crate::page::{Page, Piece};
use crate::style::Tone;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    right: bool,
    shrinks: bool,
    sign: bool,
}

impl Column {
    /// Text, ranged left.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self { title, right: false, shrinks: false, sign: false }
    }

    /// Numbers, ranged right.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self { title, right: true, shrinks: false, sign: false }
    }

    /// Text that is cut when the page is too narrow.
    pub(crate) const fn shrinking(title: &'static str) -> Self {
        Self { title, right: false, shrinks: true, sign: false }
    }

    /// An operator between two columns, with one space on either side instead of two.
    pub(crate) const fn sign() -> Self {
        Self { title: "", right: false, shrinks: false, sign: true }
    }
}

/// Narrowest a shrinking column gets.
const NARROWEST: usize = 8;

/// Sets rows under their titles; columns in which nothing stands are left out.
pub(crate) fn table(page: &mut Page, indent: usize, columns: &[Column], rows: &[Vec<Piece>]) {
    let titles: Vec<Piece> = columns.iter().map(|column| Piece::new(Tone::Dim, column.title)).collect();
    let rows: Vec<Vec<_>> = std::iter::once(&titles)
        .chain(rows)
        .map(|row| row.iter().map(|piece| page.cells(std::slice::from_ref(piece))).collect())
        .collect();
    let mut widths: Vec<usize> = (0..columns.len())
        .map(|index| {
            let cells = |row: &Vec<Vec<_>>| row.get(index).map_or(0, |cells| width(cells));
            if rows.iter().skip(1).all(|row| cells(row) == 0) {
                0
            } else {
                rows.iter().map(cells).max().unwrap_or(0)
            }
        })
        .collect();
    let shown: Vec<usize> = (0..columns.len()).filter(|&index| widths[index] > 0).collect();
    let gap = |before: usize, after: usize| if columns[before].sign || columns[after].sign { 1 } else { 2 };
    let gaps: usize = shown.windows(2).map(|pair| gap(pair[0], pair[1])).sum();
    let mut excess = (indent + gaps + widths.iter().sum::<usize>()).saturating_sub(page.columns());
    // Space is taken from the widest shrinking column first, so that none is squeezed needlessly.
    while excess > 0 {
        let widest = (0..columns.len())
            .filter(|&index| columns[index].shrinks && widths[index] > NARROWEST)
            .max_by_key(|&index| widths[index]);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;
        excess -= 1;
    }
    for row in rows {
        let mut line = spaces(indent);
        let mut before = None;
        for (index, cells) in row.into_iter().enumerate() {
            let Some(&wide) = widths.get(index).filter(|wide| **wide > 0) else { continue };
            line.extend(spaces(before.map_or(0, |before| gap(before, index))));
            before = Some(index);
            let cells = page.fit(cells, wide);
            let room = spaces(wide.saturating_sub(width(&cells)));
            if columns[index].right {
                line.extend(room);
                line.extend(cells);
            } else {
                line.extend(cells);
                line.extend(room);
            }
        }
        // Only where even the narrowest columns are too wide for the page.
        let line = page.fit(line, page.columns());
        page.push(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    #[test]
    fn columns_line_up_and_only_the_shrinking_one_is_cut() {
        let mut page = Page::new(Style { color: false, width: 40, unicode: true });
        let columns = [Column::shrinking("name"), Column::left("nothing"), Column::right("n")];
        let row = |name: &str, n: &str| vec![Piece::plain(name), Piece::plain(""), Piece::plain(n)];
        table(&mut page, 2, &columns, &[row(&"漢".repeat(30), "1"), row("b", "20")]);
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  name{} n", " ".repeat(32)));
        assert_eq!(lines[1], format!("  {}…    1", "漢".repeat(16)));
        assert_eq!(lines[2], format!("  b{}20", " ".repeat(35)));
    }
}
