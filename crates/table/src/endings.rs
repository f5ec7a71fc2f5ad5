//! File extensions of tables.

use std::path::Path;

use crate::SheetPath;

/// Extensions of files that are tables, in lower case: text files, spreadsheets and Parquet.
pub const TABLE_ENDINGS: [&str; 6] = ["csv", "tsv", "tab", "xlsx", "xlsm", "parquet"];

/// Returns true if a path has the extension of a table. The path of a spreadsheet may name a sheet.
pub fn is_table(path: &Path) -> bool {
    SheetPath::parse(path).is_some()
        || path
            .extension()
            .is_some_and(|ending| TABLE_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Returns true if a path has the extension of a table with tabs between its cells.
pub fn is_tabbed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("tsv") || ending.eq_ignore_ascii_case("tab"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_tables() {
        for path in ["a.csv", "in.d/A.TSV", "a.tab", "a.xlsx", "a.xlsm#Round 2.1", "a.XLSX", "a.parquet"] {
            assert!(is_table(Path::new(path)), "{path}");
        }
        for path in ["a", "csv", ".csv", "a.csv#1", "a.xls", "a.jsonl", "a.csv.gz"] {
            assert!(!is_table(Path::new(path)), "{path}");
        }
        // All of them can be read.
        for ending in TABLE_ENDINGS.iter().filter(|ending| !["csv", "tsv", "tab"].contains(ending)) {
            assert!(SheetPath::parse(Path::new(&format!("a.{ending}"))).is_some(), "{ending}");
        }
    }
}
