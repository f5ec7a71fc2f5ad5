//! Judging through the providers' batch APIs: the same flags for every command that stores a run.

use std::time::Duration;

use assize_engine::{BatchOptions, BatchPlace, BatchRole};

use super::headings::LIMITS;
use super::values::duration;

/// Batches of judge calls.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct JudgeBatchArgs {
    /// Use the provider's cheaper batch API.
    ///
    /// Usually half the price. A batch takes up to a day. Works with OpenAI, Azure, Groq, Anthropic, Gemini and Bedrock, and with
    /// servers that speak OpenAI's files and batches. Batches continue after an interrupt; `--resume` collects them.
    #[arg(long, help_heading = LIMITS)]
    pub(crate) judge_batch: bool,
    /// Wait this long for batches, then ask live.
    ///
    /// Such as `2h`. Without it, the run waits until they end.
    #[arg(long, requires = "judge_batch", value_parser = duration, value_name = "TIME", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) batch_wait: Option<Duration>,
    /// Exchange Bedrock's batches through this bucket.
    ///
    /// Such as `s3://my-bucket/assize`. The access key is read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
    /// AWS_SESSION_TOKEN, or from the profile that AWS_PROFILE names.
    #[arg(long, requires = "judge_batch", value_name = "S3_URI", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) batch_storage: Option<BatchPlace>,
    /// Role with which Bedrock reads and writes there.
    ///
    /// Such as `arn:aws:iam::123456789012:role/assize-batches`.
    #[arg(long, requires = "judge_batch", value_name = "ARN", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) batch_role: Option<BatchRole>,
}

impl JudgeBatchArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> Option<BatchOptions> {
        self.judge_batch.then(|| BatchOptions {
            wait: self.batch_wait,
            storage: self.batch_storage.clone(),
            role: self.batch_role.clone(),
        })
    }
}
