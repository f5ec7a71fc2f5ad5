//! The files that reports are written to, and which of them may be replaced.

use std::path::Path;

use super::ReportFile;
use super::headings::OUTPUT;

/// Whether reports may replace files that Assize did not write.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ReplaceArgs {
    /// Replace files of other programs.
    ///
    /// Without it, reports replace only reports. A file that the run has read is never replaced.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) force: bool,
}

/// The report files that a command line names.
#[derive(Debug, Default)]
pub(crate) struct NamedReports<'a> {
    pub(crate) files: Vec<&'a Path>,
    /// True if they may replace files that Assize did not write.
    pub(crate) force: bool,
}

impl<'a> NamedReports<'a> {
    /// The files that `--out` names.
    pub(super) fn new(files: &'a [ReportFile], replace: ReplaceArgs) -> Self {
        Self { files: files.iter().map(|file| &*file.path).collect(), force: replace.force }
    }
}
