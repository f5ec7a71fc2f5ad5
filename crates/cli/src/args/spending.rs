//! Limits on the requests to models and their cost: the same flags for every command that asks models.

use std::num::NonZeroU32;
use std::path::PathBuf;

use assize_engine::{CacheUse, SpendingOptions};
use assize_llm::Budget;
use assize_rubric::Usd;

use super::headings::LIMITS;
use super::values::{positive, usd};

/// Use of the reply cache, and limits on requests.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SpendingArgs {
    /// Stop once the requests cost N US dollars.
    ///
    /// Prices come from `--prices`, or else from `.assize/prices.yaml` and the built-in table.
    #[arg(
        long, value_parser = usd, value_name = "N", help_heading = LIMITS, allow_negative_numbers = true
    )]
    pub(crate) budget_usd: Option<Usd>,
    /// Stop after N requests to models.
    ///
    /// Requests to targets and to judges count together. What is finished is kept.
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub(crate) budget_calls: Option<u64>,
    /// Stop after N input and output tokens of all requests.
    #[arg(long, value_name = "N", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) budget_tokens: Option<u64>,
    /// Limit judge replies to N tokens, reasoning included.
    ///
    /// Criteria whose reply is cut off stay ungraded. The limit holds for every model that is not a target; without it, a
    /// judge's reply has four times the room of a long one, and more if that does not suffice.
    #[arg(
        long, value_parser = positive::<NonZeroU32>, value_name = "N", help_heading = LIMITS, hide_short_help = true
    )]
    pub(crate) max_output_tokens: Option<NonZeroU32>,
    /// Take list prices from FILE.
    ///
    /// The file has the form of LiteLLM's model_prices_and_context_window.json, and takes the place of the built-in table.
    /// Rows of `.assize/prices.yaml` override it.
    #[arg(long, value_name = "FILE", help_heading = LIMITS, hide_short_help = true)]
    pub(crate) prices: Option<PathBuf>,
    /// Neither read nor write the reply cache.
    #[arg(long, conflicts_with = "cache_only", help_heading = LIMITS)]
    pub(crate) no_cache: bool,
    /// Use cached replies only; misses stay ungraded.
    #[arg(long, help_heading = LIMITS, hide_short_help = true)]
    pub(crate) cache_only: bool,
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
            prices: self.prices.clone(),
        }
    }
}
