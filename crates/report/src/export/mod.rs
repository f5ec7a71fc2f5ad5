//! Stored runs in the formats that other programs read.

mod annotations;
mod case_index;
mod code_quality;
mod criterion_finding;
mod csv_table;
mod inspect;
mod json_list;
mod junit;
mod otlp;
mod own_report;
mod report_error;
mod report_input;
mod run_conclusion;
mod run_markdown;
mod sarif;
mod skill_files;
mod xml;

use std::io::Write;
use std::path::Path;

pub(crate) use case_index::{CaseIndex, CaseState};
pub(crate) use criterion_finding::{CriterionFinding, FindingLevel, is_against};
pub use csv_table::spreadsheet_text;
pub use inspect::inspect_log_name;
pub use otlp::EventOrigin;
pub use own_report::{JSON_MARK, MARKDOWN_MARK, is_own_report};
pub use report_error::ReportError;
pub(crate) use report_input::stored_question;
pub use report_input::{ComparisonMaterial, CriterionName, CriterionPosition, RunReport, ScorecardMaterial};
pub(crate) use run_conclusion::ReportedConclusion;
pub use skill_files::write_skill_files;

use crate::html;

/// Format of a report that is written from stored rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A single HTML file that needs no network.
    Html,
    /// Markdown for a job summary or a comment.
    Markdown,
    /// JUnit XML, a test case for each case.
    Junit,
    /// CSV, a row for each criterion of a case.
    Csv,
    /// CSV, a row for each case.
    CsvCases,
    /// SARIF 2.1.0, a result for each failing criterion.
    Sarif,
    /// Annotations in the log of GitHub Actions.
    Github,
    /// Code quality report of GitLab.
    Gitlab,
    /// Log of Inspect.
    Inspect,
    /// OpenTelemetry log records, one request of OTLP on each line.
    Otlp,
    /// `benchmark.json` of an agent skill; [`write_skill_files`] writes the files of each eval as well.
    Skills,
}

assize_rubric::named_variants!(ExportFormat {
    Html = "html", Markdown = "markdown", Junit = "junit", Csv = "csv", CsvCases = "csv-cases", Sarif = "sarif",
    Github = "github", Gitlab = "gitlab", Inspect = "inspect", Otlp = "otlp",
    Skills = "skills",
});

impl ExportFormat {
    /// Returns the format for a file name: by its extension, and for CSV also by the word before it.
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (stem, ending) = name.rsplit_once('.')?;

        Some(match ending {
            _ if stem.is_empty() => return None,
            "html" | "htm" => Self::Html,
            "md" => Self::Markdown,
            "xml" => Self::Junit,
            "csv" if stem == "cases" => Self::CsvCases,
            "csv" if [".cases", "-cases", "_cases"].iter().any(|word| stem.ends_with(word)) => Self::CsvCases,
            "csv" => Self::Csv,
            "sarif" => Self::Sarif,
            _ => return None,
        })
    }
}

/// Writes runs in a format. Rows are read one at a time, in the order of the eval files. Returns remarks for
/// the user: omissions, and exceeded limits of the programs that read the format.
pub fn write_report(
    out: &mut dyn Write,
    format: ExportFormat,
    runs: &[RunReport<'_>],
) -> Result<Vec<String>, ReportError> {
    match format {
        ExportFormat::Html => html::write_page(out, runs),
        ExportFormat::Markdown => run_markdown::write_markdown(out, runs),
        ExportFormat::Junit => junit::write_junit(out, runs),
        ExportFormat::Csv => csv_table::write_criteria(out, runs),
        ExportFormat::CsvCases => csv_table::write_cases(out, runs),
        ExportFormat::Sarif => sarif::write_sarif(out, runs),
        ExportFormat::Github => annotations::write_annotations(out, runs),
        ExportFormat::Gitlab => code_quality::write_code_quality(out, runs),
        ExportFormat::Inspect => inspect::write_log(out, runs),
        ExportFormat::Otlp => otlp::write_events(out, runs),
        ExportFormat::Skills => skill_files::write_benchmark(out, runs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_its_format() {
        let format = |name: &str| ExportFormat::from_path(Path::new(name));
        for (name, expected) in [
            ("a/report.HTML", Some(ExportFormat::Html)),
            ("junit.xml", Some(ExportFormat::Junit)),
            ("run.csv", Some(ExportFormat::Csv)),
            ("cases.csv", Some(ExportFormat::CsvCases)),
            ("run-cases.csv", Some(ExportFormat::CsvCases)),
            ("usecases.csv", Some(ExportFormat::Csv)),
            ("summary.md", Some(ExportFormat::Markdown)),
            ("run.sarif", Some(ExportFormat::Sarif)),
            (".xml", None),
            ("xml", None),
            ("run.txt", None),
        ] {
            assert_eq!(format(name), expected, "{name}");
        }
    }
}
