//! `assize lint`.

use std::path::PathBuf;

use super::FormatChoice;

/// Find what is sound and still a bad rubric.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Findings are warnings: the exit code is 0, or 1 with --strict. Files that don't load end with 2.\n\
    A comment allows a finding: `# allow: L0101 because REASON`, on its line or the line above.\n\n\
    Examples:\n  \
    assize lint evals/\n  \
    assize lint evals/support.eval.yaml --fix\n  \
    assize lint evals/ --strict --format github\n  \
    assize lint evals/ --skip L0404 --skip style-outweighs-content\n  \
    assize lint --list"
)]
pub(crate) struct LintArgs {
    /// Eval files, rubric files, or folders to look for eval files in.
    #[arg(required_unless_present = "list", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FormatChoice,
    /// Same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Folder that eval files may read from, beside their own repository; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Exit with 1 when anything is found.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Make the changes that are sure to keep the meaning; everything else in the files stays as it is.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Apply only this rule, by code or name; may be given several times.
    #[arg(long, value_name = "RULE", conflicts_with = "skip")]
    pub(crate) only: Vec<String>,
    /// Leave this rule out, by code or name; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub(crate) skip: Vec<String>,
    /// List the rules.
    #[arg(long, conflicts_with_all = ["paths", "fix", "strict"])]
    pub(crate) list: bool,
}
