//! Spreadsheets as other programs write them, and invalid ones.

use std::path::Path;

use crate::{Sheet, SheetPath, TableError, read_sheet};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, Worksheet};

/// Writes a workbook with a single sheet.
fn book(write: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut book = Workbook::new();
    write(book.add_worksheet().set_name("Answers").expect("a name"));
    book.save_to_buffer().expect("a book")
}

fn read_as(name: &str, bytes: &[u8]) -> Result<Sheet, TableError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = SheetPath::parse(&folder.path().join(name)).expect("a spreadsheet");
    std::fs::write(&path.file, bytes).expect("written");
    read_sheet(&path)
}

fn read(bytes: &[u8]) -> Result<Sheet, TableError> {
    read_as("a.xlsx", bytes)
}

/// Returns the header, and the rows with their numbers.
fn texts(sheet: &Sheet) -> (Vec<&str>, Vec<(usize, Vec<&str>)>) {
    (
        sheet.header.as_ref().map(|row| row.cells.iter().map(String::as_str).collect()).unwrap_or_default(),
        sheet.rows.iter().map(|row| (row.number, row.cells.iter().map(String::as_str).collect())).collect(),
    )
}

fn write_rows(sheet: &mut Worksheet, rows: &[&[&str]]) {
    for (row, cells) in rows.iter().enumerate() {
        for (column, text) in cells.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            sheet.write_string(row as u32, column as u16, *text).expect("a cell");
        }
    }
}

#[test]
fn cells_are_texts_and_nothing_is_renumbered() {
    let bytes = book(|sheet| {
        // Real tables have rows and columns without content around them.
        sheet.write_row(2, 1, ["id", "answer"]).unwrap();
        sheet.write_row(2, 4, ["when", "n"]).unwrap();
        sheet.write_string(3, 1, "007").unwrap();
        sheet.write_string(3, 2, "two\nlines, \"quoted\"").unwrap();
        let day = ExcelDateTime::from_ymd(2026, 5, 1).unwrap();
        sheet.write_datetime_with_format(3, 4, &day, &Format::new().set_num_format("yyyy-mm-dd")).unwrap();
        sheet.write_number(3, 5, 7).unwrap();
        sheet.write_number(5, 1, 8).unwrap();
        sheet.write_formula(5, 2, Formula::new("=\"a\"&\"b\"").set_result("ab")).unwrap();
        sheet.write_boolean(5, 5, true).unwrap();
        sheet.write_string(7, 2, "  ").unwrap();
    });
    let sheet = read(&bytes).unwrap();
    assert_eq!((sheet.name.as_str(), sheet.columns.as_slice()), ("Answers", &[2, 3, 5, 6][..]));
    let (header, rows) = texts(&sheet);
    assert_eq!(header, ["id", "answer", "when", "n"]);
    assert_eq!(
        rows,
        [(4, vec!["007", "two\nlines, \"quoted\"", "2026-05-01", "7"]), (6, vec!["8", "ab", "", "true"]),]
    );
}

#[test]
fn a_sheet_is_chosen_by_name_or_number() {
    let mut book = Workbook::new();
    for (name, is_hidden) in [("Notes", true), ("Round 1", false), ("Round 2", false), ("1", false)] {
        let sheet = book.add_worksheet().set_name(name).unwrap();
        // The first sheet can't be hidden while it is the active one.
        sheet.set_hidden(is_hidden).set_active(name == "Round 1");
        sheet.write_string(0, 0, name).unwrap();
    }
    let bytes = book.save_to_buffer().unwrap();
    for (path, name) in [
        ("a.xlsx", "Round 1"),
        ("a.xlsx#Round 2", "Round 2"),
        ("a.xlsx#round 2", "Round 2"),
        ("a.xlsx#Notes", "Notes"),
        ("a.xlsx#3", "Round 2"),
        ("a.xlsx#1", "1"),
    ] {
        let sheet = read_as(path, &bytes).unwrap();
        assert_eq!((sheet.name.as_str(), sheet.header.unwrap().cells[0].as_str()), (name, name), "{path}");
    }
    assert_eq!(read_as("a.xlsx", &bytes).unwrap().others, ["Round 2", "1"]);

    let error = read_as("a.xlsx#Round 3", &bytes).unwrap_err();
    assert!(error.to_string().contains("no sheet `Round 3`; there are `Notes`, `Round 1`"), "{error}");
    assert!(matches!(read_as("a.xlsx#0", &bytes), Err(TableError::NoSheet { .. })));
}

#[test]
fn cells_without_a_value_are_named_all_at_once() {
    let bytes = book(|sheet| {
        write_rows(sheet, &[&["id", "answer"], &["a"], &["b"]]);
        sheet.write_formula(1, 1, Formula::new("=NA()").set_result("#N/A")).unwrap();
        sheet.write_formula(2, 27, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
    });
    let error = read(&bytes).unwrap_err().to_string();
    for part in ["Answers!B2: the value is an error, #N/A", "Answers!AB3: the value is an error, #DIV/0!"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn cells_merged_downwards_have_one_content() {
    let merged = Format::new();
    let bytes = book(|sheet| {
        write_rows(sheet, &[&["question", "answer", "note"], &["", "x"], &["", "y"], &["other", "z"]]);
        sheet.merge_range(1, 0, 2, 0, "What?", &merged).unwrap();
        // Merged horizontally: the second cell has no content.
        sheet.merge_range(3, 1, 3, 2, "z", &merged).unwrap();
    });
    let sheet = read(&bytes).unwrap();
    let (_, rows) = texts(&sheet);
    assert_eq!(rows, [(2, vec!["What?", "x", ""]), (3, vec!["What?", "y", ""]), (4, vec!["other", "z", ""])]);

    let bytes = book(|sheet| {
        write_rows(sheet, &[&["", "answer"], &["", "x"]]);
        sheet.merge_range(0, 0, 1, 0, "id", &merged).unwrap();
    });
    let error = read(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("Answers!A1: the name of the column is merged with cells down to row 2"),
        "{error}"
    );
}

#[test]
fn files_that_are_no_spreadsheets_say_what_they_are() {
    for (bytes, words) in [
        (b"id,answer\n1,x\n".as_slice(), "it is text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more", "older format, or has a password"),
        (b"\xff\xfe\x00", "not an .xlsx file"),
        (b"", "not an .xlsx file"),
        (b"PK\x03\x04 and nothing", "damaged"),
    ] {
        let error = read(bytes).unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(!error.help().is_empty());
    }
    let missing = SheetPath::parse(Path::new("nowhere/a.xlsx")).unwrap();
    assert!(matches!(read_sheet(&missing), Err(TableError::Unreadable(_))));
    // A sheet without content is not an error here.
    let empty = read(&book(|_| {})).unwrap();
    assert_eq!((empty.header, empty.rows.len()), (None, 0));
}

/// Returns a workbook whose sheet is the given XML.
fn raw_book(sheet: &str) -> Vec<u8> {
    use std::io::{Read as _, Write as _};

    let whole = book(|sheet| write_rows(sheet, &[&["a"]]));
    let mut from = zip::ZipArchive::new(std::io::Cursor::new(whole)).expect("a book");
    let mut to = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut part = from.by_index(index).expect("a book");
        let name = part.name().expect("a book").into_owned();
        let mut content = String::new();
        part.read_to_string(&mut content).expect("a book");
        if name == "xl/worksheets/sheet1.xml" {
            sheet.clone_into(&mut content);
        }
        to.start_file(name, zip::write::SimpleFileOptions::default()).expect("a book");
        to.write_all(content.as_bytes()).expect("a book");
    }
    to.finish().expect("a book").into_inner()
}

fn sheet_xml(rows: &str) -> String {
    format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{rows}</sheetData></worksheet>"
    )
}

#[test]
fn a_formula_that_was_never_computed_is_no_empty_cell() {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>answer</t></is></c></row>\
                <row r=\"2\"><c r=\"A2\"><f>A1</f><v></v></c></row><row r=\"3\"><c r=\"A3\"><f>A1</f></c></row>";
    let error = read(&raw_book(&sheet_xml(rows))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("Answers!A2: the formula has no result; Answers!A3"), "{text}");
    assert!(error.help().contains("opened and saved"), "{}", error.help());
}

#[test]
fn a_cell_far_away_takes_no_memory() {
    let rows = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>";
    let sheet = read(&raw_book(&sheet_xml(rows))).unwrap();
    assert_eq!(sheet.columns, [1, 16_384]);
    assert_eq!(texts(&sheet).1, [(1_048_576, vec!["", "2"])]);
}

#[test]
fn damaged_files_are_refused_and_never_crash() {
    let whole = book(|sheet| write_rows(sheet, &[&["id", "answer"], &["a", "x"], &["b", "y"]]));
    let plain = raw_book(&sheet_xml("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c></row>"));
    for bytes in [&whole, &plain] {
        let sound = read(bytes).unwrap();
        for cut in (0..bytes.len()).step_by(97) {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in (0..bytes.len()).step_by(13) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            // The byte may not matter, or may be part of a text. If the file can still be read, it has the rows
            // of the original.
            match read(&changed) {
                Ok(sheet) => assert_eq!(sheet.rows.len(), sound.rows.len(), "changed at {at}"),
                Err(TableError::Refused { what, .. }) => assert!(!what.is_empty(), "changed at {at}"),
                Err(TableError::Cells(cells)) => assert!(!cells.is_empty(), "changed at {at}"),
                Err(other) => panic!("changed at {at}: {other}"),
            }
        }
    }
    for rows in [
        "<row r=\"0\"><c r=\"A0\"><v>1</v></c></row>",
        "<row r=\"1\"><c r=\"ZZZZZZZ1\"><v>1</v></c></row>",
        "<row r=\"99999999999999\"><c><v>1</v></c></row>",
        "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>5</v></c></row>",
        "<row r=\"1\"><c r=\"A1\" t=\"n\"><v>x</v></c></row>",
        "<row r=\"1\"><c r=\"A1\"",
    ] {
        let found = read(&raw_book(&sheet_xml(rows)));
        assert!(matches!(found, Err(TableError::Refused { .. })), "{rows}: {found:?}");
    }
}

#[test]
fn a_workbook_that_decompresses_without_end_is_refused() {
    let bytes = book(|sheet| {
        sheet.write_string(0, 0, "answer").expect("a cell");
        for row in 1..1_500 {
            sheet.write_string(row, 0, format!("{row}{}", "x".repeat(30_000))).expect("a cell");
        }
    });
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let error = read(&bytes).unwrap_err().to_string();
    assert!(error.contains("its parts are larger than 16 MiB, and more than 50 times the file"), "{error}");
}
