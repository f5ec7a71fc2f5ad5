//! Limits on the requests to models and their cost: the same flags for every command that asks models.

use std::num::NonZeroU32;

use assize_engine::{CacheUse, SpendingOptions};
use assize_llm::Budget;
use assize_rubric::Usd;

use super::values::usd;

/// Use of the reply cache, and limits on requests beside it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SpendingArgs {
    /// Ask every model anew, and keep no reply.
    #[arg(long, conflicts_with = "cache_only")]
    pub(crate) no_cache: bool,
    /// Send nothing to models: what the reply cache does not hold stays undone and is said so.
    #[arg(long)]
    pub(crate) cache_only: bool,
    /// Requests to models at most, for answers and judgements together; then the command stops and keeps what it has.
    #[arg(long, value_name = "N")]
    pub(crate) budget_calls: Option<u64>,
    /// Tokens at most, read and written, of all requests together.
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u64>,
    /// US dollars at most for all requests together, by the prices of `.assize/prices.yaml` and the built-in table.
    #[arg(long, value_parser = usd, value_name = "DOLLARS")]
    pub(crate) budget_usd: Option<Usd>,
    /// Tokens at most of a reply of a judge, or of any other model that is not a target, hidden thinking included: what
    /// is longer is cut off and decides nothing. Without it replies are limited where tokens or dollars are, amply.
    #[arg(long, value_name = "N")]
    pub(crate) max_output_tokens: Option<NonZeroU32>,
}

impl SpendingArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> SpendingOptions {
        let cache = match (self.no_cache, self.cache_only) {
            (true, _) => CacheUse::Off,
            (false, true) => CacheUse::Only,
            (false, false) => CacheUse::On,
        };

        SpendingOptions {
            cache,
            budget: Budget { calls: self.budget_calls, tokens: self.budget_tokens, usd: self.budget_usd },
            max_output_tokens: self.max_output_tokens,
        }
    }
}
