//! `assize view`.

use super::ServerArgs;

/// Look at results in a browser.
///
/// Starts a server on this machine and opens its first page: the named run, the comparison of two, or the list of all stored
/// runs. A run in progress is shown as it grows. The server fetches nothing, and writes only the labels of reviews that are
/// started on its pages. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The printed address contains a token; pages can't be opened without it. To let other machines in, \
    set ASSIZE_VIEW_TOKEN to a secret of at least 16 characters, and name a certificate with its key (--tls-cert, \
    --tls-key) or put a proxy with TLS before the server (--behind-proxy --name NAME).\n\n\
    Examples:\n  \
    assize view\n  \
    assize view last\n  \
    assize view last~1 last\n  \
    assize view runs/january --no-open --port 9000\n  \
    ASSIZE_VIEW_TOKEN=... assize view --host 0.0.0.0 --name runs.example.com \\\n      \
    --tls-cert cert.pem --tls-key key.pem"
)]
pub(crate) struct ViewArgs {
    /// Runs to show: folders, ids, `last`, `last~N`; two are compared.
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
