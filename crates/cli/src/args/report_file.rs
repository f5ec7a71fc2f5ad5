//! Report files, which `--out` names.

use std::path::{Path, PathBuf};

use assize_report::{ExportFormat, MatrixForm};

/// A report file and its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFile {
    /// Path of the file.
    pub(crate) path: PathBuf,
    /// Format to write.
    pub(crate) format: ReportFormat,
}

/// Format of a report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// JSON, as `--json` prints it.
    Json,
    /// A format that is written from the rows of a run.
    Export(ExportFormat),
    /// The runs side by side.
    Matrix(MatrixForm),
}

impl ReportFormat {
    /// Name of JSON among the names of [`ExportFormat`].
    const JSON: &str = "json";
    /// Name of the table with runs side by side.
    const MATRIX: &str = "matrix";

    /// This format for a file: the table with runs side by side is Markdown unless the ending names CSV or HTML.
    pub(super) fn for_file(self, path: &Path) -> Result<Self, String> {
        if !matches!(self, Self::Matrix(_)) {
            return Ok(self);
        }
        match ExportFormat::from_path(path) {
            Some(ExportFormat::Markdown) => Ok(Self::Matrix(MatrixForm::Markdown)),
            Some(ExportFormat::Csv | ExportFormat::CsvCases) => Ok(Self::Matrix(MatrixForm::Csv)),
            Some(ExportFormat::Html) => Ok(Self::Matrix(MatrixForm::Html)),
            _ => {
                Err(format!("`{}`: the matrix is written to FILE.md, FILE.csv or FILE.html", path.display()))
            }
        }
    }

    fn from_path(path: &Path) -> Option<Self> {
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(Self::JSON))
            && path.file_stem().is_some();
        if is_json { Some(Self::Json) } else { ExportFormat::from_path(path).map(Self::Export) }
    }

    /// The words for all formats, for messages.
    pub(super) fn names() -> Vec<&'static str> {
        ExportFormat::NAMES.into_iter().chain([Self::JSON, Self::MATRIX]).collect()
    }
}

/// File names of run reports, for messages.
const RUN_REPORTS: &str = "FILE.html, FILE.md, FILE.xml (JUnit), FILE.csv (one row per criterion), FILE-cases.csv (one row per case), \
    FILE.sarif or FILE.json (as `--json`)";

/// Parses the path of a report of a run that the command creates.
pub(super) fn report_file(text: &str) -> Result<ReportFile, String> {
    parse(text, |_| true, &format!("{RUN_REPORTS}; the folder of a run is named by `--run-dir`"))
}

/// Parses the path of a report of a stored run.
pub(super) fn stored_report_file(text: &str) -> Result<ReportFile, String> {
    parse(text, |_| true, &format!("{RUN_REPORTS}; or name the format with `--format`"))
}

/// Parses the path of a report of a comparison.
pub(super) fn comparison_file(text: &str) -> Result<ReportFile, String> {
    let takes = |format| {
        matches!(
            format,
            ReportFormat::Json | ReportFormat::Export(ExportFormat::Html | ExportFormat::Markdown)
        )
    };
    parse(text, takes, "FILE.html, FILE.md or FILE.json (as `--json`)")
}

/// Parses the path of a report of a scored scorecard.
pub(super) fn scorecard_file(text: &str) -> Result<ReportFile, String> {
    let takes = |format| matches!(format, ReportFormat::Json | ReportFormat::Export(ExportFormat::Markdown));
    parse(
        text,
        takes,
        "FILE.md or FILE.json (as `--json`); `assize report` writes other formats of a stored run",
    )
}

/// Parses the name of a format.
pub(super) fn report_format(text: &str) -> Result<ReportFormat, String> {
    if text == ReportFormat::JSON {
        return Ok(ReportFormat::Json);
    }
    if text == ReportFormat::MATRIX {
        return Ok(ReportFormat::Matrix(MatrixForm::Markdown));
    }

    let found = ExportFormat::from_name(text).map(ReportFormat::Export);
    found.ok_or_else(|| format!("expected one of {}", ReportFormat::names().join(", ")))
}

fn parse(text: &str, takes: impl Fn(ReportFormat) -> bool, known: &str) -> Result<ReportFile, String> {
    let path = Path::new(text);
    let format = ReportFormat::from_path(path)
        .filter(|format| takes(*format))
        .ok_or_else(|| format!("a report is written to {known}"))?;
    // Check this now, not after a run.
    if let Some(file) = path.ancestors().skip(1).find(|folder| folder.is_file()) {
        return Err(format!("`{}` is a file, not a folder to write to", file.display()));
    }

    Ok(ReportFile { path: path.to_path_buf(), format })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_names_the_format() {
        let file = |path: &str| report_file(path).map(|file| (file.path, file.format));
        assert_eq!(file("out/a.JSON"), Ok((PathBuf::from("out/a.JSON"), ReportFormat::Json)));
        assert_eq!(file("a.html"), Ok((PathBuf::from("a.html"), ReportFormat::Export(ExportFormat::Html))));
        for wrong in ["report.pdf", "runs/today", "json", ".json", "results.jsonl"] {
            assert!(file(wrong).unwrap_err().contains("FILE.json"), "{wrong}");
        }
    }

    #[test]
    fn the_ending_says_how_the_matrix_is_written() {
        let form = |path: &str| ReportFormat::Matrix(MatrixForm::Markdown).for_file(Path::new(path));
        assert_eq!(form("a.csv"), Ok(ReportFormat::Matrix(MatrixForm::Csv)));
        assert_eq!(form("a.md"), Ok(ReportFormat::Matrix(MatrixForm::Markdown)));
        assert_eq!(form("a.html"), Ok(ReportFormat::Matrix(MatrixForm::Html)));
        assert!(form("a.xml").unwrap_err().contains("FILE.csv"));
        let other = ReportFormat::Export(ExportFormat::Junit);
        assert_eq!(other.for_file(Path::new("a.csv")), Ok(other));
    }

    #[test]
    fn a_comparison_has_no_rows() {
        assert!(comparison_file("a.md").is_ok() && comparison_file("a.xml").is_err());
        assert!(scorecard_file("a.md").is_ok() && scorecard_file("a.html").is_err());
    }

    #[test]
    fn every_format_has_a_word() {
        for name in ReportFormat::names() {
            assert!(report_format(name).is_ok(), "{name}");
        }
        assert!(report_format("pdf").unwrap_err().contains("junit"));
    }
}
