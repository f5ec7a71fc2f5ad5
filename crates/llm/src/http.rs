//! The real transport: HTTP over a pool of reqwest clients, and [`LoopbackClient`] for servers on this machine.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use reqwest::{Client, ClientBuilder, Url};
use tokio::sync::Semaphore;

use crate::answer_body::BodyLimits;
use crate::chat_model::BoxFuture;
use crate::client_pool::{ClientPool, PoolLease};
use crate::endpoint::is_loopback;
use crate::loopback::LoopbackClient;
use crate::proxies::HttpProxies;
use crate::transport::{
    FILES_PAUSE, HttpAnswer, HttpRequest, Transport, TransportError, innermost, out_of_files,
};

/// Servers commonly allow 100 requests at a time on one HTTP/2 connection. A few are kept free, for races.
const REQUESTS_PER_CLIENT: usize = 90;

/// Bounds the connections to one host at about 11,000 requests in flight.
const MAX_CLIENTS: usize = 128;

/// Settings of the real transport.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The largest answer read, in bytes after decompression.
    pub max_answer_bytes: usize,
    /// The limit for making a connection. The request's own limit applies as well.
    pub connect_timeout: Duration,
    /// Never use HTTP/2: one connection for each request in flight.
    pub http1_only: bool,
    /// The proxies for other machines. `None` reads them from the variables of this process.
    pub proxies: Option<HttpProxies>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            max_answer_bytes: assize_limits::REPLY_BYTES,
            connect_timeout: Duration::from_secs(10),
            http1_only: false,
            proxies: None,
        }
    }
}

/// Sends requests over HTTP. It follows no redirects, so credentials go only to the host they belong to. It uses no
/// proxy for servers on this machine, and sends nothing twice.
#[derive(Debug)]
pub struct HttpTransport {
    options: HttpOptions,
    bodies: BodyLimits,
    /// Plain HTTP on this machine; made when it is first needed.
    direct: OnceLock<LoopbackClient>,
    /// Plain HTTP on this machine with credentials in the address.
    local: ClientPool<Client>,
    /// Plain HTTP elsewhere. Each request in flight has its own connection, so one client suffices.
    plain: ClientPool<Client>,
    /// HTTPS on this machine.
    local_tls: ClientPool<Client>,
    /// HTTPS elsewhere.
    tls: ClientPool<Client>,
    /// A permit for each connection that may be in use; `None` leaves the limit to the accounts.
    sockets: Option<Semaphore>,
}

/// Returns true if there are certificates of the system, or of the file that `SSL_CERT_FILE` names. A file that can't be read
/// counts too, so that it is an error and not replaced in silence.
#[cfg(any(target_env = "musl", target_feature = "crt-static", test))]
fn system_has_certificates() -> bool {
    let found = rustls_native_certs::load_native_certs();
    !found.certs.is_empty() || !found.errors.is_empty()
}

impl Default for HttpTransport {
    fn default() -> Self {
        Self::new(HttpOptions::default())
    }
}

impl HttpTransport {
    /// A transport without connections. Clients are made when the first request needs one.
    pub fn new(options: HttpOptions) -> Self {
        // reqwest panics when it builds a TLS client and no provider is installed. Installing fails only if
        // there is one already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let per_client = if options.http1_only { usize::MAX } else { REQUESTS_PER_CLIENT };
        let tls_pool = || ClientPool::new(per_client, MAX_CLIENTS);
        Self {
            bodies: BodyLimits::new(options.max_answer_bytes),
            options,
            direct: OnceLock::new(),
            local: ClientPool::new(usize::MAX, 1),
            plain: ClientPool::new(usize::MAX, 1),
            local_tls: tls_pool(),
            tls: tls_pool(),
            sockets: None,
        }
    }

    /// Allows at most `most` requests in flight to all servers together; 0 counts as 1. The others wait, and
    /// their time limit begins after the wait.
    #[must_use]
    pub fn with_sockets(self, most: usize) -> Self {
        Self { sockets: Some(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))), ..self }
    }

    fn client(&self, url: &Url) -> Result<PoolLease<Client>, TransportError> {
        let local = is_loopback(url);
        let secure = url.scheme() == "https";
        let pool = match (local, secure) {
            (true, false) => &self.local,
            (false, false) => &self.plain,
            (true, true) => &self.local_tls,
            (false, true) => &self.tls,
        };
        pool.lease(|| self.build(local, secure))
    }

    /// Sends a GET without credentials and returns the status of the answer. The body is not read.
    ///
    /// # Errors
    /// If the address is not valid, or no answer came in time.
    pub async fn probe(&self, url: &str, timeout: Duration) -> Result<u16, TransportError> {
        let url = Url::parse(url)
            .map_err(|error| TransportError::Unusable(format!("not a valid address: {error}")))?;
        let client = self.client(&url)?;
        let sent = client.get().get(url).timeout(timeout).send().await;
        sent.map(|response| response.status().as_u16()).map_err(|error| failure(&error, timeout))
    }

    async fn read(
        &self,
        mut response: reqwest::Response,
        timeout: Duration,
    ) -> Result<HttpAnswer, TransportError> {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut body = self.bodies.begin(response.content_length())?;
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error, timeout))? {
            body.push(&chunk).await?;
        }

        Ok(HttpAnswer { status, headers, body: body.bytes })
    }

    fn build(&self, local: bool, secure: bool) -> Result<Client, TransportError> {
        let mut builder = Client::builder()
            .user_agent(concat!("assize/", env!("CARGO_PKG_VERSION")))
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(usize::MAX)
            .connect_timeout(self.options.connect_timeout)
            .tcp_nodelay(true);
        if self.options.http1_only {
            builder = builder.http1_only();
        }

        if local {
            builder = builder.no_proxy();
            if !secure {
                // No certificate is ever checked here, so this works on a machine without root certificates.
                builder = builder.tls_certs_only([]);
            }
        } else if let Some(proxies) = &self.options.proxies {
            builder = proxies.to_reqwest()?.into_iter().fold(builder.no_proxy(), ClientBuilder::proxy);
        }

        #[cfg(any(target_env = "musl", target_feature = "crt-static", test))]
        if secure && !system_has_certificates() {
            let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
            let roots = roots.iter().filter_map(|root| reqwest::Certificate::from_der(root).ok());
            builder = builder.tls_certs_only(roots);
        }

        builder.build().map_err(|error| TransportError::Unusable(innermost(&error)))
    }

    async fn send_over_reqwest(&self, call: HttpRequest) -> Result<HttpAnswer, TransportError> {
        let client = self.client(&call.url)?;
        let timeout = call.timeout;
        let failed = |error: reqwest::Error| failure(&error, timeout);
        let request = client
            .get()
            .request(call.method, call.url)
            .headers(call.headers)
            .timeout(timeout)
            .body(call.body)
            .build()
            .map_err(failed)?;

        let begun = Instant::now();
        let response = loop {
            // Only a request whose body is a stream can't be cloned. It is sent without a retry.
            let Some(same) = request.try_clone() else {
                break client.get().execute(request).await.map_err(failed)?;
            };
            match client.get().execute(same).await {
                Err(error) if out_of_files(&error) && begun.elapsed() < self.options.connect_timeout => {
                    tokio::time::sleep(FILES_PAUSE).await;
                }
                answered => break answered.map_err(failed)?,
            }
        };
        self.read(response, timeout).await
    }
}

impl Transport for HttpTransport {
    fn send(&self, call: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            // The semaphore is never closed. If it were, one request too many would be sent.
            let _permit = match &self.sockets {
                Some(sockets) => sockets.acquire().await.ok(),
                None => None,
            };
            if is_loopback(&call.url) && LoopbackClient::takes(&call.url) {
                let new = || LoopbackClient::new(self.options.connect_timeout, self.bodies.clone());
                return self.direct.get_or_init(new).send(call).await;
            }
            // Boxed, so that requests to this machine do not carry the size of this future.
            Box::pin(self.send_over_reqwest(call)).await
        })
    }
}

fn failure(error: &reqwest::Error, timeout: Duration) -> TransportError {
    // A connection that was not made in time is both; it is reported as a failed connection.
    if error.is_connect() {
        let is_secure = error.url().is_some_and(|url| url.scheme() == "https");
        TransportError::Connect(match innermost(error) {
            _ if error.is_timeout() && is_secure => format!("{TIMED_OUT}, {NO_TLS}"),
            _ if error.is_timeout() => TIMED_OUT.to_owned(),
            reason => connection_problem(&reason),
        })
    } else if error.is_timeout() {
        TransportError::Timeout(timeout)
    } else if error.is_builder() {
        TransportError::Unusable(innermost(error))
    } else {
        TransportError::Broken(innermost(error))
    }
}

const TIMED_OUT: &str = "the connection timed out";
/// Advice for a server that does not answer a TLS handshake, or answers with something else.
const NO_TLS: &str = "and a server that does not speak HTTPS needs `http://` in its address";

/// Why a connection could not be made, with advice if the server's certificate is the reason.
fn connection_problem(reason: &str) -> String {
    const REASONS: [(&str, &str); 6] = [
        ("UnknownIssuer", "its issuer is unknown"),
        ("CaUsedAsEndEntity", "it is an issuer's certificate, usually self-made"),
        ("SelfSigned", "it is self-signed"),
        ("NotValidForName", "it is for another host name"),
        ("Expired", "it has expired"),
        ("NotValidYet", "it is not valid yet"),
    ];

    if reason.contains("InvalidContentType") || reason.contains("corrupt message") {
        return format!("the response is not TLS, {NO_TLS}");
    }
    if !reason.contains("certificate") {
        return reason.to_owned();
    }

    let known = REASONS.iter().find(|(mark, _)| reason.contains(mark)).map(|(_, words)| *words);
    let words = match known {
        Some(words) => words.to_owned(),
        None if reason.contains("Other(") => "it could not be verified".to_owned(),
        None => reason.trim_start_matches("invalid peer certificate: ").to_owned(),
    };
    format!(
        "the certificate of the server is not accepted: {words}; SSL_CERT_FILE can name a file of certificates to trust"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn refused_certificates_are_explained() {
        for (reason, words) in [
            ("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "an issuer's certificate"),
            ("invalid peer certificate: UnknownIssuer", "issuer is unknown"),
            (
                "invalid peer certificate: certificate not valid for name \"a\"; certificate is only valid for b",
                "only valid for b",
            ),
            ("invalid peer certificate: Other(OtherError(x))", "could not be verified"),
        ] {
            let problem = super::connection_problem(reason);
            assert!(
                problem.contains(words) && problem.contains("SSL_CERT_FILE") && !problem.contains("Other("),
                "{problem}"
            );
        }
        assert_eq!(super::connection_problem("Connection refused"), "Connection refused");
    }

    use super::*;

    #[test]
    fn construction_and_every_kind_of_client_work_without_prior_setup() {
        let transport = HttpTransport::default();
        let again = HttpTransport::new(HttpOptions { http1_only: true, ..HttpOptions::default() });
        for transport in [transport, again] {
            assert!(transport.build(true, false).is_ok());
            // A machine without root certificates can't build these clients, but must not panic.
            for (local, secure) in [(false, false), (true, true), (false, true)] {
                if let Err(error) = transport.build(local, secure) {
                    assert!(matches!(error, TransportError::Unusable(_)));
                }
            }
        }
    }
}
