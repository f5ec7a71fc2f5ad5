//! Judging in batches of the providers: the same flags for every command that stores a run.

use std::time::Duration;

use assize_engine::BatchOptions;

use super::headings::LIMITS;
use super::values::duration;

/// Batches of judge calls.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct JudgeBatchArgs {
    /// Use the provider's batch API at half the price.
    ///
    /// A batch takes up to a day.     /// OpenAI, Azure, Groq, Anthropic and Gemini, and servers that speak OpenAI's files and batches. Batches
    /// continue after an interrupt; `--resume` collects them.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) judge_batch: bool,
    /// Wait this long for batches, then ask live.
    ///
    /// Such as `2h`.     /// Without it, the run waits until they end.
    #[arg(long, requires = "judge_batch", value_parser = duration, value_name = "TIME", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) batch_wait: Option<Duration>,
}

impl JudgeBatchArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> Option<BatchOptions> {
        self.judge_batch.then_some(BatchOptions { wait: self.batch_wait })
    }
}
