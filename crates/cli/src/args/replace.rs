//! The files that reports are written to, and which of them may be replaced.

use std::path::Path;

use super::headings::OUTPUT;
use super::{CliCommand, CompareCommand, ReportFile, ScorecardCommand};

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

impl CliCommand {
    /// The report files that the command will write.
    pub(crate) fn reports(&self) -> NamedReports<'_> {
        match self {
            Self::Eval(args) => args.eval.run.output.reports(),
            Self::Grade(args) => args.run.output.reports(),
            Self::Merge(args) => args.output.reports(),
            Self::Score(args) => args.output.reports(),
            Self::Report(args) => args.reports(),
            Self::Review(args) => args.reports(),
            Self::Compare(args) => match &args.command {
                Some(CompareCommand::Pairwise(args)) => args.run.output.reports(),
                None => NamedReports::new(&args.compare.out, args.compare.replace),
            },
            Self::Scorecard(args) => match &args.command {
                ScorecardCommand::Run(args) => args.run.output.reports(),
                ScorecardCommand::Score(args) => NamedReports::new(&args.out, args.replace),
                ScorecardCommand::Compare(args) => NamedReports::new(&args.out, args.replace),
                ScorecardCommand::List(_) | ScorecardCommand::Trend(_) => NamedReports::default(),
            },
            _ => NamedReports::default(),
        }
    }
}
