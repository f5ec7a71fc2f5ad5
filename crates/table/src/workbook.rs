//! Reads a sheet of a spreadsheet.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use assize_diagnostic::cell_name;
use assize_files::{MAX_FILE_BYTES, read_bytes};
use assize_limits::TABLE_COLUMNS;
use calamine::{Dimensions, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};

use crate::archive::{check_parts, damaged, too_large};
use crate::cell_text::cell_text;
use crate::size_limits::SizeLimits;
use crate::{Sheet, SheetPath, SheetRow, TableError, TableKind};

/// Number of rows and columns of the largest sheet that the format allows.
const MAX_ROWS: u32 = 1 << 20;
const MAX_COLUMNS: u32 = 1 << 14;

/// Cells with content by row and column, both from 0.
type SparseRows = BTreeMap<u32, BTreeMap<u32, String>>;

/// Reads a sheet of a spreadsheet; see [`crate::read_sheet`].
pub(crate) fn read_workbook(path: &SheetPath) -> Result<Sheet, TableError> {
    let bytes = read_bytes(&path.file, MAX_FILE_BYTES)?;
    let limits = SizeLimits::of_file(bytes.len());
    check_parts(&bytes, limits)?;

    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|error| book_error(&error))?;
    let (name, others) = choose_sheet(&book, path.sheet.as_deref())?;
    let merged = book.merge_cells_by_sheet_name(&name).map_err(|error| book_error(&error))?;
    let mut problems = Vec::new();
    let (mut rows, size) = read_cells(&mut book, &name, limits, &mut problems)?;
    fill_merged_cells(&mut rows, &merged, &name, (limits, size), &mut problems)?;
    if !problems.is_empty() {
        return Err(TableError::Cells(problems));
    }

    let columns: BTreeSet<u32> = rows.values().flat_map(|cells| cells.keys().copied()).collect();
    if columns.len() > TABLE_COLUMNS {
        return Err(too_large(&format!("the sheet has more than {TABLE_COLUMNS} columns")));
    }
    if rows.len().saturating_mul(columns.len()) > limits.cells {
        return Err(too_large(&limits.more_cells("the sheet")));
    }
    let mut rows = rows.into_iter().map(|(row, mut cells)| SheetRow {
        number: row as usize + 1,
        cells: columns.iter().map(|column| cells.remove(column).unwrap_or_default()).collect(),
        nulls: Vec::new(),
    });
    let header = rows.next();

    Ok(Sheet {
        kind: TableKind::Spreadsheet,
        faults: Vec::new(),
        name,
        others,
        header,
        rows: rows.collect(),
        columns: columns.iter().map(|at| at + 1).collect(),
    })
}

/// Returns the name of the requested sheet, and the names of the other visible sheets.
fn choose_sheet(
    book: &Xlsx<Cursor<Vec<u8>>>,
    wanted: Option<&str>,
) -> Result<(String, Vec<String>), TableError> {
    let sheets = book.sheets_metadata();
    let tables = || sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    if tables().next().is_none() {
        return Err(TableError::refused("it has no sheets", "write it again with the program that made it"));
    }

    let visible = || tables().filter(|sheet| sheet.visible == SheetVisible::Visible);
    let found = match wanted {
        None => visible().next(),
        Some(wanted) => tables()
            .find(|sheet| sheet.name == wanted)
            .or_else(|| tables().find(|sheet| sheet.name.to_lowercase() == wanted.to_lowercase()))
            .or_else(|| tables().nth(wanted.parse::<usize>().ok()?.checked_sub(1)?)),
    };
    let found = found.ok_or_else(|| TableError::NoSheet {
        name: wanted.unwrap_or("1").to_owned(),
        sheets: tables().map(|sheet| sheet.name.clone()).collect(),
    })?;
    let others = visible().filter(|sheet| sheet.name != found.name).map(|sheet| sheet.name.clone());

    Ok((found.name.clone(), others.collect()))
}

/// Returns the cells with content, and the bytes of their texts.
fn read_cells(
    book: &mut Xlsx<Cursor<Vec<u8>>>,
    name: &str,
    limits: SizeLimits,
    problems: &mut Vec<(String, String)>,
) -> Result<(SparseRows, usize), TableError> {
    let mut rows = SparseRows::new();
    let (mut count, mut bytes) = (0usize, 0usize);
    let mut reader = book.worksheet_cells_reader(name).map_err(|error| book_error(&error))?;
    while let Some(cell) = reader.next_cell_with_formula_metadata().map_err(|error| book_error(&error))? {
        let (row, column) = cell.pos;
        if row >= MAX_ROWS || column >= MAX_COLUMNS {
            return Err(damaged(&format!(
                "a cell is in row {}, column {}",
                u64::from(row) + 1,
                u64::from(column) + 1
            )));
        }
        match cell_text(cell.value, cell.formula.is_some()) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                count += 1;
                bytes += text.len();
                if count > limits.cells {
                    return Err(too_large(&limits.more_cells("the sheet")));
                }
                if bytes > limits.bytes {
                    return Err(too_large(&limits.larger("the texts of the sheet")));
                }
                rows.entry(row).or_default().insert(column, text);
            }
            Err(what) => problems.push((cell_name(name, row as usize + 1, column + 1), what)),
        }
    }

    Ok((rows, bytes))
}

/// Copies the content of the first of vertically merged cells to the others, in rows that have any other
/// content. `size` is what the texts take before.
fn fill_merged_cells(
    rows: &mut SparseRows,
    merged: &[Dimensions],
    name: &str,
    (limits, size): (SizeLimits, usize),
    problems: &mut Vec<(String, String)>,
) -> Result<(), TableError> {
    let Some(header) = rows.keys().next().copied() else { return Ok(()) };
    let mut filled = size;
    for Dimensions { start: (first, column), end: (last, _) } in merged {
        if last <= first {
            continue;
        }
        let Some(text) = rows.get(first).and_then(|cells| cells.get(column)).cloned() else { continue };
        if *first == header {
            problems.push((
                cell_name(name, *first as usize + 1, column + 1),
                format!("the name of the column is merged with cells down to row {}", last + 1),
            ));
            continue;
        }

        for (_, cells) in rows.range_mut(first + 1..=*last) {
            filled += text.len() + 1;
            if filled > limits.bytes {
                return Err(too_large(&limits.larger("its merged cells")));
            }
            cells.insert(*column, text.clone());
        }
    }

    Ok(())
}

fn book_error(error: &XlsxError) -> TableError {
    match error {
        XlsxError::Password => TableError::refused("it has a password", "save it without a password"),
        error => damaged(error),
    }
}
