//! `assize doctor`.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use assize_llm::{Readiness, ReadyState, readiness};
use serde_json::json;

use crate::args::DoctorArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::judges::OFFLINE;
use crate::output;

/// How long a server on this machine may take to accept a connection.
const PATIENCE: Duration = Duration::from_millis(300);

/// One line of the answer.
struct Finding {
    name: &'static str,
    usable: bool,
    /// Whether the user did something about this provider.
    configured: bool,
    about: String,
}

pub(crate) fn execute(args: &DoctorArgs, context: &Context) -> Exit {
    let mut findings = vec![Finding {
        name: OFFLINE,
        usable: true,
        configured: true,
        about: "built in; compares words and understands nothing".to_owned(),
    }];
    findings.extend(readiness(&|name| context.variable(name)).iter().map(find));
    if args.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| json!({ "judge": f.name, "usable": f.usable, "configured": f.configured, "about": f.about }))
            .collect();
        output::print_json(&json!({ "judges": list }));
        return Exit::Passed;
    }
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    let mut hidden = 0;
    for finding in &findings {
        if !(finding.usable || finding.configured || args.all) {
            hidden += 1;
            continue;
        }
        let (mark, on, off) = match (finding.usable, context.stdout.color) {
            (true, true) => ("usable  ", "\u{1b}[32m", "\u{1b}[0m"),
            (true, false) => ("usable  ", "", ""),
            (false, true) => ("unusable", "\u{1b}[31m", "\u{1b}[0m"),
            (false, false) => ("unusable", "", ""),
        };
        output::print(&format!("{on}{mark}{off}  {:width$}  {}\n", finding.name, finding.about));
    }
    if hidden > 0 {
        output::print(&format!(
            "\n{hidden} more providers are not set up; `assize doctor --all` lists what they need\n"
        ));
    }
    output::print("\nA usable provider is named with a model: --judge PROVIDER:MODEL\n");
    Exit::Passed
}

/// The providers whose models could be asked from here: a key is set, or a server on this machine answers.
pub(crate) fn usable_models(context: &Context) -> Vec<&'static str> {
    let found = readiness(&|name| context.variable(name)).into_iter().map(|provider| find(&provider));
    found.filter(|finding| finding.usable).map(|finding| finding.name).collect()
}

fn find(provider: &Readiness) -> Finding {
    let host = provider.host.as_deref().unwrap_or("?");
    let (usable, about) = match &provider.state {
        ReadyState::Ready => (true, format!("key in {}, at {host}", provider.key_variable)),
        ReadyState::ReadyWithoutKey => match local_server(host) {
            Some(false) => (
                false,
                format!("no server answers at {host}; set {} if it is elsewhere", provider.base_url_variable),
            ),
            Some(true) => (true, format!("a server answers at {host}, no key needed")),
            None => (true, format!("at {host}, no key set")),
        },
        ReadyState::MissingKey { variable } => (false, format!("set {variable} to use {host}")),
        ReadyState::MissingBaseUrl { variable } => {
            (false, format!("set {variable} to the address of the server"))
        }
        ReadyState::BadBaseUrl { variable, reason } => {
            (false, format!("{variable} is not an address: {reason}"))
        }
        ReadyState::BadSetting { reason } => (false, reason.clone()),
    };
    Finding { name: provider.provider, usable, configured: provider.configured, about }
}

/// Whether something accepts connections at an address of this machine; `None` for other machines,
/// which are not tried.
fn local_server(host: &str) -> Option<bool> {
    let mut addresses = host.to_socket_addrs().ok()?;
    let address = addresses.find(|address| address.ip().is_loopback())?;
    Some(TcpStream::connect_timeout(&address, PATIENCE).is_ok())
}
