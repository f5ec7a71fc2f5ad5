//! The input files of a command. They determine the project whose configuration applies.

use std::path::Path;

use super::{AuditCommand, CliCommand, CompareCommand, GenerateCommand, ScorecardCommand};

impl CliCommand {
    /// The first file or folder that the command takes as input; `None` for a command without one.
    pub(crate) fn first_input(&self) -> Option<&Path> {
        match self {
            Self::Eval(args) => args.eval.paths.first(),
            Self::Grade(args) => Some(&args.rubric),
            Self::Try(args) => args.watch.as_ref().or(args.rubric.as_ref()),
            Self::Lint(args) => args.paths.first(),
            Self::Generate(args) => match &args.command {
                GenerateCommand::Rubrics(args) => args.files.first(),
            },
            Self::Compare(args) => match &args.command {
                Some(CompareCommand::Pairwise(args)) => args.suite.first(),
                None => None,
            },
            Self::Scorecard(args) => match &args.command {
                ScorecardCommand::Run(args) => Some(&args.path),
                _ => None,
            },
            Self::Audit(args) => match &args.command {
                AuditCommand::Injection(args) => args.eval.paths.first(),
                AuditCommand::Order(args) => args.eval.paths.first(),
                AuditCommand::Length(args) => args.eval.paths.first(),
                AuditCommand::OwnFamily(args) => args.eval.paths.first(),
                AuditCommand::Probes(_) | AuditCommand::Show(_) => None,
            },
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => Some(&args.root),
            Self::Doctor(args) => args.path.as_ref(),
            _ => None,
        }
        .map(std::path::PathBuf::as_path)
    }
}
