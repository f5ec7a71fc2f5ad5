//! `assize mcp`.

use std::path::PathBuf;

use assize_engine::ProgramUse;
use assize_mcp::{McpOptions, RunStorage};
use assize_rubric::Usd;

use super::values::usd;

/// Serve an agent on standard input and output, over the Model Context Protocol.
///
/// Agents start this command themselves. Its tools: validate, plan, grade, run_eval, list_runs, results, explain. Paths that an
/// agent names can't leave the root folder, tools that spend need a budget, and unless a flag allows it nothing is
/// written and no program is started.
#[derive(Debug, clap::Args)]
#[command(after_help = "docs/mcp.md shows how to add it to Claude Code, Codex, VS Code and others.\n\n\
    Examples:\n  \
    assize mcp\n  \
    assize mcp --root projects/support --write --budget-usd 5\n  \
    claude mcp add assize -- assize mcp --write")]
pub(crate) struct McpArgs {
    /// Confine paths to this folder [default: .].
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) root: PathBuf,
    /// Allow run_eval, which writes below the root.
    ///
    /// Runs and cached replies.
    #[arg(long)]
    pub(crate) write: bool,
    /// Allow eval files to start programs.
    ///
    /// Graders, code, targets and workspace hooks.
    #[arg(long)]
    pub(crate) allow_programs: bool,
    /// Stop once all calls cost this much.
    ///
    /// In US dollars, over the life of this server.
    #[arg(long, value_parser = usd, value_name = "DOLLARS")]
    pub(crate) budget_usd: Option<Usd>,
}

impl McpArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> McpOptions {
        McpOptions {
            root: self.root.clone(),
            storage: if self.write { RunStorage::Allowed } else { RunStorage::Refused },
            programs: if self.allow_programs { ProgramUse::Allow } else { ProgramUse::Refuse },
            budget: self.budget_usd,
        }
    }
}
