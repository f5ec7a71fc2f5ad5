//! The report files that each command writes.

use super::replace::NamedReports;
use super::{CliCommand, CompareCommand, ScorecardCommand};

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
