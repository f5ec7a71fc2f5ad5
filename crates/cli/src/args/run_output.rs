//! Where the results of a run go: the same flags for every command that creates one.

use std::path::PathBuf;

use clap::ValueEnum;

use super::headings::OUTPUT;
use super::replace::{NamedReports, ReplaceArgs};
use super::report_file::{ReportFile, report_file};
use crate::output::ResultOutput;

/// Longest label of a run, in characters.
const MAX_LABEL: usize = 200;

/// Parses the label of a run: one line of text.
fn run_label(text: &str) -> Result<String, String> {
    let label = text.trim();
    match label.chars().count() {
        0 => Err("the label is empty".to_owned()),
        MAX_LABEL.. if label.chars().count() > MAX_LABEL => {
            Err(format!("a label has at most {MAX_LABEL} characters"))
        }
        _ if label.contains(char::is_control) => Err("a label is one line of text".to_owned()),
        _ => Ok(label.to_owned()),
    }
}

/// Destinations of the results of a run, and its folder.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RunOutputArgs {
    /// Write a report: .html, .md, .xml, .csv, .sarif, .json.
    ///
    /// Repeatable. FILE.xml is JUnit, FILE.json has what `--json` prints. `assize report` writes them of a stored run, and other formats.
    /// Alias: `--report`.
    #[arg(
        long, alias = "report", short = 'o', value_parser = report_file, value_name = "FILE",
        help_heading = OUTPUT
    )]
    pub(crate) out: Vec<ReportFile>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
    /// Print JSON instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Cases to print: `auto`, `all`, `failed` or `none`.
    ///
    /// `auto` prints what counts against failing cases if that fits on a screen of 40 lines, and otherwise a line for each
    /// of the first; cases that passed only if there are at most twelve. `all` and `failed` print every decision.
    #[arg(
        long, value_enum, default_value_t, value_name = "WHICH", help_heading = OUTPUT,
        hide_possible_values = true, hide_default_value = true
    )]
    pub(crate) show: ShowChoice,
    /// Print more than fits on a screen of 40 lines.
    ///
    /// What counts against the first ten failing cases, a line for each of the others, and all metrics.
    #[arg(long, short = 'v', conflicts_with_all = ["show", "json"], help_heading = OUTPUT, hide_short_help = true)]
    verbose: bool,
    /// Name of the run in lists, on pages and in reports.
    #[arg(long, value_name = "TEXT", value_parser = run_label, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) label: Option<String>,
    /// Folder of the run [default: .assize/runs/ID].
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) run_dir: Option<PathBuf>,
}

impl RunOutputArgs {
    /// The report files to write.
    pub(super) fn reports(&self) -> NamedReports<'_> {
        NamedReports::new(&self.out, self.replace)
    }

    /// The cases to print.
    pub(crate) fn show(&self) -> ShowChoice {
        if self.verbose { ShowChoice::Verbose } else { self.show }
    }

    /// Where the result goes as data.
    pub(crate) fn delivery(&self, quiet: bool) -> ResultOutput<'_> {
        ResultOutput { json: self.json, quiet, out: &self.out }
    }
}

/// Cases to print in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ShowChoice {
    /// All of a small run, the failing ones of a large one, as far as they fit on a screen.
    #[default]
    Auto,
    /// Like `Auto` on a long screen: `--verbose`.
    #[value(skip)]
    Verbose,
    /// All.
    All,
    /// Those that did not pass.
    Failed,
    /// None: only the summary.
    None,
}
