//! Paths of tables that are not text files: spreadsheets, whose path may name a sheet, and Parquet files.

use std::fmt;
use std::path::{Path, PathBuf};

/// File extensions of spreadsheets, in lower case.
const SPREADSHEET_ENDINGS: [&str; 2] = ["xlsx", "xlsm"];

/// File extension of Parquet files, in lower case.
pub(crate) const PARQUET_ENDING: &str = "parquet";

/// Path of a spreadsheet, and the requested sheet, such as `answers.xlsx` or `answers.xlsx#Round 2`. A Parquet
/// file counts as a spreadsheet with a single sheet that has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetPath {
    /// Path of the file.
    pub file: PathBuf,
    /// Name of the sheet, or its number from 1. Without it, the first visible sheet.
    pub sheet: Option<String>,
}

impl SheetPath {
    /// Returns the parts of a path. `None` if its extension is neither that of a spreadsheet nor that of a
    /// Parquet file.
    pub fn parse(path: &Path) -> Option<Self> {
        let text = path.to_string_lossy();
        // The name of a sheet can't contain a slash, so the last one ends the folder.
        let name_start = text.rfind(std::path::is_separator).map_or(0, |at| at + 1);
        let name = text[name_start..].to_ascii_lowercase();
        if has_ending(&name, PARQUET_ENDING)
            || SPREADSHEET_ENDINGS.iter().any(|ending| has_ending(&name, ending))
        {
            return Some(Self { file: path.to_path_buf(), sheet: None });
        }

        let end = SPREADSHEET_ENDINGS.iter().filter_map(|ending| {
            let marks = name.match_indices('#').map(|(at, _)| at);
            marks.into_iter().find(|at| has_ending(&name[..*at], ending))
        });
        let end = name_start + end.min()?;
        let sheet = text[end + 1..].trim();
        Some(Self { file: PathBuf::from(&text[..end]), sheet: (!sheet.is_empty()).then(|| sheet.to_owned()) })
    }
}

/// Returns true if a name ends with `.ending` and has something before that.
fn has_ending(name: &str, ending: &str) -> bool {
    name.strip_suffix(ending).and_then(|rest| rest.strip_suffix('.')).is_some_and(|stem| !stem.is_empty())
}

impl fmt::Display for SheetPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match &self.sheet {
            Some(sheet) => write!(f, "#{sheet}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_name_a_sheet() {
        for (text, expected) in [
            ("a.xlsx", Some(("a.xlsx", None))),
            ("in.d/A.XLSM", Some(("in.d/A.XLSM", None))),
            ("a.xlsx#Round 2.1", Some(("a.xlsx", Some("Round 2.1")))),
            ("a.xlsx#", Some(("a.xlsx", None))),
            ("b#1/a#b.xlsx#2", Some(("b#1/a#b.xlsx", Some("2")))),
            ("a#b.xlsx", Some(("a#b.xlsx", None))),
            ("x.xlsx/a.csv", None),
            ("in/a.Parquet", Some(("in/a.Parquet", None))),
            ("a.parquet#2", None),
            ("a.xls", None),
            (".xlsx", None),
            ("a.csv#b", None),
        ] {
            let found = SheetPath::parse(Path::new(text));
            let found = found.as_ref().map(|path| (path.file.to_str().expect("text"), path.sheet.as_deref()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
