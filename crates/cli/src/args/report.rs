//! `assize report`.

use std::path::PathBuf;

use super::LabelArgs;
use super::replace::{NamedReports, ReplaceArgs};
use super::report_file::{ReportFile, ReportFormat, report_format, stored_report_file};

/// Formats of reports, by name and ending.
const FORMATS: &str = "The ending of a file names its format; `--format` names those that share an ending.\n\n  \
    html       .html       One page with charts and cases, usable offline\n  \
    markdown   .md         For a job summary or comment, 65,536 characters\n  \
    junit      .xml        JUnit, a test for each case\n  \
    csv        .csv        A row for each criterion of a case\n  \
    csv-cases  -cases.csv  A row for each case\n  \
    sarif      .sarif      A result for each failing criterion, at its line\n  \
    json       .json       Metrics, as `assize eval --json` prints them\n  \
    github                 Annotations in the log of GitHub Actions\n  \
    gitlab                 Code quality report of GitLab\n  \
    inspect                Log of Inspect\n  \
    skills                 Results of an agent skill: benchmark.json and more\n  \
    otlp                   OpenTelemetry events, one request on each line\n  \
    matrix                 Runs, prompts or targets side by side: Markdown, or .csv or .html";

/// Write stored runs in formats that people and other programs read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = format!("{FORMATS}\n\nExamples:\n  assize report -o report.html\n  \
    assize report last --format github"),
    after_long_help = format!("{FORMATS}\n\n\
    Examples:\n  \
    assize report -o report.html\n  \
    assize report last --baseline runs/main -o comment.md -o junit.xml\n  \
    assize report last@gpt-a last@gpt-b -o both-cases.csv\n  \
    assize report last --format gitlab -o gl-code-quality-report.json\n  \
    assize report last~1 last --format matrix -o side-by-side.html\n  \
    assize report with-skill without-skill --format skills -o iteration-1/\n  \
    assize report last --format github")
)]
pub(crate) struct ReportArgs {
    /// Runs: folders, ids, `last`, `last~N`; `RUN@NAME` for the answers of a target or to a prompt.
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) runs: Vec<String>,
    /// File to write [default: Markdown on stdout].
    ///
    /// Repeatable.
    #[arg(long, short = 'o', value_name = "FILE")]
    out: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
    /// Format of the file, or of stdout (listed below).
    #[arg(long, value_parser = report_format, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// Compare with this run.
    ///
    /// HTML and Markdown then say what changed, right after the result.
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}

impl ReportArgs {
    /// The report files to write; a folder gets files with names of their own.
    pub(super) fn reports(&self) -> NamedReports<'_> {
        NamedReports { files: self.out.iter().map(PathBuf::as_path).collect(), force: self.replace.force }
    }

    /// The files to write.
    pub(crate) fn files(&self) -> Result<Vec<ReportFile>, String> {
        match (self.format, self.out.as_slice()) {
            (Some(format), [path]) => {
                Ok(vec![ReportFile { path: path.clone(), format: format.for_file(path)? }])
            }
            (Some(_), [_, _, ..]) => {
                Err("`--format` sets the format of one file; give the others an ending that names theirs"
                    .to_owned())
            }
            (_, paths) => paths
                .iter()
                .map(|path| {
                    stored_report_file(&path.to_string_lossy())
                        .map_err(|error| format!("`{}`: {error}", path.display()))
                })
                .collect(),
        }
    }
}
