//! `assize view`.

use std::net::{IpAddr, Ipv4Addr};

use super::headings::ADVANCED;

/// Look at results in a browser.
///
/// Starts a server on this machine and opens its first page: the run that is named, the comparison of two, or the list of
/// all stored runs. A run that goes on is shown as it grows. The server writes nothing and fetches nothing; Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The address that is printed holds a token, without which nobody sees a page. To be reached by other machines, set\n\
    ASSIZE_VIEW_TOKEN to a secret of at least 16 characters and put a proxy with TLS before the server: pages travel\n\
    unencrypted.\n\n\
    Examples:\n  \
    assize view\n  \
    assize view last\n  \
    assize view last~1 last\n  \
    assize view runs/january --no-open --port 9000\n  \
    ASSIZE_VIEW_TOKEN=... assize view --host 0.0.0.0 --name runs.example.com"
)]
pub(crate) struct ViewArgs {
    /// Runs to show: folders, ids, `last`, or `last~N` for the Nth before; two are compared.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Print the address without opening a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Port to listen on [default: the first free one from 8417].
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), help_heading = ADVANCED)]
    pub(crate) host: IpAddr,
    /// Name by which a proxy or other machines reach the server; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = ADVANCED, hide_short_help = true)]
    pub(crate) name: Vec<String>,
}
