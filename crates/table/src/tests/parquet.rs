//! Parquet files as other programs write them, and damaged ones.
//!
//! `data/make.py` wrote the files.

use std::path::Path;

use crate::{Sheet, SheetPath, TableError, read_sheet};

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect("a file")
}

fn read(bytes: &[u8]) -> Result<Sheet, TableError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, bytes).expect("written");
    read_sheet(&SheetPath::parse(&path).expect("a table"))
}

fn texts(sheet: &Sheet) -> Vec<Vec<&str>> {
    sheet.header.iter().chain(&sheet.rows).map(|row| row.cells.iter().map(String::as_str).collect()).collect()
}

#[test]
fn values_of_every_type_are_texts() {
    for name in ["types-snappy.parquet", "types-zstd-v2.parquet", "types-gzip.parquet", "types-none.parquet"]
    {
        let sheet = read(&bytes_of(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            texts(&sheet),
            [
                vec![
                    "id", "answer", "n", "score", "small", "ok", "day", "at", "utc", "nano", "time", "price",
                    "tags", "meta", "raw"
                ],
                vec![
                    "007", "two\nlines, \"quoted\"", "9007199254740993", "0.25", "0.1", "true", "2026-05-01",
                    "2026-05-01T12:30:00", "2026-05-01T12:30:00.000500Z", "2026-05-01T12:30:00.000000001",
                    "12:30:00", "-0.05", "[\"a\",\"b\"]", "{\"k\":1,\"l\":[1.5,null]}", "text"
                ]
                .into_iter()
                .map(|text| if text.ends_with("500Z") { "2026-05-01T12:30:00.0005Z" } else { text })
                .collect(),
                vec!["b", "", "7", "3", "2", "false", "1969-12-31", "", "", "", "", "12.00", "[]", "", ""],
            ],
            "{name}"
        );
        assert_eq!(sheet.rows.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 2]);
    }
}

#[test]
fn files_of_polars_are_read() {
    let sheet = read(&bytes_of("polars.parquet")).unwrap();
    assert_eq!(
        texts(&sheet),
        [vec!["id", "answer", "scores"], vec!["a", "x", "[1,null]"], vec!["b", "ü", "[]"]]
    );
}

#[test]
fn what_is_not_read_is_named() {
    for (bytes, words) in [
        (bytes_of("brotli.parquet"), "column `a`: BROTLI"),
        (bytes_of("binary.parquet"), "row 2, column `a`: bytes that are not text"),
        (b"id,answer\n".to_vec(), "it is text"),
        (b"\xff\xfe".to_vec(), "not a Parquet file"),
        (b"PAR1".to_vec(), "damaged"),
        (Vec::new(), "not a Parquet file"),
    ] {
        let error = read(&bytes).unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(!error.help().is_empty());
    }
    let missing = SheetPath::parse(Path::new("nowhere/a.parquet")).unwrap();
    assert!(matches!(read_sheet(&missing), Err(TableError::Unreadable(_))));
    assert_eq!(SheetPath::parse(Path::new("a.parquet#2")), None, "it has no sheets");
}

#[test]
fn pages_that_decompress_without_end_are_refused() {
    let error = read(&bytes_of("bomb.parquet")).unwrap_err();
    assert!(
        error.to_string().contains("its pages are larger than 16 MiB, and more than 50 times the file"),
        "{error}"
    );
    let error = read(&bytes_of("long.parquet")).unwrap_err();
    assert!(error.to_string().contains("too large: it has more than 1000000 "), "{error}");
}

#[test]
fn damaged_files_are_refused_or_read_as_far_as_they_are_sound() {
    for name in ["types-snappy.parquet", "types-zstd-v2.parquet", "polars.parquet"] {
        let whole = bytes_of(name);
        let sound = read(&whole).unwrap();
        for cut in (0..whole.len()).step_by(7) {
            let error = read(&whole[..cut]).expect_err("the end describes the file");
            assert!(matches!(error, TableError::Refused { .. }), "{name} cut at {cut}: {error}");
        }
        let (mut refused, mut same) = (0, 0);
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            match read(&changed) {
                Err(TableError::Refused { what, .. }) => {
                    assert!(!what.is_empty() && what.len() < 4000, "{name} at {at}: {what}");
                    refused += 1;
                }
                Err(other) => panic!("{name} at {at}: {other}"),
                // The byte may not matter, or may be part of a text. But no row gets lost, and each has all its
                // cells.
                Ok(sheet) => {
                    assert_eq!(sheet.rows.len(), sound.rows.len(), "{name} at {at}");
                    assert!(
                        sheet.rows.iter().all(|row| row.cells.len() == sheet.columns.len()),
                        "{name} at {at}"
                    );
                    same += usize::from(sheet == sound);
                }
            }
        }
        assert!(refused > whole.len() / 10 && same > 0, "{name}: {refused} refused, {same} as before");
    }
}
