//! Options of commands that show pages in a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use super::headings::BROWSER;

/// Address of a page server, and its names and certificates.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = BROWSER)]
pub(crate) struct ServerArgs {
    /// Print the address without opening a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Port [default: the first free one from 8417].
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Address to listen on.
    ///
    /// Beyond this machine it needs a token and TLS.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) host: IpAddr,
    /// Host name that clients use for the server; repeatable.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) name: Vec<String>,
    /// TLS certificate chain, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key", hide_short_help = true)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert", hide_short_help = true)]
    pub(crate) tls_key: Option<PathBuf>,
    /// Leave TLS to a proxy in front of the server.
    #[arg(long, requires = "name", hide_short_help = true)]
    pub(crate) behind_proxy: bool,
}

impl ServerArgs {
    /// Name of a given option that has no meaning without a browser.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.no_open, "--no-open"),
            (self.port.is_some(), "--port"),
            (self.host != IpAddr::V4(Ipv4Addr::LOCALHOST), "--host"),
            (!self.name.is_empty(), "--name"),
            (self.tls_cert.is_some(), "--tls-cert"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}
