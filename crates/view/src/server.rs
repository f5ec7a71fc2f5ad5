//! The server: where it listens, and which page an address leads to.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use assize_engine::ProcessContext;
use assize_limits::REVIEW_DECISION_BYTES as MAX_REQUEST_BYTES;
use assize_listen::HostRules;
use assize_store::RunFolder;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::access::{AccessRules, PageTransport, guard};
use crate::library::{NamedRun, RunLibrary, folder_name};
use crate::page_reply::{compare_url, run_url};
use crate::reviews::{OfferedReview, ReviewRegistry};
use crate::routes;
use crate::tls::{TlsIdentity, TlsListener};

/// Port that is tried first if none is given.
const FIRST_PORT: u16 = 8417;
/// Number of further ports that are tried.
const MORE_PORTS: u16 = 20;
/// Shortest token, in bytes, for a server that other machines can reach.
const MIN_TOKEN: usize = 16;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ViewOptions {
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; `None` for the first free one from 8417.
    pub port: Option<u16>,
    /// Token that visitors need; `None` for a random one. Listening beyond this machine needs a token of at
    /// least 16 bytes.
    pub token: Option<String>,
    /// Names under which others reach the server, such as the name of a proxy.
    pub names: Vec<String>,
    /// Certificate and key, to encrypt connections.
    pub tls: Option<TlsIdentity>,
    /// True if a proxy in front of the server encrypts connections, and nothing else can reach the server.
    pub behind_proxy: bool,
    /// Runs to show in addition to those in the runs folder.
    pub runs: Vec<RunFolder>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.into(),
            port: None,
            token: None,
            names: Vec::new(),
            tls: None,
            behind_proxy: false,
            runs: Vec::new(),
        }
    }
}

/// Why a server can't start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Other machines could open pages without a token.
    #[error(
        "{host} can be reached by other machines: set ASSIZE_VIEW_TOKEN to a secret of at least {MIN_TOKEN} characters"
    )]
    NeedsToken {
        /// Address to listen on.
        host: IpAddr,
    },
    /// Pages and the token would travel unencrypted.
    #[error(
        "{host} can be reached by other machines, and pages would travel unencrypted: name a certificate and its key with \
         `--tls-cert` and `--tls-key`, or put a proxy with TLS before the server and say so with `--behind-proxy`"
    )]
    NeedsTls {
        /// Address to listen on.
        host: IpAddr,
    },
    /// The certificate or the key can't be used.
    #[error("the certificate and its key can't be used: {0}")]
    Tls(String),
    /// The token can't be part of a cookie.
    #[error("ASSIZE_VIEW_TOKEN may hold only letters, digits, `-`, `_` and `.`")]
    BadToken,
    /// The server can't listen on the address.
    #[error("can't listen on {address}: {source}")]
    Bind {
        /// Address and port.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// Serving failed.
    #[error("the server ended: {0}")]
    Serve(#[from] io::Error),
}

/// A server that listens.
pub struct ViewServer {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    address: SocketAddr,
    rules: AccessRules,
    library: Arc<RunLibrary>,
    start: String,
    /// True if the preferred port was taken.
    moved: bool,
    /// For each review, the reviewer, its address and its token.
    review_tokens: Vec<(String, String, String)>,
}

impl ViewServer {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the address can't be used, or other machines could open pages without a token.
    pub async fn bind(options: ViewOptions, process: ProcessContext) -> Result<Self, ViewError> {
        Self::bind_with(options, process, None).await
    }

    /// Starts to listen for reviewers. Each of them sees only their own review.
    ///
    /// # Errors
    /// Like [`bind`](Self::bind).
    pub async fn bind_reviews(
        options: ViewOptions,
        process: ProcessContext,
        reviews: Vec<OfferedReview>,
    ) -> Result<Self, ViewError> {
        Self::bind_with(options, process, Some(reviews)).await
    }

    async fn bind_with(
        options: ViewOptions,
        process: ProcessContext,
        offered: Option<Vec<OfferedReview>>,
    ) -> Result<Self, ViewError> {
        let is_local = options.host.is_loopback();
        let is_long = options.token.as_ref().is_some_and(|token| token.len() >= MIN_TOKEN);
        if !is_local && !is_long {
            return Err(ViewError::NeedsToken { host: options.host });
        }
        if !is_local && options.tls.is_none() && !options.behind_proxy {
            return Err(ViewError::NeedsTls { host: options.host });
        }

        let is_plain =
            |token: &String| token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if options.token.as_ref().is_some_and(|token| token.is_empty() || !is_plain(token)) {
            return Err(ViewError::BadToken);
        }

        let token = options.token.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
        let tls = options.tls.as_ref().map(TlsIdentity::acceptor).transpose().map_err(ViewError::Tls)?;
        let transport = match (&tls, options.behind_proxy) {
            (_, true) => PageTransport::Proxy,
            (Some(_), false) => PageTransport::Tls,
            (None, false) => PageTransport::Plain,
        };
        let (listener, moved) = listen(options.host, options.port).await?;
        let address = listener.local_addr()?;
        let named = name_runs(options.runs);
        let start = start_page(&named);
        let token: Arc<str> = token.into();
        let reviews = Arc::new(ReviewRegistry::new(Arc::clone(&token)));
        let is_review_only = offered.is_some();
        let review_tokens = offered.into_iter().flatten().map(|offered| {
            let review = reviews.add(offered, None);
            (review.who.clone(), review.url(), review.token.clone())
        });
        let review_tokens = review_tokens.collect();

        let rules = AccessRules {
            token,
            is_review_only,
            reviews,
            transport,
            port: address.port(),
            hosts: HostRules::new(is_local, options.names),
        };
        let library = Arc::new(RunLibrary::new(process, rules.clone(), named));
        Ok(Self { listener, tls, address, rules, library, start, moved, review_tokens })
    }

    /// Address of the first page, with the token.
    pub fn url(&self) -> String {
        self.url_of(&self.start, &self.rules.token)
    }

    /// Reviewers with the addresses of their reviews, in the order in which the reviews were offered.
    pub fn review_urls(&self) -> Vec<(String, String)> {
        let reviews = self.review_tokens.iter();
        reviews.map(|(who, path, token)| (who.clone(), self.url_of(path, token))).collect()
    }

    fn url_of(&self, path: &str, token: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        let AccessRules { transport, hosts, .. } = &self.rules;
        let host = match (transport, hosts.names().first(), self.address.ip()) {
            (PageTransport::Proxy, Some(name), _) => name.clone(),
            (PageTransport::Tls, Some(name), _) => format!("{name}:{}", self.address.port()),
            // A browser can't open the unspecified address.
            (.., ip) if ip.is_unspecified() => {
                SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.address.port()).to_string()
            }
            _ => self.address.to_string(),
        };
        format!("{}://{host}{path}{separator}token={token}", transport.scheme())
    }

    /// Address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns true if the preferred port was taken.
    pub const fn has_moved(&self) -> bool {
        self.moved
    }

    /// Serves pages until `stop` is done.
    ///
    /// # Errors
    /// If connections can't be accepted any more.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ViewError> {
        // The first page usually shows the newest run, so read its cases while the browser starts.
        let library = Arc::clone(&self.library);
        let is_review_only = self.rules.is_review_only;
        let first = self.start.strip_prefix("/runs/").map(str::to_owned);
        tokio::task::spawn_blocking(move || {
            if is_review_only {
                return;
            }
            let slug = first.or_else(|| library.list().first().map(|run| run.slug.clone()));
            if let Some(run) = slug.and_then(|slug| library.open(&slug)) {
                // An error is not lost: reading fails again, and is reported, when a page needs the rows.
                let _ = run.prepare();
                let _ = run.read_ahead();
            }
        });

        let ended = Arc::clone(&self.library);
        let app = router(self.library, self.rules);
        // A graceful shutdown alone would wait for connections that browsers keep open.
        let served = async {
            if let Some(tls) = self.tls {
                axum::serve(TlsListener::new(self.listener, tls)?, app).await
            } else {
                // If this fails, the end of a long reply only comes a little later.
                let listener = self.listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                axum::serve(listener, app).await
            }
        };
        tokio::select! {
            served = served => served?,
            () = stop => {}
        }

        // A panic in there has already been printed.
        let _ = tokio::task::spawn_blocking(move || {
            ended.rules.reviews.all().iter().for_each(|review| review.write_list(&ended.process));
        })
        .await;
        Ok(())
    }
}

/// Listens on the given port, or on the first free one. Returns true if that is not the preferred port.
async fn listen(host: IpAddr, port: Option<u16>) -> Result<(TcpListener, bool), ViewError> {
    let last = port.unwrap_or(FIRST_PORT + MORE_PORTS);
    let mut next = port.unwrap_or(FIRST_PORT);
    loop {
        let address = SocketAddr::new(host, next);
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok((listener, port.is_none() && next != FIRST_PORT)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && next < last => next += 1,
            Err(source) => return Err(ViewError::Bind { address, source }),
        }
    }
}

/// Gives each run a unique name for addresses.
fn name_runs(folders: Vec<RunFolder>) -> Vec<NamedRun> {
    let mut named: Vec<NamedRun> = Vec::new();
    for folder in folders {
        if named.iter().any(|run| run.folder == folder) {
            continue;
        }

        let name = Some(folder_name(&folder)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "run".to_owned());
        let is_taken = |slug: &String| named.iter().any(|run| run.slug == *slug);
        let numbered = (2..).map(|number| format!("{name}~{number}"));
        let slug = std::iter::once(name.clone()).chain(numbered).find(|slug| !is_taken(slug));
        named.push(NamedRun { slug: slug.unwrap_or(name), folder });
    }

    named
}

/// Path of the first page: one named run is shown, two are compared, otherwise all are listed.
fn start_page(named: &[NamedRun]) -> String {
    match named {
        [only] => run_url(&only.slug),
        [base, candidate] => compare_url(&base.slug, &candidate.slug),
        _ => "/".to_owned(),
    }
}

/// The routes of all pages.
pub(crate) fn router(library: Arc<RunLibrary>, rules: AccessRules) -> Router {
    let pages = if rules.is_review_only { Router::new() } else { run_pages() };
    pages
        .route("/review/{id}", get(routes::review::page))
        .route("/review/{id}/items", get(routes::review::items))
        .route("/review/{id}/decide", post(routes::review::decide))
        .route("/review/{id}/skip", post(routes::review::skip))
        .route("/review/{id}/undo", post(routes::review::undo))
        .route("/review/{id}/leave", post(routes::review::leave))
        .route("/assets/{version}/{name}", get(routes::asset))
        .fallback(routes::not_found)
        .with_state(library)
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .layer(from_fn_with_state(rules, guard))
}

/// The routes for visitors who may see results.
fn run_pages() -> Router<Arc<RunLibrary>> {
    Router::new()
        .route("/", get(routes::runs::page))
        .route("/audits", get(routes::measurement::audits))
        .route("/trend", get(routes::trend::page))
        .route("/compare", get(routes::compare::page))
        .route("/compare/case", get(routes::compare_case::page))
        .route("/runs/{run}", get(routes::run::page))
        .route("/runs/{run}/cases", get(routes::cases::page))
        .route("/matrix", get(routes::matrix::page))
        .route("/runs/{run}/rows", get(routes::cases::rows))
        .route("/runs/{run}/cases/{row}/peek", get(routes::cases::peek))
        .route("/runs/{run}/cases/{row}", get(routes::case::page))
        .route("/runs/{run}/cases/{row}/mark", get(routes::mark::page).post(routes::mark::decide))
        .route("/runs/{run}/case", get(routes::case::find))
        .route("/runs/{run}/criteria", get(routes::criteria::page))
        .route("/runs/{run}/calibration", get(routes::measurement::calibration))
        .route("/runs/{run}/scorecard", get(routes::scorecard::page))
        .route("/runs/{run}/scorecard/{code}", get(routes::scorecard_part::page))
        .route("/runs/{run}/review", get(routes::review_start::page).post(routes::review_start::start))
}
