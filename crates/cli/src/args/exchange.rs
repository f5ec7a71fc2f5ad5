//! Exchange of requests and replies through files.

use std::path::PathBuf;

use assize_engine::ExchangeOptions;

use super::headings::ADVANCED;

/// Files that replace model servers.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ExchangeArgs {
    /// Write uncached requests to FILE and send nothing.
    ///
    /// Lines of OpenAI's batch format, for models that speak its chat format. No run is stored. Several models get a file
    /// each, `FILE` with the model's name before its ending.
    #[arg(
        long, value_name = "FILE", conflicts_with_all = ["no_cache", "run_dir", "resume"], help_heading = ADVANCED,
        hide_short_help = true
    )]
    pub(crate) export_requests: Option<PathBuf>,
    /// Read replies from FILE instead of a server; repeatable.
    ///
    /// Output and error files of OpenAI's batch format, in any order. Usable replies go into the cache. Give the files of
    /// all rounds.
    #[arg(long, value_name = "FILE", conflicts_with = "no_cache", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) import_replies: Vec<PathBuf>,
}

impl ExchangeArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> ExchangeOptions {
        ExchangeOptions { export: self.export_requests.clone(), import: self.import_replies.clone() }
    }
}
