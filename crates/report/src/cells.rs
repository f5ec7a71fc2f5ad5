//! Characters with their display width, and line breaking.

use crate::style::ReportTone;

/// A character with its tone and display width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportCell {
    pub(crate) character: char,
    pub(crate) tone: ReportTone,
    pub(crate) width: usize,
}

/// A space at which a line is broken only if nothing else fits.
pub(crate) const KEPT_SPACE: char = '\u{a0}';

pub(crate) const SPACE: ReportCell = ReportCell { character: ' ', tone: ReportTone::Plain, width: 1 };

/// Returns the display width of cells.
pub(crate) fn display_width(cells: &[ReportCell]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

/// Returns `count` blank cells.
pub(crate) fn spaces(count: usize) -> Vec<ReportCell> {
    vec![SPACE; count]
}

/// Wraps cells into lines of at most `columns`, breaking at spaces and between wide characters; a longer word
/// is broken at the end of the line.
pub(crate) fn wrap_cells(cells: &[ReportCell], columns: usize) -> Vec<&[ReportCell]> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < cells.len() {
        if !lines.is_empty() && cells[start].character == ' ' {
            start += 1;
            continue;
        }

        let (mut used, mut end, mut opportunity, mut last_resort) = (0, start, None, None);
        while end < cells.len() {
            let cell = cells[end];

            // A space that no longer fits is dropped at the end of the line.
            if used + cell.width > columns && cell.character != ' ' && end > start {
                break;
            }

            used += cell.width;
            end += 1;

            if end < cells.len() && may_break(cells[end - 1], cells[end]) {
                opportunity = Some(end);
            }
            if cell.character == KEPT_SPACE {
                last_resort = Some(end);
            }
        }

        let stop = if end == cells.len() { end } else { opportunity.or(last_resort).unwrap_or(end) };
        lines.push(trim_end(&cells[start..stop]));

        start = stop;
    }

    lines
}

fn may_break(before: ReportCell, after: ReportCell) -> bool {
    if after.character == ' ' || after.width == 0 {
        return false;
    }

    let closes = matches!(
        after.character,
        '。' | '、'
            | '，'
            | '．'
            | '」'
            | '』'
            | '）'
            | '！'
            | '？'
            | '：'
            | '；'
            | '”'
            | '’'
            | ')'
            | ','
            | '.'
    );

    let opens = matches!(before.character, '「' | '『' | '（' | '“' | '‘' | '(');
    before.character == ' ' || ((before.width == 2 || after.width == 2) && !closes && !opens)
}

/// Returns the cells without trailing spaces.
pub(crate) fn trim_end(cells: &[ReportCell]) -> &[ReportCell] {
    let is_space = |cell: &ReportCell| [' ', KEPT_SPACE].contains(&cell.character);
    let end = cells.iter().rposition(|cell| !is_space(cell)).map_or(0, |last| last + 1);
    &cells[..end]
}

/// Returns the ASCII replacement of a non-ASCII sign.
pub(crate) fn ascii_replacement(character: char) -> Option<&'static str> {
    Some(match character {
        '✓' => "+",
        '•' => "*",
        '≈' => "~",
        '→' => "->",
        '✗' | '×' => "x",
        '·' | '−' | '–' | '─' | '━' => "-",
        '“' | '”' => "\"",
        '’' => "'",
        '…' => "...",
        '≥' => ">=",
        '⚠' => "!",
        _ => return None,
    })
}
